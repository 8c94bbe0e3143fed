"""What the clients can ask of Elasticsearch and nobody answers here; and what only a writable server takes."""

import elasticsearch
import pytest

CALLS = {
    "EQL": lambda client: client.eql.search(index="logs", query="any where true"),
    "ES|QL": lambda client: client.esql.query(query="FROM logs"),
    "SQL": lambda client: client.sql.query(query="SELECT 1"),
    "snapshots": lambda client: client.snapshot.create_repository(name="all", repository={"type": "fs", "settings": {}}),
    "users": lambda client: client.security.get_user(),
    "the routing of a cluster": lambda client: client.cluster.reroute(),
}


@pytest.mark.parametrize("name", CALLS)
def test_what_nobody_answers_is_an_error(client, name):
    # And no doubt about the product, which would hide what is said.
    with pytest.raises(elasticsearch.ApiError) as error:
        CALLS[name](client)
    assert error.value.status_code in (400, 404)


def test_what_changes_something_is_refused(client, docs):
    for send in (
        lambda: client.index(index="logs", document=docs[0]),
        lambda: client.bulk(index="logs", operations=[{"create": {}}, docs[0]]),
        lambda: client.delete_by_query(index="logs", query={"match_all": {}}),
        lambda: client.ilm.put_lifecycle(name="days", policy={"phases": {}}),
    ):
        with pytest.raises(elasticsearch.ApiError) as error:
            send()
        assert error.value.status_code in (400, 403)
    assert client.count(index="logs")["count"] == len(docs)
