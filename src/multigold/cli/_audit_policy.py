"""`multigold audit policy`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from multigold.benchmark_data import DATASETS, load_policy
from multigold.catalogues import load_catalogue
from multigold.cli._common import DATA_DIR, JSON, print_all, write_json
from multigold.errors import CallError
from multigold.files.records import write_records
from multigold.policies.audit import ClauseChange, PolicyAudit, audit_progress, loophole_candidates, update_policy_audit
from multigold.policies.audit_records import audit_document, catalogue_stub, read_policy_audit, write_policy_audit
from multigold.policies.clauses import split_policy
from multigold.policies.hints import Hint, find_hints


@click.command(name="policy")
@click.argument("policy")
@click.option("--records", type=click.Path(path_type=Path, dir_okay=False), help="File with the decisions so far.")
@click.option("--update", is_flag=True, help="Update --records, or start it.")
@click.option("--catalogue", metavar="NAME", help="Name new clauses as this catalogue does.")
@click.option(
    "--hints/--no-hints", default=True, show_default=True, help="Propose places to look at, by wording alone."
)
@click.option("--stub", type=click.Path(path_type=Path, file_okay=False), help="Start a catalogue in this directory.")
@click.option("--domain", default="", metavar="NAME", help="Environment of the catalogue that --stub starts.")
@DATA_DIR
@JSON
def command(
    policy: str,
    records: Path | None,
    update: bool,
    catalogue: str | None,
    hints: bool,
    stub: Path | None,
    domain: str,
    data_dir: Path | None,
    json_path: Path | None,
) -> None:
    """Split POLICY, a Markdown file or an environment's name, into clauses and keep the results of their four tests.

    Exit status 1 if a test fails or a clause has to be looked at again.
    """
    if update and records is None:
        raise CallError("--update needs a file to write", remedy="Give it with --records.")
    if records is not None and not update and not records.exists():
        raise CallError("there is no such records file", where=str(records), remedy="--update starts it.")
    path, text = _policy(policy, data_dir)
    known = read_policy_audit(records) if records is not None and (records.exists() or not update) else None
    ids = {c.fingerprint: c.id for c in load_catalogue(catalogue).clauses.values()} if catalogue else {}
    audit, changes = update_policy_audit(known, text, name=path.name, ids=ids)
    if update and records is not None:
        write_policy_audit(audit, records)
    if stub is not None:
        _write_stub(audit, domain or (policy if policy in DATASETS else ""), stub)
    found = find_hints(split_policy(text)) if hints else ()
    if json_path is not None:
        places = [hint.to_json() for hint in found]
        write_json({**audit_document(audit), "changes": [_change(c) for c in changes], "hints": places}, json_path)
    if json_path != Path("-"):
        _print(audit, changes if known else (), found)
    if loophole_candidates(audit) or any(record.look_again for record in audit.clauses):
        click.get_current_context().exit(1)


def _policy(name: str, data_dir: Path | None) -> tuple[Path, bytes]:
    path = Path(name) if name not in DATASETS or Path(name).is_file() else load_policy(name, data_dir=data_dir).path
    try:
        return path, path.read_bytes()
    except OSError as error:
        known = ", ".join(DATASETS)
        raise CallError(
            f"the policy cannot be read ({error.strerror or error})",
            where=name,
            remedy=f"Name a Markdown file, or one of: {known}.",
        ) from error


def _write_stub(audit: PolicyAudit, domain: str, directory: Path) -> None:
    if not domain:
        raise CallError("a catalogue is for a domain", remedy="Name it with --domain.")
    for name, document in catalogue_stub(audit, domain).items():
        if (directory / name).exists():
            raise CallError("the file exists already and is not overwritten", where=str(directory / name))
        write_records(document, directory / name)


def _change(change: ClauseChange) -> dict[str, Any]:
    return {"clause": change.clause, "kind": change.kind, "before": change.before}


def _print(audit: PolicyAudit, changes: tuple[ClauseChange, ...], hints: tuple[Hint, ...]) -> None:
    from multigold.rendering import policy_audit as show

    lines: list[Any] = [show.clause_table(audit, hints)]
    if hints:
        lines += [show.hint_table(hints), show.HINT_NOTE]
    lines += [*show.change_lines(changes), *show.again_lines(audit), *show.candidate_lines(loophole_candidates(audit))]
    print_all([*lines, *show.progress_lines(audit_progress(audit))])
