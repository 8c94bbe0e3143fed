"""Dates in requests: as text, with arithmetic, rounded as Elasticsearch's documentation has it; and calendars."""

import calendar
import datetime
import re
import zoneinfo

SECOND = 10**9
UNITS = {"s": SECOND, "m": 60 * SECOND, "h": 3_600 * SECOND, "H": 3_600 * SECOND, "d": 86_400 * SECOND, "w": 604_800 * SECOND}
STEP = re.compile(r"([+-])(\d*)([yMwdhHms])|/([yMwdhHms])")
PARTS = re.compile(
    r"^(?P<y>\d{4})(?:-(?P<mo>\d\d)(?:-(?P<d>\d\d)(?:T(?P<h>\d\d)(?::(?P<mi>\d\d)(?::(?P<s>\d\d)(?:[.](?P<f>\d{1,9}))?)?)?)?)?)?"
    r"(?P<zone>Z|[+-]\d\d:\d\d)?$"
)
UTC = datetime.timezone.utc


def zone_of(name):
    """A time zone by name or offset; UTC if there is none."""
    if not name or name in ("UTC", "Z"):
        return UTC
    if name[0] in "+-":
        hours, minutes = name[1:].split(":")
        sign = -1 if name[0] == "-" else 1
        return datetime.timezone(sign * datetime.timedelta(hours=int(hours), minutes=int(minutes)))
    return zoneinfo.ZoneInfo(name)


def moment_of(ns, zone):
    """The time on the clocks of a zone, to the second, and the nanoseconds that are over."""
    seconds, rest = divmod(ns, SECOND)
    moment = datetime.datetime(1970, 1, 1, tzinfo=UTC) + datetime.timedelta(seconds=seconds)
    return moment.astimezone(zone), rest


def ns_of(moment):
    """Nanoseconds since 1970 of a time with a zone and no fraction."""
    delta = moment - datetime.datetime(1970, 1, 1, tzinfo=UTC)
    return (delta.days * 86_400 + delta.seconds) * SECOND


def add_months(moment, months):
    """The same day so many months later, or the last of that month."""
    total = moment.year * 12 + moment.month - 1 + months
    year, month = divmod(total, 12)
    day = min(moment.day, calendar.monthrange(year, month + 1)[1])
    return moment.replace(year=year, month=month + 1, day=day)


def floor_to(ns, unit, zone):
    """The beginning of the unit of the calendar (y, q, M, w, d, h, m, s) that a time lies in."""
    moment, _ = moment_of(ns, zone)
    if unit in "hHms":
        # Hours are cut by the offset that holds at this time, so that a repeated hour stays two.
        offset = int(moment.utcoffset().total_seconds()) * SECOND
        step = UNITS[unit]
        return (ns + offset) // step * step - offset
    day = moment.replace(hour=0, minute=0, second=0, fold=0)
    if unit == "w":
        day = day - datetime.timedelta(days=day.weekday())
    if unit in "Mqy":
        day = day.replace(day=1)
    if unit == "q":
        day = day.replace(month=(day.month - 1) // 3 * 3 + 1)
    if unit == "y":
        day = day.replace(month=1)
    return ns_of(day)


def next_of(ns, unit, zone):
    """The beginning of the unit behind that which begins at `ns`."""
    if unit in "hHms":
        return ns + UNITS[unit]
    moment, _ = moment_of(ns, zone)
    if unit in "wd":
        day = moment + datetime.timedelta(days=7 if unit == "w" else 1)
    else:
        day = add_months(moment, {"M": 1, "q": 3, "y": 12}[unit])
    return ns_of(day.replace(hour=0, minute=0, second=0, fold=0))


def step(ns, sign, number, unit, zone):
    """A time so many units later, by the clocks of a zone."""
    if unit in "hHms":
        return ns + sign * number * UNITS[unit]
    moment, rest = moment_of(ns, zone)
    if unit in "wd":
        days = number * (7 if unit == "w" else 1)
        moved = moment + sign * datetime.timedelta(days=days)
    else:
        moved = add_months(moment, sign * number * (12 if unit == "y" else 1))
    return ns_of(moved) + rest


def literal_span(text, zone):
    """First and last nanosecond that a date of a request may stand for.

    What Elasticsearch documents: a month or a day that is missing is the first, in either case; the end of a time that
    is missing is the end of the day, hour, minute or second.
    """
    parts = PARTS.match(text)
    if not parts:
        raise ValueError(f"not a date: {text}")
    at = zone_of(parts["zone"]) if parts["zone"] else zone
    given = [parts[name] for name in ("y", "mo", "d", "h", "mi", "s")]
    begin, end = (
        ns_of(datetime.datetime(*[int(part) if part else default for part, default in zip(given, defaults)], tzinfo=at))
        for defaults in ((1970, 1, 1, 0, 0, 0), (1970, 1, 1, 23, 59, 59))
    )
    if parts["f"]:
        fraction = int((parts["f"] + "0" * 9)[:9])
        return begin + fraction, end + fraction
    return begin, end + SECOND - 1


def resolve(text, round_up, zone_name=None, now_ns=0):
    """The time that a date of a request stands for; `round_up` takes the last of what it says."""
    zone = zone_of(zone_name)
    if text.startswith("now"):
        ns, steps = now_ns, text[3:]
    else:
        date, _, steps = text.partition("||")
        begin, end = literal_span(date, zone)
        ns = end if round_up and not steps else begin
    place = 0
    while place < len(steps):
        found = STEP.match(steps, place)
        if not found:
            raise ValueError(f"not a date: {text}")
        place = found.end()
        if found[4]:
            ns = floor_to(ns, found[4], zone)
            if round_up:
                ns = next_of(ns, found[4], zone) - 1
        else:
            ns = step(ns, 1 if found[1] == "+" else -1, int(found[2] or 1), found[3], zone)
    return ns


def text_of(ns, digits=0):
    """RFC 3339 in UTC with so many digits of a fraction."""
    moment, rest = moment_of(ns, UTC)
    fraction = f".{rest:09d}"[: digits + 1] if digits else ""
    return f"{moment.year:04d}-{moment:%m-%dT%H:%M:%S}{fraction}Z"
