"""Files at the edge: read within bounds, decoded, checked with a place for every fault, written whole or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multigold._lazy import attach

if TYPE_CHECKING:
    from multigold.files.cursor import Finding as Finding
    from multigold.files.databases import (
        TableSet as TableSet,
        read_database as read_database,
        read_tables as read_tables,
    )
    from multigold.files.schemas import document_schema as document_schema, schema_names as schema_names

_HOMES = {
    "cursor": "Finding",
    "databases": "TableSet read_database read_tables",
    "schemas": "document_schema schema_names",
}
__getattr__, __dir__, __all__ = attach(__name__, _HOMES)
