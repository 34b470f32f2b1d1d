"""Damaged, foreign and newer files are named and left as they are; what was cut off is not missed."""

import random
import shutil
import sqlite3
from pathlib import Path

import pytest

from flowkit.errors import ConfigError, FlowkitError, InvalidInputError, StoreError
from flowkit.plugin import SearchQuery
from flowkit_devstore import DevStore, list_indexes
from tests.plugins.devstore.numbered import filled, numbered, whole


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.endswith("-shm")}


async def refused(store: DevStore) -> StoreError:
    """Opening fails in both ways, and leaves the files as they are."""
    before = contents(store.path)
    for create in (True, False):
        with pytest.raises(StoreError) as caught:
            await DevStore(store.index, folder=store.path.parent).open(create=create)
        assert str(store.path) in caught.value.message
        assert caught.value.hint
    after = contents(store.path)
    assert {name: after[name] for name in before} == before
    return caught.value


async def closed(folder: Path, count: int = 200) -> DevStore:
    store = await filled(folder, count)
    await store.aclose()
    return store


@pytest.mark.parametrize("kept", [0, 10, 64, 1000])
async def test_a_truncated_vector_file(tmp_path: Path, kept: int):
    store = await closed(tmp_path)
    (vectors,) = store.path.glob("vectors-*")
    vectors.write_bytes(vectors.read_bytes()[:kept])

    assert vectors.name in (await refused(store)).message


async def test_a_missing_vector_file(tmp_path: Path):
    store = await closed(tmp_path)
    next(store.path.glob("vectors-*")).unlink()

    assert "missing" in (await refused(store)).message


async def test_another_file_in_place_of_the_vectors(tmp_path: Path):
    store = await closed(tmp_path)
    next(store.path.glob("vectors-*")).write_bytes(b"x" * 100_000)

    assert "no vector file" in (await refused(store)).message


async def test_a_vector_file_that_shrinks_while_it_is_open_is_not_written_to(tmp_path: Path):
    store = await filled(tmp_path, 200)
    (vectors,) = store.path.glob("vectors-*")
    vectors.write_bytes(vectors.read_bytes()[:1000])

    with pytest.raises(StoreError, match="1000 bytes"):
        await store.upsert([numbered(500)])

    await store.aclose()


async def test_a_database_that_is_garbage(tmp_path: Path):
    store = await closed(tmp_path)
    (store.path / "index.db").write_bytes(b"this is no database" * 1000)

    await refused(store)


async def test_a_database_that_was_cut_in_half(tmp_path: Path):
    store = await closed(tmp_path)
    path = store.path / "index.db"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

    await refused(store)


async def test_a_database_that_is_empty_or_gone_though_vectors_are_there(tmp_path: Path):
    store = await closed(tmp_path)
    (store.path / "index.db").write_bytes(b"")
    assert "vectors" in (await refused(store)).message

    (store.path / "index.db").unlink()
    assert "vectors" in (await refused(store)).message


async def test_the_database_of_another_program(tmp_path: Path):
    store = DevStore("menu", folder=tmp_path)
    store.path.mkdir()
    with sqlite3.connect(store.path / "index.db") as other:
        other.execute("CREATE TABLE bookmarks (url TEXT)")
    other.close()

    assert "no index" in (await refused(store)).message


async def test_a_newer_format_is_refused_with_a_hint(tmp_path: Path):
    store = await closed(tmp_path)
    with sqlite3.connect(store.path / "index.db") as database:
        database.execute("PRAGMA user_version = 99")
    database.close()

    error = await refused(store)

    assert "99" in error.message
    assert "update" in (error.hint or "")


async def test_garbage_inside_the_database_is_a_store_error_whatever_is_asked(tmp_path: Path):
    store = await closed(tmp_path, 400)
    path = store.path / "index.db"
    sound = path.read_bytes()
    numbers = random.Random(1)
    errors: list[FlowkitError] = []
    for _ in range(12):
        at = numbers.randrange(8192, len(sound) - 4096)
        path.write_bytes(sound[:at] + numbers.randbytes(4096) + sound[at + 4096 :])
        again = DevStore("menu", folder=tmp_path)
        try:
            await again.open(create=False)
            await again.fetch(limit=1000)
            await again.search(SearchQuery(vector=numbered(7).vector, k=400))
            await again.search(SearchQuery(text="number7"))
        except FlowkitError as error:
            errors.append(error)
        finally:
            await again.aclose()
    assert len(errors) > 3
    assert all(type(error) is StoreError and str(path) in error.message for error in errors)


async def test_a_torn_tail_of_the_vector_file_is_ignored_and_used_again(tmp_path: Path):
    store = await closed(tmp_path)
    (vectors,) = store.path.glob("vectors-*")
    size = vectors.stat().st_size
    with vectors.open("ab") as file:
        file.write(b"\xff" * 1001)

    await store.open(create=False)
    assert await whole(store) == list(range(200))
    await store.upsert([numbered(number) for number in range(200, 300)])

    assert await whole(store) == list(range(300))
    assert vectors.stat().st_size == size + 100 * 6 * 4
    await store.aclose()


async def test_a_torn_log_loses_no_more_than_was_torn(tmp_path: Path):
    """Copies of a folder in use, with the write-ahead log cut anywhere: each opens with a prefix of all writes."""
    store = await filled(tmp_path / "original", 0)
    for at in range(0, 200, 20):
        await store.upsert([numbered(number) for number in range(at, at + 20)])
        await store.delete(ids=[f"r{at:05d}"])
    written = [number for number in range(200) if number % 20]
    log = store.path / "index.db-wal"
    numbers = random.Random(2)
    for cut in [0, 1, 31, 33, log.stat().st_size, *(numbers.randrange(log.stat().st_size) for _ in range(8))]:
        copy = tmp_path / f"copy{cut}"
        shutil.copytree(store.path, copy / "menu", ignore=shutil.ignore_patterns("*-shm"))
        torn = (copy / "menu" / "index.db-wal").read_bytes()[:cut]
        (copy / "menu" / "index.db-wal").write_bytes(torn)
        again = DevStore("menu", folder=copy)
        await again.open(create=True)

        found = await whole(again)
        last = max(found, default=-1)
        assert set(found) - set(written) <= {last - 19}, "only the last batch may lack its delete"
        assert found == [number for number in written if number <= last] or last - 19 in found
        await again.upsert([numbered(number) for number in written])
        await again.delete(ids=[f"r{at:05d}" for at in range(0, 200, 20)])
        assert await whole(again) == written
        await again.aclose()
    await store.aclose()


async def test_a_damaged_index_is_listed_with_its_error(tmp_path: Path):
    good = await closed(tmp_path, 20)
    bad = DevStore("broken", folder=tmp_path)
    bad.path.mkdir()
    (bad.path / "index.db").write_bytes(b"garbage" * 1000)

    broken, fine = list_indexes(tmp_path)

    assert (fine.name, fine.count, fine.dimension, fine.error) == ("menu", 20, 6, None)
    assert (broken.name, broken.count) == ("broken", None)
    assert "broken" in (broken.error or "")
    assert good.path == fine.path


@pytest.mark.parametrize("damage", ["no database", "empty database", "no vectors", "short vectors"])
async def test_an_index_that_has_lost_a_file_is_still_listed(tmp_path: Path, damage: str):
    store = await closed(tmp_path, 20)
    (vectors,) = store.path.glob("vectors-*")
    if damage == "no database":
        (store.path / "index.db").unlink()
    elif damage == "empty database":
        (store.path / "index.db").write_bytes(b"")
    else:
        vectors.write_bytes(vectors.read_bytes()[:100])
        if damage == "no vectors":
            vectors.unlink()

    (info,) = list_indexes(tmp_path)

    assert info.name == "menu"
    assert info.error is not None
    assert str(store.path) in info.error
    assert info.hint


@pytest.mark.parametrize("row", [b"\xff" * 24, bytes.fromhex("0000803f") * 6], ids=["NaN", "too long"])
async def test_rows_that_are_no_vectors_are_told_and_not_left_out(tmp_path: Path, row: bytes):
    store = await closed(tmp_path, 20)
    (vectors,) = store.path.glob("vectors-*")
    data = vectors.read_bytes()
    vectors.write_bytes(data[:64] + row * 2 + data[64 + 48 :])
    await store.open(create=False)

    with pytest.raises(StoreError, match=f"{vectors.name} holds rows that are no unit vectors"):
        await store.search(SearchQuery(vector=[1.0] * 6))

    await store.aclose()


async def test_a_file_where_the_folder_should_be_is_named(tmp_path: Path):
    (tmp_path / "indexes").touch()

    with pytest.raises(ConfigError, match=r"a file is in the way of the folder .*indexes.*move it away"):
        await DevStore("menu", folder=tmp_path / "indexes").open(create=True)


async def test_one_id_in_place_of_a_list_is_refused(tmp_path: Path):
    store = await filled(tmp_path, 3)

    with pytest.raises(InvalidInputError, match=r"ids is the string 'r00001' .give a list of ids"):
        await store.fetch(ids="r00001")
    with pytest.raises(InvalidInputError, match=r"row 0 for index 'menu' is a int"):
        await store.upsert([3])  # type: ignore[list-item]

    await store.aclose()
