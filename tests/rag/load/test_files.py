"""Files and folders as documents: the order, what is left out, what is told, and what a custom parser is given."""

import os
import sys
from collections.abc import AsyncIterable
from pathlib import Path

import pytest

from flowkit import Document
from flowkit.errors import InvalidInputError, NotFoundError
from flowkit.rag import load, parse
from flowkit.rag.load import walk


def write(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return write(
        tmp_path / "docs",
        **{
            "b.md": "B.",
            "a.md": "A.",
            "deep/er/d.md": "D.",
            "deep/c.txt": "C.",
            ".hidden/x.md": "X.",
            "node_modules/m.js": "M.",
            "photo.png": "P.",
        },
    )


async def names(loader: AsyncIterable[Document | load.Skipped]) -> list[str]:
    return [str(item.source) for item in await items(loader) if isinstance(item, Document)]


async def items(loader: AsyncIterable[Document | load.Skipped]) -> list[Document | load.Skipped]:
    return [item async for item in loader]


async def skipped(loader: AsyncIterable[Document | load.Skipped]) -> dict[str, str]:
    return {item.source: item.reason for item in await items(loader) if isinstance(item, load.Skipped)}


async def test_a_folder_is_loaded_in_the_order_of_its_names_and_what_is_no_text_is_told(docs: Path):
    loader = load.directory(docs, root=docs.parent)

    assert await names(loader) == ["docs/a.md", "docs/b.md", "docs/deep/c.txt", "docs/deep/er/d.md"]
    assert await skipped(loader) == {"docs/photo.png": "no text format"}
    assert (loader.scope, await loader.count()) == ("docs/", 5)


async def test_sources_are_relative_to_the_project_that_one_works_in(docs: Path, monkeypatch: pytest.MonkeyPatch):
    (docs.parent / "pyproject.toml").write_text("")
    monkeypatch.chdir(docs)

    assert (await names(load.directory("deep")))[0] == "docs/deep/c.txt"
    assert await names(load.file("a.md")) == ["docs/a.md"]
    monkeypatch.chdir(docs / "deep")
    assert await names(load.file("../b.md", root=docs)) == ["b.md"]


@pytest.mark.parametrize(
    ("glob", "found"),
    [
        ("*.md", ["a.md", "b.md"]),
        ("**/*.md", ["a.md", "b.md", "deep/er/d.md"]),
        (["**/*.md", "**/*.txt", "!deep/er/**"], ["a.md", "b.md", "deep/c.txt"]),
        ("deep/*", ["deep/c.txt", "deep/er/d.md"]),
        ("./[ab].md", ["a.md", "b.md"]),
    ],
)
async def test_a_pattern_chooses_by_the_path_in_the_folder(docs: Path, glob: str | list[str], found: list[str]):
    assert await names(load.directory(docs, glob=glob, root=docs)) == found


async def test_a_folder_alone_is_loaded_without_those_in_it(docs: Path):
    assert await names(load.directory(docs, recursive=False, root=docs)) == ["a.md", "b.md"]


async def test_hidden_files_are_loaded_when_asked_for(docs: Path):
    assert (await names(load.directory(docs, hidden=True, root=docs)))[0] == ".hidden/x.md"


async def test_ignore_files_are_heeded_at_every_level_and_the_nearest_has_the_last_word(docs: Path):
    write(
        docs,
        **{
            ".gitignore": "*.log\nbuild/\n/b.md\n[\n",
            "x.log": "X.",
            "build/out.md": "Out.",
            "deep/b.md": "B.",
            "deep/y.log": "Y.",
            "deep/.gitignore": "!y.log\n",
            ".flowkitignore": "c.txt\n!/b.md\n",
        },
    )

    found = await names(load.directory(docs, root=docs))

    assert found == ["a.md", "b.md", "deep/b.md", "deep/er/d.md", "deep/y.log"]
    everything = await names(load.directory(docs, ignore_files=False, root=docs))
    assert {"x.log", "build/out.md", "deep/c.txt"} < set(everything)


async def test_links_to_folders_are_entered_only_when_asked_for_and_circles_end(docs: Path, tmp_path: Path):
    other = write(tmp_path / "other", **{"o.md": "O."})
    (docs / "deep" / "up").symlink_to(docs, target_is_directory=True)
    (docs / "link").symlink_to(other, target_is_directory=True)
    (docs / "linked.md").symlink_to(docs / "a.md")
    (docs / "nowhere.md").symlink_to(docs / "gone.md")
    (docs / "self.md").symlink_to(docs / "self.md")

    plain = await names(load.directory(docs, root=docs))
    followed = await names(load.directory(docs, follow_links=True, root=docs))

    assert plain == ["a.md", "b.md", "deep/c.txt", "deep/er/d.md", "linked.md"]
    assert followed == ["a.md", "b.md", "deep/c.txt", "deep/er/d.md", "link/o.md", "linked.md"]


async def test_a_link_to_a_file_outside_of_the_folder_is_told_and_read_only_when_asked_for(docs: Path, tmp_path: Path):
    secret = write(tmp_path / "docs-of-others", **{"key.txt": "Secret."}) / "key.txt"
    (docs / "link.txt").symlink_to(secret)
    (docs / "deep" / "again.txt").symlink_to(docs / "link.txt")
    (docs / "deep" / "inside.md").symlink_to("../a.md")

    plain = [item async for item in load.directory(docs, root=docs)]
    followed = await names(load.directory(docs, follow_links=True, root=docs))

    told = {item.source: (item.reason, item.hint) for item in plain if isinstance(item, load.Skipped)}
    why = ("a link that leads out of the folder", "pass follow_links=True if it is meant")
    assert told == {"link.txt": why, "deep/again.txt": why, "photo.png": ("no text format", None)}
    assert "deep/inside.md" in {item.source for item in plain if isinstance(item, Document)}
    assert not any("Secret" in item.text for item in plain if isinstance(item, Document))
    assert {"link.txt", "deep/again.txt", "deep/inside.md"} < set(followed)
    assert await load.directory(docs, root=docs).count() == len(plain) - 2
    assert await names(load.file(docs / "link.txt", root=docs)) == [secret.name]


async def test_a_folder_may_be_a_link_itself(docs: Path, tmp_path: Path):
    (tmp_path / "here").symlink_to(docs, target_is_directory=True)
    (docs / "linked.md").symlink_to(docs / "a.md")

    assert "linked.md" in await names(load.directory(tmp_path / "here", root=docs))


async def test_a_folder_that_cannot_be_read_is_told_and_the_others_are_loaded(
    docs: Path, monkeypatch: pytest.MonkeyPatch
):
    if os.geteuid() == 0:  # whom no permission stops
        real = walk._entries
        monkeypatch.setattr(walk, "_entries", lambda at: "Permission denied" if at.endswith("deep") else real(at))
    else:
        (docs / "deep").chmod(0)
    try:
        loader = load.directory(docs, root=docs.parent)
        assert await names(loader) == ["docs/a.md", "docs/b.md"]
        assert (await skipped(loader))["docs/deep/"] == "the folder cannot be read: Permission denied"
    finally:
        (docs / "deep").chmod(0o700)


async def test_only_files_are_loaded_whatever_else_lies_there(docs: Path):
    os.mkfifo(docs / "pipe.md")

    assert await names(load.directory(docs, glob="*.md", root=docs)) == ["a.md", "b.md"]


async def test_a_name_that_is_no_unicode_is_loaded_under_a_clean_one(docs: Path, caplog: pytest.LogCaptureFixture):
    if sys.platform != "linux":
        return
    Path(os.fsdecode(os.fsencode(docs) + b"/caf\xe9.md")).write_text("Text.")

    found = await items(load.directory(docs, glob="*.md", root=docs))

    assert len(found) == 3
    assert isinstance(found[2], Document)
    assert (found[2].text, found[2].metadata["source"]) == ("Text.", "caf\ufffd.md")
    assert caplog.records == [], "the name was cleaned once, for the parser and for us"


async def test_a_file_that_goes_while_the_folder_is_loaded_is_passed_over(docs: Path):
    loader = load.directory(docs, root=docs)
    found = []
    async for item in loader:
        found.append(item.source)
        (docs / "deep" / "c.txt").unlink(missing_ok=True)

    assert found[:2] == ["a.md", "b.md"]


async def test_a_parser_of_ones_own_reads_every_file_and_the_loader_says_where_it_is_from(docs: Path):
    def shout(content: Path | bytes, *, source_name: str) -> Document:
        assert isinstance(content, Path)
        if source_name == "b.md":
            raise ValueError("not today")
        return Document.from_text(content.read_text().upper() + "!", {"source": "elsewhere", "loud": True})

    loader = load.directory(docs, glob=["*.md", "*.png"], parser=shout, root=docs)
    first, second, third = await items(loader)

    assert isinstance(first, Document)
    assert (first.text, first.metadata) == ("A.!", {"source": "a.md", "loud": True})
    assert second == load.Skipped(source="b.md", reason="ValueError: not today")
    assert third.source == "photo.png"


async def test_a_parser_may_be_async_and_take_nothing_but_the_content(docs: Path):
    async def length(content: Path) -> Document:
        return Document.from_text(str(len(content.read_text())))

    assert [item.text for item in await items(load.directory(docs, glob="*.md", parser=length))] == ["2", "2"]  # type: ignore[union-attr]


async def test_what_a_parser_gives_must_be_a_document(docs: Path):
    (item,) = await items(load.file(docs / "a.md", parser=lambda content: "text", root=docs))  # type: ignore[arg-type,return-value]

    assert item == load.Skipped(
        source="a.md", reason="the parser gave a str, not a Document", hint="return Document.from_text(text)"
    )


async def test_metadata_of_the_loader_is_put_over_that_of_the_parser_and_a_difference_is_told(
    docs: Path, caplog: pytest.LogCaptureFixture
):
    def parser(content: Path) -> Document:
        return Document.from_text("Hello", {"source": "baz", "title": "Bar"})

    (item,) = await items(load.file(docs / "a.md", parser=parser, root=docs))

    assert isinstance(item, Document)
    assert item.metadata == {"source": "a.md", "title": "Bar"}
    assert "source ('baz', now 'a.md')" in caplog.text


async def test_metadata_may_be_given_to_every_document_but_not_its_source(docs: Path):
    loader = load.directory(docs, glob="*.md", metadata={"team": "kitchen"}, root=docs)

    found = [item.metadata for item in await items(loader) if isinstance(item, Document)]

    assert [(metadata["source"], metadata["team"]) for metadata in found] == [("a.md", "kitchen"), ("b.md", "kitchen")]
    with pytest.raises(InvalidInputError, match="source of a document is for its loader to say"):
        load.auto(docs, metadata={"source": "x"})


async def test_one_file_may_have_any_parser(docs: Path):
    (item,) = await items(load.file(docs / "a.md", parser=parse.text, root=docs))

    assert isinstance(item, Document)
    assert (item.text, item.source) == ("A.", "a.md")


@pytest.mark.parametrize("make", [load.file, load.directory, load.auto])
def test_a_path_that_is_not_there_is_said_before_anything_is_loaded(make: object, tmp_path: Path):
    with pytest.raises(NotFoundError, match="no file or folder"):
        make(tmp_path / "nothing")  # type: ignore[operator]
    with pytest.raises(NotFoundError):
        make("a\0b")  # type: ignore[operator]
    with pytest.raises(NotFoundError):
        make("x" * 5000)  # type: ignore[operator]


def test_a_file_is_no_folder_and_the_other_way_round(docs: Path):
    with pytest.raises(InvalidInputError, match="is a file"):
        load.directory(docs / "a.md")
    with pytest.raises(InvalidInputError, match="is a folder"):
        load.file(docs)
    with pytest.raises(InvalidInputError, match="is no pattern"):
        load.directory(docs, glob="!")


async def test_leaving_the_loop_early_leaves_nothing_running(docs: Path):
    async for item in load.directory(docs, root=docs):
        assert item.source == "a.md"
        break


@pytest.mark.skipif(sys.platform != "linux", reason="other file systems have no such names")
async def test_a_folder_whose_name_is_no_unicode_has_clean_sources_whether_it_can_be_read_or_not(
    docs: Path, monkeypatch: pytest.MonkeyPatch
):
    odd = Path(os.fsdecode(os.fsencode(docs) + b"/caf\xe9"))
    write(odd, **{"a.md": "A.", "in/b.md": "B."})
    real = walk._entries
    monkeypatch.setattr(walk, "_entries", lambda at: "Permission denied" if at.endswith("/in") else real(at))

    loader = load.directory(odd, root=docs)

    assert loader.scope == "caf\ufffd/"
    assert [item.source for item in await items(loader)] == ["caf\ufffd/a.md", "caf\ufffd/in/"]


@pytest.mark.skipif(os.name != "posix", reason="pipes have no names")
def test_a_pipe_or_device_is_not_waited_for(docs: Path):
    os.mkfifo(docs / "pipe.md")

    for make, path in ((load.file, docs / "pipe.md"), (load.auto, "/dev/zero")):
        with pytest.raises(InvalidInputError, match="is a pipe or a device"):
            make(path)
