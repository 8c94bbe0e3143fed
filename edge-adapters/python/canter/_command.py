"""The program ``canter``, as the package installs it."""

import signal
import sys

from ._canter import run_command


def main() -> None:
    """Runs the command line and ends the process with its exit code."""
    # Python would note an interrupt and wait for Rust to return.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(run_command(["canter", *sys.argv[1:]]))
