"""A directory of result files, or an archive of one, as names and a way to load each."""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import Any

import attrs

from multigold.errors import ResultsError
from multigold.readers.decoding import Document, decoded, read_document


@attrs.frozen(kw_only=True, eq=False)
class Folder:
    """Files below one place.

    Attributes:
        name: What the caller calls it.
        paths: The files in it, relative, with forward slashes, sorted.
        load: Gives the bytes of one of them; raises `ResultsError` where it cannot.
    """

    name: str
    paths: tuple[str, ...]
    load: Callable[[str], bytes]

    def has(self, path: str) -> bool:
        """Tell whether there is a file of that name."""
        place = bisect_left(self.paths, path)
        return place < len(self.paths) and self.paths[place] == path

    def children(self) -> list[str]:
        """Return the names of the directories directly in it, sorted."""
        return sorted({path.split("/", 1)[0] for path in self.paths if "/" in path})

    def sub(self, child: str) -> Folder:
        """Return a directory in it."""
        prefix = f"{child}/"
        inside = tuple(path[len(prefix) :] for path in self.within(prefix))
        return Folder(name=f"{self.name}/{child}", paths=inside, load=lambda path: self.load(prefix + path))

    def within(self, prefix: str) -> tuple[str, ...]:
        """Return the paths that begin with a prefix, which stand together because they are sorted."""
        start = bisect_left(self.paths, prefix)
        end = bisect_left(self.paths, prefix + chr(sys.maxunicode), start)
        return self.paths[start:end]

    def below(self, marker: str) -> Iterator[Folder]:
        """Yield itself and every directory below it that has a file of that name, sorted."""
        for path in self.paths:
            if path == marker:
                yield self
            elif path.endswith(f"/{marker}"):
                yield self.sub(path[: -len(marker) - 1])

    def document(self, path: str) -> Document | None:
        """Return a JSON file of it, cut into raw pieces; None if it is missing or cannot be read."""
        if not self.has(path):
            return None
        try:
            return read_document(self.load(path), f"{self.name}/{path}")
        except ResultsError:
            return None

    def value(self, path: str, kind: Any) -> Any:
        """Return a JSON file of it decoded as a type; None if it is missing or of another kind."""
        document = self.document(path)
        return None if document is None or document.members is None else decoded(document.load(), kind)
