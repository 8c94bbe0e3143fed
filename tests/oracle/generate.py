"""Random queries of every clause, with values that the documents have, so that most of them find something."""

import dates
import strings
from fields import address_text, words

MAX_DEPTH = 4
STEPS = ["-1d", "+2h", "/d", "/M", "-1M/d", "+1y", "/h", "-30m/w", "+1w", "/y"]
PERCENTS = ["1", "2", "-1", "50%", "-25%", "75%", "2<50%", "1<-1 3<75%", 1, 2]


class Queries:
    """Draws queries for a store."""

    def __init__(self, store, draw, now_ms):
        self.store, self.draw, self.now_ns = store, draw, now_ms * 10**6
        self.fields = list(store.fields.values())
        self.texts = [field for field in self.fields if field.is_text]
        self.in_words = [field for field in self.texts if field.is_words]
        self.typed = [field for field in self.fields if not field.is_text]
        self.values = {}
        # A document that most values are taken from, so that several clauses together find something.
        self.focus = draw.randrange(store.num_docs)
        self.vocabulary = {name: list(found) for name, found in store.postings.items()}

    def query(self, depth=MAX_DEPTH):
        """A query of any clause."""
        draw = self.draw
        if depth <= 0 or draw.random() < 0.62:
            return self.leaf()
        if draw.random() < 0.1:
            return self.said(depth - 1)
        kind = draw.choices(["bool", "constant_score", "dis_max", "boosting"], [7, 1, 1, 1])[0]
        inner = lambda: self.query(depth - 1)
        if kind == "bool":
            return {"bool": self.bool(inner)}
        if kind == "constant_score":
            return {kind: {"filter": inner(), "boost": draw.choice([1, 2.5])}}
        if kind == "dis_max":
            return {kind: {"queries": [inner() for _ in range(draw.randint(1, 3))], "tie_breaker": 0.3}}
        return {kind: {"positive": inner(), "negative": inner(), "negative_boost": 0.5}}

    def bool(self, inner):
        """Clauses of one to four kinds; mostly such that something is left."""
        draw, body = self.draw, {}
        roles = draw.sample(["must", "filter", "should", "must_not"], draw.randint(1, 4))
        for role in roles:
            num = draw.choice([1, 1, 2]) if role != "should" else draw.randint(1, 4)
            focus = self.focus
            if role == "must_not":
                self.focus = draw.randrange(self.store.num_docs)
            clauses = [inner() for _ in range(num)]
            self.focus = focus
            body[role] = clauses[0] if num == 1 and draw.random() < 0.3 else clauses
        if "should" in body and draw.random() < 0.3:
            body["minimum_should_match"] = draw.choice(PERCENTS)
        return body

    def said(self, depth):
        """A query string, and the query that it means."""
        for _ in range(20):
            means = self.query(depth)
            text = strings.query_string(means, self.store.fields)
            if text:
                return {"_said": {"send": {"query_string": {"query": text}}, "means": means}}
        return self.leaf()

    def leaf(self):
        """A clause without others inside."""
        draw = self.draw
        kinds = {
            "match": 10, "match_phrase": 4, "match_phrase_prefix": 3, "match_bool_prefix": 3, "multi_match": 4, "simple": 4,
            "term": 8, "terms": 4, "range": 12, "exists": 3, "prefix": 4, "wildcard": 4, "regexp": 3, "fuzzy": 4,
            "match_all": 1, "match_none": 0.4, "nested": 0.3,
        }
        kind = draw.choices(list(kinds), list(kinds.values()))[0]
        return getattr(self, kind)()

    # Values.

    def field(self, among=None):
        return self.draw.choice(among or self.fields)

    def value(self, field):
        """A value that some document has, as a request writes it."""
        near = [value for value in self.store.columns[field.name][self.focus] if value != ""]
        if near and self.draw.random() < 0.6:
            return self.written(field, self.draw.choice(near))
        return self.written(field, self.draw.choice(self.all_values(field)))

    def all_values(self, field):
        """The values of a field, each as often as it is there."""
        if field.name not in self.values:
            values = [value for values in self.store.columns[field.name] for value in values]
            # Of texts that are mostly empty a few are enough.
            self.values[field.name] = [value for value in values if value != ""] + [""] * min(values.count(""), len(values) // 20)
        return self.values[field.name]

    def written(self, field, value):
        if field.kind == "ip":
            return address_text(value)
        if field.kind == "bool":
            return bool(value)
        if field.kind == "datetime":
            return dates.text_of(value, 9 if field.precision == "nanoseconds" else 3 if field.precision == "milliseconds" else 0)
        return value

    def text(self, field, most=3):
        """Words in a row of some document, or from several."""
        value = self.value(field)
        if field.is_raw or field.tokenizer == "lowercase":
            return value
        parts = value.split()
        if not parts:
            return value
        begin = self.draw.randrange(len(parts))
        found = parts[begin : begin + self.draw.randint(1, most)]
        if self.draw.random() < 0.3:
            found.append(self.draw.choice(self.vocabulary[field.name]))
        return " ".join(found)

    def word(self, field):
        """A word that is in the index; frequent ones are as likely as they are in documents."""
        for _ in range(20):
            found = words(field.tokenizer, self.value(field))
            if found:
                return self.draw.choice(found)[1]
        return "nothing"

    # Clauses.

    def match_all(self):
        return {"match_all": {}}

    def match_none(self):
        return {"match_none": {}}

    def nested(self):
        objects = sorted({field.name.split(".")[0] for field in self.fields if "." in field.name})
        if not objects:
            return self.leaf()
        return {"nested": {"path": self.draw.choice(objects), "query": self.leaf()}}

    def match(self):
        draw, field = self.draw, self.field(self.texts * 3 + self.typed)
        if not field.is_text:
            return {"match": {field.name: self.value(field)}}
        body = {"query": self.text(field)}
        if draw.random() < 0.3:
            body["operator"] = draw.choice(["and", "or", "AND"])
        if draw.random() < 0.25 and body.get("operator") != "and":
            body["minimum_should_match"] = draw.choice(PERCENTS)
        if draw.random() < 0.15:
            body["fuzziness"] = draw.choice(["AUTO", 1, "2", "AUTO:2,5"])
        if draw.random() < 0.1:
            body["zero_terms_query"] = draw.choice(["all", "none"])
        return {"match": {field.name: body["query"] if len(body) == 1 and draw.random() < 0.5 else body}}

    def match_phrase(self):
        field = self.positioned()
        return {"match_phrase": {field.name: self.text(field, 4)}}

    def positioned(self):
        return self.field([field for field in self.texts if field.positions or field.is_raw])

    def cut_short(self, text):
        """A text without its last characters."""
        return text[: max(1, len(text) - self.draw.randint(0, 4))]

    def match_phrase_prefix(self):
        field = self.positioned()
        return {"match_phrase_prefix": {field.name: {"query": self.cut_short(self.text(field, 4))}}}

    def match_bool_prefix(self):
        field, body = self.field(self.texts), {}
        body["query"] = self.cut_short(self.text(field))
        if self.draw.random() < 0.4:
            body["operator"] = "and"
        return {"match_bool_prefix": {field.name: body}}

    def multi_match(self):
        draw = self.draw
        kind = draw.choice(["best_fields", "most_fields", "cross_fields", "phrase", "phrase_prefix", "bool_prefix"])
        if kind == "cross_fields":
            among = [field for field in self.texts if field.tokenizer == draw.choice(self.texts).tokenizer] or [self.texts[0]]
            among = [field for field in among if field.tokenizer == among[0].tokenizer]
        else:
            among = [field for field in self.texts if "phrase" not in kind or field.positions or field.is_raw]
        chosen = draw.sample(among, draw.randint(1, min(3, len(among))))
        text = self.text(chosen[0])
        names = [field.name + draw.choice(["", "", "^2"]) for field in chosen]
        body = {"query": self.cut_short(text) if "prefix" in kind else text, "fields": names, "type": kind}
        if "phrase" not in kind and draw.random() < 0.4:
            body["operator"] = "and"
        if kind == "best_fields" and draw.random() < 0.5:
            del body["type"]
        return {"multi_match": body}

    def simple(self):
        """A simple query string, with the query that it means."""
        draw, field = self.draw, self.field(self.in_words or self.texts)
        parts, clauses = [], []
        for _ in range(draw.randint(1, 3)):
            text, clause = strings.simple_part(draw, field, self.word, self.vocabulary)
            if text is None:
                continue
            parts.append(text)
            clauses.append(clause)
        if not parts:
            return self.match()
        operator = draw.choice(["and", "or"])
        sign = draw.choice([" ", " + ", " | "])
        role = {" ": "must" if operator == "and" else "should", " + ": "must", " | ": "should"}[sign]
        send = {"query": sign.join(parts), "fields": [field.name], "default_operator": operator}
        return {"_said": {"send": {"simple_query_string": send}, "means": {"bool": {role: clauses}}}}

    def term(self):
        draw, field = self.draw, self.field()
        if field.kind == "datetime" and draw.random() < 0.3:
            return {"term": {field.name: self.value(field)[:10]}}
        if field.kind == "ip" and draw.random() < 0.3:
            value = self.value(field)
            return {"term": {field.name: f"{value}/{draw.choice([8, 24, 31]) if '.' in value else draw.choice([32, 64, 127])}"}}
        value = self.word(field) if field.is_words and draw.random() < 0.8 else self.value(field)
        if field.is_text and draw.random() < 0.15:
            value = value.swapcase() if value and value.isascii() else value
            return {"term": {field.name: {"value": value, "case_insensitive": True}}}
        return {"term": {field.name: {"value": value} if draw.random() < 0.3 else value}}

    def terms(self):
        field = self.field()
        pick = self.word if field.is_words else self.value
        return {"terms": {field.name: [pick(field) for _ in range(self.draw.randint(1, 5))]}}

    def exists(self):
        names = [field.name for field in self.fields if field.fast]
        names += [name.split(".")[0] for name in names if "." in name]
        return {"exists": {"field": self.draw.choice(names)}}

    def range(self):
        draw, field = self.draw, self.field(self.typed * 4 + self.texts)
        if field.kind == "datetime":
            return {"range": {field.name: self.range_of_dates(field)}}
        pick = self.word if field.is_words and not field.fast else self.value
        ends = [pick(field) for _ in range(2)]
        if field.is_number:
            ends = [self.near_number(field, end) for end in ends]
        if draw.random() < 0.9:
            ends.sort(key=lambda end: float(end) if field.is_number else field.value(end) if field.kind == "ip" else end)
        body = {draw.choice(["gt", "gte"]): ends[0], draw.choice(["lt", "lte"]): ends[1]}
        if draw.random() < 0.35:
            del body[draw.choice(list(body))]
        return {"range": {field.name: body}}

    def near_number(self, field, number):
        """A number, or a fraction beside it, or the same as text."""
        draw = self.draw
        if field.kind != "f64" and abs(number) < 2**40 and draw.random() < 0.15:
            return number + draw.choice([0.5, -0.5, 0.0])
        return str(number) if draw.random() < 0.1 else number

    def range_of_dates(self, field):
        """Ends as times, as days and months, with arithmetic, in a format, in a zone."""
        draw, body = self.draw, {}
        pair = sorted(self.value(field) for _ in range(2))
        keys = [draw.choice(["gt", "gte"]), draw.choice(["lt", "lte"])]
        kind = draw.choice(["full", "full", "cut", "math", "now", "format", "millis"])
        for key, end in zip(keys, pair):
            if kind == "cut":
                end = end[: draw.choice([4, 7, 10, 10])]
            elif kind == "math":
                end = end[: draw.choice([10, 19])]
                end += ("Z" if len(end) == 19 else "") + "||" + draw.choice(STEPS)
            elif kind == "now":
                end = draw.choice(["now", "now-1d", "now/d", "now-5y", "now-20y/y", "now-36M/M"])
            elif kind == "format":
                year, month, day = end[:10].split("-")
                end = f"{day}/{month}/{year}"
            elif kind == "millis":
                end = str(dates.literal_span(end, dates.UTC)[0] // 10**6)
            body[key] = end
        if kind == "format":
            body["format"] = "dd/MM/yyyy"
        if kind == "millis":
            body["format"] = "epoch_millis"
        if kind in ("cut", "math", "format") and draw.random() < 0.4:
            body["time_zone"] = draw.choice(["Europe/Berlin", "+05:30", "-08:00", "America/New_York", "Asia/Kathmandu"])
        if draw.random() < 0.3:
            del body[draw.choice(keys)]
        return body

    def prefix(self):
        field, body = self.field(self.texts), {}
        word = self.word(field)
        body["value"] = word[: self.draw.randint(1, 5)]
        if self.draw.random() < 0.15 and word.isascii():
            body = {"value": body["value"].swapcase(), "case_insensitive": True}
        return {"prefix": {field.name: body["value"] if len(body) == 1 else body}}

    def wildcard(self):
        draw, field = self.draw, self.field(self.texts)
        word = self.word(field)[:20]
        pattern = ""
        place = 0
        while place < len(word):
            kind = draw.random()
            if kind < 0.15:
                pattern, place = pattern + "*", place + draw.randint(0, 3)
            elif kind < 0.25:
                pattern, place = pattern + "?", place + 1
            else:
                char = word[place]
                pattern, place = pattern + ("\\" if char in "*?\\" else "") + char, place + 1
        body = {"value": pattern + draw.choice(["", "*"])}
        if draw.random() < 0.1 and pattern.isascii():
            body = {"value": body["value"].swapcase(), "case_insensitive": True}
        return {"wildcard": {field.name: body}}

    def regexp(self):
        draw, field = self.draw, self.field(self.texts)
        word = self.word(field)[:15]
        pattern = "".join(self.part(char) for char in word)
        return {"regexp": {field.name: {"value": pattern + draw.choice(["", ".*"])}}}

    def part(self, char):
        """A character as a piece of a regular expression that takes it."""
        if not char.isalnum():
            return "." if not char.isspace() or char == " " else char
        kind = self.draw.random()
        for limit, piece in ((0.08, "."), (0.14, f"[{char}z]"), (0.2, f"({char}|x)"), (0.26, f"{char}+"), (0.3, f"{char}?"), (0.34, "[^-]")):
            if kind < limit:
                return piece
        return char

    def fuzzy(self):
        draw, field = self.draw, self.field(self.in_words or self.texts)
        word = list(self.word(field)[:12])
        for _ in range(draw.randint(0, 2)):
            place = draw.randrange(len(word) + 1)
            kind = draw.choice(["add", "drop", "change", "swap"])
            if kind == "add":
                word.insert(place, draw.choice("aeiou"))
            elif place < len(word) and kind == "drop" and len(word) > 1:
                del word[place]
            elif place < len(word) and kind == "change":
                word[place] = draw.choice("aeiou")
            elif place + 1 < len(word):
                word[place], word[place + 1] = word[place + 1], word[place]
        body = {"value": "".join(word)}
        for name, choices in (("fuzziness", ["AUTO", 1, 2, "0"]), ("prefix_length", [0, 1, 2]), ("transpositions", [True, False])):
            if draw.random() < 0.4:
                body[name] = draw.choice(choices)
        return {"fuzzy": {field.name: body}}
