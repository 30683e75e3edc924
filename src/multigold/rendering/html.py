"""A rescoring as one HTML page that needs nothing else. Everything that a file says is escaped by the template."""

from __future__ import annotations

import json

from multigold.errors import MissingExtraError
from multigold.model.verdict import Verdict, is_success
from multigold.rescoring import FileReport, Options, provenance
from multigold.stats.aggregation import BASELINES, HEADINGS, Report, percent_text, rate_text

MAX_SHOWN = 500
"""Runs whose readings are shown in full; a page with more is too long to read."""


def changes(verdict: Verdict) -> bool:
    """Tell whether the readings change the verdict: core says another thing than the single gold."""
    if verdict.outcome == "unscored":
        return False
    return is_success(verdict.rewards.core) != is_success(verdict.rewards.single)


def require_jinja() -> None:
    """Say at once, before anything is scored for the page, that jinja2 is not installed.

    Raises:
        MissingExtraError: If it is not.
    """
    try:
        import jinja2  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            "the HTML page needs jinja2", remedy='Install it with pip install "multigold[report]".'
        ) from error


def report_page(report: Report, files: tuple[FileReport, ...], changed: tuple[Verdict, ...], options: Options) -> str:
    """Return the page.

    Args:
        report: The counts.
        files: One report per file.
        changed: The runs to show in full; see `changes`.
        options: How they were re-scored.

    Raises:
        MissingExtraError: If jinja2 is not installed.
    """
    require_jinja()
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("multigold.rendering")
    templates = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    page: str = templates.get_template("report.html.jinja").render(
        report=report,
        files=files,
        tables=(
            ("By agent", ("agent", "domain"), report.overall),
            ("By stratum", ("agent", "domain", "stratum"), report.by_stratum),
            ("By task", ("domain", "task", "stratum"), report.by_task),
        ),
        headings=HEADINGS,
        headlines=report.headlines(),
        baselines=BASELINES,
        rate=rate_text,
        percent=percent_text,
        changed=changed,
        provenance=json.dumps(provenance(options, files), indent=1),
    )
    return page
