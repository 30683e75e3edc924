"""The table of formats: what a document is, and who reads it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Final

import attrs
import msgspec

from multigold.readers.base import MAX_WHOLE_BYTES, ReadOptions, ResultsFile, UnknownFormError
from multigold.readers.decoding import Document, decoded, read_document
from multigold.state.canonical import Json


@attrs.frozen(kw_only=True)
class Format:
    """A form of stored results.

    Attributes:
        name: What it is called.
        module: The module that knows it; imported when a file gets as far as that.
    """

    name: str
    module: str

    def recognise(self, document: Document) -> bool:
        """Tell whether a document is of that form."""
        return bool(import_module(self.module).recognise(document))

    def read(self, document: Document, options: ReadOptions) -> ResultsFile:
        """Read a document of that form.

        Raises:
            ResultsError: If it cannot be read.
        """
        results: ResultsFile = import_module(self.module).read(document, options)
        return results


FORMATS: Final[tuple[Format, ...]] = (
    Format(name="tau2 results", module="multigold.readers.tau2"),
    Format(name="tau-bench v1 results", module="multigold.readers.tau1"),
    Format(name="multigold verdicts", module="multigold.readers.verdicts"),
    Format(name="chat messages", module="multigold.readers.chat"),
)
"""In the order in which they are tried."""


def read_results(
    data: bytes, name: str, *, options: ReadOptions | None = None, max_bytes: int = MAX_WHOLE_BYTES
) -> ResultsFile:
    """Read stored results, whatever known form they have.

    Args:
        data: The file's bytes.
        name: What to call it in errors and reports.
        options: What the caller knows better than the file.
        max_bytes: A larger file is refused.

    Raises:
        ResultsError: If nothing can be read of it: empty, broken off, no JSON, a template.
        UnknownFormError: If it is of no known form.
    """
    return read_known(read_document(data, name, max_bytes=max_bytes), options or ReadOptions())


def read_known(document: Document, options: ReadOptions) -> ResultsFile:
    """Read a document by the first format that recognises it.

    Raises:
        UnknownFormError: If none does.
    """
    for form in FORMATS:
        if form.recognise(document):
            return form.read(document, options)
    raise _unknown(document)


def _unknown(document: Document) -> UnknownFormError:
    return UnknownFormError(
        f"it is {_what(document)}",
        where=document.name,
        remedy=f"Known forms: {', '.join(form.name for form in FORMATS)}.",
    )


def _what(document: Document) -> str:
    if document.members is not None:
        return f"an object of no known form{_keys(document.members)}"
    if document.items is None:
        return "a single JSON value"
    if not document.items:
        return "an empty array"
    first = decoded(document.items[0], dict[str, msgspec.Raw])
    if first is not None:
        return f"an array of objects of no known form{_keys(first)}"
    return f"an array of {_kinds(decoded(document.items[0], Json))} and not of runs"


def _keys(members: Mapping[str, object]) -> str:
    # As Python writes them, so that nothing that a stranger wrote steers a terminal.
    return f" (its keys: {', '.join(repr(key[:40])[1:-1] for key in list(members)[:8]) or 'none'})"


def _kinds(value: Json) -> str:
    kinds = {str: "strings", bool: "booleans", int: "numbers", float: "numbers", list: "arrays"}
    return kinds.get(type(value), "nulls" if value is None else "values")
