"""Score AI agents fairly where the policy they follow is ambiguous: several admissible end states per task, not one.

    import multigold
    verdict = multigold.score(task, trajectory, golds)

The names below are the public ones, loaded when they are first used; importing the package opens no file and imports
nothing heavy. Everything else may change between minor versions.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from multigold._version import __version__

if TYPE_CHECKING:
    from multigold.benchmark_data import load_environment as load_environment
    from multigold.catalogues.loading import load_catalogue as load_catalogue
    from multigold.environments.base import Environment as Environment
    from multigold.environments.replay import replay as replay
    from multigold.environments.tools import RefusalError as RefusalError
    from multigold.environments.tools import Tool as Tool
    from multigold.errors import MultigoldError as MultigoldError
    from multigold.files.schemas import document_schema as document_schema
    from multigold.model.catalogue import Catalogue as Catalogue
    from multigold.model.gold import GoldSet as GoldSet
    from multigold.model.gold import Reading as Reading
    from multigold.model.loophole import Clause as Clause
    from multigold.model.loophole import Loophole as Loophole
    from multigold.model.loophole import LoopholeCategory as LoopholeCategory
    from multigold.model.task import Criteria as Criteria
    from multigold.model.task import Task as Task
    from multigold.model.task import ToolCall as ToolCall
    from multigold.model.trajectory import Trajectory as Trajectory
    from multigold.model.verdict import Verdict as Verdict
    from multigold.rescoring import Options as Options
    from multigold.rescoring import rescore as rescore
    from multigold.rescoring import summarise as summarise
    from multigold.rescoring.checking import check_recorded as check_recorded
    from multigold.scoring.judging import score as score
    from multigold.state.conventions import Conventions as Conventions
    from multigold.state.database import Database as Database
    from multigold.state.database import Draft as Draft
    from multigold.state.database import EndState as EndState
    from multigold.state.delta import Delta as Delta
    from multigold.state.delta import diff as diff
    from multigold.state.equivalence import EQUIVALENCES as EQUIVALENCES
    from multigold.stats.aggregation import Report as Report

_HOMES = {
    "multigold.stats.aggregation": ("Report",),
    "multigold.catalogues.loading": ("load_catalogue",),
    "multigold.benchmark_data": ("load_environment",),
    "multigold.environments.base": ("Environment",),
    "multigold.environments.tools": ("RefusalError", "Tool"),
    "multigold.environments.replay": ("replay",),
    "multigold.errors": ("MultigoldError",),
    "multigold.files.schemas": ("document_schema",),
    "multigold.model.catalogue": ("Catalogue",),
    "multigold.model.gold": ("GoldSet", "Reading"),
    "multigold.model.loophole": ("Clause", "Loophole", "LoopholeCategory"),
    "multigold.model.task": ("Criteria", "Task", "ToolCall"),
    "multigold.model.trajectory": ("Trajectory",),
    "multigold.model.verdict": ("Verdict",),
    "multigold.rescoring": ("Options", "rescore", "summarise"),
    "multigold.rescoring.checking": ("check_recorded",),
    "multigold.scoring.judging": ("score",),
    "multigold.state.database": ("Database", "Draft", "EndState"),
    "multigold.state.delta": ("Delta", "diff"),
    "multigold.state.conventions": ("Conventions",),
    "multigold.state.equivalence": ("EQUIVALENCES",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "EQUIVALENCES",
    "Catalogue",
    "Clause",
    "Conventions",
    "Criteria",
    "Database",
    "Delta",
    "Draft",
    "EndState",
    "Environment",
    "GoldSet",
    "Loophole",
    "LoopholeCategory",
    "MultigoldError",
    "Options",
    "Reading",
    "RefusalError",
    "Report",
    "Task",
    "Tool",
    "ToolCall",
    "Trajectory",
    "Verdict",
    "__version__",
    "check_recorded",
    "diff",
    "document_schema",
    "load_catalogue",
    "load_environment",
    "replay",
    "rescore",
    "score",
    "summarise",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'multigold' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
