"""The library with one thing wrong: tools that break a law, for tests that the law is seen to be broken."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import attrs

from multigold.environments.base import Environment
from multigold.environments.tools import RefusalError, Tool
from multigold.state.database import Draft

Json = Any


def with_tools(environment: Environment, **functions: Callable[..., Json]) -> Environment:
    """Return an environment with other functions behind some of its tools' names."""
    changed = {
        name: Tool(name=name, function=function, kind=environment.tools[name].kind)
        for name, function in functions.items()
    }
    return attrs.evolve(environment, tools={**environment.tools, **changed})


def that_notes_who_looks(environment: Environment) -> Environment:
    """A read that writes."""

    def view_loan(draft: Draft, loan_id: str) -> Json:
        loan = draft.edit("loans", loan_id)
        loan["seen"] = True
        return loan

    return with_tools(environment, view_loan=view_loan)


def that_writes_where_it_reads(environment: Environment) -> Environment:
    """A read that writes into the record that all states share."""

    def view_loan(draft: Draft, loan_id: str) -> Json:
        loan = draft.get("loans", loan_id)
        loan["seen"] = True
        return loan

    return with_tools(environment, view_loan=view_loan)


def that_counts_for_itself(environment: Environment) -> Environment:
    """A write that mints its ids from a counter outside of the state."""
    numbers = count(100)

    def reserve_book(draft: Draft, member_id: str, book_id: str, branch: str) -> None:
        reservation = {"member_id": member_id, "book_id": book_id, "branch": branch}
        draft.put("reservations", f"reservation-{next(numbers)}", reservation)

    return with_tools(environment, reserve_book=reserve_book)


def that_renews_twice(environment: Environment) -> Environment:
    """A rule that is one too lax: a loan can be renewed a second time."""

    def renew_loan(draft: Draft, loan_id: str) -> Json:
        if not draft.has("loans", loan_id) or draft.get("loans", loan_id)["renewals"] > 1:
            raise RefusalError(f"{loan_id} cannot be renewed")
        loan = draft.edit("loans", loan_id)
        loan.update(due="2026-03-24", renewals=loan["renewals"] + 1)
        return loan

    return with_tools(environment, renew_loan=renew_loan)


def that_forgets_returned_loans(environment: Environment) -> Environment:
    """A fault that takes two calls to see: a loan that was made and returned in the same run leaves no trace."""

    def return_book(draft: Draft, loan_id: str) -> Json:
        answer = environment.tools["return_book"].function(draft, loan_id)
        if loan_id not in ("loan-1", "loan-2", "loan-3"):
            draft.remove("loans", loan_id)
        return answer

    return with_tools(environment, return_book=return_book)
