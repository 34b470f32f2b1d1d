"""`rag:index`, `rag:ask` and `rag:chunks`, without an app and with one."""

import json
import signal
from pathlib import Path

import pytest

from flowkit.rag.easy import index_name
from tests.cli.conftest import Project
from tests.rag.parse.papers import paper
from tests.servers.pages import Pages, page

GUIDE = """# Guide

## Paying

Customers pay by card or by invoice.

## Cancelling

An order can be cancelled within fourteen days by writing to help@shop.test.
"""

RAG_APP = """
from flowkit import Flowkit
from flowkit.testing import FakeEmbedder, FakeModel
from flowkit_devstore import DevStore

ai = Flowkit(
    plugins=[FakeEmbedder(16), FakeModel(replies=["Within 14 days."]), DevStore("shop", embedder="fake-embedder")],
    model="fake-model",
)
"""


@pytest.fixture
def shop(project: Project) -> Project:
    """A project with a folder of documents."""
    project.write("docs/guide.md", GUIDE)
    project.write("docs/prices.pdf", paper("Tomato soup costs 3.50 EUR.", "Rye bread costs 1.20 EUR."))
    project.write("docs/broken.pdf", "no pdf")
    project.write("photo.jpg", "no photo")
    project.write("rag_app.py", RAG_APP)
    return project


def test_a_folder_is_indexed_and_asked_without_an_app(shop: Project):
    indexed = shop.run("rag:index", "docs")
    assert indexed.code == 0
    heading, *rest = indexed.out.splitlines()
    assert heading == "Plan for devstore/docs: 2 new"
    assert rest[0].split() == ["+", "docs/guide.md", "chunks:", "2", "to", "embed"]
    assert "✓ devstore/docs: 2 files in" in indexed.out
    assert "Skipped 1 file:\n  docs/broken.pdf  is not a PDF" in indexed.out

    again = shop.run("rag:index", "docs/", "--index", "docs")
    assert again.out.splitlines()[0] == "✓ devstore/docs is up to date: 2 files, 3 chunks"

    asked = shop.run("rag:ask", "How can an order be cancelled?")
    assert asked.code == 0
    answer, _, place, quote = asked.out.splitlines()
    assert answer.startswith("An order can be cancelled within fourteen days")
    assert place.strip().startswith("docs/guide.md, Guide > Cancelling  ")
    assert "“An order can be cancelled" in quote
    assert "Trace ID: " in asked.err

    asked = shop.run("rag:ask", "What does rye bread cost?", "--index", "docs", "--json")
    told = json.loads(asked.out)
    assert told["answer"] == "Rye bread costs 1.20 EUR."
    (citation,) = told["citations"]
    assert (citation["source"], citation["page"]) == ("docs/prices.pdf", 2)
    assert 0 < citation["score"] <= 1
    assert told["traceId"] in asked.err
    assert len(told["sources"]) == 3
    assert "rag:ask" in shop.run("trace:list").out


def test_a_dry_run_shows_the_plan_and_does_nothing(shop: Project):
    plan = json.loads(shop.run("rag:index", "docs", "--app", "rag_app.py", "--dry-run", "--json").out)
    assert (plan["added"], plan["sources"]["added"]) == (3, 2)
    assert [change["source"] for change in plan["changes"]] == ["docs/guide.md", "docs/prices.pdf"]
    assert "A dry run: nothing was done." in shop.run("rag:index", "docs", "--app", "rag_app.py", "--dry-run").out

    report = json.loads(shop.run("rag:index", "docs", "--app", "rag_app.py", "--json").out)
    assert report["written"] == 3


def test_edits_and_removals_follow_the_mode(shop: Project):
    def index(*options: str) -> str:
        return shop.run("rag:index", "docs", "--app", "rag_app.py", *options).out

    index()
    shop.write("docs/guide.md", GUIDE.replace("fourteen", "thirty"))
    (shop.folder / "docs" / "prices.pdf").unlink()

    edited = index()
    assert "Plan for devstore/shop: 1 changed" in edited
    assert "chunks: 1 to embed, 1 to delete" in edited
    assert "1 chunk of files that are gone stay in the index; --mode full deletes them" in edited
    full = index("--mode", "full")
    assert "- docs/prices.pdf  chunks: 1 to delete" in full
    assert index("--mode", "full").startswith("✓ devstore/shop is up to date: 1 file, 2 chunks")


def test_an_app_answers_with_its_own_model(shop: Project):
    shop.run("rag:index", "docs", "--app", "rag_app.py")

    asked = shop.run("rag:ask", "How long?", "--app", "rag_app.py", "-k", "2", "--where", "source = 'docs/guide.md'")

    lines = asked.out.splitlines()
    assert lines[0] == "Within 14 days."
    assert lines[2] == "Looked at:"
    assert len(lines) == 5
    assert all(line.strip().startswith("docs/guide.md, Guide > ") for line in lines[3:])


def test_chunks_are_shown_before_anything_is_stored(shop: Project):
    shown = shop.run("rag:chunks", "docs/guide.md")

    heading, first, second, total = shown.out.splitlines()
    assert heading.split() == ["#", "Place", "Tokens", "Characters", "Begins"]
    assert first.split()[:4] == ["0", "Guide", ">", "Paying"]
    assert "0…" in first
    assert "## Cancelling" in second
    assert total.endswith("tokens in 2 chunks")
    assert not (shop.folder / ".flowkit" / "indexes").exists()

    small = json.loads(shop.run("rag:chunks", "docs/guide.md", "--max-tokens", "8", "--json").out)
    assert all(chunk["tokens"] <= 8 for chunk in small)
    assert GUIDE[small[1]["start"] : small[1]["end"]] == small[1]["text"]
    whole = shop.run("rag:chunks", "docs/prices.pdf", "--text").out
    assert "── 0 page 1" in whole
    assert "Tomato soup costs 3.50 EUR." in whole


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("rag:index", "nowhere"), 2, "'nowhere' does not exist"),
        (("rag:index", "docs", "--watch", "--dry-run"), 2, "exclude each other"),
        (("rag:index", "docs", "--max-tokens", "5", "--overlap-tokens", "5", "--app", "rag_app.py"), 2, "overlap"),
        (("rag:index", "docs", "--index", "shoe", "--app", "rag_app.py"), 2, "there are: devstore/shop"),
        (("rag:ask", "  "), 2, "the question is blank"),
        (("rag:ask", "Soup?"), 2, "the project has no index"),
        (("rag:ask", "Soup?", "--index", "none"), 2, "there is no index 'none'"),
        (("rag:ask", "Soup?", "--app", "app.py"), 2, "the app has no index"),
        (("rag:index", "https://shop.test/", "--app", "rag_app.py", "--watch"), 2, "cannot be watched"),
        (("rag:index", "ftp://shop.test/", "--app", "rag_app.py"), 2, "no loader knows ftp://"),
        (("rag:index", "https://shop.test/", "--app", "rag_app.py", "--glob", "*"), 2, "a page is no folder"),
        (("rag:index", "s3://", "--app", "rag_app.py"), 2, "is no address in a cloud"),
        (
            ("rag:chunks", "docs/guide.md", "--max-tokens", "5", "--overlap-tokens", "9"),
            2,
            "the overlap must lie in 0…4",
        ),
        (("rag:chunks", "https://"), 2, "names no host"),
        (("rag:chunks", "docs/broken.pdf"), 1, "is not a PDF"),
        (("rag:chunks", "photo.jpg"), 1, "photo.jpg: no text format"),
        (("rag:chunks", "/dev/null"), 2, "is a pipe or a device"),
        (("rag:chunks", "package://tests.support.no_such"), 2, "no package"),
        (("rag:ask", "Soup?", "--index", "none", "--where", "page >"), 2, "--where:"),
    ],
)
def test_what_is_wrong_is_told_in_a_line(shop: Project, arguments: tuple[str, ...], code: int, message: str):
    run = shop.run(*arguments)

    assert (run.code, run.out) == (code, "")
    assert message in run.err


@pytest.mark.heavy
def test_a_watched_folder_is_indexed_again_when_it_changes(shop: Project):
    process = shop.start("rag:index", "docs", "--app", "rag_app.py", "--watch", "--mode", "full")
    assert process.stdout is not None
    assert process.stderr is not None
    read_until(process.stdout, "✓ devstore/shop: 2 files")
    read_until(process.stderr, "watching docs")

    (shop.folder / "docs" / "new.md").write_text("# New\n\nText.")
    read_until(process.stdout, "+ docs/new.md")
    (shop.folder / "docs" / "new.md").write_text("# New\n\nOther text.")
    read_until(process.stdout, "~ docs/new.md")
    (shop.folder / "docs" / ".flowkitignore").write_text("guide.md")
    read_until(process.stdout, "- docs/guide.md")
    (shop.folder / "docs" / "new.md").unlink()
    read_until(process.stdout, "- docs/new.md")

    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in err


def read_until(stream: object, text: str) -> None:
    for line in stream:  # type: ignore[attr-defined]
        if text in line:
            return
    pytest.fail(f"{text!r} never came")


def test_a_page_of_the_web_is_indexed_and_asked(shop: Project):
    with Pages({"/help": page("Orders are cancelled by mail.", "text/plain")}) as pages:
        address = pages.url("/help")
        refused = shop.run("rag:index", address, "--app", "rag_app.py")
        indexed = shop.run("rag:index", f"{address}#top", "--app", "rag_app.py", "--allow-private")
        again = shop.run("rag:index", address, "--app", "rag_app.py", "--allow-private")
        cut = shop.run("rag:chunks", address, "--allow-private", "--json")
        gone = shop.run("rag:index", pages.url("/no"), "--app", "rag_app.py", "--allow-private")
    asked = shop.run("rag:ask", "How?", "--app", "rag_app.py", "-k", "1")

    assert (refused.code, refused.out) == (1, "")
    assert "is not on the public internet" in refused.err
    assert "--allow-private" in refused.err
    assert f"+ {address}  chunks: 1 to embed" in indexed.out
    assert again.out.startswith("✓ devstore/shop is up to date: 1 file, 1 chunk")
    assert json.loads(cut.out)[0]["source"] == address
    assert (gone.code, gone.out) == (1, "")
    assert "there is no page" in gone.err
    assert address in asked.out


def test_patterns_and_ignore_files_choose_what_of_a_folder_is_indexed(shop: Project):
    shop.write("docs/drafts/a.md", "Draft.")
    shop.write("docs/.flowkitignore", "drafts/\n")

    some = shop.run("rag:index", "docs", "--app", "rag_app.py", "--dry-run", "--json", "--glob", "**/*.md")
    none = shop.run("rag:index", "docs", "--app", "rag_app.py", "--glob", "*.rst")

    assert [change["source"] for change in json.loads(some.out)["changes"]] == ["docs/guide.md"]
    assert none.out == "Nothing to index: there is no file with text\n"


def test_one_file_that_cannot_be_read_is_an_error(shop: Project):
    run = shop.run("rag:index", "docs/broken.pdf", "--app", "rag_app.py")

    assert (run.code, run.out) == (1, "")
    assert "docs/broken.pdf: " in run.err


def test_an_index_is_named_after_its_folder_or_address(tmp_path: Path):
    (tmp_path / "docs").mkdir()

    assert index_name(tmp_path / "docs", tmp_path) == "docs"
    assert index_name(tmp_path, tmp_path) == tmp_path.name
    assert index_name("https://shop.test/help?key=secret", tmp_path) == "shop.test/help"
    assert index_name("s3://bucket/docs/", tmp_path) == "bucket/docs"


def test_progress_is_told_in_numbers():
    from flowkit.cli.rag_index import told
    from flowkit.rag.ingest import Progress

    progress = Progress(stage="indexing", done=1200, total=3000, unit="chunks", rate_per_second=38.2, eta_seconds=47.1)
    assert told(progress) == "1,200/3,000 chunks  38/s  47.0 s left"
    assert told(Progress(stage="reading", done=3)) == "3 documents"


def test_files_outside_of_the_project_have_their_folders_name(shop: Project, tmp_path_factory: pytest.TempPathFactory):
    folder: Path = tmp_path_factory.mktemp("notes")
    (folder / "a.md").write_text("Text.")

    report = json.loads(shop.run("rag:index", str(folder), "--app", "rag_app.py", "--json").out)

    assert report["plan"]["changes"][0]["source"] == f"{folder.name}/a.md"
