"""Score AI agents fairly where the policy they follow is ambiguous: several admissible end states per task, not one.

    import multigold
    verdict = multigold.score(task, trajectory, golds)

The names below, and those in `__all__` of the rooms that docs/reference.md lists, are the public ones. They are loaded
when they are first used: importing the package opens no file and imports nothing heavy. Everything else is internal
and may change between minor versions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from multigold._lazy import attach
from multigold._version import __version__ as __version__

if TYPE_CHECKING:
    from multigold.benchmark_data.loading import load_environment as load_environment
    from multigold.catalogues.loading import load_catalogue as load_catalogue
    from multigold.environments.base import Environment as Environment
    from multigold.environments.replay import replay as replay
    from multigold.environments.tools import RefusalError as RefusalError, Tool as Tool, tool_table as tool_table
    from multigold.errors import MultigoldError as MultigoldError
    from multigold.files.databases import read_database as read_database
    from multigold.files.schemas import document_schema as document_schema
    from multigold.model.catalogue import Catalogue as Catalogue
    from multigold.model.gold import (
        Actions as Actions,
        AllOf as AllOf,
        AnyOf as AnyOf,
        Assertions as Assertions,
        CallEvidence as CallEvidence,
        Choices as Choices,
        Explicit as Explicit,
        GoldSet as GoldSet,
        NegativeExample as NegativeExample,
        Pattern as Pattern,
        PointerRule as PointerRule,
        Reading as Reading,
        TaskText as TaskText,
    )
    from multigold.model.loophole import (
        Clause as Clause,
        Loophole as Loophole,
        LoopholeCategory as LoopholeCategory,
        Side as Side,
    )
    from multigold.model.task import Criteria as Criteria, Task as Task, ToolCall as ToolCall
    from multigold.model.trajectory import Trajectory as Trajectory
    from multigold.model.verdict import Verdict as Verdict, is_success as is_success
    from multigold.rescoring import (
        Options as Options,
        Rescoring as Rescoring,
        rescore as rescore,
        stream as stream,
        summarise as summarise,
    )
    from multigold.rescoring.checking import check_recorded as check_recorded
    from multigold.scoring import CompiledGolds as CompiledGolds, compile_golds as compile_golds
    from multigold.scoring.judging import judge as judge, score as score
    from multigold.state.conventions import (
        Conventions as Conventions,
        IdPool as IdPool,
        PaymentLog as PaymentLog,
        Place as Place,
    )
    from multigold.state.database import Database as Database, Draft as Draft, EndState as EndState
    from multigold.state.delta import Delta as Delta, diff as diff
    from multigold.state.equivalence import EQUIVALENCES as EQUIVALENCES
    from multigold.stats.aggregation import Report as Report, summarise_verdicts as summarise_verdicts

_HOMES = {
    "benchmark_data.loading": "load_environment",
    "catalogues.loading": "load_catalogue",
    "environments.base": "Environment",
    "environments.replay": "replay",
    "environments.tools": "RefusalError Tool tool_table",
    "errors": "MultigoldError",
    "files.databases": "read_database",
    "files.schemas": "document_schema",
    "model.catalogue": "Catalogue",
    "model.gold": (
        "Actions AllOf AnyOf Assertions CallEvidence Choices Explicit GoldSet NegativeExample Pattern PointerRule "
        "Reading TaskText"
    ),
    "model.loophole": "Clause Loophole LoopholeCategory Side",
    "model.task": "Criteria Task ToolCall",
    "model.trajectory": "Trajectory",
    "model.verdict": "Verdict is_success",
    "rescoring": "Options Rescoring rescore stream summarise",
    "rescoring.checking": "check_recorded",
    "scoring": "CompiledGolds compile_golds",
    "scoring.judging": "judge score",
    "state.conventions": "Conventions IdPool PaymentLog Place",
    "state.database": "Database Draft EndState",
    "state.delta": "Delta diff",
    "state.equivalence": "EQUIVALENCES",
    "stats.aggregation": "Report summarise_verdicts",
}
__getattr__, __dir__, __all__ = attach(__name__, _HOMES)
__all__ += ["__version__"]
