"""A lending library as a multigold environment: tools as plain functions, and one builder.

Nothing in multigold knows of libraries. This is all that a benchmark author writes to have runs replayed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from multigold import (
    Conventions,
    Database,
    Draft,
    EndState,
    Environment,
    IdPool,
    PaymentLog,
    Place,
    RefusalError,
    tool_table,
)

HERE = Path(__file__).parent
TODAY, DUE_IN_21_DAYS, DUE_IN_14_DAYS = "2026-03-10", "2026-03-31", "2026-03-24"


def _record(draft: Draft, table: str, record_id: str) -> Any:
    if not draft.has(table, record_id):
        raise RefusalError(f"there is no {table.removesuffix('s')} {record_id}")
    return draft.get(table, record_id)


def _new_id(draft: Draft, table: str, prefix: str) -> str:
    return f"{prefix}-{1 + max((int(i.rpartition('-')[2]) for i in draft.ids(table)), default=0)}"


# Tools that look


def view_member(draft: Draft, member_id: str) -> Any:
    """Return a member."""
    return _record(draft, "members", member_id)


def view_loan(draft: Draft, loan_id: str) -> Any:
    """Return a loan."""
    return _record(draft, "loans", loan_id)


def find_books(draft: Draft, subject: str) -> Any:
    """Return the ids, titles and free copies of the books on a subject."""
    books = [draft.get("books", book_id) for book_id in draft.ids("books")]
    return [{key: book[key] for key in ("book_id", "title", "free")} for book in books if book["subject"] == subject]


# Tools that change something


def lend_book(draft: Draft, member_id: str, book_id: str) -> Any:
    """Lend a copy. The desk must see to the rules for lending; the tool only counts copies."""
    _record(draft, "members", member_id)
    if _record(draft, "books", book_id)["free"] < 1:
        raise RefusalError(f"no copy of {book_id} is free")
    loan_id = _new_id(draft, "loans", "loan")
    loan = {"loan_id": loan_id, "member_id": member_id, "book_id": book_id, "due": DUE_IN_21_DAYS}
    draft.put("loans", loan_id, {**loan, "renewals": 0, "fine": 0, "status": "open"})
    draft.edit("books", book_id)["free"] -= 1
    draft.edit("members", member_id)["loans"].append(loan_id)
    return draft.get("loans", loan_id)


def return_book(draft: Draft, loan_id: str) -> Any:
    """Take a book back; a fine stays with the loan."""
    if _record(draft, "loans", loan_id)["status"] != "open":
        raise RefusalError(f"{loan_id} is not open")
    loan = draft.edit("loans", loan_id)
    loan["status"] = "returned"
    draft.edit("books", loan["book_id"])["free"] += 1
    draft.edit("members", loan["member_id"])["loans"].remove(loan_id)
    return loan


def renew_loan(draft: Draft, loan_id: str) -> Any:
    """Renew a loan once."""
    if _record(draft, "loans", loan_id)["renewals"] > 0:
        raise RefusalError(f"{loan_id} has been renewed before")
    loan = draft.edit("loans", loan_id)
    loan.update(due=DUE_IN_14_DAYS, renewals=1)
    return loan


def reserve_book(draft: Draft, member_id: str, book_id: str, branch: str) -> Any:
    """Reserve a title at a branch."""
    _record(draft, "members", member_id)
    _record(draft, "books", book_id)
    reservation_id = _new_id(draft, "reservations", "reservation")
    reservation = {"reservation_id": reservation_id, "member_id": member_id, "book_id": book_id, "branch": branch}
    draft.put("reservations", reservation_id, reservation)
    return reservation


def pay_fine(draft: Draft, loan_id: str, amount: float, method: str) -> Any:
    """Take a payment towards the fine of a loan."""
    if not 0 < amount <= _record(draft, "loans", loan_id)["fine"]:
        raise RefusalError(f"{amount} is more than the fine of {loan_id}, or nothing")
    loan = draft.edit("loans", loan_id)
    loan["fine"] -= amount
    draft.edit("members", loan["member_id"])["payments"].append({"method": method, "amount": amount})
    return loan


def waive_fine(draft: Draft, loan_id: str) -> Any:
    """Waive the fine of a loan, up to 5.00. The desk must see to the rules for waiving."""
    if not 0 < _record(draft, "loans", loan_id)["fine"] <= 5:
        raise RefusalError(f"{loan_id} has no fine that can be waived")
    loan = draft.edit("loans", loan_id)
    loan["fine"] = 0
    return loan


def hand_over(draft: Draft, summary: str) -> str:  # noqa: ARG001  a tool takes the draft whether it looks at it or not
    """Hand the conversation over to a librarian."""
    return "handed over"


TOOLS = tool_table(
    {
        "read": (view_member, view_loan, find_books),
        "write": (lend_book, return_book, renew_loan, reserve_book, pay_fine, waive_fine),
        "generic": (hand_over,),
    }
)

# What multigold may know of the records


def copies_add_up(initial: EndState, end: EndState) -> Iterator[str]:
    """A book's free copies and its open loans add up to what they added up to before."""
    for book_id in initial.agent.ids("books"):
        before, after = (_copies(state.agent, book_id) for state in (initial, end))
        if before != after:
            yield f"{book_id} had {before} copies, free or lent, and now has {after}"


def _copies(database: Database, book_id: str) -> int:
    loans = [database.get("loans", loan_id) for loan_id in database.ids("loans")]
    lent = sum(loan["book_id"] == book_id and loan["status"] == "open" for loan in loans)
    return int(database.get("books", book_id)["free"] + lent)


CONVENTIONS = Conventions(
    id_pools=(
        IdPool(
            name="loan",
            mints=lambda record_id: record_id.startswith("loan-"),
            keys=(Place("loans/*"),),
            references=(Place("loans/*/loan_id"), Place("members/*/loans/*")),
        ),
        IdPool(
            name="reservation",
            mints=lambda record_id: record_id.startswith("reservation-"),
            keys=(Place("reservations/*"),),
            references=(Place("reservations/*/reservation_id"),),
        ),
    ),
    unordered=("members/*/loans",),
    payment_logs=(PaymentLog("members/*/payments", method="method"),),
)


def build(database: Database | None = None) -> Environment:
    """Return the library as an environment, on its own database or another."""
    if database is None:
        database = Database.from_json(json.loads((HERE / "database.json").read_text(encoding="utf-8")))
    return Environment(
        name="library",
        initial=EndState(database),
        tools=TOOLS,
        invariants={"copies-add-up": copies_add_up},
        conventions=CONVENTIONS,
    )
