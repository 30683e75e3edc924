"""`multigold verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from multigold.audit.claims.checking import check_claim, claim_of, gather, read_claim
from multigold.audit.claims.statements import (
    differences,
    is_statement,
    options_of,
    read_statement,
    statement_of,
    statement_text,
)
from multigold.cli._common import make_options, print_all, scoring_options, strata_option, write_json
from multigold.errors import CallError
from multigold.rescoring import Options, rescore
from multigold.state.canonical import Json
from multigold.state.explain import printable
from multigold.stats.aggregation import COLUMNS
from multigold.stats.rows import MISSING


@click.command(name="verify")
@click.argument("claim", type=click.Path(path_type=Path))
@click.argument("results", type=click.Path(), nargs=-1, required=True)
@click.option("--write", is_flag=True, help="Write the claim that the files' own figures make to CLAIM.")
@click.option("--statement", is_flag=True, help="With --write: a statement of provenance, in the in-toto form.")
@click.option("--column", type=click.Choice(COLUMNS), default="recorded", show_default=True, help="With --write.")
@click.option(
    "--missing", type=click.Choice(list(MISSING)), default="left_out", show_default=True, help="With --write."
)
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write as JSON; - for stdout.")
@strata_option
@scoring_options
def command(
    claim: Path,
    results: tuple[str, ...],
    write: bool,
    statement: bool,
    column: str,
    missing: Any,
    json_path: Path | None,
    **values: Any,
) -> None:
    """Hold CLAIM against the RESULTS that it is said to come from.

    CLAIM is a table of pass^k by domain (our form, or a leaderboard entry of tau2-bench), or a statement of provenance,
    which is derived again and compared byte for byte. Exit status 1 where something does not follow.
    """
    options = make_options(values)
    if write:
        if statement:
            claim.write_text(_statement(results, options), encoding="ascii")
        else:
            write_json(claim_of(gather(results, column, options), column=column, missing=missing), claim)
        click.echo(f"{claim}: written")
        return
    found = (
        _statement_differs(claim, results, options) if is_statement(claim) else _claim_differs(claim, results, options)
    )
    if json_path is not None:
        lines: list[Json] = list(found)
        write_json({"schema": "multigold/verify/1", "follows": not found, "discrepancies": lines}, json_path)
    if json_path != Path("-"):
        print_all([printable(line) for line in found] or [f"{claim}: it follows from the files"])
    click.get_current_context().exit(1 if found else 0)


def _claim_differs(claim: Path, results: tuple[str, ...], options: Options) -> list[str]:
    stated = read_claim(claim)
    return [str(one) for one in check_claim(stated, gather(results, stated.column, options))]


def _statement_differs(claim: Path, results: tuple[str, ...], options: Options) -> list[str]:
    stated = read_statement(claim)
    derived = _statement(results, options_of(stated, options))
    if derived == claim.read_text(encoding="utf-8"):
        return []
    import json

    return differences(stated, json.loads(derived)) or ["it holds the same, but not byte for byte"]


def _statement(results: tuple[str, ...], options: Options) -> str:
    rescoring = rescore(*results, options=options)
    if len(rescoring.files) != 1:
        raise CallError(
            f"a statement is of one result, and these are {len(rescoring.files)}",
            remedy="Name one file, of one domain.",
        )
    return statement_text(statement_of(rescoring, rescoring.files[0]))
