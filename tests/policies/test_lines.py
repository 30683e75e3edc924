"""Clauses: headings, labels, and finding a clause in somebody's copy of the policy."""

from __future__ import annotations

from multigold.policies.lines import (
    clause_text,
    heading_of,
    headings,
    is_label,
    line_kinds,
    make_clause,
    policy_lines,
)

POLICY = b"""# Shop

Be kind.

## Refunds

Broken items:
- are refunded
- are collected

### Gifts
A gift is exchanged.

## Sales
Nothing more.
"""


def test_headings_are_those_above_and_the_label_of_the_group() -> None:
    lines = policy_lines(POLICY)
    assert heading_of(lines, 3) == ()
    assert heading_of(lines, 8) == ("Refunds", "Broken items")
    assert heading_of(lines, 12) == ("Refunds", "Gifts")
    assert heading_of(lines, 15) == ("Sales",)


def test_a_label_is_short_and_ends_with_a_colon() -> None:
    assert is_label("Change baggage and insurance: ")
    assert not is_label("If the booking user is a regular member:")
    assert not is_label("Sales")


def test_a_clause_is_shown_from_the_users_copy() -> None:
    clause = make_clause(policy_lines(POLICY), "gifts", 12, 12)
    shown = clause_text(POLICY, clause)
    assert (shown.found, shown.text, shown.first_line) == ("same", "A gift is exchanged.", 12)


def test_line_ends_of_another_platform_are_no_other_version() -> None:
    clause = make_clause(policy_lines(POLICY), "broken", 8, 9)
    assert clause_text(POLICY.replace(b"\n", b"\r\n"), clause).found == "same"


def test_a_clause_that_moved_is_found_where_it_stands() -> None:
    clause = make_clause(policy_lines(POLICY), "broken", 8, 9)
    shown = clause_text(b"Preface.\n\n" + POLICY, clause)
    assert (shown.found, shown.first_line) == ("moved", 10)


def test_a_clause_that_was_reworded_is_missing_and_nothing_is_shown() -> None:
    clause = make_clause(policy_lines(POLICY), "gifts", 12, 12)
    shown = clause_text(POLICY.replace(b"exchanged", b"refunded"), clause)
    assert (shown.found, shown.text, shown.first_line) == ("missing", "", 0)


def test_a_policy_that_is_shorter_than_a_clause_does_not_hold_it() -> None:
    clause = make_clause(policy_lines(POLICY), "broken", 8, 9)
    assert clause_text(b"Short.", clause).found == "missing"


def test_nothing_inside_a_fenced_block_is_a_heading_or_a_label() -> None:
    lines = ["## Fines", "```python", "# not a heading", "if late:", "```", "- A fine is due."]
    assert list(headings(lines)) == [(), *[("Fines",)] * 5]
    assert list(line_kinds(lines)) == ["heading", "fence", "code", "code", "code", "text"]


def test_every_kind_of_line_is_told() -> None:
    lines = ["", "# Title", "Change cabin:", "---", "- item:", "text"]
    assert list(line_kinds(lines)) == ["blank", "heading", "label", "rule", "text", "text"]
