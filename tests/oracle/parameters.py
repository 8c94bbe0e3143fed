"""What parameters of clauses mean: how many must match, how near a word is, what a pattern takes, what a number is."""

import ipaddress
import math
import re

from fields import address


def many(value):
    return value if isinstance(value, list) else [value]


def of_field(body, short):
    """The one field of a clause, with its parameters; a value alone stands for the parameter `short`."""
    (name, inner), = [item for item in body.items() if item[0] != "boost"]
    return name, inner if isinstance(inner, dict) else {short: inner}


def needs(given):
    return given is not None and at_least(given, 0) > 0


def at_least(given, num):
    """How many of `num` clauses must match: `2`, `-1`, `75%`, `-25%`, `3<90%`."""
    text = str(given).strip()
    if "<" in text:
        needed = num
        for rule in text.split():
            above, _, share = rule.partition("<")
            if num > int(above):
                needed = at_least(share, num)
        return needed
    if text.endswith("%"):
        percent = int(text[:-1])
        part = num * abs(percent) // 100
        return part if percent >= 0 else num - part
    count = int(text)
    return max(count if count >= 0 else num + count, 0)


def stands(spots, cut, last):
    """Whether words stand in a document with the distances that they have in a phrase."""
    (first, word), rest = cut[0], cut[1:-1]
    for begin in spots.get(word, ()):
        if all(begin + place - first in spots.get(other, ()) for place, other in rest):
            end = begin + cut[-1][0] - first
            if any(end in spots.get(other, ()) for other in last):
                return True
    return False


def text_of(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def any_case(text):
    """A text without regard to capitals: of all letters, as docs/from-elasticsearch.md says."""
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def number_of(value):
    """A number of a request, which may be text."""
    if isinstance(value, str):
        return int(value) if re.fullmatch(r"-?\d+", value) else float(value)
    return value


def sql_number(field, value):
    """A number for SQL as its column has it, so that none is rounded to be compared."""
    return f"'{float(value)!r}'::DOUBLE" if field.kind == "f64" else f"({value})::HUGEINT"


def number_end(field, sign, end):
    """The end of a range of numbers; a fraction lies between two whole numbers."""
    end = number_of(end)
    if isinstance(end, float) and field.kind != "f64":
        if not end.is_integer():
            return f"> {sql_number(field, math.floor(end))}" if ">" in sign else f"< {sql_number(field, math.ceil(end))}"
        end = int(end)
    return f"{sign} {sql_number(field, end)}"


def network(text):
    """First and last address of a network."""
    net = ipaddress.ip_network(text, strict=False)
    return address(str(net.network_address)), address(str(net.broadcast_address))


def is_between(word, body):
    """Whether a text lies between the ends of a range, by its bytes."""
    word = word.encode()
    tests = {"gt": lambda end: word > end, "gte": lambda end: word >= end, "lt": lambda end: word < end, "lte": lambda end: word <= end}
    return all(test(str(body[key]).encode()) for key, test in tests.items() if body.get(key) is not None)


def wildcard_expression(text):
    """A pattern with * and ? as a regular expression; a backslash takes their meaning."""
    out, is_escaped = "", False
    for char in text:
        if is_escaped:
            out, is_escaped = out + re.escape(char), False
        elif char == "\\":
            is_escaped = True
        else:
            out += {"*": ".*", "?": "."}.get(char, re.escape(char))
    return out


def edits_of(fuzziness, word):
    """How many edits a fuzziness allows for a word: AUTO is by its length."""
    text = str(fuzziness).upper()
    if not text.startswith("AUTO"):
        return int(text)
    low, high = map(int, text[5:].split(",")) if ":" in text else (3, 6)
    return 0 if len(word) < low else 1 if len(word) < high else 2


def distance(left, right, has_transpositions, most):
    """Edits from one word to another; two neighbours that changed places are one, if that is wanted."""
    before, row = None, list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        last, row, older = row, [i], before
        for j, b in enumerate(right, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a != b))
            if has_transpositions and older and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        before = last
        if min(row) > most + 1:
            return most + 1
    return row[-1]
