"""Docling's service, by its own API: what is sent, what comes back, and what can go wrong."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from flowkit.errors import BackendError, ConfigError, InvalidInputError, ParseError
from flowkit.rag import parse, split
from tests.servers.docling import DoclingServer, converted


@pytest.fixture
def server() -> Iterator[DoclingServer]:
    with DoclingServer() as server:
        yield server


def test_a_file_is_sent_and_its_markdown_comes_back(server: DoclingServer, tmp_path: Path):
    file = tmp_path / "secret plans.pdf"
    file.write_bytes(b"%PDF-scan")

    document = parse.docling(server.url)(file, source_name="plans.pdf")

    assert document.text == "# Menu\n\nTomato soup"
    assert document.source == "plans.pdf"
    assert document.metadata["document_size_bytes"] == 9
    assert server.received == [b"%PDF-scan"]
    assert server.jobs[0].sources[0].filename == "document.pdf"
    assert server.jobs[0].target.kind == "inbody"
    (chunk,) = split.auto(max_chars=100)(document)
    assert (chunk.metadata["heading"], chunk.metadata["page"]) == ("Menu", 1)


def test_chunks_know_their_pages_also_behind_an_empty_one(server: DoclingServer):
    server.answer = converted({1: "Soup", 3: "Cake", 4: "Tea"})

    document = parse.docling(server.url)(b"scan", source_name="menu.pdf")

    assert document.text == "Soup\n\nCake\n\nTea"
    assert document.metadata["pages"] == 4
    assert [(chunk.text, chunk.metadata["page"]) for chunk in split.line(max_chars=5)(document)] == [
        ("Soup", 1),
        ("Cake", 3),
        ("Tea", 4),
    ]


def test_a_service_that_does_not_mark_pages_is_asked_in_vain(server: DoclingServer):
    server.answer = converted({1: "Soup", 2: "Cake"})

    document = parse.docling(server.url, options={"md_page_break_placeholder": "", "do_ocr": False})(b"scan")

    assert document.text == "Soup\n\nCake"
    assert "pages" not in document.metadata
    assert server.jobs[0].options.do_ocr is False


def test_it_is_asked_until_it_is_done_and_no_longer_than_may_be(server: DoclingServer):
    server.polls = 3
    assert parse.docling(server.url)(b"scan").text.startswith("# Menu")

    server.polls = 1_000_000
    with pytest.raises(BackendError, match=r"has not read 'slow\.pdf' in 0\.2 seconds.*timeout_seconds"):
        parse.docling(server.url, timeout_seconds=0.2)(b"scan", source_name="slow.pdf")


def test_text_is_used_although_there_were_errors_and_they_are_told(server: DoclingServer):
    errors = [{"component_type": "model", "module_name": "ocr", "error_message": "no model", "page_no": 2}]
    server.answer = converted({1: "Soup"}, status="partial_success", errors=errors)

    document = parse.docling(server.url)(b"scan")

    assert document.text == "Soup"
    assert document.metadata["parse_warnings"] == ["page 2: no model"]


def test_what_it_cannot_read_is_an_error(server: DoclingServer):
    server.answer = converted({}, status="failure", errors=[{"error_message": "File format not allowed"}])
    with pytest.raises(ParseError, match=r"cannot read 'a\.bin': File format not allowed"):
        parse.docling(server.url)(b"?", source_name="a.bin")

    server.answer = converted({1: " "})
    with pytest.raises(ParseError, match="has no text"):
        parse.docling(server.url)(b"blank")

    server.failure = "The conversion failed."
    with pytest.raises(ParseError, match=r"cannot read 'a\.pdf': The conversion failed"):
        parse.docling(server.url)(b"scan", source_name="a.pdf")


def test_a_key_is_sent_and_a_wrong_one_is_told():
    with DoclingServer(api_key="opensesame") as server:
        assert parse.docling(server.url, api_key="opensesame")(b"scan").text
        with pytest.raises(ConfigError, match=r"refuses the key.*pass api_key="):
            parse.docling(server.url)(b"scan")


def test_an_option_that_the_service_does_not_take_is_told(server: DoclingServer):
    with pytest.raises(BackendError, match=r"answers 422.*do_ocr"):
        parse.docling(server.url, options={"do_ocr": "sometimes"})(b"scan")


def test_a_service_that_is_not_there_is_told(server: DoclingServer):
    with pytest.raises(BackendError, match=r"cannot be reached.*docling-serve run"):
        parse.docling("http://127.0.0.1:9")(b"scan")
    with pytest.raises(BackendError, match="is no Docling service"):
        parse.docling(f"{server.url}/elsewhere")(b"scan")
    with pytest.raises(InvalidInputError, match="is no address"):
        parse.docling("localhost:5001")
