"""The `calculate` tool of tau2's airline and retail domains, without `eval`.

tau2 evaluates the expression as Python, after a look at its characters: digits, `+ - * / ( ) .` and blanks. So `**`,
`//` and signs work, "007" and "1 2" do not, and the answer is a float rounded to cents. This module reads the same
language with two stacks (operator precedence, no recursion), and computes with the same numbers.

It is bounded where Python is not: an integer of more than `MAX_BITS` bits or an expression of more than `MAX_LENGTH`
characters is refused at once, where tau2 would compute for minutes or run out of stack.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

from multigold.environments.tools import RefusalError
from multigold.state.canonical import Json

Number: TypeAlias = int | float

MAX_LENGTH = 10_000
"""Characters of the longest expression that is read."""

MAX_BITS = 100_000
"""Bits of the largest integer that an intermediate result may have."""

MAX_NESTING = 200
"""Open parentheses at one place; Python's own tokeniser refuses the next one."""

_TOKEN = re.compile(r" *(?:([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)|(\*\*|//|[-+*/()]))")
_ALLOWED = frozenset("0123456789+-*/(). ")


def calculate(expression: Json) -> str:
    """Return the value of an arithmetic expression, rounded to two decimals, as text ("4.0").

    Args:
        expression: The expression; anything but a string is refused.

    Raises:
        RefusalError: If it is not an expression, or too long, or a number in it is too large.
        ArithmeticError: If it divides by zero or overflows; to `step` that is a refusal as any other.
    """
    if not isinstance(expression, str) or not _ALLOWED.issuperset(expression):
        raise RefusalError("Invalid characters in expression")
    if len(expression) > MAX_LENGTH:
        raise RefusalError(f"the expression is longer than {MAX_LENGTH} characters")
    return str(round(float(_evaluate(expression)), 2))


def _evaluate(expression: str) -> Number:
    stacks = _Stacks()
    for token in _tokens(expression):
        if isinstance(token, int | float):
            stacks.number(token)
        elif token == "(":
            stacks.open()
        elif token == ")":
            stacks.close()
        else:
            stacks.operator(token)
    return stacks.result()


class _Stacks:
    """Values, and the operators and open parentheses that wait for their right side; signs wait as "u+" and "u-"."""

    def __init__(self) -> None:
        self.values: list[Number] = []
        self.pending: list[str] = []
        self.after_value = False

    def number(self, value: Number) -> None:
        _expect(not self.after_value)
        self.values.append(value)
        self.after_value = True

    def open(self) -> None:
        _expect(not self.after_value and self.pending.count("(") < MAX_NESTING)
        self.pending.append("(")

    def close(self) -> None:
        _expect(self.after_value)
        self._reduce(0)
        _expect(bool(self.pending))
        self.pending.pop()

    def operator(self, name: str) -> None:
        if self.after_value:
            self._reduce(_BINDS[name] + (name == "**"))  # a power waits for a power on its right
            self.after_value = False
        else:
            _expect(name in "+-")
            name = f"u{name}"
        self.pending.append(name)

    def result(self) -> Number:
        _expect(self.after_value)
        self._reduce(0)
        _expect(not self.pending)
        return self.values[0]

    def _reduce(self, weakest: int) -> None:
        """Carry out what waits, innermost first, up to a parenthesis or to what binds less than `weakest`."""
        while self.pending and self.pending[-1] != "(" and _BINDS[self.pending[-1]] >= weakest:
            name, right = self.pending.pop(), self.values.pop()
            if name in _SIGNS:
                self.values.append(_SIGNS[name](right))
            else:
                self.values.append(_BINARY[name](self.values.pop(), right))


def _tokens(expression: str) -> Iterator[Number | str]:
    position, end = 0, len(expression.rstrip(" "))
    while position < end:
        found = _TOKEN.match(expression, position)
        if found is None:
            raise RefusalError("invalid syntax")
        position = found.end()
        yield _read(found[1]) if found[1] else found[2]


def _read(spelling: str) -> Number:
    if "." in spelling:
        return float(spelling)
    if spelling.startswith("0") and spelling.strip("0"):
        raise RefusalError("leading zeros in an integer are not permitted")
    return int(spelling)


def _expect(condition: bool) -> None:
    if not condition:
        raise RefusalError("invalid syntax")


def _bounded(bits: int) -> None:
    if bits > MAX_BITS:
        raise RefusalError("a number in the expression is too large")


def _multiply(left: Number, right: Number) -> Number:
    if isinstance(left, int) and isinstance(right, int):
        _bounded(left.bit_length() + right.bit_length())
    return left * right


def _power(left: Number, right: Number) -> Number:
    if isinstance(left, int) and isinstance(right, int) and abs(left) > 1:
        _bounded(left.bit_length() * right)
    result = left**right
    if isinstance(result, complex):
        raise RefusalError("the result is not a real number")
    return result


_BINARY: dict[str, Callable[[Number, Number], Number]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": _multiply,
    "/": operator.truediv,
    "//": operator.floordiv,
    "**": _power,
}
_SIGNS: dict[str, Callable[[Number], Number]] = {"u+": operator.pos, "u-": operator.neg}
_BINDS = {"+": 1, "-": 1, "*": 2, "/": 2, "//": 2, "u+": 3, "u-": 3, "**": 4}
"""How tightly each operator binds. A sign binds less than a power on its right: -2**2 is -4."""
