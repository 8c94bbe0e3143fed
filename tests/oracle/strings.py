"""Queries in the two languages of query strings: written from the DSL where they can say the same."""

import json
import re

from fields import words

PLAIN = re.compile(r"[A-Za-z0-9_]+")
OPERATORS = {"AND", "OR", "NOT", "IN", "TO"}


def query_string(query, fields):
    """A query of the DSL in Canter's query language, or None if it has no such form."""
    (name, body), = query.items()
    writer = globals().get(f"of_{name}")
    return writer(body, fields) if writer else None


def quoted(text):
    """A text in quotes; what means something there is escaped."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def is_plain(text):
    return bool(PLAIN.fullmatch(text)) and text not in OPERATORS


def of_match_all(body, fields):
    return "*"


def of_bool(body, fields):
    """`AND`, `OR` and `NOT`, with brackets everywhere."""
    parts = {role: body.get(role, []) for role in ("must", "filter", "should", "must_not")}
    parts = {role: value if isinstance(value, list) else [value] for role, value in parts.items()}
    texts = {role: [query_string(query, fields) for query in queries] for role, queries in parts.items()}
    if any(text is None for role in texts for text in texts[role]) or "minimum_should_match" in body:
        return None
    needed = texts["must"] + texts["filter"]
    if texts["should"] and not needed:
        # The same clause twice is read as one that may be there.
        if len(set(texts["should"])) < len(texts["should"]):
            return None
        needed = ["(" + " OR ".join(texts["should"]) + ")"]
    if not needed:
        needed = ["*"]
    return "(" + " AND ".join(needed + [f"NOT {text}" for text in texts["must_not"]]) + ")"


def of_dis_max(body, fields):
    return of_bool({"should": body["queries"]}, fields)


def of_constant_score(body, fields):
    return query_string(body["filter"], fields)


def of_boosting(body, fields):
    return query_string(body["positive"], fields)


def one(body, short):
    (name, inner), = [item for item in body.items() if item[0] != "boost"]
    return name, inner if isinstance(inner, dict) else {short: inner}


def literal(field, value):
    """A value behind a colon."""
    text = json.dumps(value) if isinstance(value, (bool, int, float)) else value
    return text if is_plain(text) else quoted(text)


def of_match(body, fields):
    name, body = one(body, "query")
    field = fields[name]
    if set(body) - {"query", "operator"}:
        return None
    if field.kind == "datetime":
        return of_term(body_of(name, body["query"]), fields)
    if not field.is_text:
        return f"{name}:{literal(field, body['query'])}"
    if field.is_raw:
        return f"{name}:{quoted(body['query'])}"
    found = list(dict.fromkeys(word for _, word in words(field.tokenizer, body["query"])))
    if not found or not all(is_plain(word) for word in found):
        return None
    sign = " AND " if body.get("operator", "or").lower() == "and" else " OR "
    return "(" + sign.join(f"{name}:{word}" for word in found) + ")"


def body_of(name, value):
    return {name: {"value": value}}


def of_match_phrase(body, fields):
    name, body = one(body, "query")
    return f"{name}:{quoted(body['query'])}" if body["query"].strip() else None


def of_match_phrase_prefix(body, fields):
    name, body = one(body, "query")
    if not fields[name].positions or not words(fields[name].tokenizer, body["query"]):
        return None
    return f"{name}:{quoted(body['query'])}*"


def of_term(body, fields):
    name, body = one(body, "value")
    field, value = fields[name], body["value"]
    if field.is_words or "case_insensitive" in body:
        return None
    # A query string compares terms to the second.
    if field.kind == "datetime" and (len(value) < 20 or field.precision != "seconds") or "/" in str(value) and field.kind == "ip":
        return None
    return f"{name}:{literal(field, value)}"


def of_terms(body, fields):
    (name, values), = body.items()
    if fields[name].is_words or fields[name].kind == "datetime":
        return None
    return f"{name}: IN [{' '.join(literal(fields[name], value) for value in values)}]"


def of_exists(body, fields):
    return f"{body['field']}:*"


def of_range(body, fields):
    name, body = one(body, "value")
    field = fields[name]
    ends = [str(end) for key, end in body.items()]
    if set(body) - {"gt", "gte", "lt", "lte"} or field.is_words or field.kind == "bool":
        return None
    if field.kind == "datetime" and not all(re.fullmatch(r".{19,}Z", end) for end in ends):
        return None
    if not all(re.fullmatch(r"[\w.+:-]+", end) and end.isascii() for end in ends) or not ends:
        return None
    if field.is_text and not all(is_plain(end) for end in ends):
        return None
    write = str
    low = "[" + write(body["gte"]) if "gte" in body else "{" + write(body["gt"]) if "gt" in body else "[*"
    high = write(body["lte"]) + "]" if "lte" in body else write(body["lt"]) + "}" if "lt" in body else "*]"
    return f"{name}:{low} TO {high}"


def of_prefix(body, fields):
    name, body = one(body, "value")
    return f"{name}:{body['value']}*" if len(body) == 1 and is_plain(body["value"]) else None


def of_wildcard(body, fields):
    name, body = one(body, "value")
    text = body["value"]
    if len(body) > 1:
        return None
    if not re.fullmatch(r"[A-Za-z0-9_*?]+", text) or not re.search(r"[*?]", text) or set(text) == {"*"}:
        return None
    return f"{name}:{text}"


def of_regexp(body, fields):
    name, body = one(body, "value")
    return f"{name}:/{body['value']}/" if body["value"] and "/" not in body["value"] and "\n" not in body["value"] else None


def of_fuzzy(body, fields):
    name, body = one(body, "value")
    if "prefix_length" in body or "transpositions" in body or not is_plain(body["value"]):
        return None
    edits = body.get("fuzziness", "AUTO")
    return f"{name}:{body['value']}~{'' if edits == 'AUTO' else edits}"


def simple_part(draw, field, word_of, vocabulary):
    """A piece of a simple query string, and the clause that it is."""
    word, name = word_of(field), field.name
    if not is_plain(word):
        return None, None
    kind = draw.choice(["word", "word", "phrase", "prefix", "near", "not", "group"])
    if kind == "prefix":
        start = word[: draw.randint(1, 4)]
        return f"{start}*", {"prefix": {name: start}}
    if kind == "near":
        return f"{word}~1", {"fuzzy": {name: {"value": word, "fuzziness": 1}}}
    if kind == "not":
        return f"-{word}", {"bool": {"must_not": {"match": {name: word}}}}
    other = word_of(field)
    if not is_plain(other):
        return word, {"match": {name: word}}
    if kind == "phrase" and field.positions:
        return f'"{word} {other}"', {"match_phrase": {name: f"{word} {other}"}}
    if kind == "group":
        return f"({word} | {other})", {"bool": {"should": [{"match": {name: word}}, {"match": {name: other}}]}}
    return word, {"match": {name: word}}
