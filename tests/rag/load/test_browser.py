"""Pages that scripts make, in a real Chromium; whatever a page asks for is checked."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flowkit import Document
from flowkit.errors import ConfigError, InvalidInputError
from flowkit.rag import load
from flowkit.rag.load import addresses
from tests.rag.parse.papers import paper
from tests.servers.pages import Pages, moved, page

pytestmark = [pytest.mark.heavy, pytest.mark.requires("browser", "pages are shown in a real Chromium")]

HTML = "text/html; charset=utf-8"
MADE = """<!doctype html><title>Menu</title><h1>Menu</h1><div id="here"></div><script>
fetch("/dishes").then(answer => answer.json()).then(dishes => {
  const list = document.createElement("p");
  list.id = "dishes";
  list.textContent = dishes.join(", ");
  document.getElementById("here").append(list);
});
</script>"""


@pytest.fixture
def pages() -> Iterator[Pages]:
    answers = {"/": page(MADE, HTML), "/dishes": page('["soup", "crème brûlée"]', "application/json")}
    with Pages(answers) as pages:
        yield pages


@pytest.fixture
def one_is_public(monkeypatch: pytest.MonkeyPatch) -> None:
    """127.0.0.1 stands for the public internet; every other address is as private as it is."""
    real = addresses._is_public
    monkeypatch.setattr(addresses, "_is_public", lambda address: str(address) == "127.0.0.1" or real(address))


async def items(*asked: str, **options: Any) -> list[Document | load.Skipped]:
    given = {"allow_private": True, "wait_until": "domcontentloaded", **options}
    return [item async for item in load.browser(list(asked), **given)]


async def test_a_page_is_read_when_its_scripts_have_made_it_and_the_others_follow_a_failure(pages: Pages):
    pages.answers |= {
        "/plain": page("<p>Plain.</p>", HTML),
        "/file": page(paper("Soup"), "application/pdf", headers={"Content-Disposition": "attachment"}),
    }
    found = await items(pages.url("/#a"), pages.url("/no"), pages.url("/file"), pages.url("/plain"), wait_for="p")

    made, no, file, plain = found
    assert isinstance(made, Document)
    assert isinstance(no, load.Skipped)
    assert isinstance(file, load.Skipped)
    assert isinstance(plain, Document)
    assert "soup, crème brûlée" in made.text
    assert (made.source, made.metadata["url"]) == (pages.url("/"), pages.url("/"))
    assert "there is no page" in no.reason
    assert "load.url" in str(file.hint)
    assert "Plain." in plain.text


@pytest.mark.usefixtures("one_is_public")
async def test_nothing_of_a_page_reaches_a_private_network(pages: Pages):
    inside = pages.url("/secret", host="127.0.0.2")
    named = pages.url("/secret", host="localhost")
    socket = inside.replace("http", "ws")
    pages.answers |= {
        "/secret": page("secret"),
        "/spy": page(
            f"""<img src="{inside}"><iframe src="{inside}"></iframe><script src="{named}"></script>
            <script>new WebSocket("{socket}"); fetch("{inside}", {{mode: "no-cors"}}).catch(error => 0)
            .then(() => {{ document.body.append("Done."); document.body.id = "done"; }})</script>""",
            HTML,
        ),
        "/away": moved(inside),
        "/script": page(f'<script>location.href = "{inside}"</script>', HTML),
    }
    with_named = [pages.url("/spy"), pages.url("/away"), inside]

    spy, away, direct = await items(*with_named, wait_for="#done, p", allow_private=False, timeout_seconds=10)

    assert isinstance(spy, Document)
    assert "Done." in spy.text
    assert isinstance(away, load.Skipped)
    assert isinstance(direct, load.Skipped)
    assert "'127.0.0.2' is not on the public internet" in direct.reason
    assert {each.address for each in pages.asked} == {"127.0.0.1"}
    await items(pages.url("/spy"), wait_for="#done", allow_private=True)
    assert "127.0.0.2" in {each.address for each in pages.asked}, "the page does ask, when it may"


async def test_a_page_that_takes_too_much_or_never_has_what_is_waited_for_is_told(pages: Pages):
    pages.answers["/big"] = page(f"<p>{'x' * 300_000}</p>", HTML)

    (big,) = await items(pages.url("/big"), max_size_bytes=100_000)
    (never,) = await items(pages.url("/"), wait_for="#never", timeout_seconds=1.5)

    assert isinstance(big, load.Skipped)
    assert isinstance(never, load.Skipped)
    assert "takes more than 0.1 MB" in big.reason
    assert "took more than 1.5 seconds until '#never' was there" in never.reason


async def test_a_browser_that_is_none_is_told(pages: Pages, tmp_path: Path):
    none = tmp_path / "chromium"
    none.write_text("#!/bin/sh\nexit 1\n")
    none.chmod(0o700)

    with pytest.raises(ConfigError, match="does not start"):
        await items(pages.url("/"), executable=none)


def test_only_addresses_of_the_web_are_shown():
    with pytest.raises(InvalidInputError, match="no http or https address"):
        load.browser("file:///etc/passwd")
