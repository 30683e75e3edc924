"""The calculate tool: Python's arithmetic on numbers, without Python's eval, and bounded."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from multigold.environments.arithmetic import MAX_LENGTH, MAX_NESTING, calculate
from multigold.environments.tools import RefusalError


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2 + 2", "4.0"),
        ("  7  ", "7.0"),
        ("2+3*4", "14.0"),
        ("(2+3)*4", "20.0"),
        ("10-3-2", "5.0"),
        ("100/8/5", "2.5"),
        ("7//2", "3.0"),
        ("-7//2", "-4.0"),
        ("2**3**2", "512.0"),
        ("-2**2", "-4.0"),
        ("2**-1", "0.5"),
        ("2**-2**2", "0.06"),
        ("2*-3", "-6.0"),
        ("--+-5", "-5.0"),
        ("1/3", "0.33"),
        ("2.675", "2.67"),
        (".5+1.", "1.5"),
        ("007.5", "7.5"),
        ("000", "0.0"),
        ("9" * 400 + ".", "inf"),
        ("10**400/10**399", "10.0"),
        ("1**99999999999", "1.0"),
        ("1" + "+1" * 2000, "2001.0"),
        ("-" * 2001 + "1", "-1.0"),
    ],
)
def test_an_expression_has_the_value_that_python_gives_it(expression: str, value: str) -> None:
    assert calculate(expression) == value


@pytest.mark.parametrize(
    "expression",
    [
        "", "   ", "()", "(", ")", "1+", "*1", "1 2", "1(2)", "(1)(2)", "(1)2", "1)(", "1 / / 2", "1***2", "* *",
        "007", "01+1", ".", "1..2", "1.2.3", "...", "1,2", "2e3", "x", "1\t+1", "1\n", "\uff11+1", "9" * 4301,
        "(1+2", "1+2)", "2* *3", "5 . 5",
        None, 5, True, ["1"], {"1": 1},
    ],
)  # fmt: skip
def test_what_is_no_expression_is_refused(expression: object) -> None:
    with pytest.raises((RefusalError, ValueError)):
        calculate(expression)


@pytest.mark.parametrize("expression", ["1/0", "1//0", "0**-1", "10**400", "9.9**999"])
def test_what_has_no_value_is_refused(expression: str) -> None:
    with pytest.raises(ArithmeticError):
        calculate(expression)


def test_a_root_of_a_negative_number_is_refused() -> None:
    with pytest.raises(RefusalError):
        calculate("(-8)**.5")


@pytest.mark.parametrize(
    "expression", ["9**9**9", "9**9**9**9", "(9**9999)*(9**99999)", "2**100000*2**100000", "1" * (MAX_LENGTH + 1)]
)
def test_what_would_take_for_ever_is_refused_at_once(expression: str) -> None:
    with pytest.raises(RefusalError, match=r"too large|longer than"):
        calculate(expression)


def test_parentheses_may_be_nested_as_deeply_as_in_python() -> None:
    assert calculate("(" * MAX_NESTING + "1" + ")" * MAX_NESTING) == "1.0"
    with pytest.raises(RefusalError):
        calculate("(" * (MAX_NESTING + 1) + "1" + ")" * (MAX_NESTING + 1))


def by_python(expression: str) -> str | None:
    """What tau2's tool answers; None for a refusal. The expressions are made here, of harmless parts."""
    try:
        return str(round(float(eval(expression, {"__builtins__": None}, {})), 2))
    except Exception:
        return None


def by_us(expression: str) -> str | None:
    try:
        return calculate(expression)
    except Exception:
        return None


PARTS = st.sampled_from(
    ["0", "1", "2", "7", "10", "3.5", ".5", "2.", "00", "01", "(", ")", "(2+3)", "()", ".", " ", "  "]
)
SIGNS = st.sampled_from(["+", "-", "*", "/", "//", "+", "-", "**"])


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@given(st.lists(PARTS | SIGNS, max_size=12).map("".join))
def test_any_text_of_the_alphabet_is_answered_as_python_answers_it(expression: str) -> None:
    assume(expression.count("**") <= 1 or len(expression) < 9)  # Python would not come to an end
    assert by_us(expression) == by_python(expression)


@given(st.recursive(st.sampled_from(["1", "2", "3", "0.5", "10"]), lambda inner: st.one_of(
    st.tuples(inner, st.sampled_from([" + ", "-", "*", " / ", "//"]), inner).map("".join),
    inner.map("({})".format),
    inner.map("-{}".format),
), max_leaves=20))  # fmt: skip
def test_any_sum_has_the_value_that_python_gives_it(expression: str) -> None:
    assert by_us(expression) == by_python(expression)
