"""A server for the tests of one file."""

import contextlib
import os
import subprocess


@contextlib.contextmanager
def serving(folder, *more):
    """Runs a server over an empty folder, and gives its address."""
    engine = os.environ.get("ENGINE", "wasm")
    command = [os.environ["CANTER"], "serve", "--indexes-in", str(folder), "--writable", "--listen", "127.0.0.1:0"]
    command += ["--engine", engine, "--commit-interval", "20ms", "--auto-create-index", "*", *more]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    line = next(line for line in server.stdout if "http://127.0.0.1:" in line)
    yield line.split()[-1]
    server.terminate()
    server.wait(30)
