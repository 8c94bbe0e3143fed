"""An index of a corpus, served by `canter serve`, and requests to it."""

import http.client
import json
import subprocess


class Server:
    """`canter serve` over one index; use it in a `with`."""

    def __init__(self, canter, corpus, folder, engine, num_splits):
        self.canter, self.corpus, self.engine = canter, corpus, engine
        self.folder = folder
        self.index = folder / corpus.name
        if not self.index.exists():
            self.ingest(num_splits)

    def ingest(self, num_splits):
        """Makes the index, of several splits: pages, merges and ties between them are what an index has."""
        self.folder.mkdir(parents=True, exist_ok=True)
        config = self.folder / f"{self.corpus.name}.json"
        config.write_text(json.dumps(self.corpus.config()))
        lines = self.folder / f"{self.corpus.name}.ndjson"
        with lines.open("w", encoding="utf-8") as out:
            out.writelines(json.dumps(doc, ensure_ascii=False) + "\n" for doc in self.corpus.docs)
        per_split = -(-len(self.corpus.docs) // num_splits)
        self.run("index", "create", "--index", self.index, "--index-config", config)
        self.run("index", "ingest", "--index", self.index, "--input", lines, "--split-num-docs", per_split, "--max-rejects", 0)

    def run(self, *args):
        """Runs `canter`."""
        done = subprocess.run([self.canter, *map(str, args)], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"canter {' '.join(map(str, args))}:\n{done.stdout}{done.stderr}")

    def __enter__(self):
        command = [self.canter, "serve", "--index", f"{self.corpus.name}={self.index}", "--listen", "127.0.0.1:0", "--engine", self.engine]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        address = None
        for line in self.process.stdout:
            found = [word for word in line.split() if word.startswith("http://127.0.0.1:")]
            if found:
                address = found[0].split("/")[2]
                break
        assert address, "the server does not say where it listens"
        self.connection = http.client.HTTPConnection(address, timeout=120)
        self.address = address
        return self

    def __exit__(self, *_):
        self.connection.close()
        self.process.terminate()
        self.process.wait(30)

    def post(self, path, body):
        """The status and the JSON of an answer."""
        for attempt in (1, 2):
            try:
                self.connection.request("POST", path, json.dumps(body).encode(), {"content-type": "application/json"})
                answer = self.connection.getresponse()
                return answer.status, json.loads(answer.read())
            except (http.client.HTTPException, ConnectionError):
                # A connection that was idle for long is closed.
                self.connection.close()
                if attempt == 2:
                    raise

    def elastic(self, body):
        """Elasticsearch's search."""
        return self.post(f"/{self.corpus.name}/_search", body)

    def quickwit(self, body):
        """Quickwit's search."""
        return self.post(f"/api/v1/{self.corpus.name}/search", body)
