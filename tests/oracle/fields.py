"""What a field is, how its text is cut into words, and how a JSON value becomes one that can be compared.

Nothing here is taken from Canter: the tokenizers follow docs/fields.md and docs/guide.md, addresses and dates
follow their standards.
"""

import dataclasses
import datetime
import ipaddress
import re

MAX_WORD_BYTES = 255
NS = {"seconds": 10**9, "milliseconds": 10**6, "microseconds": 10**3, "nanoseconds": 1}
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


@dataclasses.dataclass
class Field:
    """A field of an index. `kind` is text, u64, i64, f64, bool, datetime or ip."""

    name: str
    kind: str
    tokenizer: str = "default"
    fast: bool = True
    positions: bool = False
    precision: str = "seconds"
    formats: tuple = ("rfc3339",)
    # Documents may have a list of values.
    is_list: bool = False
    # Not in the mapping: the index finds out by itself what the values are.
    dynamic: bool = False

    @property
    def is_text(self):
        return self.kind == "text"

    @property
    def is_raw(self):
        return self.is_text and self.tokenizer == "raw"

    @property
    def is_words(self):
        return self.is_text and self.tokenizer != "raw"

    @property
    def is_number(self):
        return self.kind in ("u64", "i64", "f64")

    def mapping(self):
        """The field as an index config has it."""
        kind = f"array<{self.kind}>" if self.is_list else self.kind
        entry = {"name": self.name.split(".")[-1], "type": kind, "fast": self.fast}
        if self.is_text:
            entry["tokenizer"] = self.tokenizer
            entry["record"] = "position" if self.positions else "basic"
        if self.kind == "datetime":
            entry["fast_precision"] = self.precision
            entry["input_formats"] = list(self.formats)
        return entry

    def values(self, json_value):
        """The values that a document has here, in their order; null is none."""
        if json_value is None:
            return []
        if isinstance(json_value, list):
            return [value for item in json_value for value in self.values(item)]
        return [self.value(json_value)]

    def value(self, json_value):
        """One value, as it is compared."""
        if self.kind == "datetime":
            return cut_time(time_ns(json_value), self.precision)
        if self.kind == "ip":
            return address(json_value)
        if self.kind == "bool":
            return int(json_value)
        if self.kind == "f64":
            return float(json_value) + 0.0
        return json_value


def cut_time(ns, precision):
    """A time at the precision of a column; times before 1970 are cut towards 1970."""
    unit = NS[precision]
    return ns // unit * unit if ns >= 0 else -(-ns // unit * unit)


def time_ns(value):
    """Nanoseconds since 1970 of RFC 3339 or of Unix seconds."""
    if isinstance(value, (int, float)):
        return int(value) * 10**9
    text = value.replace("Z", "+00:00").replace("z", "+00:00")
    date, _, time = text.partition("T")
    fraction = ""
    if "." in time:
        whole, _, rest = time.partition(".")
        digits = len(rest) - len(rest.lstrip("0123456789"))
        fraction, time = rest[:digits], whole + rest[digits:]
    moment = datetime.datetime.fromisoformat(f"{date}T{time}")
    delta = moment - EPOCH
    seconds = delta.days * 86_400 + delta.seconds
    return seconds * 10**9 + int((fraction + "0" * 9)[:9])


def address(text):
    """An address as 32 hexadecimal digits, which sort as addresses do; IPv4 as IPv6 has it."""
    parsed = ipaddress.ip_address(text)
    if parsed.version == 4:
        return f"{0xFFFF << 32 | int(parsed):032x}"
    return f"{int(parsed):032x}"


def address_text(digits):
    """The address again, as people write it."""
    number = int(digits, 16)
    if number >> 32 == 0xFFFF:
        return str(ipaddress.IPv4Address(number & 0xFFFFFFFF))
    return str(ipaddress.IPv6Address(number))


def lower(text):
    """Small letters, one character at a time and without regard to its neighbours (a final sigma stays a sigma)."""
    return "".join(char.lower() for char in text)


def words(tokenizer, text):
    """Words with their positions. A word that is too long is dropped and leaves its place empty."""
    if tokenizer == "raw":
        return [(0, text)] if len(text.encode()) <= MAX_WORD_BYTES else []
    if tokenizer == "lowercase":
        text = lower(text)
        return [(0, text)] if len(text.encode()) <= MAX_WORD_BYTES else []
    if tokenizer == "whitespace":
        # ASCII's white space: what must not break a line is none.
        return list(enumerate(re.findall(r"[^ \t\n\r\f]+", text)))
    found, word = [], ""
    for char in text + " ":
        if is_word_char(char):
            word += char
        elif word:
            found.append(word)
            word = ""
    kept = enumerate(found)
    return [(place, lower(word)) for place, word in kept if len(word.encode()) <= MAX_WORD_BYTES]


def is_word_char(char):
    """A letter or a digit as Unicode has them: Alphabetic, or a number of any kind."""
    return char.isalnum() or char in OTHER_ALPHABETIC


def other_alphabetic():
    """Marks with Unicode's property Other_Alphabetic that the nasty documents have; Python does not know it."""
    return {"\u0345", "\u093e", "\u0e31", "\u0e34", "\u24d0"}


OTHER_ALPHABETIC = other_alphabetic()
