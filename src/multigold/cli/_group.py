"""The command group: names and one-line descriptions; a command's module is imported when the command is run."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar

import click

from multigold._version import __version__

COMMANDS = {
    "rescore": ("multigold.cli._rescore", "Re-score stored results against every reading."),
    "show": ("multigold.cli._show", "Show every reading against one run: matched, or the fields that differ."),
    "statistics": ("multigold.cli._statistics", "Rates, intervals, gaps, pass^k, variances, sides, what-ifs."),
    "compare": ("multigold.cli._compare", "Compare the agents of result files, paired by task."),
    "verify": ("multigold.cli._verify", "Hold a claim, or a statement of provenance, against the files it is from."),
    "annotate": ("multigold.cli._annotate", "Let people judge readings blind, twice; see how far they agree."),
    "diff": ("multigold.cli._diff", "Compare two databases: JSON, folders of tables, SQLite."),
    "validate": ("multigold.cli._validate", "Check gold sets and catalogues: form, references, replay."),
    "audit": ("multigold.cli._audit", "Find what is wrong or unclear in golds, policies, traces and releases."),
    "catalogue": ("multigold.cli._catalogue", "List the loopholes and the sides that readings take."),
    "data": ("multigold.cli._data", "Find or fetch the benchmark's own data."),
}
"""Command to its module and its one-line description."""


INTERRUPTED = 130
"""Exit status after Ctrl-C: 128 and the number of the signal."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are used, so that `--help` and each command start fast."""

    table: ClassVar[Mapping[str, tuple[str, str]]] = COMMANDS

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in the order in which they are shown."""
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by name; None if there is none."""
        if cmd_name not in self.table:
            return None
        command: click.Command = import_module(self.table[cmd_name][0]).command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was named, and hand over all that it printed.

        Where the reader of our output has gone (`multigold ... | head`) nothing is wrong, and nothing more can be said.
        An interrupted command has found nothing: it ends as a shell expects, not with the 1 that click gives.
        """
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(0)
        except KeyboardInterrupt:
            click.echo("multigold: stopped", err=True)
            ctx.exit(INTERRUPTED)
        return result

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, description) for name, (_, description) in self.table.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="multigold")
def multigold() -> None:
    """Score AI agents fairly where the policy they follow is ambiguous.

    Exit status: 0 done; 1 done, and it found what it was asked to look for; 2 the input or the call is wrong.
    """
