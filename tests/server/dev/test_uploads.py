"""Uploads: kept under a random name in the project, given back as a download only, and never outside their folder."""

import pytest

from flowkit.server.dev import uploads as uploads_module
from tests.server.dev_server import Browser


async def upload(browser: Browser, name: str = "menu.pdf", content: bytes = b"%PDF-1.7 soup") -> dict[str, object]:
    response = await browser.http.post("/api/uploads", files={"file": (name, content)})
    assert response.status_code == 200, response.text
    found: dict[str, object] = response.json()
    return found


async def test_a_file_is_kept_and_given_back_as_a_download(browser: Browser):
    kept = await upload(browser)

    file = browser.dev.root / str(kept["path"])
    assert file.read_bytes() == b"%PDF-1.7 soup"
    assert file.name == "menu.pdf"
    assert kept["sizeBytes"] == 13
    assert file.parent.stat().st_mode & 0o777 == 0o700
    response = await browser.http.get(f"/api/uploads/{kept['id']}")
    assert response.content == b"%PDF-1.7 soup"
    assert response.headers["content-disposition"].startswith("attachment")
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["content-type"] == "application/octet-stream"


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("..\\..\\boot.ini", "boot.ini"),
        ("/etc/cron.d/x", "x"),
        ("..", "file"),
        ("a\x01b:c.pdf", "a_b_c.pdf"),
        ("NUL.txt", "_NUL.txt"),
        ("メニュー.pdf", "メニュー.pdf"),
        ("é" * 300 + ".pdf", "é" * 58 + ".pdf"),
    ],
)
async def test_a_name_stays_within_its_folder(browser: Browser, name: str, kept: str):
    assert uploads_module.safe_name(name) == kept
    told = await upload(browser, name)

    folder = browser.dev.root / ".flowkit" / "uploads"
    assert [file for file in browser.dev.root.rglob("*") if file.is_file() and not file.is_relative_to(folder)] == []
    assert len(list((folder / str(told["id"])).iterdir())) == 1


async def test_uploads_are_listed_newest_first_and_removed(browser: Browser):
    first, second = await upload(browser, "a.txt"), await upload(browser, "b.txt")

    assert {each["name"] for each in (await browser.get("/api/uploads"))["uploads"]} == {"a.txt", "b.txt"}
    assert (await browser.http.delete(f"/api/uploads/{first['id']}")).json() == {"deleted": 1}
    assert [each["id"] for each in (await browser.get("/api/uploads"))["uploads"]] == [second["id"]]
    assert (await browser.http.get(f"/api/uploads/{first['id']}")).status_code == 404


@pytest.mark.parametrize("upload_id", ["..%2F..%2Fapp.py", "x", "A" * 22])
async def test_an_id_that_is_none(browser: Browser, upload_id: str):
    (browser.dev.root / "app.py").write_text("secret")

    assert (await browser.http.get(f"/api/uploads/{upload_id}")).status_code in (400, 404)


async def test_a_link_in_the_folder_is_not_followed(browser: Browser):
    kept = await upload(browser)
    file = browser.dev.root / str(kept["path"])
    (browser.dev.root / "secret").write_text("secret")
    file.unlink()
    file.symlink_to(browser.dev.root / "secret")

    assert (await browser.http.get(f"/api/uploads/{kept['id']}")).status_code == 404


async def test_a_file_that_is_too_large_is_refused_and_leaves_nothing(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(uploads_module, "UPLOAD_BYTES", 1000)

    for size in (1500, 50_000):
        response = await browser.http.post("/api/uploads", files={"file": ("a.bin", b"x" * size)})
        assert response.status_code == 400
        assert "too large" in response.json()["error"]["message"]
    assert (await browser.get("/api/uploads"))["uploads"] == []


async def test_a_form_without_a_file_is_refused(browser: Browser):
    for files in ({"other": ("a", b"x")}, {"file": (None, "text")}):
        response = await browser.http.post("/api/uploads", files=files)
        assert response.status_code == 400
    broken = await browser.http.post(
        "/api/uploads", content=b"x", headers={"Content-Type": "multipart/form-data; boundary=y"}
    )
    assert broken.status_code == 400


async def test_what_is_no_form_is_refused(browser: Browser):
    assert (await browser.http.post("/api/uploads", json={"file": "x"})).status_code == 415
