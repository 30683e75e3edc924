"""One broken file does not stop a batch: what becomes of it where going on is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from multigold.errors import GoldSetError, MultigoldError
from multigold.readers import ResultsSource
from multigold.readers.base import UnknownFormError
from multigold.rescoring.options import FileReport

T = TypeVar("T")


def each_source(
    sources: Iterable[ResultsSource], work: Callable[[ResultsSource], Iterator[T]], *, keep_going: bool
) -> Iterator[T | FileReport]:
    """Yield what comes of work on each source, and a report for each of which nothing can be made.

    Args:
        sources: What is to be opened.
        work: What is done with each.
        keep_going: Whether a source that cannot be read is reported, instead of raising.

    Raises:
        GoldSetError: If a gold set is wrong: that is no fault of the file.
        MultigoldError: If a source cannot be read, and going on was not asked for.
    """
    for source in sources:
        try:
            yield from work(source)
        except GoldSetError:
            raise
        except MultigoldError as error:
            # What was only found in a directory may be of no known form: such directories hold other files too.
            if isinstance(error, UnknownFormError) and not source.named:
                yield FileReport(name=source.name, warnings=(f"left out: {error.message}",))
            elif not keep_going:
                raise
            else:
                yield FileReport(name=source.name, problem=str(error))
