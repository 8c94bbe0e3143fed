"""Numbers of aggregations, computed exactly: fractions that are rounded once, at the end."""

import datetime
import collections
import fractions
import math

from fields import address_text


# A time in nanoseconds as a double of milliseconds may be the neighbour of the nearest one.
DATE_ULPS = 1


class Metrics:
    """Computes metrics over the values of documents."""

    def __init__(self, store):
        self.store = store

    def counted(self, name, docs, body):
        """Each value with how often it is there; `missing` stands for what documents lack."""
        field = self.store.fields[name]
        found = collections.Counter(dict(self.store.rows("SELECT value, count(*) FROM {v} GROUP BY value", docs, name)))
        if "missing" in body:
            lacking = len(docs) - self.store.rows("SELECT count(DISTINCT doc) FROM {v}", docs, name)[0][0]
            if lacking:
                found[field.value(body["missing"])] += lacking
        if field.kind == "datetime":
            return {fractions.Fraction(value, 10**6): num for value, num in found.items()}
        return found

    def moments(self, body, docs):
        """Number of values, their sum, and the sum of their squares."""
        values = {fractions.Fraction(value): num for value, num in self.counted(body["field"], docs, body).items()}
        count = sum(values.values())
        total = sum(value * num for value, num in values.items())
        return values, count, total

    def value(self, kind, body, docs):
        """What an aggregation without buckets answers."""
        return getattr(self, f"of_{kind}")(body, docs)

    def of_value_count(self, body, docs):
        return {"value": sum(self.counted(body["field"], docs, body).values())}

    def of_cardinality(self, body, docs):
        num = len(self.counted(body["field"], docs, body))
        return {"value": num} if num <= 512 else {"value": Near(num, 0.15 * num)}

    def of_stats(self, body, docs):
        values, count, total = self.moments(body, docs)
        if not count:
            return {"count": 0, "min": None, "max": None, "avg": None, "sum": 0.0}
        found = {"min": number(min(values)), "max": number(max(values)), "avg": number(total / count), "sum": number(total)}
        if self.store.fields[body["field"]].precision == "nanoseconds":
            # Each of the times that are added up may be so far off.
            by = DATE_ULPS * math.ulp(max(abs(number(value)) for value in values))
            found = {key: Near(value, by * count if key == "sum" else by) for key, value in found.items()}
        return {"count": count, **found}

    def of_avg(self, body, docs):
        return {"value": self.of_stats(body, docs)["avg"]}

    def of_sum(self, body, docs):
        return {"value": self.of_stats(body, docs)["sum"]}

    def of_min(self, body, docs):
        return {"value": self.of_stats(body, docs)["min"]}

    def of_max(self, body, docs):
        return {"value": self.of_stats(body, docs)["max"]}

    def of_extended_stats(self, body, docs):
        values, count, total = self.moments(body, docs)
        found = self.of_stats(body, docs)
        if not count:
            return found
        squares = sum(value * value * num for value, num in values.items())
        mean = total / count
        variance = squares / count - mean * mean
        found |= {"sum_of_squares": number(squares), "variance": close(number(variance)), "variance_population": close(number(variance))}
        deviation = math.sqrt(number(variance))
        sigma = body.get("sigma", 2)
        found["std_deviation"] = close(deviation)
        upper = number(mean) + sigma * deviation
        found["std_deviation_bounds"] = {"upper": Near(upper, 1e-9 * (abs(number(mean)) + sigma * deviation))}
        return found

    def of_weighted_avg(self, body, docs):
        weigh, value = body["weight"]["field"], body["value"]["field"]
        total = weights = fractions.Fraction(0)
        for doc in docs:
            of_weight, of_value = self.store.columns[weigh][doc], self.store.columns[value][doc]
            if of_weight and of_value:
                total += sum(map(fractions.Fraction, of_value)) * fractions.Fraction(of_weight[0])
                weights += len(of_value) * fractions.Fraction(of_weight[0])
        return {"value": number(total / weights) if weights else None}

    def sorted(self, body, docs):
        found = self.counted(body["field"], docs, body)
        return [float(value) for value in sorted(found) for _ in range(found[value])], len(found)

    def of_percentiles(self, body, docs):
        values, num_different = self.sorted(body, docs)
        return {"values": {point_text(percent): quantile(values, percent / 100, num_different) for percent in body["percents"]}}

    def of_median_absolute_deviation(self, body, docs):
        values, num_different = self.sorted(body, docs)
        if not values:
            return {"value": None}
        if num_different <= 128:
            median = middle(values, 0.5)
            deviation = middle(sorted(abs(value - median) for value in values), 0.5)
            return {"value": Near(deviation, 1e-9 * abs(deviation))}
        # Of the two in the middle the lower counts then, among the distances, too.
        lower = (len(values) - 1) // 2
        median = values[lower]
        deviation = sorted(abs(value - median) for value in values)[lower]
        return {"value": Near(deviation, deviation / 128 + abs(median) / 64)}

    def of_percentile_ranks(self, body, docs):
        values, num_different = self.sorted(body, docs)
        found = {}
        for point in body["values"]:
            if not values:
                found[point_text(point)] = None
                continue
            share = 100 * sum(value <= point for value in values) / len(values)
            near = sum(abs(value - point) <= abs(point) / 128 for value in values)
            found[point_text(point)] = Near(share, 1e-9 if num_different <= 128 else 100 * near / len(values) + 1e-9)
        return {"values": found}

    def of_string_stats(self, body, docs):
        found = self.counted(body["field"], docs, body)
        count = sum(found.values())
        if not count:
            return {"count": 0, "min_length": None, "max_length": None, "avg_length": None, "entropy": 0.0}
        chars = collections.Counter()
        for text, num in found.items():
            for char in text:
                chars[char] += num
        total = sum(chars.values())
        entropy = -sum(num / total * math.log2(num / total) for num in chars.values())
        return {
            "count": count,
            "min_length": min(map(len, found)),
            "max_length": max(map(len, found)),
            "avg_length": number(fractions.Fraction(total, count)),
            "entropy": Near(entropy, 1e-9),
        }


KINDS = [name[3:] for name in dir(Metrics) if name.startswith("of_")]


class Near:
    """A number that may be off by a little."""

    def __init__(self, wanted, by):
        self.wanted, self.by = wanted, by

    def __eq__(self, other):
        return isinstance(other, (int, float)) and abs(other - self.wanted) <= self.by

    __hash__ = None

    def __repr__(self):
        return f"{self.wanted} ± {self.by}"


class InSecond:
    """The text of a date, compared up to its second."""

    def __init__(self, time_ns):
        moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=time_ns // 10**9)
        self.wanted = moment.isoformat(timespec="seconds")

    def __eq__(self, other):
        return isinstance(other, str) and other.startswith(self.wanted)

    __hash__ = None

    def __repr__(self):
        return self.wanted


def close(value):
    return Near(value, 1e-9 * abs(value))


def number(exact):
    """The double that is nearest."""
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def point_text(point):
    return str(float(point))


def middle(values, share):
    """Interpolated between the two values next to a rank."""
    rank = share * (len(values) - 1)
    low = math.floor(rank)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (rank - low)


def quantile(values, share, num_different):
    """A percentile: exact for few different values, off by 1/256 of its larger neighbour for more."""
    if not values:
        return None
    if num_different <= 128:
        wanted = middle(values, share)
        return Near(wanted, 1e-9 * max(abs(wanted), abs(values[0]), abs(values[-1])))
    rank = share * (len(values) - 1)
    low, high = values[math.floor(rank)], values[math.ceil(rank)]
    return Near(middle(values, share), max(abs(low), abs(high)) / 256)


def part_of_key(field, value):
    """A value as it stands among others in a key: dates are texts."""
    return InSecond(value) if field.kind == "datetime" else shown_key(field, value)


def shown_key(field, value):
    """A value as it stands in an answer."""
    if field.kind == "ip":
        return address_text(value)
    if field.kind == "datetime":
        ms = value / 10**6
        return Near(ms, DATE_ULPS * math.ulp(ms)) if value % 10**6 else value // 10**6
    return value
