"""The corpora: documents, how their fields are mapped, and which is the number that tells documents apart."""

import dataclasses
import datetime
import gzip
import json
import pathlib
import random
import re

import nasty
from fields import Field

# The field with a number of its own for each document.
NUMBER = "n"


@dataclasses.dataclass
class Corpus:
    """Documents and their fields. `default_fields` are those for words that name none."""

    name: str
    docs: list
    fields: list
    default_fields: list
    timestamp: str | None = None
    mode: str = "strict"

    def config(self):
        """The index config."""
        mapping = {"mode": self.mode, "field_mappings": mappings(self.fields)}
        if self.timestamp:
            mapping["timestamp_field"] = self.timestamp
        return {
            "version": "0.9",
            "index_id": self.name,
            "doc_mapping": mapping,
            "search_settings": {"default_search_fields": self.default_fields},
        }


def mappings(fields):
    """Field mappings; a dot in a name makes an object."""
    found, objects = [], {}
    for field in fields:
        if field.dynamic:
            continue
        if "." not in field.name:
            found.append(field.mapping())
            continue
        head = field.name.split(".")[0]
        if head not in objects:
            objects[head] = {"name": head, "type": "object", "field_mappings": []}
            found.append(objects[head])
        objects[head]["field_mappings"].append(field.mapping())
    return found


def numbered(docs):
    """Documents with their number."""
    return [{NUMBER: number, **doc} for number, doc in enumerate(docs)]


WORDS = "block received from dest src size exception terminating packet responder for file datanode namenode " \
    "verification succeeded served deleting replicate starting thread transfer writing allocated invalid peer reset".split()
LEVELS = ["INFO"] * 20 + ["WARN"] * 3 + ["ERROR"] * 2 + ["DEBUG"]


def hdfs(seed, num_docs):
    """Lines of Hadoop nodes, in the shape of Quickwit's tutorial."""
    draw = random.Random(seed)
    services = [f"datanode/{number:02}" for number in range(9)] + ["namenode/01", "secondary/01"]
    classes = ["DataNode$DataXceiver", "FSNamesystem", "PacketResponder", "util.DataTransferThrottler"]
    classes = [f"org.apache.hadoop.hdfs.{name}" for name in classes]

    def body():
        text = [draw.choice(WORDS) for _ in range(draw.randint(3, 12))]
        text.insert(draw.randrange(len(text)), f"blk_{draw.choice('-+').strip('+')}{draw.randint(1, 300)}")
        if draw.random() < 0.3:
            text.append(f"/10.250.{draw.randint(0, 3)}.{draw.randint(1, 9)}:{draw.choice([50010, 54106])}")
        return " ".join(text).capitalize()

    docs = [
        {
            "timestamp": 1_460_530_000 + number * 40 + draw.randint(-5, 5),
            "tenant_id": int(draw.expovariate(0.1)),
            "severity_text": draw.choice(LEVELS),
            "body": body(),
            "resource": {"service": draw.choice(services)},
            "attributes": {"class": draw.choice(classes)},
        }
        for number in range(num_docs)
    ]
    fields = [
        Field(NUMBER, "u64"),
        Field("timestamp", "datetime", formats=("unix_timestamp",)),
        Field("tenant_id", "u64"),
        Field("severity_text", "text", "raw"),
        Field("body", "text", "default", positions=True, fast=False),
        Field("resource.service", "text", "raw"),
        Field("attributes.class", "text", "raw"),
    ]
    return Corpus("hdfs", numbered(docs), fields, ["severity_text", "body"], "timestamp")


def web(seed, num_docs):
    """Requests to a busy site: few statuses, many paths of which few are frequent."""
    draw = random.Random(seed)

    def doc(number):
        rank = int(draw.paretovariate(0.8)) % 900
        kind = draw.choice(["images/hm_{}.gif", "english/news/{:05}.htm", "french/teams/{:02}/player.jpg", "cgi-bin/search.pl?page={}"])
        found = {
            "@timestamp": 893_980_800 + number * 97 + draw.randint(0, 3),
            "clientip": f"{draw.randint(1, 40)}.{draw.choice([0, 7, 135])}.0.{draw.randint(0, 9)}",
            "request": f"GET /{kind.format(rank)} HTTP/1.{draw.choice('0001')}",
            "status": draw.choices([200, 304, 404, 206, 302, 500, 503], [80, 7, 5, 2, 2, 1, 1])[0],
            "size": int(draw.expovariate(1 / 9000)),
            "took": round(draw.lognormvariate(3, 1.2), 3),
            "tls": draw.random() < 0.4,
        }
        if draw.random() < 0.3:
            del found["took"]
        return found

    fields = [
        Field(NUMBER, "u64"),
        Field("@timestamp", "datetime", formats=("unix_timestamp",)),
        Field("clientip", "ip"),
        Field("request", "text", "raw"),
        Field("status", "u64"),
        Field("size", "u64"),
        Field("took", "f64"),
        Field("tls", "bool"),
    ]
    return Corpus("web", numbered(doc(number) for number in range(num_docs)), fields, ["request"], "@timestamp")


def extremes(seed, num_docs):
    """All that goes wrong."""
    docs = numbered(nasty.docs(seed, num_docs))
    return Corpus("nasty", docs, nasty.fields(NUMBER), ["text", "title"], "time", "dynamic")


def apache(data, num_docs):
    """A real access log."""
    lines = (data / "apache_access.ndjson").read_text().splitlines()[:num_docs]
    fields = [
        Field(NUMBER, "u64"),
        Field("@timestamp", "datetime", formats=("unix_timestamp",)),
        Field("clientip", "ip"),
        Field("request", "text", "default", positions=True),
        Field("status", "u64"),
        Field("size", "u64"),
        Field("referrer", "text", "raw"),
        Field("agent", "text", "default", positions=True, fast=False),
    ]
    return Corpus("apache", numbered(map(json.loads, lines)), fields, ["request", "agent"], "@timestamp")


# Combined log format: https://httpd.apache.org/docs/2.4/logs.html#combined
LINE = re.compile(r'(\S+) \S+ \S+ \[([^]]+)] "(\S+) (\S+) ([^"]*)" (\d+) (\d+|-) "([^"]*)" "([^"]*)"')


def access_log(data, num_docs):
    """The lines of which the other access log was made, read here by themselves; an agent in words that has a column, too."""
    docs = []
    for line in (data / "apache_access.log").read_text().splitlines()[:num_docs]:
        found = LINE.fullmatch(line)
        # One line ends in the middle.
        if not found:
            continue
        client, time, method, path, protocol, status, size, referrer, agent = found.groups()
        moment = datetime.datetime.strptime(time, "%d/%b/%Y:%H:%M:%S %z")
        doc = {"timestamp": moment.isoformat(), "client_ip": client, "method": method, "path": path, "protocol": protocol}
        doc |= {"status": int(status), "user_agent": agent}
        doc |= {"size": int(size)} if size != "-" else {}
        doc |= {"referrer": referrer} if referrer != "-" else {}
        docs.append(doc)
    fields = [
        Field(NUMBER, "u64"),
        Field("timestamp", "datetime"),
        Field("client_ip", "ip"),
        Field("method", "text", "raw"),
        Field("path", "text", "default", positions=True),
        Field("protocol", "text", "lowercase"),
        Field("status", "i64"),
        Field("size", "f64"),
        Field("referrer", "text", "raw"),
        Field("user_agent", "text", "whitespace", positions=True),
    ]
    return Corpus("access_log", numbered(docs), fields, ["path", "user_agent"], "timestamp")


def geonames(data, num_docs):
    """Real cities, with names in many scripts."""
    with gzip.open(data / "geonames_cities.ndjson.gz", "rt", encoding="utf-8") as lines:
        docs = [json.loads(line) for line, _ in zip(lines, range(num_docs))]
    fields = [
        Field(NUMBER, "u64"),
        Field("id", "u64"),
        Field("name", "text", "default", positions=True),
        Field("alt_name", "text", "default", positions=True, fast=False),
        Field("country", "text", "raw"),
        Field("feature", "text", "raw"),
        Field("admin", "text", "raw"),
        Field("population", "i64"),
        Field("lon", "f64"),
        Field("lat", "f64"),
    ]
    return Corpus("geonames", numbered(docs), fields, ["name", "alt_name"])


def corpus(name, seed, data, num_docs):
    """A corpus by its name."""
    data = pathlib.Path(data)
    return {
        "hdfs": lambda: hdfs(seed, min(num_docs, 8_000)),
        "web": lambda: web(seed, min(num_docs, 8_000)),
        "nasty": lambda: extremes(seed, min(num_docs, 3_000)),
        "apache": lambda: apache(data, num_docs),
        "access_log": lambda: access_log(data, num_docs),
        "geonames": lambda: geonames(data, num_docs),
    }[name]()


NAMES = ["hdfs", "web", "nasty", "apache", "access_log", "geonames"]
# Those that are read from files.
REAL = NAMES[3:]
