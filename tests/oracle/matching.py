"""Which documents a query of the DSL finds, by a plain reading of Elasticsearch's documentation."""

import collections
import re

import dates
from fields import address, lower, words
from parameters import (
    any_case,
    at_least,
    distance,
    edits_of,
    is_between,
    many,
    needs,
    network,
    number_end,
    number_of,
    of_field,
    sql_number,
    stands,
    text_of,
    wildcard_expression,
)


class Matcher:
    """Evaluates queries over a store; a query is JSON, as it is sent."""

    def __init__(self, store, now_ms):
        self.store = store
        self.now_ns = now_ms * 10**6
        # By clause: how many were asked, how many found anything, and how many of these not everything.
        self.tally = collections.defaultdict(collections.Counter)

    def docs(self, query):
        """A mask of the documents that a query finds."""
        (name, body), = query.items()
        mask = getattr(self, f"of_{name.lstrip('_')}")(body)
        name = next(iter(body["send"])) if name == "_said" else name
        self.tally[name].update(asked=1, any=int(mask.any()), some=int(mask.any() and not mask.all()))
        return mask

    # What is sent as one thing and means another: a query string, and the query that it was written from.
    def of_said(self, body):
        return self.docs(body["means"])

    def of_match_all(self, body):
        return self.store.all()

    def of_match_none(self, body):
        return self.store.none()

    def of_bool(self, body):
        mask = self.store.all()
        for role in ("must", "filter"):
            for query in many(body.get(role, [])):
                mask = mask & self.docs(query)
        for query in many(body.get("must_not", [])):
            mask = mask & ~self.docs(query)
        should = [self.docs(query) for query in many(body.get("should", []))]
        needed = 0 if body.get("must") or body.get("filter") else 1
        if should:
            needed = at_least(body.get("minimum_should_match", needed), len(should))
            mask = mask & (sum(found.astype(int) for found in should) >= needed)
        elif needs(body.get("minimum_should_match")):
            mask = self.store.none()
        return mask

    def of_constant_score(self, body):
        return self.docs(body["filter"])

    def of_boosting(self, body):
        return self.docs(body["positive"])

    def of_nested(self, body):
        return self.docs(body["query"])

    def of_dis_max(self, body):
        mask = self.store.none()
        for query in body["queries"]:
            mask = mask | self.docs(query)
        return mask

    # Words.

    def of_match(self, body):
        name, body = of_field(body, "query")
        return self.match(name, body)

    def match(self, name, body):
        """Words in one field."""
        field = self.store.fields[name]
        if not field.is_text:
            try:
                return self.term(name, body["query"])
            except ValueError:
                return self.store.none()
        found = [self.word(name, word, body) for _, word in words(field.tokenizer, str(body["query"]))]
        return self.some_of(found, body)

    def some_of(self, found, body):
        """Documents of all masks, or of as many as are asked for."""
        if not found:
            return self.store.all() if body.get("zero_terms_query") == "all" else self.store.none()
        needed = at_least(body.get("minimum_should_match", 1), len(found))
        if body.get("operator", "or").lower() == "and":
            needed = len(found)
        return sum(mask.astype(int) for mask in found) >= max(needed, 1)

    def word(self, name, word, body):
        """A word of a match, which may be a near one."""
        if "fuzziness" in body:
            return self.near(name, word, body["fuzziness"], body.get("prefix_length", 0), body.get("fuzzy_transpositions", True))
        return self.store.of_words(name, [word])

    def of_match_phrase(self, body):
        name, body = of_field(body, "query")
        return self.phrase(name, str(body["query"]))

    def of_match_phrase_prefix(self, body):
        name, body = of_field(body, "query")
        return self.phrase(name, str(body["query"]), is_prefix=True)

    def phrase(self, name, text, is_prefix=False):
        """Words one behind the other; the last may be the beginning of one."""
        field = self.store.fields[name]
        if not field.is_text:
            return self.match(name, {"query": text})
        cut = words(field.tokenizer, text)
        if not cut:
            return self.store.none()
        last = [cut[-1][1]]
        if is_prefix:
            last = [word for word in self.store.postings[name] if word.startswith(cut[-1][1])]
        mask = self.store.of_words(name, last)
        for _, word in cut[:-1]:
            mask = mask & self.store.of_words(name, [word])
        if len(cut) == 1:
            return mask
        last, spots = set(last), self.store.spots[name]
        kept = [doc for doc in mask.nonzero()[0] if stands(spots[doc], cut, last)]
        return self.store.of_docs(kept)

    def of_match_bool_prefix(self, body):
        name, body = of_field(body, "query")
        return self.bool_prefix(name, body)

    def bool_prefix(self, name, body):
        """Words of which the last may be the beginning of one."""
        field = self.store.fields[name]
        cut = [word for _, word in words(field.tokenizer, str(body["query"]))]
        if not cut:
            return self.store.none()
        found = [self.word(name, word, body) for word in cut[:-1]]
        return self.some_of(found + [self.starting(name, cut[-1])], body)

    def starting(self, name, start):
        """Documents with a word that begins so."""
        return self.store.of_words(name, [word for word in self.store.postings[name] if word.startswith(start)])

    def of_multi_match(self, body):
        kind = body.get("type", "best_fields")
        names = [name.split("^")[0] for name in body.get("fields") or self.store.corpus.default_fields]
        if kind == "cross_fields":
            return self.cross_fields(names, body)
        each = {
            "best_fields": self.match,
            "most_fields": self.match,
            "phrase": lambda name, body: self.phrase(name, str(body["query"])),
            "phrase_prefix": lambda name, body: self.phrase(name, str(body["query"]), is_prefix=True),
            "bool_prefix": self.bool_prefix,
        }[kind]
        mask = self.store.none()
        for name in names:
            mask = mask | each(name, body)
        return mask

    def cross_fields(self, names, body):
        """Each word in any field; all fields have the same tokenizer."""
        tokenizer = self.store.fields[names[0]].tokenizer
        found = []
        for _, word in words(tokenizer, body["query"]):
            mask = self.store.none()
            for name in names:
                mask = mask | self.store.of_words(name, [word])
            found.append(mask)
        return self.some_of(found, body)

    # Terms.

    def of_term(self, body):
        name, body = of_field(body, "value")
        if body.get("case_insensitive"):
            wanted = any_case(str(body["value"]))
            return self.store.of_words(name, [word for word in self.store.postings[name] if any_case(word) == wanted])
        return self.term(name, body["value"])

    def of_terms(self, body):
        (name, values), = [item for item in body.items() if item[0] != "boost"]
        mask = self.store.none()
        for value in values:
            mask = mask | self.term(name, value)
        return mask

    def term(self, name, value):
        """Documents with one value, as it stands in the index."""
        field = self.store.fields[name]
        if field.is_text:
            # Where a whole value is made small, the value that is looked for is, too.
            value = lower(text_of(value)) if field.tokenizer == "lowercase" else text_of(value)
            return self.store.of_words(name, [value])
        if field.kind == "datetime":
            return self.in_range(name, {"gte": value, "lte": value})
        if field.kind == "bool":
            return self.store.where(name, "value = ?", [int(str(value).lower() == "true")])
        if field.kind == "ip":
            if "/" in value:
                first, last = network(value)
                return self.store.where(name, "value BETWEEN ? AND ?", [first, last])
            return self.store.where(name, "value = ?", [address(value)])
        value = number_of(value)
        if isinstance(value, float) and field.kind != "f64":
            if not value.is_integer():
                return self.store.none()
            value = int(value)
        return self.store.where(name, f"value = {sql_number(field, value)}")

    def of_exists(self, body):
        name = body["field"]
        names = [field for field in self.store.fields if field == name or field.startswith(name + ".")]
        mask = self.store.none()
        for field in names:
            mask = mask | self.store.where(field, "TRUE")
        return mask

    def of_range(self, body):
        name, body = of_field(body, "value")
        return self.in_range(name, body)

    def in_range(self, name, body):
        """Documents with a value between two ends."""
        field, conditions, values = self.store.fields[name], ["TRUE"], []
        if field.is_words and not field.fast:
            # Of a text that has a column, the whole values are compared.
            return self.store.of_words(name, [word for word in self.store.postings[name] if is_between(word, body)])
        for key, sign in (("gt", ">"), ("gte", ">="), ("lt", "<"), ("lte", "<=")):
            if body.get(key) is None:
                continue
            end = body[key]
            if field.is_number:
                conditions.append(f"value {number_end(field, sign, end)}")
                continue
            if field.kind == "datetime":
                sign, end = self.date_end(field, key, sign, end, body)
            elif field.kind == "ip":
                end = address(end)
            elif field.kind == "bool":
                end = int(str(end).lower() == "true")
            conditions.append(f"value {sign} ?")
            values.append(end)
        return self.store.where(name, " AND ".join(conditions), values)

    def date_end(self, field, key, sign, end, body):
        """The end of a range of dates in nanoseconds; `gt` and `lte` take the last of what a date says."""
        if body.get("format") == "epoch_millis":
            ns = int(end) * 10**6
            return (sign, ns) if key in ("gte", "lt") else (">=" if key == "gt" else "<", ns + 10**6)
        if body.get("format") == "dd/MM/yyyy":
            day, month, year = end.split("/")
            end = f"{year}-{month}-{day}"
        ns = dates.resolve(end, key in ("gt", "lte"), body.get("time_zone"), self.now_ns)
        return sign, ns

    def of_prefix(self, body):
        return self.pattern(body, lambda text: re.escape(text), ends=False)

    def of_wildcard(self, body):
        return self.pattern(body, wildcard_expression)

    def of_regexp(self, body):
        return self.pattern(body, lambda text: text)

    def pattern(self, body, expression_of, ends=True):
        """Documents with a word that a pattern takes."""
        name, body = of_field(body, "value")
        ignores_case = re.IGNORECASE if body.get("case_insensitive") else 0
        expression = re.compile(expression_of(body["value"]), re.DOTALL | ignores_case | (re.ASCII if ignores_case else 0))
        takes = expression.fullmatch if ends else expression.match
        return self.store.of_words(name, [word for word in self.store.postings[name] if takes(word)])

    def of_fuzzy(self, body):
        name, body = of_field(body, "value")
        return self.near(name, body["value"], body.get("fuzziness", "AUTO"), body.get("prefix_length", 0), body.get("transpositions", True))

    def near(self, name, word, fuzziness, prefix_len, has_transpositions):
        """Documents with a word that is so many edits away from this one."""
        most = edits_of(fuzziness, word)
        head = word[:prefix_len]
        found = [
            other
            for other in self.store.postings[name]
            if abs(len(other) - len(word)) <= most
            and other.startswith(head)
            and distance(word[len(head):], other[len(head):], has_transpositions, most) <= most
        ]
        return self.store.of_words(name, found)
