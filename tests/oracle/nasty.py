"""Documents with all that goes wrong: scripts, extremes, empty values, lists, times of every century."""

import random

import dates
from fields import Field

# Combining marks, capitals that grow when they become small, a final sigma, emoji, CJK, right to left.
TEXTS = [
    "Café", "Cafe\u0301", "İstanbul", "istanbul", "ISTANBUL", "ıstanbul", "Straße", "STRASSE", "ΟΔΟΣ", "οδος", "οδός",
    "東京", "東京都", "北京 大学", "日本語テキスト", "👍", "ok👍ok", "👩‍👩‍👧", "שלום", "naïve", "ﬁn", "Ⅷ", "x²", "½", "a_b",
    "foo-bar", "foo.bar", "C++", "don't", "don’t", "e-mail@example.org", "10.0.0.1", "3.14", "-5", "TRUE",
    "null", "NaN",
    "alpha", "beta", "Gamma", "delta", "gamma", "timeout", "timeuot", "time", "times", "timer", "reset",
    "rest", "preset", "the", "a", "AND", "OR", "not",
    "ǅungla", "ﬀ", "Ωmega", "Kelvin", "Ⴀ", "ẞ", "𝔘nicode", "𐐀", "zero\u200bwidth", "soft\u00adhyphen",
    "non\u00a0breaking", "tab\there", "line\nbreak",
]
TAGS = [
    "", " ", "a", "A", "b", "B b", "é", "É", "i", "İ", "ı", "I", "x*y", "x?y", "back\\slash", 'quo"te',
    "a:b", "[1 TO 2]", "(x)", "line\nbreak", "/path/to", "0", "00", "1", "true", "2024-05-01", "日本", "👍",
    "ﬀ", "zz", "x" * 255, "x" * 256, "x" * 300,
]
INTEGERS = [
    0, 1, -1, 2, 7, -7, 100, 2**31, -(2**31), 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, 2**63 - 2, -(2**63),
    -(2**63) + 1,
]
NATURALS = [0, 1, 2, 3, 255, 2**32, 2**53 + 1, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1, 2**64 - 2]
FLOATS = [
    0.0, -0.0, 0.5, -0.5, 1.0, 1.5, 1e-300, -1e-300, 5e-324, 1e300, -1e300, 1.7976931348623157e308,
    -1.7976931348623157e308, 0.1, 0.2, 0.30000000000000004, 3.0, 2.0**53, 1e15, 123456.789,
]
ADDRESSES = [
    "0.0.0.0", "10.0.0.1", "10.0.0.2", "10.0.1.1", "10.255.255.255", "11.0.0.0", "127.0.0.1", "192.168.1.1",
    "255.255.255.255", "::", "::1", "::ffff:10.0.0.1", "2001:db8::1", "2001:db8::2", "2001:db8:1::",
    "fe80::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
]
# Nanoseconds since 1970, around which times lie.
TIMES = [
    0, -1, 1, 999_999_999, -999_999_999, -(10**9), 10**9, 1_709_164_800 * 10**9, 1_711_846_800 * 10**9,
    1_729_990_800 * 10**9, -2_208_988_800 * 10**9, 4_102_444_800 * 10**9, -9_000_000_000 * 10**9,
    9_000_000_000 * 10**9,
]
DAY_NS = 86_400 * 10**9


def fields(number):
    """The fields; those behind `dyn` are not in the mapping."""
    return [
        Field(number, "u64"),
        Field("time", "datetime", precision="nanoseconds"),
        Field("seen", "datetime", precision="milliseconds", is_list=True),
        Field("text", "text", "default", positions=True, is_list=True),
        Field("title", "text", "default", positions=True),
        Field("spaced", "text", "whitespace", positions=True),
        Field("low", "text", "lowercase"),
        Field("tag", "text", "raw", is_list=True),
        Field("rare", "text", "raw"),
        Field("int", "i64"),
        Field("ints", "i64", is_list=True),
        Field("nat", "u64"),
        Field("ratio", "f64"),
        Field("small", "f64", is_list=True),
        Field("flag", "bool"),
        Field("flags", "bool", is_list=True),
        Field("ip", "ip"),
        Field("ips", "ip", is_list=True),
        Field("obj.key", "text", "raw"),
        Field("obj.num", "i64"),
        Field("dyn.word", "text", "raw", dynamic=True),
        Field("dyn.num", "i64", dynamic=True),
        Field("dyn.part", "f64", dynamic=True),
        Field("dyn.deep.on", "bool", dynamic=True),
        Field("dyn.list.x", "i64", dynamic=True),
    ]


def docs(seed, num_docs):
    """So many documents; many are alike in some field, some have next to nothing."""
    draw = random.Random(seed)
    return [doc(draw) for _ in range(num_docs)]


def some(draw, choices, most=4):
    """A list of values; it may be empty, have nulls and the same value twice."""
    values = [draw.choice(choices) for _ in range(draw.randint(0, most))]
    if draw.random() < 0.1:
        values.insert(draw.randint(0, len(values)), None)
    return values


def sentence(draw):
    """Words in a row, with what may stand between them."""
    words = [draw.choice(TEXTS) for _ in range(draw.randint(1, 6))]
    if draw.random() < 0.03:
        words.append("y" * draw.choice([254, 255, 256, 1000]))
    return draw.choice([" ", " ", " ", ", ", "-", "\n"]).join(words)


def time(draw):
    """A time as text, with no or all digits of a fraction, in UTC or with an offset."""
    ns = draw.choice(TIMES)
    if draw.random() < 0.7:
        ns += draw.randint(-40, 40) * DAY_NS + draw.choice([0, 1, 10**6, 3_600 * 10**9, 123_456_789])
    text = dates.text_of(ns, draw.choice([9, 9, 9, 0, 3]))
    return text


def doc(draw):
    """One document."""
    found = {
        "time": time(draw),
        "seen": some(draw, [time(draw), time(draw)], 3),
        "text": draw.choice([sentence(draw), [sentence(draw), sentence(draw)], "", None, []]),
        "title": draw.choice([sentence(draw), sentence(draw), ""]),
        "spaced": sentence(draw),
        "low": sentence(draw),
        "tag": some(draw, TAGS),
        "int": draw.choice(INTEGERS + [draw.randint(-50, 50)] * 8),
        "ints": some(draw, INTEGERS + [5, 6, 7] * 4),
        "nat": draw.choice(NATURALS + [draw.randint(0, 50)] * 6),
        "ratio": draw.choice(FLOATS + [draw.randint(-400, 400) / 8] * 10),
        "small": some(draw, [0.25, 0.5, 1.0, -3.75, 12.125, 1e6]),
        "flag": draw.random() < 0.5,
        "flags": some(draw, [True, False], 2),
        "ip": draw.choice(ADDRESSES),
        "ips": some(draw, ADDRESSES, 3),
        "obj": {"key": draw.choice(TAGS[:20]), "num": draw.choice([None, 1, 2, 3, -1])},
        "dyn": {
            "word": draw.choice(["red", "green", "Blue", "red", ["red", "green"], "", None, "x" * 300]),
            "num": draw.choice([1, 2, 3, -4, 2**62, None, [1, 2]]),
            "part": draw.choice([0.5, 1.25, -2.75, None]),
            "deep": {"on": draw.choice([True, False, None])},
            "list": [{"x": draw.randint(0, 5)} for _ in range(draw.randint(0, 3))],
        },
    }
    if draw.random() < 0.15:
        found["rare"] = draw.choice(["once", "twice", "thrice"])
    for name in list(found):
        if name != "time" and draw.random() < 0.12:
            if draw.random() < 0.5:
                found[name] = None
            else:
                del found[name]
    return found
