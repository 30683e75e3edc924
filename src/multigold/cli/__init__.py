"""The command line. Each command parses, calls, prints; nothing is worked out here.

Exit status: 0 done; 1 done, and it found what it was asked to look for; 2 the input or the call is wrong.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the `multigold` command; every error that a user can meet becomes one sentence on standard error."""
    from multigold.cli._group import multigold
    from multigold.errors import MultigoldError

    try:
        multigold.main(prog_name="multigold", standalone_mode=True)
    except MultigoldError as error:
        from multigold.state.explain import printable

        lines = [printable(line) for line in str(error).splitlines()]
        _stop("\n".join(lines))
    except BrokenPipeError:
        # The reader of our output has gone (`multigold ... | head`): nothing is wrong, and nothing more can be said.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        if os.environ.get("MULTIGOLD_DEBUG"):
            raise
        _stop(f"this is a bug of multigold, please report it: {type(error).__name__}: {error}")


def _stop(sentence: str) -> None:
    print(f"multigold: {sentence}", file=sys.stderr)
    sys.exit(2)
