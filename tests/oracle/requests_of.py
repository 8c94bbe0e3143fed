"""Random searches around a query: order, pages, what is counted and shown."""

SORT_KINDS = ("asc", "desc")


class Searches:
    """Draws what a search has beside its query."""

    def __init__(self, store, draw, queries):
        self.store, self.draw, self.queries = store, draw, queries
        self.fields = [field for field in store.fields.values() if field.fast]

    def sort(self, number):
        """Up to three keys; mostly the last tells all documents apart."""
        draw, keys = self.draw, []
        chosen = draw.sample(self.fields, draw.randint(1, min(3, len(self.fields))))
        for field in chosen:
            given = {"order": draw.choice(SORT_KINDS)}
            if draw.random() < 0.4:
                given["missing"] = draw.choice(["_first", "_last"])
            keys.append({field.name: draw.choice([given, given, given["order"]])})
        if draw.random() < 0.7 and all(number not in key for key in keys):
            keys = keys[:2] + [{number: "asc"}]
        return keys

    def search(self, query, number):
        """A body, and whether to go through pages."""
        draw = self.draw
        body = {"query": query, "size": draw.choice([0, 1, 7, 25, 100]), "track_total_hits": draw.choice([True, True, 5, 100, False])}
        if draw.random() < 0.75:
            body["sort"] = self.sort(number)
        if draw.random() < 0.3:
            body["from"] = draw.choice([1, 10, 40])
        if draw.random() < 0.15:
            body["post_filter"] = self.queries.query(1)
        if draw.random() < 0.4:
            body["_source"] = self.source(number)
        return body

    def in_time(self, query):
        """The query between two times that documents have."""
        times = self.queries.all_values(self.store.fields[self.store.corpus.timestamp])
        low, high = sorted(self.draw.choice(times) // 10**9 for _ in range(2))
        return {"query": query, "start_timestamp": low, "end_timestamp": high + self.draw.choice([0, 1, 3_600])}

    def source(self, number):
        """Patterns of what to show; the number is always among it."""
        draw = self.draw
        names = [field.name for field in self.store.fields.values()]
        some = [self.widened(name) for name in draw.sample(names, 3)]
        kind = draw.choice(["list", "both", "excludes", "name"])
        if kind == "name":
            return number
        if kind == "list":
            return some + [number]
        found = {"excludes": [name for name in some if not name.startswith(number)]}
        if kind == "both":
            found["includes"] = [number, "*.*", draw.choice(names), draw.choice(names)[:2] + "*"]
        return found

    def widened(self, name):
        """A name, or a pattern for it."""
        return self.draw.choice([name, name, name.split(".")[0], name[:3] + "*" if len(name) > 3 else name])
