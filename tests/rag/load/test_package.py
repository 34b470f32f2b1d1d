"""Files that ship inside Python packages, also those in zip files, and any place by its address."""

import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from flowkit import Document
from flowkit.errors import InvalidInputError, NotFoundError
from flowkit.rag import load

FILES = {
    "__init__.py": "",
    "menus/dinner.md": "# Dinner",
    "menus/lunch.md": "# Lunch",
    "menus/drinks/tea.txt": "Tea.",
    "menus/.hidden.md": "Hidden.",
    "menus/__pycache__/x.txt": "X.",
    "menus/photo.png": "P.",
    "broken.py": "import no_such_module",
}


@pytest.fixture(params=["folder", "zip"])
def bistro(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A package of that name, as a folder and in a zip file."""
    name = f"bistro_{request.param}"
    if request.param == "folder":
        place = tmp_path
        for file, text in FILES.items():
            path = tmp_path / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    else:
        place = tmp_path / "bistro.zip"
        with zipfile.ZipFile(place, "w") as archive:
            for file, text in FILES.items():
                archive.writestr(f"{name}/{file}", text)
    monkeypatch.syspath_prepend(str(place))
    yield name
    for module in [each for each in sys.modules if each.startswith(name)]:
        del sys.modules[module]


async def sources(loader: load.Loader) -> list[str]:
    return [str(item.source) async for item in loader if isinstance(item, Document)]


async def test_a_folder_of_a_package_is_loaded_in_the_order_of_names(bistro: str):
    loader = load.package(bistro, "menus")

    assert await sources(loader) == [
        f"package://{bistro}/menus/{name}" for name in ("dinner.md", "drinks/tea.txt", "lunch.md")
    ]
    assert loader.scope == f"package://{bistro}/menus/"
    assert await sources(load.package(bistro, "menus/", glob="*.md", recursive=False)) == [
        f"package://{bistro}/menus/dinner.md",
        f"package://{bistro}/menus/lunch.md",
    ]


async def test_one_file_of_a_package_is_loaded(bistro: str):
    (item,) = [item async for item in load.auto(f"package://{bistro}/menus/lunch.md", metadata={"meal": "noon"})]

    assert isinstance(item, Document)
    assert item.text == "# Lunch"
    assert item.metadata["meal"] == "noon"


def test_what_is_not_there_is_said_at_once(bistro: str):
    with pytest.raises(NotFoundError, match=r"no package 'no_such\.deeper'"):
        load.package("no_such.deeper")
    with pytest.raises(NotFoundError, match="has no 'desserts'"):
        load.package(bistro, "desserts")
    with pytest.raises(NotFoundError, match="has no"):
        load.package(bistro, "../../etc")
    for odd in ("", ".relative", "a..b"):
        with pytest.raises(InvalidInputError, match="is no name of a package"):
            load.package(odd)
    with pytest.raises(InvalidInputError, match="'textwrap' is a module"):
        load.package("textwrap")
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        load.package(f"{bistro}.broken")


def test_an_address_says_which_loader_it_is_for(tmp_path: Path):
    assert isinstance(load.auto("https://shop.test/help"), load.Urls)
    assert isinstance(load.auto("HTTP://shop.test"), load.Urls)
    assert isinstance(load.auto(tmp_path), load.Files)
    assert isinstance(load.auto(str(tmp_path), glob="*.md"), load.Files)
    with pytest.raises(InvalidInputError, match="no loader knows ftp://"):
        load.auto("ftp://shop.test/x")
    with pytest.raises(InvalidInputError, match="a page is no folder"):
        load.auto("https://shop.test/help", glob="*.md")
