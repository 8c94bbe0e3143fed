"""Buckets of aggregations, by SQL over the values of the documents, and what is inside of them."""

import collections
import functools
import itertools
import math
import re

import dates
from fields import address
from parameters import network
from metrics import KINDS, Metrics, part_of_key, shown_key

MS = 10**6


class Aggregator:
    """Evaluates aggregations; an answer has the keys that are documented, and is compared by these."""

    def __init__(self, store, matcher):
        self.store, self.matcher = store, matcher
        self.metrics = Metrics(store)
        # How often each kind was computed, once for each bucket around it.
        self.tally = collections.Counter()

    def all(self, aggs, docs):
        """Every aggregation of an object, over some documents."""
        return {name: self.one(agg, docs) for name, agg in aggs.items()}

    def one(self, agg, docs):
        inner = agg.get("aggs", {})
        (kind, body), = [item for item in agg.items() if item[0] != "aggs"]
        self.tally[kind] += 1
        if kind in KINDS:
            return self.metrics.value(kind, body, docs)
        return getattr(self, f"of_{kind}")(body, docs, inner)

    def bucket(self, docs, inner, **more):
        return {**more, "doc_count": len(docs), **self.all(inner, docs)}

    def groups(self, name, docs, missing=None):
        """Documents by value, in the order of values; `missing` is the value of documents without one."""
        groups = dict(self.store.groups(name, docs))
        if missing is not None:
            lacking = [doc for doc in docs if not self.store.columns[name][doc]]
            if lacking:
                value = self.store.fields[name].value(missing)
                groups[value] = sorted(groups.get(value, []) + lacking)
        return groups

    def of_terms(self, body, docs, inner):
        name = body["field"]
        field = self.store.fields[name]
        groups = self.groups(name, docs, body.get("missing"))
        least = body.get("min_doc_count", 1)
        groups = {value: of_value for value, of_value in groups.items() if len(of_value) >= least and is_wanted(value, body, field)}
        values = list(groups)
        sort_values(values, field)
        order = body.get("order", {"_count": "desc"})
        for rule in reversed(order if isinstance(order, list) else [order]):
            (by, way), = rule.items()
            self.sort_by(values, groups, by, way == "desc", inner, field)
        kept = values[: body.get("size", 10)]
        buckets = [self.bucket(groups[value], inner, key=shown_key(field, value)) for value in kept]
        return {"buckets": buckets, "sum_other_doc_count": sum(len(groups[value]) for value in values[len(kept) :])}

    def sort_by(self, values, groups, by, is_descending, inner, field):
        """Sorts values by a number of their buckets; those without it come last."""
        if by == "_key":
            sort_values(values, field)
            if is_descending:
                values.reverse()
            return
        if by == "_count":
            values.sort(key=lambda value: len(groups[value]), reverse=is_descending)
            return
        name, _, part = by.partition(".")
        of_value = {value: self.one(inner[name], groups[value])[part or "value"] for value in values}
        have = [value for value in values if of_value[value] is not None]
        have.sort(key=lambda value: getattr(of_value[value], "wanted", of_value[value]), reverse=is_descending)
        values[:] = have + [value for value in values if of_value[value] is None]

    def of_multi_terms(self, body, docs, inner):
        names = [term["field"] for term in body["terms"]]
        groups = self.combinations(names, [lambda value: value] * len(names), docs)
        keys = sorted(groups, key=lambda key: (-len(groups[key]), key))
        show = lambda key: [part_of_key(self.store.fields[name], value) for name, value in zip(names, key)]
        return {"buckets": [self.bucket(groups[key], inner, key=show(key)) for key in keys[: body.get("size", 10)]]}

    def combinations(self, names, keys_of, docs, with_missing=()):
        """Documents by all combinations of their values' keys."""
        groups = {}
        for doc in docs:
            lists = []
            for place, (name, key_of) in enumerate(zip(names, keys_of)):
                found = list(dict.fromkeys(key_of(value) for value in self.store.columns[name][doc]))
                lists.append(found or ([None] if place in with_missing else []))
            for key in itertools.product(*lists):
                groups.setdefault(key, []).append(doc)
        return groups

    def of_rare_terms(self, body, docs, inner):
        field = self.store.fields[body["field"]]
        groups = self.groups(body["field"], docs)
        rare = [value for value in groups if len(groups[value]) <= body.get("max_doc_count", 1)]
        rare.sort(key=lambda value: len(groups[value]))
        return {"buckets": [self.bucket(groups[value], inner, key=shown_key(field, value)) for value in rare]}

    def of_histogram(self, body, docs, inner):
        interval, offset = body["interval"], body.get("offset", 0.0)
        key_of = lambda value: math.floor((float(value) - offset) / interval) * interval + offset
        groups = self.merged(body, docs, key_of)
        next_of = lambda key: key_of(key + 1.5 * interval)
        bounds = [key_of(bound) for bound in body.get("extended_bounds", {}).values()]
        return self.filled(groups, bounds, next_of, body, inner)

    def merged(self, body, docs, key_of):
        """Documents by a key of their values."""
        groups = {}
        for value, of_value in self.groups(body["field"], docs, body.get("missing")).items():
            groups.setdefault(key_of(value), set()).update(of_value)
        return {key: sorted(of_key) for key, of_key in groups.items()}

    def filled(self, groups, bounds, next_of, body, inner, show=lambda key: key):
        """Buckets in their order, with the empty ones between, if these are wanted."""
        least, found = body.get("min_doc_count", 0), []
        ends = list(groups) + bounds
        if least == 0 and ends:
            key, last = min(ends), max(ends)
            while key <= last:
                groups.setdefault(key, [])
                key = next_of(key)
        hard = body.get("hard_bounds")
        for key in sorted(groups):
            is_outside = hard and not hard["min"] <= key <= hard["max"]
            if len(groups[key]) >= least and not is_outside:
                found.append(self.bucket(groups[key], inner, key=show(key)))
        return {"buckets": found}

    def of_date_histogram(self, body, docs, inner):
        key_of, next_of = date_keys(body)
        groups = self.merged(body, docs, key_of)
        bounds = [key_of(dates.resolve(bound, False)) for bound in body.get("extended_bounds", {}).values()]
        return self.filled(groups, bounds, next_of, body, inner, show=lambda ns: ns // MS)

    def of_range(self, body, docs, inner, read=lambda value: value):
        columns = self.store.columns[body["field"]]
        found = {}
        for given in body["ranges"]:
            low, high = (None if given.get(end) is None else read(given[end]) for end in ("from", "to"))
            fits = lambda value: (low is None or value >= low) and (high is None or value < high)
            found[given["key"]] = self.bucket([doc for doc in docs if any(map(fits, columns[doc]))], inner)
        return {"buckets": found}

    def of_date_range(self, body, docs, inner):
        return self.of_range(body, docs, inner, read=lambda text: dates.resolve(text, False, body.get("time_zone")))

    def of_ip_range(self, body, docs, inner):
        columns = self.store.columns[body["field"]]
        found = {}
        for given in body["ranges"]:
            if "mask" in given:
                low, high = network(given["mask"])
                found[given["key"]] = self.bucket([doc for doc in docs if any(low <= value <= high for value in columns[doc])], inner)
            else:
                only = {"field": body["field"], "ranges": [given]}
                found |= self.of_range(only, docs, inner, read=address)["buckets"]
        return {"buckets": found}

    def of_filter(self, body, docs, inner):
        mask = self.matcher.docs(body)
        return self.bucket([doc for doc in docs if mask[doc]], inner)

    def of_filters(self, body, docs, inner):
        masks = {name: self.matcher.docs(query) for name, query in sorted(body["filters"].items())}
        buckets = {name: self.bucket([doc for doc in docs if mask[doc]], inner) for name, mask in masks.items()}
        if "other_bucket_key" in body:
            others = [doc for doc in docs if not any(mask[doc] for mask in masks.values())]
            buckets[body["other_bucket_key"]] = self.bucket(others, inner)
        return {"buckets": buckets}

    def of_missing(self, body, docs, inner):
        return self.bucket([doc for doc in docs if not self.store.columns[body["field"]][doc]], inner)

    def of_composite(self, body, docs, inner):
        """All pages at once: who compares asks for them one after the other."""
        names, keys_of, shows, orders, with_missing = [], [], [], [], set()
        for place, source in enumerate(body["sources"]):
            ((kind, given),) = list(source.values())[0].items()
            field = self.store.fields[given["field"]]
            names.append(field.name)
            shows.append(functools.partial(shown_key, field))
            if kind == "histogram":
                interval = given["interval"]
                keys_of.append(lambda value, interval=interval: math.floor(float(value) / interval) * interval)
            elif kind == "date_histogram":
                keys_of.append(date_keys(given)[0])
            else:
                keys_of.append(lambda value: value)
            orders.append(given.get("order", "asc") == "desc")
            if given.get("missing_bucket"):
                with_missing.add(place)
        groups = self.combinations(names, keys_of, docs, with_missing)
        keys = list(groups)
        for place in reversed(range(len(names))):
            keys.sort(key=lambda key: (key[place] is not None, key[place] if key[place] is not None else 0), reverse=orders[place])
        labels = [list(source)[0] for source in body["sources"]]
        show = lambda key: {label: None if value is None else shown(value) for label, value, shown in zip(labels, key, shows)}
        return {"buckets": [self.bucket(groups[key], inner, key=show(key)) for key in keys]}


def is_wanted(value, body, field):
    """Whether `include` and `exclude` let a value in."""
    fits = lambda given: value in given if isinstance(given, list) else re.fullmatch(given, value, re.DOTALL)
    return ("include" not in body or fits(body["include"])) and not ("exclude" in body and fits(body["exclude"]))


def sort_values(values, field):
    """Texts by their bytes, which are in the order of characters; others by value."""
    values.sort(key=lambda value: value.encode() if field.is_text else value)


def date_keys(body):
    """The bucket of a time, and the bucket behind a bucket, in nanoseconds."""
    zone = dates.zone_of(body.get("time_zone"))
    if "calendar_interval" in body:
        unit = {"minute": "m", "hour": "h", "day": "d", "week": "w", "month": "M", "quarter": "q", "year": "y"}[body["calendar_interval"]]
        key_of = functools.lru_cache(None)(lambda ns: dates.floor_to(ns, unit, zone))
        return key_of, lambda ns: dates.next_of(ns, unit, zone)
    given = body["fixed_interval"]
    step = int(given[:-1]) * dates.UNITS[given[-1]]
    offset = int(body.get("offset", "0h")[:-1]) * dates.UNITS["h"]

    @functools.lru_cache(None)
    def key_of(ns):
        moment, _ = dates.moment_of(ns, zone)
        local = ns + int(moment.utcoffset().total_seconds()) * dates.SECOND
        rounded = (local - offset) // step * step + offset
        clock, _ = dates.moment_of(rounded, dates.UTC)
        return dates.ns_of(clock.replace(tzinfo=zone)) + rounded % dates.SECOND

    return key_of, lambda ns: key_of(ns + step + step // 2) if zone != dates.UTC else ns + step
