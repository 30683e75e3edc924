"""Why something is what it is, for programs and for people."""

from __future__ import annotations

import attrs


@attrs.frozen(kw_only=True)
class Reason:
    """Why an outcome is what it is.

    Attributes:
        code: A stable word for programs, such as `ended_early`.
        sentence: The same for people.
    """

    code: str
    sentence: str
