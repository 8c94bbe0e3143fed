"""Building: parts, receipts, one publication."""

import json
import pickle
from datetime import datetime, timezone
from decimal import Decimal

import pyarrow
import pytest
from conftest import CONFIG, START, lines

import canter


def search(uri, query="*"):
    found = canter.open(uri).search(query, max_hits=1000)
    return found.num_hits, found.hits


def test_parts_are_one_publication_and_count_once(tmp_path, index_uri):
    uri, documents = tmp_path / "logs", lines()
    parts = [(number, documents[number::3]) for number in range(3)]
    receipts = [
        canter.build_split(part, CONFIG, uri=uri, source=f"part {number}", split_num_docs=100) for number, part in parts
    ]
    assert [repr(receipt) for receipt in receipts][0] == "Receipt(num_lines=134, num_rejected=0, num_splits=2)"
    # A task that was repeated, and carried by another process.
    receipts.append(pickle.loads(pickle.dumps(canter.build_split(parts[0][1], uri=uri, source="part 0", split_num_docs=100))))
    assert search(uri)[0] == 0
    published = canter.publish(uri, receipts)
    assert (published.num_published_docs, published.num_known_docs) == (400, 134)
    assert search(uri) == search(index_uri)
    assert canter.publish(uri, receipts).num_published_docs == 0


@pytest.mark.parametrize(
    "form", ["dictionaries", "texts", "bytes", "batches", "table", "tables", "batch", "frame", "reader", "mixed"]
)
def test_documents_of_every_form_are_the_same(tmp_path, index_uri, form):
    documents = lines()
    table = pyarrow.Table.from_pylist(documents)
    given = {
        "dictionaries": iter(documents),
        "texts": (json.dumps(line) for line in documents),
        "bytes": [json.dumps(line).encode() + b"\n" for line in documents],
        "batches": table.to_batches(max_chunksize=33),
        "table": table,
        "tables": [table[:7], table[7:]],
        "batch": table.combine_chunks().to_batches()[0],
        "frame": table.to_pandas().astype({"level": "category"}),
        "reader": table.to_reader(max_chunksize=50),
        "mixed": [*documents[:10], table[10:20], json.dumps(documents[20]), table[21:]],
    }[form]
    receipt = canter.build_split(given, CONFIG, uri=tmp_path, source="all")
    canter.publish(tmp_path, [receipt])
    assert search(tmp_path) == search(index_uri)


def test_what_tables_hold_becomes_what_the_config_takes(tmp_path):
    config = """
version: 0.8
index_id: kinds
doc_mapping:
  field_mappings:
    - {name: at, type: datetime, input_formats: [rfc3339]}
    - {name: price, type: f64}
    - {name: key, type: bytes, input_format: hex, output_format: hex}
    - {name: words, type: "array<text>"}
    - {name: inside, type: object, field_mappings: [{name: most, type: u64}]}
"""
    table = pyarrow.table(
        {
            "at": pyarrow.array([1, None], pyarrow.timestamp("us", "UTC")),
            "price": pyarrow.array([Decimal("1.25"), None], pyarrow.decimal128(10, 2)),
            "key": pyarrow.array([b"\x00\xff", None], pyarrow.large_binary()),
            "words": pyarrow.array([["a", "b"], None], pyarrow.large_list(pyarrow.large_string())),
            "inside": pyarrow.array([{"most": 2**64 - 1}, None], pyarrow.struct({"most": pyarrow.uint64()})),
            "other": pyarrow.array(["x", "y"]).dictionary_encode(),
        }
    )
    canter.publish(tmp_path, [canter.build_split(table, config, uri=tmp_path, source="all")])
    full, empty = search(tmp_path)[1]
    assert empty == {"other": "y"}
    assert full == {
        "at": "1970-01-01T00:00:00.000001Z",
        "price": 1.25,
        "key": "00ff",
        "words": ["a", "b"],
        "inside": {"most": 2**64 - 1},
        "other": "x",
    }
    with pytest.raises(TypeError, match="int"):
        canter.build_split([7], uri=tmp_path, source="numbers")


def test_dates_and_missing_values_become_what_the_config_takes(tmp_path):
    config = CONFIG.replace("[unix_timestamp]", "[rfc3339]")
    when = datetime.fromtimestamp(START, timezone.utc)
    table = pyarrow.table({"timestamp": [when, when], "level": ["INFO", None], "size": [None, 7]})
    canter.publish(tmp_path, [canter.build_split([table], config, uri=tmp_path, source="all")])
    assert [hit["timestamp"] for hit in search(tmp_path)[1]] == [START, START]
    assert search(tmp_path, "size:*")[0] == 1


def test_documents_that_the_config_does_not_take_are_an_error_or_kept_apart(tmp_path):
    documents = [*lines(3), {"level": "INFO"}]
    with pytest.raises(canter.LimitError, match="reject"):
        canter.build_split(documents, CONFIG, uri=tmp_path / "a", source="all")
    rejects = tmp_path / "rejects"
    receipt = canter.build_split(documents, uri=tmp_path / "a", source="all", max_rejects=None, rejects=rejects)
    assert (receipt.num_lines, receipt.num_rejected) == (4, 1)
    assert "timestamp" in rejects.read_text()


def test_an_error_of_the_caller_stays_its_own(tmp_path):
    def broken():
        yield lines()[0]
        raise RuntimeError("the input broke off")

    with pytest.raises(RuntimeError, match="broke off"):
        canter.build_split(broken(), CONFIG, uri=tmp_path, source="all")
    with pytest.raises(TypeError, match="complex"):
        canter.build_split([{"timestamp": START, "x": 1j}], uri=tmp_path, source="all")
    assert search(tmp_path)[0] == 0


def test_a_config_and_an_index_must_fit(tmp_path):
    assert canter.create(tmp_path, CONFIG)
    assert not canter.create(tmp_path, CONFIG)
    with pytest.raises(canter.InvalidRequestError):
        canter.create(tmp_path, CONFIG.replace("index_id: logs", "index_id: others"))
    with pytest.raises(canter.InvalidRequestError, match="version"):
        canter.create(tmp_path / "b", {"index_id": "b"})
    with pytest.raises(canter.InvalidRequestError):
        canter.build_split(lines(), uri=tmp_path / "none", source="all")
    with pytest.raises(canter.InvalidRequestError, match="no receipt"):
        canter.publish(tmp_path, [])
    with pytest.raises(canter.DataError, match="receipt"):
        canter.publish(tmp_path, [canter.Receipt("{}")])
