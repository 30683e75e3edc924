"""The command line. Each command parses, calls, prints; nothing is worked out here.

Exit status: 0 done; 1 done, and it found what it was asked to look for; 2 the input or the call is wrong.
"""

from __future__ import annotations

import gc
import io
import os
import sys
from pathlib import Path


def main() -> None:
    """Run the `multigold` command; every error that a user can meet becomes one sentence on standard error."""
    # What a command reads mostly stays, and none of it forms cycles: to walk it all again and again in search of some
    # is a tenth of its time.
    gc.set_threshold(200_000, 20, 20)
    from multigold.cli._group import multigold
    from multigold.errors import MultigoldError

    _prepare_output()
    try:
        multigold.main(prog_name="multigold", standalone_mode=True)
    except MultigoldError as error:
        from multigold.state.explain import printable

        lines = [printable(line) for line in str(error).splitlines()]
        _stop("\n".join(lines))
    except OSError as error:
        # What is read has its own errors; what is left is an output that is full or gone.
        _stop(f"a file cannot be read or written: {error}")
    except Exception as error:
        if os.environ.get("MULTIGOLD_DEBUG"):
            raise
        _stop(f"this is a bug in multigold, please report it: {type(error).__name__}: {error}")


def _prepare_output() -> None:
    """Make sure that anything can be printed: to an output that is closed, and in an encoding that lacks a letter."""
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 (it stays open)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _stop(sentence: str) -> None:
    print(f"multigold: {sentence}", file=sys.stderr)
    sys.exit(2)
