"""Reading plain text files."""

import os
from pathlib import Path
from typing import Any

import pytest

from flowkit.errors import InvalidInputError, NotFoundError, ParseError
from flowkit.rag import parse


def test_text_is_untouched(tmp_path: Path):
    file = tmp_path / "notes.txt"
    file.write_bytes("  Crème brûlée\r\n\r\n水\n".encode())

    document = parse.text(file)

    assert document.text == "  Crème brûlée\r\n\r\n水\n"
    assert document.metadata == {"source": file.as_posix()}


def test_a_byte_order_mark_is_no_text():
    assert parse.text(b"\xef\xbb\xbfsoup").text == "soup"
    assert parse.text("soup".encode("utf-16"), "utf-16").text == "soup"


def test_another_encoding_is_read_when_it_is_named():
    assert parse.text("Crème".encode("cp1252"), "cp1252", source_name="menu").source == "menu"
    assert parse.text("水".encode("shift_jis"), "shift_jis").text == "水"


def test_nul_is_removed():
    assert parse.text(b"one NUL\0 in a text").text == "one NUL in a text"


@pytest.mark.parametrize(
    ("data", "encoding", "says"),
    [
        (b"", None, "is empty"),
        (b" \n ", None, "has no text, only blanks"),
        ("Crème".encode("cp1252"), "utf-8", "'menu.txt' is not utf-8 text: byte 0xe8 at position 2.*another encoding="),
        ("soup".encode("utf-16"), "utf-8", "byte 0xff at position 0"),
        ("soup".encode("utf-16-le"), "utf-8", "full of NUL characters"),
        (bytes(range(256)), None, "is no text in any encoding"),
        ("水".encode(), "ascii", "is not ascii text"),
    ],
)
def test_what_is_no_text_is_one_line_with_a_way_out(data: bytes, encoding: str | None, says: str):
    with pytest.raises(ParseError, match=says) as raised:
        parse.text(data, encoding, source_name="menu.txt")

    assert raised.value.hint


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path):
    with pytest.raises(NotFoundError, match=r"no file 'nowhere\.txt'"):
        parse.text("nowhere.txt")
    with pytest.raises(ParseError, match="is a folder"):
        parse.text(tmp_path)


def test_an_unknown_encoding_is_named():
    with pytest.raises(InvalidInputError, match="no encoding 'utf-9'"):
        parse.text(b"soup", "utf-9")


@pytest.mark.parametrize("encoding", ["hex", "base64", "idna", "punycode", "undefined", "u\0", ""])
def test_a_codec_that_is_none_of_text_is_no_encoding(encoding: str):
    page = b'<meta charset="%s"><p>Soup' % encoding.replace("\0", "").encode()

    with pytest.raises(InvalidInputError, match="no encoding"):
        parse.text(b"soup", encoding)
    assert parse.html(page).text.strip() == "Soup"


@pytest.mark.parametrize("parser", [parse.text, parse.auto(), parse.pdf, parse.html])
def test_only_a_path_or_bytes_can_be_parsed(parser: Any):
    for odd in (None, 3, bytearray(b"soup")):
        with pytest.raises(InvalidInputError, match="cannot be parsed"):
            parser(odd)


@pytest.mark.skipif(os.name != "posix", reason="pipes have no names")
def test_a_pipe_is_not_waited_for(tmp_path: Path):
    os.mkfifo(tmp_path / "menu.txt")

    for path in (tmp_path / "menu.txt", Path("/dev/zero")):
        with pytest.raises(ParseError, match="is a pipe or a device"):
            parse.text(path)
