"""Reading with Spark: what was ingested, and with any filter what Spark itself finds in the same rows."""

import json
import random
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pytest
from pyspark.sql import functions as F
from pyspark.sql import datasource as pushed

import canter
from canter.spark import CanterDataSource
from canter.spark._filters import query_of
from canter.spark._schema import fields_by_path

CONFIG = """
version: 0.8
index_id: everything
doc_mapping:
  field_mappings:
    - {name: at, type: datetime, input_formats: [rfc3339], fast: true, fast_precision: milliseconds}
    - {name: second, type: datetime, input_formats: [unix_timestamp], output_format: unix_timestamp_secs, fast: true}
    - {name: level, type: text, tokenizer: raw, fast: true}
    - {name: body, type: text}
    - {name: whole, type: i64, fast: true}
    - {name: natural, type: u64}
    - {name: ratio, type: f64, fast: true}
    - {name: is_good, type: bool, fast: true}
    - {name: tags, type: "array<text>", tokenizer: raw}
    - {name: raw_bytes, type: bytes}
    - {name: place, type: object, field_mappings: [{name: city, type: text, tokenizer: raw}, {name: zip, type: u64}]}
    - {name: rest, type: json}
  timestamp_field: at
"""
LEVELS = ["INFO", "WARN", 'a "quoted" \\ one', "two words", "ünï:*()", "", "-1"]
WHOLE = [-(2**63), -7, 0, 7, 2**63 - 1]
NATURAL = [0, 7, 2**63, 2**64 - 1]
SECOND = 1_700_000_000
RATIOS = [-0.5, 0.1, 1e300, 3.0]


def document(draw, number):
    def some(value):
        return None if draw.random() < 0.2 else value

    at = datetime(1969, 12, 31, 23, 59, 50, tzinfo=timezone.utc) + timedelta(milliseconds=draw.randrange(0, 20_000, 250))
    made = {
        "at": at.isoformat().replace("+00:00", "Z"),
        "second": some(SECOND + draw.randrange(-3, 4)),
        "level": some(draw.choice(LEVELS)),
        "body": some(f"line {number}\nof ünïcode"),
        "whole": some(draw.choice(WHOLE)),
        "natural": some(draw.choice(NATURAL)),
        "ratio": some(draw.choice(RATIOS)),
        "is_good": some(draw.random() < 0.5),
        "tags": some([draw.choice(LEVELS) for _ in range(draw.randrange(1, 3))]),
        "raw_bytes": some("AAH/"),
        "place": some({"city": some(draw.choice(LEVELS)), "zip": some(number)}),
        "rest": some({"deep": {"er": number}}),
        "unmapped": some(number),
    }
    return {key: value for key, value in made.items() if value is not None}


@pytest.fixture(scope="module")
def documents():
    draw = random.Random(5)
    return [document(draw, number) for number in range(600)]


@pytest.fixture(scope="module")
def uri(documents, tmp_path_factory):
    uri = tmp_path_factory.mktemp("everything")
    canter.publish(uri, [canter.build_split(documents, CONFIG, uri=uri, source="all", split_num_docs=150)])
    return str(uri)


@pytest.fixture(scope="module")
def reader(spark):
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.dataSource.register(CanterDataSource)
    return lambda uri, **options: spark.read.format("canter").option("uri", uri).options(**options)


def test_rows_are_what_was_ingested(reader, uri, documents):
    frame = reader(uri, partition_num_docs=70).load()
    assert frame.rdd.getNumPartitions() >= len(documents) // 70
    types = dict(frame.dtypes)
    assert types["at"] == "timestamp" and types["natural"] == "decimal(20,0)" and types["tags"] == "array<string>"
    rows = sorted((row.asDict(recursive=True) for row in frame.collect()), key=lambda row: json.dumps(row, default=str))
    expected = []
    for made in documents:
        row = dict.fromkeys(frame.columns) | {key: value for key, value in made.items() if key != "unmapped"}
        # Spark's rows have dates without a zone, in that of this machine.
        for key in ("at", "second"):
            if row[key] is not None:
                instant = row[key]
                if isinstance(instant, int):
                    instant = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=instant)
                else:
                    instant = datetime.fromisoformat(instant.replace("Z", "+00:00"))
                row[key] = instant.astimezone().replace(tzinfo=None)
        row["natural"] = None if row["natural"] is None else Decimal(row["natural"])
        row["raw_bytes"] = None if row["raw_bytes"] is None else bytearray(b"\x00\x01\xff")
        row["rest"] = None if row["rest"] is None else json.dumps(row["rest"], separators=(",", ":"))
        row["_dynamic"] = f'{{"unmapped":{made["unmapped"]}}}' if "unmapped" in made else None
        if row["place"] is not None:
            zip_code = row["place"].get("zip")
            row["place"] = {"city": row["place"].get("city"), "zip": None if zip_code is None else Decimal(zip_code)}
            # An object of which nothing is there is not there either.
            if row["place"] == {"city": None, "zip": None}:
                row["place"] = None
        expected.append(row)
    assert rows == sorted(expected, key=lambda row: json.dumps(row, default=str))


def condition(draw):
    """A random filter of the kinds that Spark hands over."""
    second = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=draw.choice([-2500, -1000, 0, 1, 999, 3000]))
    columns = {
        "at": [second],
        "second": [second + timedelta(seconds=SECOND)],
        "level": LEVELS + ["nothing like it"],
        "body": ["line 3\nof ünïcode"],
        "whole": WHOLE,
        "natural": [Decimal(one) for one in NATURAL],
        "ratio": RATIOS + [0.0],
        "is_good": [True, False],
        "place.city": LEVELS,
    }
    name = draw.choice(sorted(columns))
    column, value = F.col(name), F.lit(draw.choice(columns[name]))
    kinds = [
        lambda: column == value,
        lambda: column.eqNullSafe(value),
        lambda: column != value,
        lambda: column < value,
        lambda: column >= value,
        lambda: (column > value) & column.isNotNull(),
        lambda: column <= value,
        lambda: column.isin(*[F.lit(one) for one in columns[name][:3]]),
        lambda: ~column.isin(*[F.lit(one) for one in columns[name][:3]]),
        lambda: column.isNull(),
        lambda: column.isNotNull(),
    ]
    if name in ("level", "place.city", "body"):
        start = str(draw.choice(columns[name]))[: draw.randrange(0, 8)]
        kinds += [lambda: column.startswith(start), lambda: column.contains(start), lambda: ~column.startswith(start)]
    return draw.choice(kinds)()


def test_filters_find_what_spark_finds(reader, uri, documents):
    plain = reader(uri, pushdown="false").load().cache()
    assert plain.count() == len(documents)
    pushing = reader(uri).load()
    num_found = 0
    for seed in range(40):
        draw = random.Random(seed)
        wanted = condition(draw)
        if draw.random() < 0.5:
            wanted = wanted & condition(draw)
        expected, found = plain.filter(wanted).collect(), pushing.filter(wanted).collect()
        assert sorted(map(repr, found)) == sorted(map(repr, expected)), f"seed {seed}: {wanted}"
        num_found += len(found)
    assert num_found > 500


def test_filters_become_queries(uri):
    fields = fields_by_path(canter.open(uri).config())
    instant = datetime(2024, 1, 1, 0, 0, 0, 5, tzinfo=timezone.utc)
    cases = [
        (pushed.EqualTo(("level",), 'a "b" \\'), 'level:"a \\"b\\" \\\\"'),
        (pushed.In(("whole",), (1, None, 2)), '(whole:"1" OR whole:"2")'),
        (pushed.GreaterThan(("at",), instant), 'at:[2024-01-01T00:00:00Z TO *]'),
        (pushed.Not(pushed.EqualTo(("place", "zip"), 5)), '(* AND NOT place.zip:"5")'),
        (pushed.LessThan(("at",), instant), "at:[* TO 2024-01-01T00:00:01Z]"),
        (pushed.LessThan(("ratio",), -1e300), "ratio:[* TO -1e300}"),
        # What the index cannot tell, or would tell otherwise than Spark, is Spark's.
        (pushed.EqualTo(("body",), "line"), None),
        (pushed.Not(pushed.GreaterThan(("at",), instant)), None),
        (pushed.EqualTo(("natural",), -1), None),
        (pushed.EqualTo(("ratio",), 0.0), None),
        (pushed.EqualTo(("tags",), ["INFO"]), None),
        (pushed.EqualTo(("nothing",), 1), None),
    ]
    for given, query in cases:
        assert query_of(given, fields) == query


def test_only_what_matches_is_read(reader, uri, documents):
    parts = canter.open(uri).parts('level:"INFO"')
    assert sum(part.num_docs for part in parts) == sum(made.get("level") == "INFO" for made in documents)
    frame = reader(uri, query="whole:7").load().filter(F.col("level") == "INFO")
    wanted = [made for made in documents if made.get("whole") == 7 and made.get("level") == "INFO"]
    assert frame.count() == len(wanted)


def test_the_callers_schema_counts(reader, uri, documents):
    frame = reader(uri).schema("natural string, second long, unmapped int, place struct<city: string>").load()
    rows = frame.collect()
    assert {row.natural for row in rows} == {None, *map(str, NATURAL)}
    assert sum(row.second for row in rows if row.second is not None) == sum(made.get("second", 0) for made in documents)
    assert {row.unmapped for row in rows} == {None, *(made["unmapped"] for made in documents if "unmapped" in made)}


def test_wrong_options_are_named(reader, uri):
    with pytest.raises(Exception, match="colour"):
        reader(uri, colour="red").load()
    with pytest.raises(Exception, match="query, column 24: "):
        reader(uri, query="no_such_field:>=1 AND (").load().collect()
    with pytest.raises(Exception, match="there is no folder"):
        reader(uri + "x").load()
