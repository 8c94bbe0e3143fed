"""Documents of the DSL: classes whose objects are saved, read, changed and deleted by their ids."""

import os

import elasticsearch
import pytest
from conftest import serving

pytestmark = pytest.mark.skipif(os.environ.get("HOST") == "worker", reason="a Worker only searches")


@pytest.fixture
def shop(tmp_path):
    engine = os.environ.get("ENGINE", "wasm")
    command = [os.environ["CANTER"], "serve", "--indexes-in", str(tmp_path), "--listen", "127.0.0.1:0"]
    command += ["--engine", engine, "--writable", "--commit-interval", "20ms", "--auto-create-index", "*"]
    with serving(command) as address:
        with elasticsearch.Elasticsearch(address, request_timeout=60) as client:
            yield client


def test_a_document_is_saved_read_changed_and_deleted(shop, dsl):
    class Article(dsl.Document):
        title = dsl.Text(fields={"raw": dsl.Keyword()})
        tags = dsl.Keyword(multi=True)
        n = dsl.Integer()

        class Index:
            name = "articles"

    Article.init(using=shop)
    article = Article(meta={"id": "a/1"}, title="Red cars", tags=["car"], n=1)
    assert article.save(using=shop) == "created"
    read = Article.get("a/1", using=shop)
    assert (read.title, list(read.tags), read.n, read.meta.version) == ("Red cars", ["car"], 1, 1)
    assert read.update(using=shop, n=2, tags=["car", "red"]) == "updated"
    read = Article.get("a/1", using=shop)
    assert (list(read.tags), read.n, read.meta.version) == (["car", "red"], 2, 2)
    # Another has changed it since.
    other = Article.get("a/1", using=shop)
    other.n = 3
    assert other.save(using=shop) == "updated"
    read.n = 4
    with pytest.raises(elasticsearch.ConflictError):
        read.save(using=shop)
    found = Article.search(using=shop).query("match", title="cars").filter("term", **{"title.raw": "Red cars"})
    assert [(hit.meta.id, hit.n) for hit in found] == [("a/1", 3)]
    assert Article.exists("a/1", using=shop)
    Article.get("a/1", using=shop).delete(using=shop)
    assert not Article.exists("a/1", using=shop)
