"""YAML is checked, and kept as it stands; nothing that it says is done."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from flowkit.errors import InvalidInputError, ParseError
from flowkit.rag import parse

MENU = "# The menu\nsoups:\n  - name: Tomato\n    price: 3.50  # euros\n  - {name: Lentil, price: 4}\n"


@pytest.mark.parametrize("parser", [parse.yaml, parse.auto()])
@pytest.mark.parametrize("name", ["menu.yaml", "menu.yml"])
def test_yaml_is_kept_as_it_stands(parser: Any, name: str):
    document = parser(MENU.encode(), source_name=name)

    assert document.text == MENU
    assert document.metadata == {"source": name}


@pytest.mark.parametrize(
    "text",
    [
        "one: 1\n---\ntwo: 2\n",
        "base: &base {a: 1}\nmore: {<<: *base, b: 2}\n",
        "1: one\n'1': text\n",
        "{}",
        "just words",
    ],
    ids=["several documents", "a merge", "a number and a text", "an empty mapping", "words"],
)
def test_what_is_no_mistake_is_none(text: str):
    assert parse.yaml(text.encode()).text == text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: 1\nb: 2\na: 3\n", r"'menu\.yaml' has the key 'a' twice, in lines 1 and 3"),
        ("list:\n  - {a: 1, a: 2}\n", r"has the key 'a' twice, in line 2"),
        ("null", "there is nothing in its YAML"),
        ("---\n", "there is nothing in its YAML"),
        ("---\n...\n---\n~\n", "there is nothing in its YAML"),
        ("# only a comment\n", "there is nothing in its YAML"),
        ("''", "there is nothing in its YAML"),
        ("a: [1, 2\nb: 3\n", r"'menu\.yaml' is no YAML: line 2: did not find expected"),
        ("a: *nowhere\n", r"is no YAML: line 1: found undefined alias"),
        ("a: b: c\n", r"is no YAML: line 1: mapping values are not allowed"),
        ("a:\n\t- tab\n", r"is no YAML: line 2: found character that cannot start any token"),
        (" \n", "there is nothing in its YAML"),
    ],
)
def test_a_key_twice_nothing_and_broken_yaml_are_errors(text: str, says: str):
    for parser in (parse.yaml, parse.auto()):
        with pytest.raises(ParseError, match=says) as raised:
            parser(text.encode(), source_name="menu.yaml")
        assert raised.value.hint


def test_tags_make_no_objects(tmp_path: Path):
    mark = tmp_path / "made"
    text = f"bad: !!python/object/apply:os.mkdir ['{mark.as_posix()}']\nref: !Ref Bucket\n"

    assert parse.yaml(text.encode()).text == text
    assert not mark.exists()


def test_a_file_of_aliases_stays_small():
    lines = ["a0: &a0 [soup, soup, soup, soup, soup, soup, soup, soup, soup]"]
    lines += [f"a{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 9)}]" for at in range(1, 12)]
    bomb = "\n".join(lines)

    assert parse.yaml(bomb.encode()).text == bomb
    assert len(parse.yaml(f"{bomb}\nlong: {'words ' * 1000}\n".encode()).text) < 20_000


def test_a_mapping_that_holds_itself_is_read():
    assert parse.yaml(b"&me {a: *me}").text == "&me {a: *me}"


def test_what_is_nested_without_end_is_an_error():
    with pytest.raises(ParseError, match=r"'deep\.yaml' (is nested too deep|ends the process|is no YAML)"):
        parse.yaml(b"[" * 200_000, source_name="deep.yaml")


def test_long_lines_and_escapes_are_laid_out():
    long = "{" + ", ".join(f"dish{at}: soup" for at in range(300)) + "}"

    assert parse.yaml(long.encode()).text.startswith("dish0: soup\ndish1: soup\n")
    assert parse.yaml(b'name: "Cr\\u00e8me"').text == 'name: "Crème"\n'


def test_the_encoding_is_found_out_or_named():
    document = parse.yaml("dish: Crème brûlée à la façon du chef".encode("cp1252"))

    assert document.text == "dish: Crème brûlée à la façon du chef"
    assert document.metadata["encoding"] == "cp1252"
    assert parse.yaml("dish: Crème".encode("cp1252"), "cp1252").text == "dish: Crème"
    with pytest.raises(InvalidInputError, match="no encoding 'utf-9'"):
        parse.yaml(b"a: 1", "utf-9")


def test_without_the_extra_yaml_is_plain_text(monkeypatch: pytest.MonkeyPatch):
    found = importlib.util.find_spec
    monkeypatch.setattr("flowkit.rag.parse.any_file.find_spec", lambda name: None if name == "yaml" else found(name))

    assert parse.auto()(b"a: 1\na: 2\n", source_name="menu.yaml").text == "a: 1\na: 2\n"
