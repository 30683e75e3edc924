"""How results are re-scored, and what is said of each file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import attrs

from multigold._version import __version__
from multigold.environments.lookup import IdLookup
from multigold.model.verdict import Verdict
from multigold.state.canonical import Json
from multigold.state.equivalence import check_names
from multigold.stats.aggregation import StrataOption


@attrs.frozen(kw_only=True)
class Options:
    """How results are re-scored.

    Attributes:
        data_dir: Where the benchmark's data is; None to look in the usual places.
        gold_sets: Directory of a catalogue to use instead of the shipped ones.
        equivalences: Names of the equivalences to try after strict comparison.
        contested: Whether contested readings count too.
        benchmark_release: Which release's tasks to use where a file embeds none.
        agent_name: What to call the agent instead of what the file says.
        strata: How runs are put into strata; `extended` also applies the gold sets that the catalogue proposes.
        rejoin: Whether to take the word of a run's recorded checks where a file contradicts itself.
        check_reads: Whether reads are replayed too, and held against what was recorded; slower, for fidelity alone.
        ids: How ids in calls are looked up; `case-insensitive` is how the voice-agent evaluation does it.
    """

    data_dir: Path | None = None
    gold_sets: Path | None = None
    equivalences: tuple[str, ...] = attrs.field(default=(), converter=check_names)
    contested: bool = False
    benchmark_release: str | None = None
    agent_name: str | None = None
    strata: StrataOption = "default"
    rejoin: bool = False
    check_reads: bool = False
    ids: IdLookup = "exact"


@attrs.frozen(kw_only=True)
class FilePlan:
    """What a file was to hold: so many trials of each of its tasks.

    Attributes:
        trials: Trials of each task.
        tasks: The tasks' ids.
        missing: Trials that are not there.
        without_runs: Ids of the tasks that have no run at all.
    """

    trials: int
    tasks: tuple[str, ...]
    missing: int
    without_runs: tuple[str, ...] = ()

    def warning(self) -> str:
        """Return what is missing, in a sentence; empty if nothing is."""
        if not self.missing:
            return ""
        planned = f"{self.trials * len(self.tasks)} planned runs ({self.trials} trials of {len(self.tasks)} tasks)"
        some = f"{', '.join(self.without_runs[:8])}{', ...' if len(self.without_runs) > 8 else ''}"
        none = f"; no run at all of {len(self.without_runs)} tasks: {some}" if self.without_runs else ""
        return f"{self.missing} of {planned} are missing{none}"


@attrs.frozen(kw_only=True)
class FileReport:
    """What was read from one file.

    Attributes:
        name: Its name as it was given.
        digest: SHA-256 of its bytes.
        format: The format that it was read as.
        domain: Its environment.
        agents: Agents in it.
        runs: How many runs.
        matched: Runs that match a reading that counts.
        unmatched: Runs that match none.
        unscored: Reason code to number of runs.
        fidelity: What was counted of the calls of all runs (see `Fidelity`), and runs that are `drifting`.
        other_scorer: The rates of another scorer over these runs, as recorded and recomputed; empty if there is none.
        data_digest: SHA-256 of the database that calls were replayed on; empty if there was none.
        catalogue_digest: Digest of the catalogue; empty if there is none for the domain.
        paper_split: Whether that catalogue has the paper's split, so that the paper's agents selected its tasks.
        equivalences: Names of the equivalences that its verdicts were made with.
        policy_digest: SHA-256 of the policy that the file says its agents were given; empty if it embeds none.
        plan: What the file was to hold, and what of it is missing; None if it does not say.
        warnings: Sentences about the file as a whole.
        problem: Why nothing of it could be scored; empty if something could.
    """

    name: str
    digest: str = ""
    format: str = ""
    domain: str = ""
    agents: tuple[str, ...] = ()
    runs: int = 0
    matched: int = 0
    unmatched: int = 0
    unscored: Mapping[str, int] = attrs.field(factory=dict)
    fidelity: Mapping[str, int] = attrs.field(factory=dict)
    other_scorer: Mapping[str, Json] = attrs.field(factory=dict)
    data_digest: str = ""
    catalogue_digest: str = ""
    paper_split: bool = False
    equivalences: tuple[str, ...] = ()
    policy_digest: str = ""
    plan: FilePlan | None = None
    warnings: tuple[str, ...] = ()
    problem: str = ""

    def to_json(self) -> dict[str, Json]:
        """Return the report as plain data."""
        plain: dict[str, Json] = attrs.asdict(self)
        lists = {name: list(getattr(self, name)) for name in ("agents", "equivalences", "warnings")}
        if self.plan is not None:
            plan = attrs.asdict(self.plan)
            plain["plan"] = {**plan, "tasks": list(self.plan.tasks), "without_runs": list(self.plan.without_runs)}
        return {**plain, **lists}


@attrs.frozen(kw_only=True)
class Rescoring:
    """The verdicts of one or more files, with what they were computed from.

    Attributes:
        files: One report per file, in the order in which they were given.
        verdicts: One verdict per run, in the order of the files.
        options: How they were re-scored.
    """

    files: tuple[FileReport, ...]
    verdicts: tuple[Verdict, ...]
    options: Options = attrs.field(factory=Options)

    def __iter__(self) -> Iterator[Verdict]:
        return iter(self.verdicts)

    def __len__(self) -> int:
        return len(self.verdicts)


def provenance(options: Options, files: tuple[FileReport, ...]) -> dict[str, Json]:
    """Return what verdicts were computed with: versions, digests, options."""
    return {
        "multigold": __version__,
        "equivalences": list(options.equivalences),
        "contested": options.contested,
        "benchmark_release": options.benchmark_release,
        "strata": options.strata,
        "rejoin": options.rejoin,
        "check_reads": options.check_reads,
        "ids": options.ids,
        "catalogues": {file.domain: file.catalogue_digest for file in files if file.catalogue_digest},
        "data": {file.domain: file.data_digest for file in files if file.data_digest},
    }
