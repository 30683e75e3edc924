"""Catalogues of gold sets: loading, JSON Schemas, the index of a policy's clauses, lint."""

from multigold.catalogues.loading import (
    load_catalogue,
    load_catalogue_for,
    load_gold_sets,
    read_catalogue,
    shipped_catalogues,
)

__all__ = ["load_catalogue", "load_catalogue_for", "load_gold_sets", "read_catalogue", "shipped_catalogues"]
