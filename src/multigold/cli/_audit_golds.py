"""`multigold audit golds`."""

from __future__ import annotations

from pathlib import Path

import click

from multigold.audit.findings import baseline_json, compare_with_baseline, read_baseline
from multigold.audit.golds.auditing import GoldAudit, audit_golds, document
from multigold.audit.golds.checks import CODES
from multigold.audit.golds.targets import AuditSettings, open_target, own_environments
from multigold.cli._common import DATA_DIR, ENVIRONMENTS, JSON, output_width, write_json
from multigold.rendering.golds import audit_lines

_PATH = click.Path(path_type=Path, exists=True)
_OUT = click.Path(path_type=Path)


@click.command(name="golds")
@click.argument("target")
@ENVIRONMENTS
@click.option(
    "--domain",
    default="",
    metavar="NAME",
    help="Environment, such as tau2-airline; by default the one that the tasks name.",
)
@DATA_DIR
@click.option(
    "--against",
    multiple=True,
    type=_PATH,
    help="Another release's tasks: a gold that it contradicts is a finding. May be given several times.",
)
@click.option("--tasks", multiple=True, type=_PATH, help="Task files with the texts of the gold sets in a directory.")
@click.option("--code", "codes", multiple=True, type=click.Choice(list(CODES)), help="Only findings of this code.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=30,
    show_default=True,
    help="Print at most this many lines per code; --json has all.",
)
@click.option(
    "--verbose", is_flag=True, help="Print a line for every finding, even if its code is found in many tasks."
)
@click.option(
    "--baseline", type=_PATH, help="A file of accepted findings: they are counted separately and do not fail the audit."
)
@click.option("--write-baseline", type=_OUT, help="Write a baseline that accepts all present findings.")
@JSON
def command(
    target: str,
    environments: tuple[str, ...],
    domain: str,
    data_dir: Path | None,
    against: tuple[Path, ...],
    tasks: tuple[Path, ...],
    codes: tuple[str, ...],
    limit: int,
    verbose: bool,
    baseline: Path | None,
    write_baseline: Path | None,
    json_path: Path | None,
) -> None:
    """Find what is wrong with the golds of TARGET: a domain, a tasks file, or a directory of gold sets.

    Findings of one code in more than 5 tasks share a line, with the tasks below it; --verbose has a line for each. Exit
    status 1 if something is found that is more than a note and that the baseline does not accept.
    """
    settings = AuditSettings(
        environments=own_environments(environments), data_dir=data_dir, domain=domain, against=against, tasks=tasks
    )
    targets = open_target(target, settings)
    audit = GoldAudit.join([audit_golds(target.golds, target.environment, codes=codes) for target in targets])
    accepted = read_baseline(baseline) if baseline else {}
    found = compare_with_baseline(audit.findings, accepted)
    if write_baseline is not None:
        write_json(baseline_json(audit.findings, accepted), write_baseline)
    if json_path is not None:
        write_json(document(audit, found, {"sources": [dict(target.provenance) for target in targets]}), json_path)
    if json_path != Path("-"):
        for line in audit_lines(audit, found, limit=limit, verbose=verbose, width=output_width()):
            click.echo(line)
    if found.failing and write_baseline is None:
        click.get_current_context().exit(1)
