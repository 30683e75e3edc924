"""The table of formats: what a document is, and who reads it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import attrs

from multigold.errors import ResultsError
from multigold.readers import tau2
from multigold.readers.base import MAX_WHOLE_BYTES, ReadOptions, ResultsFile
from multigold.readers.decoding import Document, decoded, read_document
from multigold.state.canonical import Json


@attrs.frozen(kw_only=True)
class Format:
    """A form of stored results.

    Attributes:
        name: What it is called.
        recognise: Tells whether a document is of that form.
        read: Reads it.
    """

    name: str
    recognise: Callable[[Document], bool]
    read: Callable[[Document, ReadOptions], ResultsFile]


FORMATS: Final[tuple[Format, ...]] = (Format(name="tau2 results", recognise=tau2.recognise, read=tau2.read),)
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
        ResultsError: Where nothing can be read of it: empty, broken off, no JSON, a template, or of no known form.
    """
    document = read_document(data, name, max_bytes=max_bytes)
    for form in FORMATS:
        if form.recognise(document):
            return form.read(document, options or ReadOptions())
    raise _unknown(document)


def _unknown(document: Document) -> ResultsError:
    if document.members is not None:
        keys = ", ".join(list(document.members)[:8]) or "none"
        what = f"an object of no known form (its keys: {keys})"
    elif document.items is not None:
        first = decoded(document.items[0], Json) if document.items else None
        what = f"an array of {_kinds(first)} and not of runs" if document.items else "an empty array"
    else:
        what = "a single JSON value"
    known = ", ".join(form.name for form in FORMATS)
    return ResultsError(f"it is {what}", where=document.name, remedy=f"Known forms: {known}.")


def _kinds(value: Json) -> str:
    kinds = {str: "strings", bool: "booleans", int: "numbers", float: "numbers", list: "arrays", dict: "objects"}
    return kinds.get(type(value), "nulls" if value is None else "values")
