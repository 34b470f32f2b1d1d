"""The UI's files: whatever is built is served; nothing else is."""

from pathlib import Path

import httpx
import pytest

from flowkit.server.start.page import Pages

INDEX = '<script src="/app.js"></script><style nonce="__CSP_NONCE__"></style><meta content="__CSP_NONCE__">'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret.txt").write_text("secret")
    built = tmp_path / "static"
    (built / "assets").mkdir(parents=True)
    (built / "index.html").write_text(INDEX)
    (built / "app.js").write_text("export {}")
    (built / "assets" / "font.woff2").write_bytes(b"font")
    (built / "link.txt").symlink_to(tmp_path / "secret.txt")
    return built


def client(folder: Path) -> httpx.AsyncClient:
    pages = Pages(folder, lambda: ("shop <b>", "app.py runs.", "Traceback <script>"))
    return httpx.AsyncClient(transport=httpx.ASGITransport(pages), base_url="http://localhost")


async def test_the_page_has_a_new_nonce_each_time_and_is_not_kept(folder: Path):
    async with client(folder) as get:
        nonces = set()
        for path in ("/", "/index.html", "/traces/4bf92f3577b34da6", "/run/flow/menuQA"):
            answer = await get.get(path)
            nonce = answer.text.partition('nonce="')[2].partition('"')[0]
            nonces.add(nonce)
            assert answer.status_code == 200
            assert answer.headers["content-type"] == "text/html; charset=utf-8"
            assert answer.headers["cache-control"] == "no-store"
            assert f"style-src 'self' 'nonce-{nonce}'" in answer.headers["content-security-policy"]
            assert answer.text.count(nonce) == 2
        assert len(nonces) == 4


async def test_files_keep_their_names_and_are_asked_for_again(folder: Path):
    async with client(folder) as get:
        first = await get.get("/app.js")
        assert (first.text, first.headers["cache-control"]) == ("export {}", "no-cache")
        assert first.headers["content-type"] == "text/javascript; charset=utf-8"
        tag = first.headers["etag"]
        for known in (tag, f"W/{tag}", f'"other", {tag}'):
            again = await get.get("/app.js", headers={"If-None-Match": known})
            assert (again.status_code, again.content) == (304, b"")
        (folder / "app.js").write_text("export { a }")
        assert (await get.get("/app.js", headers={"If-None-Match": tag})).text == "export { a }"
        assert (await get.get("/assets/font.woff2")).headers["content-type"] == "font/woff2"
        assert (await get.head("/app.js")).status_code == 200


async def test_nothing_outside_is_served(folder: Path):
    async with client(folder) as get:
        for path in ("/../secret.txt", "/%2e%2e/secret.txt", "/link.txt", "/assets/../../secret.txt", "/nothing.js"):
            answer = await get.get(path)
            assert answer.status_code == 404, path
            assert "secret" not in answer.text
        assert (await get.post("/app.js")).status_code == 405


async def test_without_a_built_ui_there_is_a_plain_page(tmp_path: Path):
    async with client(tmp_path / "nowhere") as get:
        answer = await get.get("/")
    assert answer.status_code == 200
    assert "app.py runs." in answer.text
    assert "shop &lt;b&gt;" in answer.text
    assert "Traceback &lt;script&gt;" in answer.text
