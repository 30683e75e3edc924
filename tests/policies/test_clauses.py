"""A policy in Markdown falls into clauses: nothing lost, nothing twice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from multigold.policies.clauses import split_policy
from multigold.policies.lines import clause_text, is_label, make_clause, policy_lines

POLICY = b"""# The desk

Opening line,
wrapped.

## Loans
Each loan has these fields:
- borrower id
- due date

Conditions:
- A loan ends after 21 days.
- A loan can be renewed if any of the following is true:
  - It is the first renewal
  - Nobody waits for the title
    and none is lost.

1. **first** step
2. **second** step

| who | how many |
|---|---|
| members | three |

```
- not an item
```
"""


def words_of(policy: bytes) -> list[str]:
    return [clause.words for clause in split_policy(policy)]


def test_a_clause_is_a_paragraph_an_item_a_row_or_a_fenced_block() -> None:
    assert words_of(POLICY) == [
        "Opening line, wrapped.",
        "Each loan has these fields: borrower id due date",
        "A loan ends after 21 days.",
        "A loan can be renewed if any of the following is true:",
        "It is the first renewal",
        "Nobody waits for the title and none is lost.",
        "**first** step",
        "**second** step",
        "| who | how many |",
        "| members | three |",
        "``` not an item ```",
    ]


def test_an_item_keeps_the_line_that_it_completes_and_others_stand_by_themselves() -> None:
    leads = {clause.words: clause.lead for clause in split_policy(POLICY)}
    assert leads["It is the first renewal"] == "A loan can be renewed if any of the following is true:"
    assert leads["A loan ends after 21 days."] == ""
    assert leads["**first** step"] == ""


def test_labels_and_headings_name_the_clauses_below_them() -> None:
    headings = {clause.words: clause.heading for clause in split_policy(POLICY)}
    assert headings["Opening line, wrapped."] == ()
    assert headings["Each loan has these fields: borrower id due date"] == ("Loans",)
    assert headings["It is the first renewal"] == ("Loans", "Conditions")


def test_a_clause_that_was_split_off_is_found_again_by_its_catalogue_reference() -> None:
    lines = policy_lines(POLICY)
    for clause in split_policy(POLICY):
        reference = make_clause(lines, "it", clause.first_line, clause.last_line)
        assert reference.fingerprint == clause.fingerprint
        assert clause_text(POLICY, reference).text == clause.text


LINES = ("", "# Title", "## Part", "A label:", "Plain words that go on", "- Item", "- fragment", "  - Deeper")
ODD_LINES = ("1. Step", "---", "```", "| a | b |", "|---|---|", "   indented", "* starred", "A colon after five words:")
LINE = st.sampled_from((*LINES, *ODD_LINES))


@given(st.lists(LINE, max_size=25))
def test_every_line_that_says_something_is_in_exactly_one_clause(lines: list[str]) -> None:
    owners = [0] * len(lines)
    clauses = split_policy("\n".join(lines).encode())
    for clause in clauses:
        assert clause.first_line <= clause.last_line
        for number in range(clause.first_line, clause.last_line + 1):
            owners[number - 1] += 1
    assert all(count <= 1 for count in owners)
    if "```" not in lines:
        rules = ("---", "|---|---|")
        silent = [not line or line.startswith("#") or is_label(line) or line in rules for line in lines]
        assert [count for count, quiet in zip(owners, silent, strict=True) if not quiet] == [1] * silent.count(False)


@pytest.mark.parametrize("ends", ["\r\n", "\n"])
def test_line_ends_change_nothing(ends: str) -> None:
    same = POLICY.decode().replace("\n", ends).encode()
    assert [c.fingerprint for c in split_policy(same)] == [c.fingerprint for c in split_policy(POLICY)]


def test_an_empty_policy_has_no_clauses() -> None:
    assert split_policy(b"") == ()
