"""What counts as a source file, and how changes are found."""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from flowkit.server.start.watch import SUFFIXES, changes, scan


@asynccontextmanager
async def watched(folders: Collection[Path]) -> AsyncIterator["asyncio.Queue[frozenset[Path]]"]:
    found: asyncio.Queue[frozenset[Path]] = asyncio.Queue()

    async def watch(before) -> None:
        async for paths in changes(before, folders, SUFFIXES):
            found.put_nowait(paths)

    task = asyncio.create_task(watch(scan(folders, SUFFIXES)))
    yield found
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def names(found: "asyncio.Queue[frozenset[Path]]", *wanted: str) -> None:
    """Wait until all of these have been reported, in one go or in several."""
    missing = set(wanted)
    async with asyncio.timeout(20):
        while missing:
            missing -= {path.name for path in await found.get()}


async def test_changes_are_found_in_new_and_renamed_folders_too(tmp_path: Path):
    (tmp_path / "a.py").write_text("1")
    async with watched([tmp_path]) as found:
        (tmp_path / "a.py").write_text("22")
        await names(found, "a.py")
        (tmp_path / "v1.2" / "deep").mkdir(parents=True)
        (tmp_path / "v1.2" / "deep" / "b.prompt").write_text("1")
        await names(found, "b.prompt")
        (tmp_path / "v1.2" / "deep" / "c.yaml").write_text("1")
        await names(found, "c.yaml")
        (tmp_path / "v1.2").rename(tmp_path / "v2")
        await names(found, "b.prompt", "c.yaml")
        (tmp_path / "v2" / "deep" / "c.yaml").unlink()
        await names(found, "c.yaml")
        # As editors save: a new file takes the old one's place.
        (tmp_path / ".a.py.swp").write_text("33")
        (tmp_path / ".a.py.swp").rename(tmp_path / "a.py")
        await names(found, "a.py")


async def test_what_changed_before_the_watch_began_is_found(tmp_path: Path):
    before = scan([tmp_path], SUFFIXES)
    (tmp_path / "a.py").write_text("1")

    async with asyncio.timeout(20):
        async for paths in changes(before, [tmp_path], SUFFIXES):
            assert [path.name for path in paths] == ["a.py"]
            break


async def test_a_system_without_events_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """When it has no watches left, for instance."""
    import watchfiles._rust_notify

    def refuse(*arguments: object, **more: object) -> None:
        raise OSError("OS file watch limit reached")

    monkeypatch.setattr(watchfiles._rust_notify, "RustNotify", refuse)
    monkeypatch.setattr("flowkit.server.start.watch._POLL_SECONDS", 0.05)
    said: list[str] = []

    async def first() -> None:
        async for paths in changes(scan([tmp_path], SUFFIXES), [tmp_path], SUFFIXES, tell=said.append):
            assert [path.name for path in paths] == ["a.py"]
            return

    looking = asyncio.ensure_future(first())
    while not said:
        await asyncio.sleep(0.01)
    (tmp_path / "a.py").write_text("1")
    await asyncio.wait_for(looking, 20)
    assert "OS file watch limit reached" in said[0]


def test_links_do_not_lead_in_circles(tmp_path: Path):
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "a.py").write_text("1")
    (tmp_path / "pkg" / "up").symlink_to(tmp_path)
    (tmp_path / "b.py").symlink_to(tmp_path / "pkg" / "a.py")
    (tmp_path / "gone.py").symlink_to(tmp_path / "nowhere")

    files, folders = scan([tmp_path, tmp_path / "pkg"], SUFFIXES)
    assert {Path(file).name for file in files} == {"a.py", "b.py"}
    assert folders == {str(tmp_path), str(tmp_path / "pkg")}
