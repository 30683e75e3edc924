"""From a catalogue's files to the nouns: what each member means, and that what it refers to inside its file is there.

Every function takes a `Cursor`, notes what is wrong, and returns the noun as well as it can, so that one walk finds all
faults. `docs/gold-sets.md` describes the format for people, `schemas/` for programs; lint checks against both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast, get_args

import attrs

from multigold.errors import MultigoldError
from multigold.files.cursor import Cursor
from multigold.model.gold import (
    Actions,
    AllOf,
    AnyOf,
    Assertions,
    CallEvidence,
    Choices,
    Evidence,
    Explicit,
    Form,
    GoldSet,
    NegativeExample,
    Origin,
    Pattern,
    PointerRule,
    Reading,
    Standing,
    TaskText,
)
from multigold.model.loophole import Clause, EntryKind, Loophole, LoopholeCategory, Side, Status
from multigold.model.task import Requestor, ToolCall
from multigold.state.canonical import Json
from multigold.state.database import Database, EndState
from multigold.state.delta import Delta, split_pointer

EFFECTS = ("direct", "indirect", "borderline", "untested", "conflict")
"""What an entry of the catalogue was seen to do to scores."""

_LOOPHOLE_MEMBERS = frozenset(attribute.name for attribute in attrs.fields(Loophole)) - {"id", "title", "question"}

_ANY_TEXT = "*"
"""Key of a reading's standing if the gold set names no texts."""

_STANDING_FORMS = {
    True: "the set names texts, so there is a standing for each: an object of text id to {is, reason}",
    False: "the set names no texts, so there is one standing: {is, reason}",
}


# --- catalogue.json and clauses.json ----------------------------------------------------------------------------


def read_clauses(at: Cursor) -> tuple[str, dict[str, Clause]]:
    """Return the fingerprint of the policy and its clauses by id."""
    clauses: dict[str, Clause] = {}
    if at.keys({"policy", "clauses"}, {"$schema", "notes"}):
        for item in at.items("clauses"):
            clause = _clause(item)
            _once(item, clauses, clause.id, "clause")
            clauses[clause.id] = clause
    fingerprint = ""
    if at.has("policy"):
        policy = at.at("policy")
        policy.keys({"fingerprint"}, {"file", "lines", "source"})
        fingerprint = policy.text("fingerprint")
    return fingerprint, clauses


def _clause(at: Cursor) -> Clause:
    at.keys({"id", "lines", "fingerprint"}, {"heading", "summary"})
    lines = [item.value for item in at.items("lines")]
    if not (len(lines) == 2 and all(type(line) is int for line in lines) and 1 <= lines[0] <= lines[1]):
        if at.has("lines"):
            at.at("lines").fault("bad-lines", "lines are the first and the last line, counted from 1")
        lines = [1, 1]
    return Clause(
        id=at.text("id"),
        heading=at.texts("heading"),
        first_line=lines[0],
        last_line=lines[1],
        fingerprint=at.text("fingerprint"),
        summary=at.text("summary"),
    )


def read_loopholes(at: Cursor) -> dict[str, Loophole]:
    """Return the entries of a catalogue by id."""
    entries: dict[str, Loophole] = {}
    for item in at.items("loopholes"):
        entry = _loophole(item)
        _once(item, entries, entry.id, "loophole")
        entries[entry.id] = entry
    return entries


def _loophole(at: Cursor) -> Loophole:
    at.keys({"id", "title", "question"}, _LOOPHOLE_MEMBERS)
    kind = cast(EntryKind, at.word("kind", get_args(EntryKind), "loophole"))
    words = {category.value: category for category in LoopholeCategory}
    category = words[at.word("category", tuple(words), "scope_gap")] if at.has("category") else None
    if kind == "loophole" and category is None:
        at.fault("missing-member", f"a loophole states its category, one of {', '.join(words)}")
    sides = tuple(_side(item) for item in at.items("sides"))
    if len({side.id for side in sides}) < max(len(sides), 2 if kind == "loophole" else 0):
        at.fault("bad-sides", "a loophole has at least two sides, each with an id of its own")
    return Loophole(
        id=at.text("id"),
        title=at.text("title"),
        kind=kind,
        category=category,
        question=at.text("question"),
        sides=sides,
        clauses=at.texts("clauses"),
        effect=at.word("effect", EFFECTS, "untested"),
        stages=at.texts("stages"),
        tasks=at.texts("tasks"),
        proposed={task: _string(item) for task, item in at.members("proposed")},
        status=cast(Status, at.word("status", get_args(Status), "published")),
        decision_rule=at.text("decision_rule"),
        fix=at.text("fix"),
        notes=at.text("notes"),
    )


def _side(at: Cursor) -> Side:
    at.keys({"id", "sentence"})
    return Side(id=at.text("id"), sentence=at.text("sentence"))


# --- gold sets --------------------------------------------------------------------------------------------------


def read_gold_set(at: Cursor) -> GoldSet:
    """Return the gold set of one task."""
    optional = {"$schema", "title", "loopholes", "status", "texts", "negatives", "overlaps", "notes"}
    at.keys({"task_id", "readings"}, optional)
    readings: dict[str, Reading] = {}
    standings: dict[str, dict[str, tuple[Standing, str]]] = {}
    text_ids = [item.text("id") for item in at.items("texts") if isinstance(item.value, dict)]
    for item in at.items("readings"):
        reading, standing = _reading(item, text_ids)
        _once(item, readings, reading.id, "reading")
        readings[reading.id], standings[reading.id] = reading, standing
    if not readings and at.has("readings"):
        at.at("readings").fault("no-readings", "a gold set has at least one reading")
    return GoldSet(
        task_id=at.text("task_id"),
        title=at.text("title"),
        loopholes=at.texts("loopholes"),
        status=cast(Status, at.word("status", get_args(Status), "published")),
        readings=tuple(readings.values()),
        texts=_texts(at, readings, standings),
        negatives=_negatives(at, text_ids),
        overlaps=_overlaps(at, readings),
        notes=at.text("notes"),
        source=at.file,
    )


def _texts(
    at: Cursor, readings: Mapping[str, Reading], standings: Mapping[str, Mapping[str, tuple[Standing, str]]]
) -> tuple[TaskText, ...]:
    texts: dict[str, TaskText] = {}
    fingerprints: dict[str, str] = {}
    for item in at.items("texts"):
        item.keys({"id", "fingerprint"}, {"releases", "golds", "notes"})
        text_id, fingerprint = item.text("id"), item.text("fingerprint")
        _once(item, texts, text_id, "text")
        if fingerprint in fingerprints:
            item.fault("duplicate", f"the text {fingerprints[fingerprint]!r} has the same fingerprint")
        fingerprints[fingerprint] = text_id
        texts[text_id] = TaskText(
            id=text_id,
            fingerprint=fingerprint,
            releases=item.texts("releases"),
            standing={name: standing[text_id] for name, standing in standings.items() if text_id in standing},
            golds=dict(_golds(item, readings)),
        )
    return tuple(texts.values())


def _golds(at: Cursor, readings: Mapping[str, Reading]) -> Iterator[tuple[str, str | None]]:
    for fingerprint, item in at.members("golds"):
        if item.value is not None and not isinstance(item.value, str):
            item.fault("wrong-kind", "this should be the id of a reading, or null")
        elif item.value is not None and item.value not in readings:
            item.fault("unknown-reading", f"no reading is called {item.value!r}; there are: {', '.join(readings)}")
        else:
            yield fingerprint, item.value


def _reading(at: Cursor, text_ids: list[str]) -> tuple[Reading, dict[str, tuple[Standing, str]]]:
    optional = {"rationale", "positions", "evidence", "communicate", "origin", "notes"}
    at.keys({"id", "title", "standing", "admits"}, optional)
    standing = _standing(at, text_ids)
    is_now, reason = standing.get(_ANY_TEXT, ("core", ""))
    forms = tuple(form for item in at.items("admits") if (form := read_form(item)) is not None)
    if not forms and at.has("admits") and isinstance(at.value["admits"], list) and not at.value["admits"]:
        at.at("admits").fault("admits-nothing", "a reading admits at least one end state; to do nothing is actions: []")
    reading = Reading(
        id=at.text("id"),
        title=at.text("title"),
        rationale=at.text("rationale"),
        positions={name: _string(item) for name, item in at.members("positions")},
        standing=is_now,
        standing_reason=reason,
        admits=forms,
        evidence=_evidence(at.at("evidence")) if at.has("evidence") else None,
        communicate=at.texts("communicate") if at.has("communicate") else None,
        origin=cast(Origin, at.word("origin", get_args(Origin), "clause")),
        notes=at.text("notes"),
    )
    return reading, standing


def _standing(at: Cursor, text_ids: list[str]) -> dict[str, tuple[Standing, str]]:
    """Return text id to standing and reason; one entry under `_ANY_TEXT` if the set names no texts."""
    if not at.has("standing"):
        return {}
    single = isinstance(at.value["standing"], dict) and isinstance(at.value["standing"].get("is"), str)
    if single == bool(text_ids):
        at.at("standing").fault("standing-form", _STANDING_FORMS[bool(text_ids)])
        return {}
    if not text_ids:
        return {_ANY_TEXT: _one_standing(at.at("standing"))}
    standing: dict[str, tuple[Standing, str]] = {}
    for text_id, item in at.members("standing"):
        if text_id not in text_ids:
            item.fault("unknown-text", f"the set has no text {text_id!r}; there are: {', '.join(text_ids)}")
        standing[text_id] = _one_standing(item)
    for text_id in text_ids:
        if text_id not in standing:
            at.at("standing").fault("missing-standing", f"the standing under the text {text_id!r} is missing")
    return standing


def _one_standing(at: Cursor) -> tuple[Standing, str]:
    at.keys({"is", "reason"})
    return cast(Standing, at.word("is", get_args(Standing), "off")), at.text("reason")


def _string(at: Cursor) -> str:
    if isinstance(at.value, str):
        return at.value
    at.fault("wrong-kind", "this should be a string")
    return ""


def _evidence(at: Cursor) -> Evidence | None:
    if not isinstance(at.value, dict):
        at.fault("wrong-kind", "evidence is an object with tool, all_of or any_of")
        return None
    for key in ("all_of", "any_of"):
        if at.has(key):
            at.keys({key})
            parts = tuple(part for item in at.items(key) if (part := _evidence(item)) is not None)
            if not parts:
                at.at(key).fault("no-evidence", "this requires nothing")
            return AllOf(parts) if key == "all_of" else AnyOf(parts)
    at.keys({"tool"}, {"arguments", "requestor", "succeeded"})
    requestor = at.word("requestor", get_args(Requestor), "assistant") if at.has("requestor") else None
    anyhow = at.has("succeeded") and at.value["succeeded"] is None
    return CallEvidence(
        tool=at.text("tool"),
        arguments={name: item.value for name, item in at.members("arguments")},
        requestor=cast(Requestor | None, requestor),
        succeeded=None if anyhow else (at.flag("succeeded") if at.has("succeeded") else True),
    )


def _negatives(at: Cursor, text_ids: list[str]) -> tuple[NegativeExample, ...]:
    negatives: dict[str, NegativeExample] = {}
    for item in at.items("negatives"):
        item.keys({"id", "reason", "admits"}, {"texts", "refused"})
        name, texts = item.text("id"), item.texts("texts")
        _once(item, negatives, name, "negative example")
        for text_id in texts:
            if text_id not in text_ids:
                item.at("texts").fault("unknown-text", f"the set has no text {text_id!r}")
        form = read_form(item.at("admits")) if item.has("admits") else None
        if isinstance(form, Pattern | Assertions):
            item.at("admits").fault(
                "wrong-kind", "a negative example is an end state; a pattern or an assertion is not"
            )
        if form is not None:
            negatives[name] = NegativeExample(
                id=name, reason=item.text("reason"), admits=form, texts=texts, refused=item.flag("refused")
            )
    return tuple(negatives.values())


def _overlaps(at: Cursor, readings: Mapping[str, Reading]) -> dict[tuple[str, str], str]:
    overlaps: dict[tuple[str, str], str] = {}
    for item in at.items("overlaps"):
        item.keys({"readings", "reason"})
        pair = item.texts("readings")
        if len(set(pair)) != 2:
            item.fault("bad-overlap", "an overlap names two different readings")
            continue
        for name in pair:
            if name not in readings:
                item.at("readings").fault("unknown-reading", f"no reading is called {name!r}")
        overlaps[pair[0], pair[1]] = item.text("reason")
    return overlaps


# --- forms ------------------------------------------------------------------------------------------------------


def read_form(at: Cursor) -> Form | None:
    """Return one form of `admits`; None if it is none, which is noted."""
    found = [key for key in _FORMS if at.has(key)]
    if len(found) != 1:
        at.fault("bad-form", f"a form has exactly one of {', '.join(_FORMS)}")
        return None
    optional = {"label", "user_database"} if found[0] == "database" else {"label"}
    at.keys({found[0]}, optional)
    return _FORMS[found[0]](at)


def _actions(at: Cursor) -> Form:
    return Actions(read_calls(at, "actions"), label=at.text("label"))


def read_calls(at: Cursor, key: str) -> tuple[ToolCall, ...]:
    """Return the calls of a list; whatever is wrong with one is noted."""
    return tuple(_call(item) for item in at.items(key))


def _call(at: Cursor) -> ToolCall:
    at.keys({"name", "arguments"}, {"requestor"})
    arguments = {name: item.value for name, item in at.members("arguments")}
    requestor = cast(Requestor, at.word("requestor", get_args(Requestor), "assistant"))
    return ToolCall(at.text("name"), arguments, requestor=requestor)


def _choices(at: Cursor) -> Form:
    inner = at.at("choices")
    inner.keys({"slots", "actions"}, {"infeasible"})
    slots: dict[str, tuple[Json, ...]] = {}
    for name, item in inner.members("slots"):
        if not isinstance(item.value, list) or not item.value:
            item.fault("bad-slot", "a slot is a list with at least one alternative")
        slots[name] = tuple(item.value) if isinstance(item.value, list) else ()
    _check_slots(inner, slots)
    return Choices(
        slots=slots,
        calls=read_calls(inner, "actions"),
        infeasible=cast(Any, inner.word("infeasible", ("error", "skip"), "error")),
        label=at.text("label"),
    )


def _check_slots(at: Cursor, slots: Mapping[str, tuple[Json, ...]]) -> None:
    """Note slots that calls name and that are not defined, and slots that no call names."""
    used = set()
    for item in at.items("actions"):
        for reference in _slot_references(item.value):
            slot, _, key = reference.partition("/")
            used.add(slot)
            if slot not in slots:
                item.fault("undefined-slot", f"no slot is called {slot!r}; there are: {', '.join(slots) or 'none'}")
            elif key and any(not isinstance(value, dict) or key not in value for value in slots[slot]):
                item.fault("undefined-slot", f"an alternative of the slot {slot!r} has no member {key!r}")
    for slot in slots:
        if slot not in used:
            at.at("slots").fault("unused-slot", f"no call uses the slot {slot!r}")


def _slot_references(value: Json) -> Iterator[str]:
    if isinstance(value, dict):
        if value.keys() == {"$slot"}:
            yield str(value["$slot"])
            return
        for item in value.values():
            yield from _slot_references(item)
    elif isinstance(value, list):
        for item in value:
            yield from _slot_references(item)


def _database(at: Cursor) -> Form | None:
    try:
        agent = Database.from_json(at.value["database"])
        user = Database.from_json(at.value["user_database"]) if at.has("user_database") else None
    except MultigoldError as error:
        at.fault("bad-state", str(error))
        return None
    return Explicit(state=EndState(agent, user=user), label=at.text("label"))


def _delta(at: Cursor) -> Form | None:
    inner = at.at("delta")
    if not isinstance(inner.value, dict) or not all(isinstance(change, dict) for change in inner.value.values()):
        inner.fault("wrong-kind", "a delta is an object of pointers to {before?, after?}")
        return None
    try:
        return Explicit(delta=Delta.from_json(inner.value), label=at.text("label"))
    except MultigoldError as error:
        inner.fault("bad-pointer", str(error))
        return None


def _pattern(at: Cursor) -> Form:
    inner = at.at("pattern")
    inner.keys({"pointers"}, {"invariants"})
    rules: dict[str, PointerRule] = {}
    for pointer, item in inner.members("pointers"):
        _check_pointer(item, pointer)
        rules[pointer] = _rule(item)
    if not rules and inner.has("pointers"):
        inner.fault("no-pointers", "a pattern names at least one pointer; to do nothing is actions: []")
    return Pattern(pointers=rules, invariants=inner.texts("invariants"), label=at.text("label"))


def _rule(at: Cursor) -> PointerRule:
    at.keys(set(), {"after", "removed", "optional"})
    if at.has("after") == at.flag("removed"):
        at.fault("bad-rule", 'a pointer has either "after", the JSON Schema of its new value, or "removed": true')
    schema = at.value.get("after", True) if isinstance(at.value, dict) else True
    if not isinstance(schema, dict | bool):
        at.at("after").fault("bad-schema", "a JSON Schema is an object, or true or false")
        schema = True
    return PointerRule(schema=None if at.flag("removed") else schema, optional=at.flag("optional"))


def _check_pointer(at: Cursor, pointer: str) -> None:
    try:
        tokens = split_pointer(pointer)
    except MultigoldError:
        tokens = ()
    if len(tokens) < 2 or tokens[0] not in ("agent", "user"):
        at.fault("bad-pointer", "a pointer begins with /agent or /user and names at least a table")


def _assertions(at: Cursor) -> Form:
    for item in at.items("env_assertions"):
        item.keys({"func_name"}, {"env_type", "arguments", "assert_value", "message"})
    return Assertions(tuple(item.value for item in at.items("env_assertions")), label=at.text("label"))


_FORMS = {
    "actions": _actions,
    "choices": _choices,
    "database": _database,
    "delta": _delta,
    "pattern": _pattern,
    "env_assertions": _assertions,
}


def _once(at: Cursor, known: Mapping[str, object], name: str, what: str) -> None:
    if not name and at.has("id"):
        at.fault("no-name", f"a {what} has an id that is not empty")
    elif name in known:
        at.fault("duplicate", f"there is another {what} {name!r}")
