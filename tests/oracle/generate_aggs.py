"""Random aggregations, in one another, over the fields of a corpus."""

import dates
from fields import address_text

MAX_LEVELS = 3
ZONES = ["Europe/Berlin", "America/New_York", "Asia/Kathmandu", "+05:30", "UTC"]


class Aggs:
    """Draws aggregations for a store; filters in them are drawn by `queries`."""

    def __init__(self, store, draw, queries):
        self.store, self.draw, self.queries = store, draw, queries
        self.fields = [field for field in store.fields.values() if field.fast and store.columns[field.name]]
        self.numbers = [field for field in self.fields if field.is_number]
        # Fields whose largest and smallest value are no extremes: sums and squares of them are numbers.
        self.tame = [field for field in self.numbers if self.span(field)[1] < 1e12 and self.span(field)[0] > -1e12]
        self.dates = [field for field in self.fields if field.kind == "datetime"]
        self.texts = [field for field in self.fields if field.is_text]
        self.addresses = [field for field in self.fields if field.kind == "ip"]

    def span(self, field):
        """The least and the greatest value."""
        table = self.store.tables[field.name]
        return self.store.db.execute(f"SELECT min(value), max(value) FROM {table}").fetchall()[0]

    def aggs(self, levels=MAX_LEVELS):
        """An object of one to three aggregations."""
        return {f"a{place}": self.agg(levels) for place in range(self.draw.choice([1, 1, 2, 3] if levels == MAX_LEVELS else [1, 1, 2]))}

    def agg(self, levels):
        draw = self.draw
        if levels > 1 and draw.random() < 0.7:
            kinds = ["terms"] * 6 + ["histogram"] * 3 + ["range"] * 3 + ["filter", "filters", "filters", "missing"]
            kinds += ["composite", "multi_terms", "rare_terms"]
            kinds += ["date_histogram"] * 5 + ["date_range"] * 2 if self.dates else []
            kinds += ["ip_range"] * 2 if self.addresses else []
            kind = draw.choice(kinds)
            # Many buckets with others in each take the oracle long.
            has_inner = draw.random() < 0.5 and kind not in ("rare_terms", "composite")
            found = {kind: getattr(self, kind)(has_inner) if kind == "terms" else getattr(self, kind)()}
            if has_inner:
                found["aggs"] = self.aggs(levels - 1)
            if kind == "terms":
                self.order(found)
            return found
        kind = draw.choice(METRICS)
        return {kind: getattr(self, kind)()}

    def field(self, among=None):
        return self.draw.choice(among or self.fields)

    def terms(self, has_inner):
        draw, field = self.draw, self.field(self.few() if has_inner else None)
        body = {"field": field.name, "size": draw.choice([3, 5, 10] if has_inner else [3, 10, 10, 50, 1000])}
        if draw.random() < 0.15:
            body["min_doc_count"] = draw.choice([2, 5])
        if draw.random() < 0.15 and field.kind != "datetime":
            body["missing"] = self.queries.value(field)
        if field.is_text and draw.random() < 0.15:
            value = self.queries.value(field)
            body[draw.choice(["include", "exclude"])] = draw.choice([[value, self.queries.value(field)], "[a-zA-Z].*"])
        return body

    def order(self, found):
        """An order, by what is inside, too."""
        draw, orders = self.draw, ["_count", "_key"]
        for name, agg in found.get("aggs", {}).items():
            (kind,) = [kind for kind in agg if kind != "aggs"]
            if kind == "cardinality" and len(set(self.queries.all_values(self.store.fields[agg[kind]["field"]]))) > 512:
                # An estimate.
                continue
            if kind in ("avg", "max", "sum", "cardinality"):
                orders.append(name)
            if kind == "stats":
                orders += [f"{name}.max", f"{name}.avg"]
        if draw.random() < 0.6:
            chosen = draw.sample(orders, draw.randint(1, min(2, len(orders))))
            rules = [{by: draw.choice(["asc", "desc"])} for by in chosen]
            found["terms"]["order"] = rules[0] if len(rules) == 1 else rules

    def few(self):
        """Fields with few different values."""
        few = sorted(self.fields, key=lambda field: len(set(self.queries.all_values(field))))
        return [field for field in few if len(set(self.queries.all_values(field))) <= 60] + few[:3]

    def multi_terms(self):
        among = {field.name: field for field in self.few() if field.kind != "datetime"}
        chosen = self.draw.sample(list(among.values()), 2)
        return {"terms": [{"field": field.name} for field in chosen], "size": 20}

    def rare_terms(self):
        field = self.field([field for field in self.fields if field.kind in ("text", "ip")])
        return {"field": field.name, "max_doc_count": self.draw.choice([1, 2, 5])}

    def histogram(self):
        draw, field = self.draw, self.field(self.tame)
        low, high = map(float, self.span(field))
        width = max((high - low) / draw.choice([3, 10, 30]), 1e-3)
        interval = draw.choice([1, 2, 2.5, 5, 0.5]) * 10.0 ** len(str(int(width)))
        body = {"field": field.name, "interval": interval}
        if draw.random() < 0.3:
            body["offset"] = draw.choice([interval / 4, interval / 2])
        if draw.random() < 0.4:
            body["min_doc_count"] = draw.choice([0, 1, 3])
        if draw.random() < 0.15 and not body.get("min_doc_count"):
            body["extended_bounds"] = {"min": low - interval * 2, "max": high + interval * 3}
        if draw.random() < 0.15:
            body["missing"] = int(low)
        return body

    def date_histogram(self):
        draw, field = self.draw, self.field(self.dates)
        low, high = self.span(field)
        days = (high - low) / 86_400e9
        body = {"field": field.name}
        calendars = ["year", "quarter", "month"] + (["week", "day"] if days < 3_000 else []) + (["hour"] if days < 50 else [])
        fixed = ["1d", "7d", "12h", "90m"] if days < 50 else ["7d", "30d"] if days < 3_000 else ["365d", "1000d"]
        if draw.random() < 0.6:
            body["calendar_interval"] = draw.choice(calendars)
            body["time_zone"] = draw.choice(ZONES)
        else:
            body["fixed_interval"] = draw.choice(fixed)
            if body["fixed_interval"].endswith("d"):
                body["time_zone"] = draw.choice(ZONES)
            if draw.random() < 0.2 and body.get("time_zone", "UTC") == "UTC":
                body["offset"] = draw.choice(["6h", "-3h"])
        if draw.random() < 0.5:
            body["min_doc_count"] = draw.choice([0, 1, 2])
        return body

    def points(self, field, num):
        """Values in their order, each once."""
        return sorted({self.draw.choice(self.queries.all_values(field)) for _ in range(num)})

    def ranges(self, points):
        """Ranges between points; some overlap, some are open."""
        found = []
        for place, point in enumerate(points):
            found.append({"key": f"r{place}", "from": point, "to": self.draw.choice(points[place + 1 :] + [None])})
        found.append({"key": "low", "to": points[-1]})
        return [{key: value for key, value in given.items() if value is not None} for given in found]

    def range(self):
        field = self.field(self.numbers)
        points = [float(point) if field.kind == "f64" else point for point in self.points(field, 3)]
        return {"field": field.name, "keyed": True, "ranges": self.ranges([point for point in points if abs(point) < 2**52] or [1])}

    def date_range(self):
        field = self.field(self.dates)
        digits = {"nanoseconds": 9, "milliseconds": 3}.get(field.precision, 0)
        points = [dates.text_of(point, digits) for point in self.points(field, 3)]
        return {"field": field.name, "keyed": True, "ranges": self.ranges(points)}

    def ip_range(self):
        field = self.field(self.addresses)
        points = [address_text(point) for point in self.points(field, 2)]
        found = self.ranges(points)
        first = points[0]
        found.append({"key": "net", "mask": f"{first}/{24 if '.' in first else 48}"})
        return {"field": field.name, "keyed": True, "ranges": found}

    def filter(self):
        return self.queries.query(1)

    def filters(self):
        body = {"filters": {f"f{place}": self.queries.query(1) for place in range(self.draw.randint(1, 3))}}
        if self.draw.random() < 0.5:
            body["other_bucket_key"] = "others"
        return body

    def missing(self):
        return {"field": self.field().name}

    def composite(self):
        draw, sources = self.draw, []
        for place in range(draw.randint(1, 3)):
            kind = draw.choice(["terms", "terms", "histogram"] + (["date_histogram"] if self.dates else []))
            if kind == "terms":
                given = {"field": self.field([field for field in self.few() if field.kind != "datetime" and not field.dynamic]).name}
            elif kind == "histogram":
                given = {key: value for key, value in self.histogram().items() if key in ("field", "interval")}
            else:
                keys = ("field", "calendar_interval", "fixed_interval", "time_zone")
                given = {key: value for key, value in self.date_histogram().items() if key in keys}
            if draw.random() < 0.4:
                given["order"] = draw.choice(["asc", "desc"])
            if draw.random() < 0.3:
                given["missing_bucket"] = True
            sources.append({f"s{place}": {kind: given}})
        return {"sources": sources, "size": draw.choice([7, 50, 500])}

    # Metrics.

    def of_numbers(self):
        body = {"field": self.field(self.tame + self.dates).name}
        if self.draw.random() < 0.1 and self.store.fields[body["field"]].is_number:
            body["missing"] = 3
        return body

    avg = sum = min = max = stats = of_numbers

    def extended_stats(self):
        return {"field": self.field(self.tame).name}

    def value_count(self):
        return {"field": self.field().name}

    def cardinality(self):
        return {"field": self.field().name}

    def percentiles(self):
        return {"field": self.field(self.tame).name, "percents": self.draw.choice([[50], [1, 25, 99.5], [0, 100]])}

    def percentile_ranks(self):
        field = self.field(self.tame)
        return {"field": field.name, "values": [float(point) for point in self.points(field, 2)]}

    def median_absolute_deviation(self):
        return {"field": self.field(self.tame).name}

    def weighted_avg(self):
        singles = [field for field in self.tame if not field.is_list and not field.name.startswith("dyn")]
        return {"value": {"field": self.field(singles).name}, "weight": {"field": self.field(singles).name}}

    def string_stats(self):
        return {"field": self.field(self.texts).name}


METRICS = ["avg", "sum", "min", "max", "stats", "stats", "extended_stats", "value_count", "cardinality", "percentiles"]
METRICS += ["percentile_ranks", "median_absolute_deviation", "weighted_avg", "string_stats"]
