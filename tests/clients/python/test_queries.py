"""The DSL's clauses with their parameters, each beside a scan of the documents with a predicate of its own."""

import ipaddress
import itertools
import re

import pytest
from test_search import ALL, has_phrase, near, words_of


def said(doc):
    return words_of(doc["message"])


def entitled(doc):
    return words_of(doc["title"])


def num_of(doc, *words):
    return sum(word in said(doc) for word in words)


def has_loose_phrase(words, phrase, slop):
    """Whether the words of a phrase are there, moved by at most so many places together."""
    places = [[at for at, word in enumerate(words) if word == wanted] for wanted in phrase]
    for chosen in itertools.product(*places):
        moves = [at - nth for nth, at in enumerate(chosen)]
        if len(set(chosen)) == len(phrase) and max(moves) - min(moves) <= slop:
            return True
    return False


def replaced(word, other, most):
    """Whether so many characters are added, left out or changed; a swap is two changes."""
    rows = [list(range(len(other) + 1))]
    for i, a in enumerate(word, 1):
        row = [i]
        for j, b in enumerate(other, 1):
            row.append(min(row[-1] + 1, rows[-1][j] + 1, rows[-1][j - 1] + (a != b)))
        rows.append(row)
    return rows[-1][-1] <= most


def minute(doc):
    return doc["timestamp"][11:16]


def match(field="message", **how):
    return {"match": {field: how}}


FULL_TEXT = {
    "match_all with a boost": ({"match_all": {"boost": 2.0}}, lambda d: True),
    "match without words, all": (match(query="!?", zero_terms_query="all"), lambda d: True),
    "match without words, none": (match(query="!?", zero_terms_query="none"), lambda d: False),
    "match of a number with text, lenient": (match("status", query="many", lenient=True), lambda d: False),
    "match with a boost": (match(query="disk", boost=3), lambda d: "disk" in said(d)),
    "match of a keyword": (match("service", query="billing"), lambda d: d["service"] == "billing"),
    "match of a keyword is exact": (match("service", query="Billing"), lambda d: False),
    "match of a flag": (match("is_slow", query="true"), lambda d: d["is_slow"]),
    "match of a fraction": (match("latency", query=4.625), lambda d: d["latency"] == 4.625),
    "match of an address": (match("address", query="10.0.2.5"), lambda d: d["address"] == "10.0.2.5"),
    "match but one": (
        match(query="timeout disk ok", minimum_should_match=-1),
        lambda d: num_of(d, "timeout", "disk", "ok") >= 2,
    ),
    "match three of four": (
        match(query="timeout disk ok user", minimum_should_match="75%"),
        lambda d: num_of(d, "timeout", "disk", "ok", "user") >= 3,
    ),
    "match all of few, some of many": (
        match(query="timeout disk ok user", minimum_should_match="2<50%"),
        lambda d: num_of(d, "timeout", "disk", "ok", "user") >= 2,
    ),
    "match all of a few": (
        match(query="timeout disk", minimum_should_match="2<50%"),
        lambda d: num_of(d, "timeout", "disk") == 2,
    ),
    "match with one edit": (
        match(query="logn", fuzziness=1),
        lambda d: any(near("logn", word, 1) for word in said(d)),
    ),
    "match with an exact start": (
        match(query="dosk full", fuzziness=1, prefix_length=2, operator="or"),
        lambda d: any(word[:2] == "do" and near("dosk", word, 1) for word in said(d)) or "full" in said(d),
    ),
    "match with a swap as two edits": (
        match(query="resetp dsik", fuzziness=1, fuzzy_transpositions=False),
        lambda d: any(replaced(wanted, word, 1) for wanted in ("resetp", "dsik") for word in said(d)),
    ),
    "a phrase with a gap": (
        {"match_phrase": {"message": {"query": "disk full", "slop": 1}}},
        lambda d: has_loose_phrase(said(d), ("disk", "full"), 1),
    ),
    "a phrase in the other order": (
        {"match_phrase": {"message": {"query": "disk full", "slop": 2}}},
        lambda d: has_loose_phrase(said(d), ("disk", "full"), 2),
    ),
    "a phrase of one word": ({"match_phrase": {"message": "peer"}}, lambda d: "peer" in said(d)),
    "a phrase without words": (
        {"match_phrase": {"message": {"query": "...", "zero_terms_query": "all"}}},
        lambda d: True,
    ),
    "a phrase of a keyword": ({"match_phrase": {"service": "auth"}}, lambda d: d["service"] == "auth"),
    "a phrase that goes on": (
        {"match_phrase_prefix": {"message": {"query": "disk fu", "max_expansions": 10}}},
        lambda d: any(a == "disk" and b.startswith("fu") for a, b in zip(said(d), said(d)[1:])),
    ),
    "a word that goes on": (
        {"match_phrase_prefix": {"message": "f"}},
        lambda d: any(word.startswith("f") for word in said(d)),
    ),
    "words of which the last goes on, all": (
        {"match_bool_prefix": {"message": {"query": "disk user f", "operator": "and"}}},
        lambda d: num_of(d, "disk", "user") == 2 and any(word.startswith("f") for word in said(d)),
    ),
    "words of which the last goes on, two": (
        {"match_bool_prefix": {"message": {"query": "disk user f", "minimum_should_match": 2}}},
        lambda d: num_of(d, "disk", "user") + any(word.startswith("f") for word in said(d)) >= 2,
    ),
    "multi_match without fields": (
        {"multi_match": {"query": "peer"}},
        lambda d: "peer" in said(d) or "peer" in entitled(d),
    ),
    "multi_match and, in one field": (
        {"multi_match": {"query": "disk full", "fields": ["message", "title"], "operator": "and"}},
        lambda d: {"disk", "full"} <= set(said(d)) or {"disk", "full"} <= set(entitled(d)),
    ),
    "multi_match cross, or": (
        {"multi_match": {"query": "17 peer", "fields": ["title", "message"], "type": "cross_fields"}},
        lambda d: {"17", "peer"} & set(said(d) + entitled(d)),
    ),
    "multi_match phrase prefix": (
        {"multi_match": {"query": "request 1", "fields": ["title", "message"], "type": "phrase_prefix"}},
        lambda d: any(
            a == "request" and b.startswith("1")
            for words in (said(d), entitled(d))
            for a, b in zip(words, words[1:])
        ),
    ),
    "multi_match bool prefix": (
        {"multi_match": {"query": "peer conn", "fields": ["title", "message"], "type": "bool_prefix"}},
        lambda d: any(word == "peer" or word.startswith("conn") for word in said(d) + entitled(d)),
    ),
    "multi_match with a tie breaker and numbers, lenient": (
        {"multi_match": {"query": "peer", "fields": ["*"], "tie_breaker": 0.3, "lenient": True}},
        lambda d: "peer" in said(d) + entitled(d),
    ),
    "multi_match nearly": (
        {"multi_match": {"query": "fialed", "fields": ["message", "title"], "fuzziness": "AUTO"}},
        lambda d: any(near("fialed", word, 2) for word in said(d) + entitled(d)),
    ),
}

STRINGS = {
    "all": ("*:*", lambda d: True),
    "not": ("NOT level:ERROR", lambda d: d["level"] != "ERROR"),
    "with and without": ("+message:disk -message:user", lambda d: "disk" in said(d) and "user" not in said(d)),
    "in brackets": (
        "level:(ERROR OR WARN) AND (is_slow:true OR status:404)",
        lambda d: d["level"] in ("ERROR", "WARN") and (d["is_slow"] or d["status"] == 404),
    ),
    "a star": ("*", lambda d: True),
    "a field with a value": ("optional:*", lambda d: "optional" in d),
    "a pattern": ("service:b*ng", lambda d: d["service"] == "billing"),
    "one character": ("service:a?i", lambda d: d["service"] == "api"),
    "an expression": ("message:/f(ull|ailed)/", lambda d: {"full", "failed"} & set(said(d))),
    "a phrase": ('message:"disk full"', lambda d: has_phrase(d["message"], "disk", "full")),
    "a loose phrase": ('message:"disk full"~1', lambda d: has_loose_phrase(said(d), ("disk", "full"), 1)),
    "a boost": ("message:disk^2 OR message:user", lambda d: {"disk", "user"} & set(said(d))),
    "at least": ("status:>=500", lambda d: d["status"] >= 500),
    "less": ("latency:<3.5", lambda d: d["latency"] < 3.5),
    "an open range": ("status:[405 TO *]", lambda d: d["status"] >= 405),
    "a range without its ends": ("id:{5 TO 9}", lambda d: 5 < d["id"] < 9),
    "a range with one of its ends": ("id:[5 TO 9}", lambda d: 5 <= d["id"] < 9),
    "a date": ("timestamp:[2024-05-01T10:20:00Z TO *]", lambda d: minute(d) >= "10:20"),
    "a day": ("timestamp:[2024-05-01 TO 2024-05-02]", lambda d: True),
    "a quoted date": ('timestamp:["2024-05-01T10:20:00Z" TO *]', lambda d: minute(d) >= "10:20"),
    "quoted days": ('timestamp:{"2024-04-30" TO "2024-05-01"]', lambda d: True),
    "quoted numbers": ('id:["5" TO "9"} AND latency:>="0"', lambda d: 5 <= d["id"] < 9),
    "a quoted keyword": ('service:"Search"', lambda d: d["service"] == "Search"),
    "an object's field": ("ctx.user:u5", lambda d: d["ctx"]["user"] == "u5"),
    "a default field's word": ("peer", lambda d: "peer" in said(d) + entitled(d)),
}


def simple(query, **how):
    return {"simple_query_string": {"query": query, "fields": ["message"], **how}}


SIMPLE = {
    "or": (simple("disk | user"), lambda d: {"disk", "user"} & set(said(d))),
    "and": (simple("disk + user"), lambda d: {"disk", "user"} <= set(said(d))),
    "and by default": (simple("disk user", default_operator="and"), lambda d: {"disk", "user"} <= set(said(d))),
    "two of three": (
        simple("disk user ok", minimum_should_match=2),
        lambda d: num_of(d, "disk", "user", "ok") >= 2,
    ),
    "a phrase": (simple('"disk full"'), lambda d: has_phrase(d["message"], "disk", "full")),
    "a loose phrase": (simple('"disk full"~1'), lambda d: has_loose_phrase(said(d), ("disk", "full"), 1)),
    "a prefix": (simple("conn*"), lambda d: "connection" in said(d)),
    "nearly": (simple("lgin~1"), lambda d: any(near("lgin", word, 1) for word in said(d))),
    "in brackets": (
        simple("(disk | user) + -ok"),
        lambda d: {"disk", "user"} & set(said(d)) and "ok" not in said(d),
    ),
    "signs without a meaning": (simple("disk | user", flags="NONE"), lambda d: {"disk", "user"} & set(said(d))),
    "several fields": (
        simple("peer", fields=["message^2", "title"]),
        lambda d: "peer" in said(d) + entitled(d),
    ),
}

TERMS = {
    "a word of a text": ({"term": {"message": "disk"}}, lambda d: "disk" in said(d)),
    "a text as it is written": ({"term": {"message": "Disk"}}, lambda d: False),
    "a fraction": ({"term": {"latency": 9.25}}, lambda d: d["latency"] == 9.25),
    "a flag as text": ({"term": {"is_slow": "false"}}, lambda d: not d["is_slow"]),
    "an address": ({"term": {"address": "10.0.1.31"}}, lambda d: d["address"] == "10.0.1.31"),
    "a day": ({"term": {"timestamp": "2024-05-01"}}, lambda d: True),
    "a moment": ({"term": {"timestamp": 1_714_557_606_000}}, lambda d: d["id"] == 4),
    "terms of text": ({"terms": {"message": ["peer", "disk"]}}, lambda d: {"peer", "disk"} & set(said(d))),
    "terms of flags": ({"terms": {"is_slow": [True]}}, lambda d: d["is_slow"]),
    "terms of fractions": ({"terms": {"latency": [9.25, 4.625]}}, lambda d: d["latency"] in (9.25, 4.625)),
    "terms of networks": (
        {"terms": {"address": ["10.0.1.0/25", "10.0.2.7"], "boost": 2}},
        lambda d: ipaddress.ip_address(d["address"]) in ipaddress.ip_network("10.0.1.0/25")
        or d["address"] == "10.0.2.7",
    ),
    "no terms": ({"terms": {"service": []}}, lambda d: False),
    "a range of addresses": (
        {"range": {"address": {"gt": "10.0.1.190", "lte": "10.0.2.3"}}},
        lambda d: ipaddress.ip_address("10.0.1.190") < ipaddress.ip_address(d["address"]) <= ipaddress.ip_address("10.0.2.3"),
    ),
    "a range with fractions of whole numbers": ({"range": {"id": {"gt": 9.5, "lt": 12.5}}}, lambda d: d["id"] in (10, 11, 12)),
    "a range beyond the type": ({"range": {"status": {"gte": -5, "lte": 1e30}}}, lambda d: True),
    "a range with numbers as text": ({"range": {"status": {"gte": "500", "lte": "501"}}}, lambda d: d["status"] in (500, 501)),
    "a range up to a rounded minute": (
        {"range": {"timestamp": {"lte": "2024-05-01T10:07:20Z||/m"}}},
        lambda d: minute(d) <= "10:07",
    ),
    "a range behind a rounded minute": (
        {"range": {"timestamp": {"gt": "2024-05-01T10:07:20Z||/m"}}},
        lambda d: minute(d) > "10:07",
    ),
    "a range from a rounded minute": (
        {"range": {"timestamp": {"gte": "2024-05-01T10:07:20Z||/m", "lt": "2024-05-01T10:09:59Z||/m"}}},
        lambda d: "10:07" <= minute(d) < "10:09",
    ),
    "a range of days": ({"range": {"timestamp": {"gte": "01/05/2024", "lte": "01/05/2024", "format": "dd/MM/yyyy"}}}, lambda d: True),
    "a range up to now": ({"range": {"timestamp": {"lt": "now", "gte": "now-50y"}}}, lambda d: True),
    "a range of a zone by name": (
        {"range": {"timestamp": {"gte": "2024-05-01T12:30:00", "time_zone": "Europe/Berlin"}}},
        lambda d: minute(d) >= "10:30",
    ),
    "an object exists": ({"exists": {"field": "ctx"}}, lambda d: True),
    "an object's field exists": ({"exists": {"field": "ctx.attempt"}}, lambda d: True),
    "a field exists nowhere": ({"exists": {"field": "nowhere"}}, lambda d: False),
    "a field does not exist": ({"bool": {"must_not": {"exists": {"field": "optional"}}}}, lambda d: "optional" not in d),
    "a prefix of a text's word": ({"prefix": {"message": {"value": "conn"}}}, lambda d: "connection" in said(d)),
    "a wildcard in a text": ({"wildcard": {"message": "?is*"}}, lambda d: any(re.fullmatch(".is.*", w) for w in said(d))),
    "a wildcard in any case": (
        {"wildcard": {"service": {"value": "SE*H", "case_insensitive": True}}},
        lambda d: d["service"] == "Search",
    ),
    "a wildcard by its other name": ({"wildcard": {"service": {"wildcard": "a*"}}}, lambda d: d["service"][0] == "a"),
    "an expression of a text's word": ({"regexp": {"message": {"value": "[du].*[kr]"}}}, lambda d: {"disk", "user"} & set(said(d))),
    "an expression in any case": (
        {"regexp": {"service": {"value": "s[a-e]+rch", "case_insensitive": True}}},
        lambda d: d["service"] == "Search",
    ),
    "nearly, two edits": ({"fuzzy": {"service": {"value": "biling", "fuzziness": 2}}}, lambda d: near("biling", d["service"], 2)),
    "nearly, by length": ({"fuzzy": {"service": {"value": "ap", "fuzziness": "AUTO:2,5"}}}, lambda d: near("ap", d["service"], 1)),
    "nearly, with an exact start": (
        {"fuzzy": {"service": {"value": "zuth", "fuzziness": 1, "prefix_length": 1}}},
        lambda d: False,
    ),
    "nearly, with a swap as two edits": (
        {"fuzzy": {"service": {"value": "auht", "fuzziness": 1, "transpositions": False}}},
        lambda d: replaced("auht", d["service"], 1),
    ),
}

COMPOUND = {
    "an empty bool": ({"bool": {}}, lambda d: True),
    "a bool that only excludes": ({"bool": {"must_not": [{"term": {"level": "INFO"}}]}}, lambda d: d["level"] != "INFO"),
    "a should beside a filter is free": (
        {"bool": {"filter": {"term": {"level": "WARN"}}, "should": {"term": {"service": "api"}}}},
        lambda d: d["level"] == "WARN",
    ),
    "a should alone is needed": (
        {"bool": {"should": [{"term": {"service": "api"}}, {"term": {"service": "auth"}}]}},
        lambda d: d["service"] in ("api", "auth"),
    ),
    "all but one of should": (
        {
            "bool": {
                "should": [{"term": {"level": "WARN"}}, {"term": {"is_slow": True}}, {"term": {"service": "api"}}],
                "minimum_should_match": -1,
            }
        },
        lambda d: (d["level"] == "WARN") + d["is_slow"] + (d["service"] == "api") >= 2,
    ),
    "part of should": (
        {
            "bool": {
                "should": [{"term": {"level": "WARN"}}, {"term": {"is_slow": True}}, {"term": {"service": "api"}}],
                "minimum_should_match": "70%",
            }
        },
        lambda d: (d["level"] == "WARN") + d["is_slow"] + (d["service"] == "api") >= 2,
    ),
    "dis_max": (
        {"dis_max": {"queries": [{"match": {"message": "disk"}}, {"term": {"level": "WARN"}}], "tie_breaker": 0.7, "boost": 2}},
        lambda d: "disk" in said(d) or d["level"] == "WARN",
    ),
    "a constant score in a bool": (
        {"bool": {"must": {"constant_score": {"filter": {"match": {"message": "peer"}}, "boost": 3}}}},
        lambda d: "peer" in said(d),
    ),
    "deep inside": (
        {"bool": {"must_not": {"bool": {"must": [{"bool": {"should": [{"term": {"level": "INFO"}}]}}, {"term": {"is_slow": True}}]}}}},
        lambda d: not (d["level"] == "INFO" and d["is_slow"]),
    ),
    "nested with more": (
        {
            "nested": {
                "path": "ctx",
                "score_mode": "max",
                "query": {"bool": {"must": [{"term": {"ctx.user": "u3"}}, {"range": {"ctx.attempt": {"gte": 2}}}]}},
            }
        },
        lambda d: d["ctx"]["user"] == "u3" and d["ctx"]["attempt"] >= 2,
    ),
}

# These find nothing on purpose.
EMPTY = {
    "match without words, none",
    "match of a number with text, lenient",
    "match of a keyword is exact",
    "a text as it is written",
    "no terms",
    "a field exists nowhere",
    "nearly, with an exact start",
    "nearly, with a swap as two edits",
}

# Phrases of more than two words, and by how many places these may be moved together.
LOOSE = [("disk full user", 4), ("failed user peer", 2), ("ok user timeout", 1), ("connection disk peer user", 4)]


def check(client, docs, query, matches, is_empty=False):
    expected = [doc["id"] for doc in docs if matches(doc)]
    found = client.search(index="logs", query=query, size=ALL, sort=["id"], source=["id"], track_total_hits=True)
    assert [hit["_source"]["id"] for hit in found["hits"]["hits"]] == expected
    assert found["hits"]["total"] == {"value": len(expected), "relation": "eq"}
    assert client.count(index="logs", query=query)["count"] == len(expected)
    assert is_empty == (not expected), "a query that finds nothing shows little"


@pytest.mark.parametrize("name", FULL_TEXT)
def test_a_clause_of_full_text_finds_what_a_scan_finds(client, docs, name):
    check(client, docs, *FULL_TEXT[name], name in EMPTY)


@pytest.mark.parametrize("name", STRINGS)
def test_a_query_string_finds_what_a_scan_finds(client, docs, name):
    text, matches = STRINGS[name]
    check(client, docs, {"query_string": {"query": text}}, matches)
    in_url = client.search(index="logs", q=text, size=0, track_total_hits=True)
    assert in_url["hits"]["total"]["value"] == sum(bool(matches(doc)) for doc in docs)


@pytest.mark.parametrize("text, slop", LOOSE)
def test_a_loose_phrase_of_many_words_finds_what_a_scan_finds(client, docs, text, slop):
    query = {"match_phrase": {"message": {"query": text, "slop": slop}}}
    check(client, docs, query, lambda doc: has_loose_phrase(said(doc), text.split(), slop))


def test_hits_tell_which_named_clauses_matched(client, docs):
    named = [{"term": {"level": {"value": "ERROR", "_name": "errors"}}}, {"range": {"id": {"lt": 9, "_name": "first"}}}]
    found = client.search(index="logs", query={"bool": {"should": named}}, size=ALL)["hits"]["hits"]
    for hit in found:
        doc = docs[hit["_source"]["id"]]
        expected = ["errors"] * (doc["level"] == "ERROR") + ["first"] * (doc["id"] < 9)
        assert sorted(hit["matched_queries"]) == expected


@pytest.mark.parametrize("name", SIMPLE)
def test_a_simple_query_string_finds_what_a_scan_finds(client, docs, name):
    check(client, docs, *SIMPLE[name])


@pytest.mark.parametrize("name", TERMS)
def test_a_clause_of_terms_finds_what_a_scan_finds(client, docs, name):
    check(client, docs, *TERMS[name], name in EMPTY)


@pytest.mark.parametrize("name", COMPOUND)
def test_a_clause_of_clauses_finds_what_a_scan_finds(client, docs, name):
    check(client, docs, *COMPOUND[name])
