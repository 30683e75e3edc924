"""Catalogues of gold sets: loading, JSON Schemas, the index of a policy's clauses, lint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multigold._lazy import attach

if TYPE_CHECKING:
    from multigold.catalogues.lint import LintContext as LintContext, lint_directory as lint_directory
    from multigold.catalogues.loading import (
        load_catalogue as load_catalogue,
        load_catalogue_for as load_catalogue_for,
        load_gold_sets as load_gold_sets,
        read_catalogue as read_catalogue,
        shipped_catalogues as shipped_catalogues,
    )

_HOMES = {
    "lint": "LintContext lint_directory",
    "loading": "load_catalogue load_catalogue_for load_gold_sets read_catalogue shipped_catalogues",
}
__getattr__, __dir__, __all__ = attach(__name__, _HOMES)
