"""Databases read from files of any shape, compared from Python and from the command line."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click.testing
import jsonschema
import pytest

import multigold
from multigold.cli._diff import command
from multigold.errors import CallError, DataError, MultigoldError
from multigold.files import databases
from multigold.files.databases import read_database, read_tables
from multigold.files.schemas import document_schema
from multigold.rendering.differences import difference_json

USERS = {"1": {"id": "1", "name": "Ada"}, "2": {"id": "2", "name": "Bo\nb"}}


def write(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8", newline="")
    return path


def sqlite_file(path: Path, *statements: str | tuple[str, Iterable[Any]]) -> Path:
    connection = sqlite3.connect(path)
    for statement in statements:
        if isinstance(statement, str):
            connection.execute(statement)
        else:
            connection.execute(statement[0], tuple(statement[1]))
    connection.commit()
    connection.close()
    return path


# Every shape gives the same tables


def as_json(place: Path) -> Path:
    return write(place / "shop.json", {"users": USERS})


def as_compressed_json(place: Path) -> Path:
    path = place / "shop.json.gz"
    path.write_bytes(gzip.compress(json.dumps({"users": USERS}).encode()))
    return path


def as_folder_of_json(place: Path) -> Path:
    return write(place / "shop" / "users.json", USERS).parent


def as_folder_of_rows(place: Path) -> Path:
    return write(place / "shop" / "users.json", list(USERS.values())).parent


def as_folder_of_csv(place: Path) -> Path:
    return write(place / "shop" / "users.csv", '\ufeffid,name\r\n1,Ada\r\n2,"Bo\nb"\r\n').parent


def as_folder_of_tsv(place: Path) -> Path:
    return write(place / "shop" / "users.tsv", 'id\tname\n1\tAda\n2\t"Bo\nb"\n').parent


def as_sqlite(place: Path) -> Path:
    return sqlite_file(
        place / "shop.db",
        "CREATE TABLE users (id TEXT PRIMARY KEY, name TEXT)",
        *(("INSERT INTO users VALUES (?, ?)", user.values()) for user in USERS.values()),
    )


SHAPES = [as_json, as_compressed_json, as_folder_of_json, as_folder_of_rows, as_folder_of_csv, as_folder_of_tsv]


@pytest.mark.parametrize("make", [*SHAPES, as_sqlite], ids=lambda make: make.__name__)
def test_every_shape_of_the_same_content_is_the_same_database(make: Callable[[Path], Path], tmp_path: Path) -> None:
    found = read_database(make(tmp_path), keys={"users": ["id"]})
    assert found.to_json() == {"users": USERS}


def test_what_a_file_is_its_content_says_and_not_its_name(tmp_path: Path) -> None:
    assert read_tables(as_sqlite(tmp_path).rename(tmp_path / "shop.json")).form == "sqlite"


# Keys


def test_rows_of_csv_without_a_key_go_by_their_number(tmp_path: Path) -> None:
    found = read_tables(as_folder_of_csv(tmp_path))
    assert found.database.ids("users") == ["1", "2"]
    assert found.keys == {"users": "the number of the row"}
    assert found.numbered == ("users",)


def test_values_of_csv_are_text_exactly_as_they_stand(tmp_path: Path) -> None:
    folder = write(tmp_path / "t.csv", "a,b\n 1.0 ,\n").parent
    assert read_database(folder).get("t", "1") == {"a": " 1.0 ", "b": ""}


def test_a_list_in_json_is_one_value_unless_its_key_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "d.json", {"log": [{"n": 1}, {"n": 2}], "note": "x"})
    assert read_database(path).to_json() == {"log": [{"n": 1}, {"n": 2}], "note": "x"}
    assert read_database(path, keys={"log": ["n"]}).ids("log") == ["1", "2"]


def test_several_columns_make_a_key_that_no_other_columns_make(tmp_path: Path) -> None:
    folder = write(tmp_path / "t.csv", 'a,b\n"x,y",z\nx,"y,z"\n').parent
    assert read_database(folder, keys={"t": ["a", "b"]}).ids("t") == ['["x,y", "z"]', '["x", "y,z"]']


def test_sqlite_rows_go_by_primary_key_then_by_rowid(tmp_path: Path) -> None:
    path = sqlite_file(
        tmp_path / "d.db",
        "CREATE TABLE pair (b INTEGER, a TEXT, v REAL, PRIMARY KEY (a, b)) WITHOUT ROWID",
        "INSERT INTO pair VALUES (2, 'x', 1.5)",
        'CREATE TABLE "odd ""name" (rowid TEXT, v BLOB)',
        "INSERT INTO \"odd \"\"name\" VALUES ('r', x'00ff'), (NULL, NULL)",
    )
    found = read_tables(path)
    assert found.database.to_json() == {
        "pair": {'["x", 2]': {"b": 2, "a": "x", "v": 1.5}},
        'odd "name': {"1": {"rowid": "r", "v": {"$bytes": "00ff"}}, "2": {"rowid": None, "v": None}},
    }
    assert found.keys == {"pair": "a, b", 'odd "name': "the rowid"}
    assert found.numbered == ('odd "name',)


def test_views_virtual_tables_and_generated_columns_are_left_out(tmp_path: Path) -> None:
    path = sqlite_file(
        tmp_path / "d.db",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, n INT, big TEXT GENERATED ALWAYS AS (zeroblob(1000000000)) VIRTUAL)",
        "INSERT INTO t (n) VALUES (7)",
        "CREATE VIEW v AS SELECT 1",
        "CREATE VIRTUAL TABLE f USING fts5(words)",
    )
    data = read_database(path).to_json()
    assert data["t"] == {"1": {"id": 1, "n": 7}}
    assert not data.keys() & {"v", "f"}


def test_reading_an_sqlite_file_changes_nothing_in_its_folder(tmp_path: Path) -> None:
    path = as_sqlite(tmp_path)
    before = path.read_bytes()
    read_database(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_name_that_looks_like_a_query_is_only_a_name(tmp_path: Path) -> None:
    path = as_sqlite(tmp_path).rename(tmp_path / "a?mode=rwc&b#%41.db")
    assert read_database(path).tables() == ["users"]
    assert list(tmp_path.iterdir()) == [path]


# Bad input: one sentence each


def no_json(place: Path) -> Path:
    return write(place / "d.json", "{'a': 1}")


def a_list(place: Path) -> Path:
    return write(place / "d.json", [1])


def not_a_number(place: Path) -> Path:
    return write(place / "d.json", '{"t": {"a": NaN}}')


def too_deep(place: Path) -> Path:
    return write(place / "d.json", '{"t": ' + "[" * 100_000 + "]" * 100_000 + "}")


def same_name_twice(place: Path) -> Path:
    return write(place / "d.json", '{"t": {"a": 1, "a": 2}}')


def empty_id(place: Path) -> Path:
    return write(place / "d.json", {"t": {"": 1}})


def not_utf8(place: Path) -> Path:
    path = place / "d.json"
    path.write_bytes(b'{"t": "\xff"}')
    return path


def broken_gzip(place: Path) -> Path:
    path = place / "d.json.gz"
    path.write_bytes(gzip.compress(b"{}" * 1000)[:-9])
    return path


def one_csv(place: Path) -> Path:
    return write(place / "t.csv", "a\n1\n")


def ragged_csv(place: Path) -> Path:
    return write(place / "t.csv", "a,b\n1\n").parent


def twice_named_column(place: Path) -> Path:
    return write(place / "t.csv", "a,a\n1,2\n").parent


def broken_csv(place: Path) -> Path:
    return write(place / "t.csv", 'a\n"1"2\n').parent


def empty_csv(place: Path) -> Path:
    return write(place / "t.csv", "").parent


def empty_folder(place: Path) -> Path:
    return write(place / "d" / "README", "nothing here").parent


def one_table_twice(place: Path) -> Path:
    write(place / "t.json", {})
    return write(place / "t.csv", "a\n1\n").parent


def broken_sqlite(place: Path) -> Path:
    path = place / "d.db"
    path.write_bytes(as_sqlite(place).read_bytes()[:100] + b"\xff" * 4000)
    return path


def infinity_in_sqlite(place: Path) -> Path:
    return sqlite_file(place / "d.db", "CREATE TABLE t (v REAL)", "INSERT INTO t VALUES (9e999)")


def missing(place: Path) -> Path:
    return place / "nothing"


BAD = [
    no_json,
    a_list,
    not_a_number,
    too_deep,
    same_name_twice,
    empty_id,
    not_utf8,
    broken_gzip,
    one_csv,
    ragged_csv,
    twice_named_column,
    broken_csv,
    empty_csv,
    empty_folder,
    one_table_twice,
    broken_sqlite,
    infinity_in_sqlite,
    missing,
]


@pytest.mark.parametrize("make", BAD, ids=lambda make: make.__name__)
def test_what_is_no_database_is_refused_in_one_sentence(make: Callable[[Path], Path], tmp_path: Path) -> None:
    path = make(tmp_path)
    with pytest.raises(DataError) as caught:
        read_database(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("make", [as_json, as_compressed_json, as_folder_of_csv, as_sqlite], ids=lambda m: m.__name__)
def test_more_than_the_limit_is_refused(
    make: Callable[[Path], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make(tmp_path)
    monkeypatch.setattr(databases, "MAX_BYTES", 20)
    with pytest.raises(DataError, match="more than 20 bytes"):
        read_database(path)


def test_a_long_value_in_sqlite_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = sqlite_file(tmp_path / "d.db", "CREATE TABLE t (v TEXT)", "INSERT INTO t VALUES (hex(zeroblob(2000)))")
    monkeypatch.setattr(databases, "MAX_CELL_BYTES", 1000)
    with pytest.raises(DataError, match="too big"):
        read_database(path)


KEY_FAULTS = {
    "no such column": ("a\n1\n", ["b"], CallError),
    "the same twice": ("a\n1\n1\n", ["a"], DataError),
    "an empty one": ('a,b\n"",1\n', ["a"], DataError),
}


@pytest.mark.parametrize("name", KEY_FAULTS)
def test_columns_that_do_not_tell_rows_apart_are_refused(name: str, tmp_path: Path) -> None:
    content, columns, error = KEY_FAULTS[name]
    folder = write(tmp_path / "t.csv", content).parent
    with pytest.raises(error):
        read_database(folder, keys={"t": columns})


def test_a_key_for_what_is_no_table_of_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CallError, match="no rows"):
        read_database(write(tmp_path / "d.json", {"note": "x"}), keys={"note": ["id"]})
    with pytest.raises(CallError, match="no column"):
        read_database(as_sqlite(tmp_path), keys={"users": ["nick"]})


# The command


def run(*arguments: object) -> click.testing.Result:
    return click.testing.CliRunner().invoke(command, [str(argument) for argument in arguments])


def test_diff_says_what_differs_and_exits_with_1(tmp_path: Path) -> None:
    before = as_sqlite(tmp_path)
    changed = {"1": {**USERS["1"], "name": "Ida"}, "3": {"id": "3", "name": "Cy"}}
    done = run(before, write(tmp_path / "after.json", {"users": changed}))
    assert done.exit_code == 1
    assert done.output.splitlines() == [
        '/agent/users/1/name: "Ada" -> "Ida"',
        '/agent/users/2: {"id": "2", "name": "Bo\\nb"} -> absent',
        '/agent/users/3: absent -> {"id": "3", "name": "Cy"}',
        "table users: 1 added, 1 removed, 1 changed",
    ]


def test_diff_of_the_same_content_exits_with_0(tmp_path: Path) -> None:
    done = run(as_sqlite(tmp_path), as_folder_of_csv(tmp_path), "--key", "users=id")
    assert (done.exit_code, done.output) == (0, "The two databases are the same: 1 tables, 2 records.\n")


def test_diff_limits_its_lines_and_says_that_rows_have_no_key(tmp_path: Path) -> None:
    before = write(tmp_path / "a" / "t.csv", "a\n1\n2\n3\n").parent
    after = write(tmp_path / "b" / "t.csv", "a\n0\n1\n2\n3\n").parent
    lines = run(before, after, "--limit", 1).output.splitlines()
    assert lines[1:3] == ["... and 3 more", "table t: 1 added, 3 changed"]
    assert "distinguished by the number of the row" in lines[3]
    assert run(before, after, "--key", "t=a").output.splitlines()[-1] == "table t: 1 added"


def test_the_json_document_validates_and_leads_from_one_to_the_other(tmp_path: Path) -> None:
    before = as_folder_of_csv(tmp_path)
    after = write(tmp_path / "after.json", {"users": {"1": USERS["1"]}, "note": "new"})
    done = run(before, after, "--json", "-")
    document = json.loads(done.output)
    jsonschema.Draft202012Validator.check_schema(document_schema("diff"))
    jsonschema.validate(document, document_schema("diff"))
    assert (done.exit_code, document["same"], document["tables"]["users"]["removed"]) == (1, False, 1)
    state = multigold.EndState(read_database(before))
    assert multigold.Delta.from_json(document["delta"]).apply(state).agent == read_database(after)


def test_the_json_document_is_written_beside_the_lines(tmp_path: Path) -> None:
    path = as_json(tmp_path)
    assert run(path, path, "--json", tmp_path / "out.json").exit_code == 0
    assert json.loads((tmp_path / "out.json").read_text())["same"] is True


def test_the_schema_refuses_a_document_with_something_else_in_it(tmp_path: Path) -> None:
    tables = read_tables(as_json(tmp_path))
    document = difference_json(("a", "b"), tables, tables, multigold.diff(tables.database, tables.database))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**document, "more": 1}, document_schema("diff"))


@pytest.mark.parametrize("key", ["users", "=id", "users=", "users=a,,b", "nothing=id"])
def test_a_key_that_means_nothing_is_refused(key: str, tmp_path: Path) -> None:
    path = as_json(tmp_path)
    done = run(path, path, "--key", key)
    assert isinstance(done.exception, MultigoldError)


def test_names_from_files_reach_a_terminal_as_escapes(tmp_path: Path) -> None:
    before = write(tmp_path / "a.json", {"t\x1b[31m": {"r": 1}})
    done = run(before, write(tmp_path / "b.json", {"t\x1b[31m": {"r": 2}}))
    assert "\x1b" not in done.output


def test_help_says_what_a_database_is_and_what_the_exit_status_means() -> None:
    done = run("--help")
    assert done.exit_code == 0
    assert "SQLite" in done.output
    assert "1 they differ" in done.output


# Scoring without replay


def test_a_run_is_scored_by_the_files_that_it_left_behind(tmp_path: Path) -> None:
    before = read_database(as_sqlite(tmp_path))
    after = read_database(write(tmp_path / "after.json", {"users": {"1": USERS["1"]}}))
    golds = multigold.GoldSet.from_databases({"keep": before, "forget": after}, benchmark="keep")
    verdict = multigold.score(multigold.Task("t", initial=before), multigold.Trajectory.from_end_state(after), golds)
    assert (verdict.matched, verdict.benchmark_matched) == (("forget",), False)
