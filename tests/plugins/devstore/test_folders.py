"""Where indexes live: safe folder names, private folders, nothing made by a look."""

import stat
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowkit.errors import InvalidInputError, NotFoundError
from flowkit_devstore import DevStore
from flowkit_devstore.folders import folder_name, index_name
from tests.plugins.devstore.numbered import filled, numbered

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)


@pytest.mark.parametrize(
    ("index", "folder"),
    [
        ("menu", "menu"),
        ("menu-2024_v1.5", "menu-2024_v1.5"),
        ("Menu", "%4Denu"),
        ("../../etc/passwd", "%2E.%2F..%2Fetc%2Fpasswd"),
        ("..", "%2E%2E"),
        (".hidden", "%2Ehidden"),
        ("a b", "a%20b"),
        ("日本", "%E6%97%A5%E6%9C%AC"),
        ("con", "%63on"),
        ("nul.txt", "%6Eul.txt"),
        ("a\\b:c*d?e", "a%5Cb%3Ac%2Ad%3Fe"),
        ("dot.", "dot%2E"),
        ("50%", "50%25"),
    ],
)
def test_a_name_becomes_a_folder_name_that_every_system_takes(index: str, folder: str):
    assert folder_name(index) == folder
    assert index_name(folder) == index


@given(NAMES)
def test_folder_names_are_reversible_and_stay_in_their_folder(index: str):
    name = folder_name(index)

    assert Path("indexes", name).resolve().parent == Path("indexes").resolve()
    assert name == name.encode("ascii").decode()
    assert len(name) < 200
    if "~" not in name:
        assert unquote(name) == index


@given(NAMES, NAMES)
def test_different_names_get_folders_that_differ_in_more_than_case(one: str, other: str):
    if one != other:
        assert folder_name(one).lower() != folder_name(other).lower()


def test_long_names_that_begin_alike_are_kept_apart():
    assert folder_name("x" * 300) != folder_name("x" * 301)


@pytest.mark.parametrize("index", ["", " ", "\ud800"])
def test_what_is_no_name_is_refused_at_once(index: str):
    with pytest.raises(InvalidInputError):
        DevStore(index)


async def test_the_default_folder_is_in_the_project_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "deep" / "down").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "deep" / "down")
    store = DevStore("menu")

    await store.open(create=True)
    await store.aclose()

    assert store.path == tmp_path / ".flowkit" / "indexes" / "menu"
    assert (store.path / "index.db").is_file()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no file modes")
async def test_everything_is_private_to_the_user(tmp_path: Path):
    store = await filled(tmp_path / ".flowkit" / "indexes", 3)
    await store.aclose()

    for folder in (tmp_path / ".flowkit", tmp_path / ".flowkit" / "indexes", store.path):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for file in store.path.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


async def test_a_search_makes_nothing_and_names_what_looks_alike(tmp_path: Path):
    await (await filled(tmp_path, 3, index="menus")).aclose()
    before = sorted(tmp_path.rglob("*"))

    with pytest.raises(NotFoundError) as caught:
        await DevStore("menu", folder=tmp_path).open(create=False)

    assert "did you mean 'menus'?" in str(caught.value)
    assert sorted(tmp_path.rglob("*")) == before
    with pytest.raises(NotFoundError):
        await DevStore("menu", folder=tmp_path / "nowhere").open(create=False)
    assert not (tmp_path / "nowhere").exists()


async def test_the_folder_may_have_any_name(tmp_path: Path):
    store = await filled(tmp_path / "a?b#c %41 'q' ü", 3)
    await store.aclose()

    await store.open(create=False)
    assert (await store.stats()).count == 3
    await store.aclose()


async def test_indexes_of_one_folder_do_not_mix(tmp_path: Path):
    one, other = await filled(tmp_path, 5, index="a"), await filled(tmp_path, 7, index="A")

    assert [(await store.stats()).count for store in (one, other)] == [5, 7]
    await one.aclose()
    await other.aclose()


async def test_an_index_whose_folder_is_gone_is_not_written_to(tmp_path: Path):
    """Somebody removed .flowkit while the app was running."""
    store = await filled(tmp_path, 5)
    for file in store.path.iterdir():
        file.unlink()

    with pytest.raises(NotFoundError):
        await store.open(create=False)
    await store.open(create=True)
    await store.upsert([numbered(1)])
    assert (await store.stats()).count == 1
    await store.aclose()
