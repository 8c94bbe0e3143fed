"""Points in time: pages of an index as it was, each behind the last hit of the page before."""

import pytest


@pytest.mark.parametrize("sort", [None, [{"status": "asc"}], [{"timestamp": "desc"}]])
def test_pages_of_a_point_in_time_go_through_all_hits(client, docs, sort):
    point = client.open_point_in_time(index="logs", keep_alive="1m")["id"]
    seen, after = [], None
    while True:
        page = client.search(
            pit={"id": point, "keep_alive": "1m"}, size=300, sort=sort, search_after=after, source=["id"], query={"match_all": {}}
        )
        assert page["pit_id"] == point
        hits = page["hits"]["hits"]
        if not hits:
            break
        seen += [hit["_source"]["id"] for hit in hits]
        after = hits[-1]["sort"]
    assert sorted(seen) == sorted(doc["id"] for doc in docs)
    assert client.close_point_in_time(id=point)["succeeded"]
