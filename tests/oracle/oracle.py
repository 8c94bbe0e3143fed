"""Random requests to Canter, compared with DuckDB and a plain scan of the same documents.

    python oracle.py --queries 5000 --seed 1 --engine native --corpus hdfs,web,nasty

Each query is a seeded draw. It is asked as Elasticsearch's DSL, by Quickwit's path, and as a query string where it has
such a form; all must find the documents that the oracle finds. One in three is also asked between two times, one with an
order and pages, one with aggregations. A difference is made small and printed with its seed; any makes the exit code 1.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import sys
import tempfile
import time

import cases
import corpora
from compare import NOW_MS, Judge
from generate import Queries
from generate_aggs import Aggs
from judge_aggs import AggsJudge
from judge_search import SearchJudge
from requests_of import Searches
from server import Server
from shrink import shrink
from store import Store

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent.parent
MAX_REFUSED = 0.03
LONGEST = 1_500


class Run:
    """The requests over one corpus with one engine, and what came of them."""

    def __init__(self, options, store, server):
        self.options, self.store = options, store
        self.judge = Judge(store, server)
        self.aggs, self.searches = AggsJudge(self.judge), SearchJudge(self.judge)
        self.outcomes, self.refused, self.asked = collections.Counter(), collections.Counter(), collections.Counter()
        self.findings, self.examples, self.num_some = [], {}, 0

    def go(self, num):
        """Asks what was once answered wrongly, and `num` queries, each drawn from a seed of its own."""
        if self.options.only is None:
            self.cases()
        for number in range(num):
            seed = f"{self.options.seed}:{self.store.corpus.name}:{number}"
            if self.options.only is None or self.options.only == number:
                self.query(seed, number)

    def cases(self):
        """The requests of `cases.py`."""
        name = self.store.corpus.name
        for query in cases.QUERIES.get(name, []):
            for form, ask in self.forms():
                self.ask("a case", form, query, ask)
        for aggs in cases.AGGREGATIONS.get(name, []):
            self.ask("a case", "aggregations", {"query": cases.ALL, "aggs": aggs}, self.ask_aggs)
        for search in cases.SEARCHES.get(name, []):
            self.ask("a case", "search", search, self.searches.search)

    def forms(self):
        """All ways to ask a query."""
        return [
            ("dsl", self.judge.query),
            ("dsl by Quickwit's path", lambda query: self.judge.quickwit(query, False)),
            ("query string", lambda query: self.judge.quickwit(query, True)),
        ]

    def ask_aggs(self, body, is_quickwit=False):
        """Aggregations over the documents of a query."""
        return self.aggs.aggs(body["query"], body["aggs"], is_quickwit)

    def query(self, seed, number):
        """One query in all its forms."""
        draw = random.Random(seed)
        queries = Queries(self.store, draw, NOW_MS)
        query = queries.query()
        num_found = int(self.judge.matcher.docs(query).sum())
        self.num_some += 0 < num_found < self.store.num_docs
        forms = [(form, query, ask) for form, ask in self.forms()]
        if number % 3 == 1:
            search = Searches(self.store, draw, queries).search(query, corpora.NUMBER)
            forms.append(("search", search, self.searches.search))
        if number % 3 == 0 and self.store.corpus.timestamp:
            forms.append(("time range", Searches(self.store, draw, queries).in_time(query), self.judge.in_time))
        if number % 3 == 2:
            # Of a query that finds nothing all aggregations are alike.
            over = query if num_found else {"match_all": {}}
            aggs = Aggs(self.store, draw, queries).aggs()
            forms.append(("aggregations", {"query": over, "aggs": aggs}, lambda body: self.ask_aggs(body, number % 2)))
        for form, request, ask in forms:
            self.ask(seed, form, request, ask)

    def ask(self, seed, form, request, ask):
        """One request; a wrong answer is made small and kept."""
        if any(text in json.dumps(request, ensure_ascii=False) for text in self.options.skip):
            return
        outcome = ask(request)
        if outcome is None:
            return
        self.asked[form] += 1
        self.outcomes[outcome.what] += 1
        if outcome.what == "refused":
            reason = outcome.reason[:120]
            self.refused[reason] += 1
            self.examples.setdefault(reason, outcome.curl)
        if outcome.what != "wrong":
            return
        is_wrong = lambda smaller: (found := ask(smaller)) is not None and found.what == "wrong"
        outcome = ask(shrink(request, is_wrong)) if self.options.shrink else outcome
        self.findings.append((form, outcome))
        print(f"WRONG {seed} ({form}): {outcome.reason[:LONGEST]}\n    {outcome.curl[:LONGEST]}", flush=True)

    def report(self, seconds):
        """What was asked and how much of it found something."""
        name, num = self.store.corpus.name, max(1, self.asked["dsl"])
        print(f"\n{name} ({self.options.engine}, {self.store.num_docs} documents, {seconds:.0f} s): {dict(self.outcomes)}")
        print(f"  requests: {dict(self.asked)}; {self.num_some} of {num} queries find some documents and not all")
        for clause, tally in sorted(self.judge.matcher.tally.items()):
            asked, some = tally["asked"], tally["some"]
            any_found = 100 * tally["any"] // asked
            print(f"  {clause:22} {asked:6} asked, {any_found:3} % found something, {100 * some // asked:3} % not everything")
        for kind, asked in sorted(self.aggs.aggregator.tally.items()):
            print(f"  aggregation {kind:26} {asked:8}")
        for reason, times in self.refused.most_common():
            print(f"  refused {times}: {reason}\n    {self.examples[reason][:600]}")


def options():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=1000, help="queries over each corpus")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="ask only the query of this number: the last part of a seed that was printed")
    parser.add_argument("--engine", choices=["native", "wasm"], default="native")
    parser.add_argument("--corpus", default=",".join(corpora.NAMES), help="names, separated by commas")
    parser.add_argument("--docs", type=int, default=30_000, help="most documents of a corpus")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--data", default=CHECKOUT / "data", type=pathlib.Path, help="the folder of the real data: its corpora are left out where there is none")
    parser.add_argument("--canter", default=os.environ.get("CANTER", CHECKOUT / "target" / "debug" / "canter"))
    parser.add_argument("--skip", action="append", default=[], help="leave out requests with this text, to look behind a difference")
    parser.add_argument("--no-shrink", dest="shrink", action="store_false", help="print requests as they were drawn")
    return parser.parse_args()


def main():
    """Runs over each corpus; the exit code is 1 if any answer was wrong or too many were refused."""
    given, is_right = options(), True
    with tempfile.TemporaryDirectory() as folder:
        for name in given.corpus.split(","):
            if name in corpora.REAL and not given.data.is_dir():
                print(f"{name}: left out, since there is no folder {given.data} (--data)")
                continue
            corpus = corpora.corpus(name, given.seed, given.data, given.docs)
            store, begin = Store(corpus), time.monotonic()
            with Server(given.canter, corpus, pathlib.Path(folder), given.engine, given.splits) as server:
                run = Run(given, store, server)
                run.go(given.queries)
            run.report(time.monotonic() - begin)
            num = sum(run.outcomes.values())
            is_right &= not run.findings and run.outcomes["refused"] <= MAX_REFUSED * num
    sys.exit(0 if is_right else 1)


if __name__ == "__main__":
    main()
