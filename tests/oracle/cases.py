"""Requests that were once answered wrongly. They are asked in every run, before those that are drawn."""

from corpora import NUMBER

ALL = {"match_all": {}}

# By corpus: queries, which are asked in all their forms.
QUERIES = {
    "apache": [
        # A millisecond of a field that has seconds: its end is not the end of the second before.
        {"range": {"@timestamp": {"lte": "1431857103000", "format": "epoch_millis"}}},
        {"range": {"@timestamp": {"gt": "1431857103000", "format": "epoch_millis"}}},
        {"range": {"@timestamp": {"lt": "1431857103001", "format": "epoch_millis"}}},
        {"range": {"@timestamp": {"gte": "1431857102999", "format": "epoch_millis"}}},
    ],
    "nasty": [
        # Negative percentages are of few clauses nothing, and not all of them.
        {"match": {"text": {"query": "alpha beta", "minimum_should_match": "-25%"}}},
        {"bool": {"should": [{"term": {"flag": True}}, {"exists": {"field": "rare"}}], "minimum_should_match": "-25%"}},
        # A point is any character, and a line break is one.
        {"regexp": {"tag": {"value": "line.break"}}},
        # The end of a day before 1970 is not the next midnight.
        {"term": {"seen": "1900-01-15"}},
        {"range": {"seen": {"lte": "31/12/1969", "format": "dd/MM/yyyy"}}},
        {"range": {"seen": {"gt": "1900-01-15"}}},
        # The end of a millisecond.
        {"range": {"time": {"lte": "1817999000", "format": "epoch_millis"}}},
        {"term": {"tag": {"value": "É", "case_insensitive": True}}},
    ],
}

# By corpus: aggregations over all documents.
AGGREGATIONS = {
    "nasty": [
        # `missing` is a value of the field.
        {"a": {"terms": {"field": "ip", "size": 20, "missing": "::"}}},
        {"a": {"cardinality": {"field": "ip", "missing": "::"}}},
        {"a": {"terms": {"field": "low", "size": 1000, "include": "[a-zA-Z].*"}}},
    ],
}

# By corpus: searches with an order, of which all pages are read.
SEARCHES = {
    "nasty": [
        # Nanoseconds are not told from milliseconds by their size.
        {
            "query": {"range": {"time": {"gte": "1969-12-31", "lt": "1970-01-03"}}},
            "size": 25,
            "track_total_hits": True,
            "sort": [{"time": "desc"}, {NUMBER: "asc"}],
        },
    ],
}
