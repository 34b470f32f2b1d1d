"""The developer UI's files, and a plain page where there are none.

Mount("/", Pages(devui_folder()))

File names are stable, so a browser asks each time whether a file is still the same (ETag). Paths that are no file are
the UI's own routes and get its page. The page holds a nonce, made anew for each answer: `__CSP_NONCE__` stands for it.
"""

import hashlib
import secrets
from collections.abc import Callable
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from flowkit.server.guard import content_security_policy

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import Receive, Scope, Send

__all__ = ["SHIPPED", "Pages"]

SHIPPED = Path(__file__).parents[1] / "static"
_NONCE = b"__CSP_NONCE__"
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
_PLAIN = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style nonce="{nonce}">
:root {{ color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }}
body {{ max-width: 46rem; margin: 12vh auto; padding: 0 1.5rem; }}
pre {{ overflow: auto; padding: 1rem; border: 1px solid; border-radius: 6px; }}
</style></head><body>
<h1>{title}</h1>
<p>{state}</p>{error}
<p>The pages of the developer UI are not in this installation; the API and the command line work without them.
In a checkout, <code>make ui</code> builds them.</p>
<p><a href="/api/status">/api/status</a></p>
</body></html>
"""


class Pages:
    """An ASGI app for GET and HEAD.

    Args:
        folder: Where the built UI is.
        plain: Title, state and error (or "") for the page that is shown when nothing is there.
    """

    def __init__(self, folder: Path, plain: Callable[[], tuple[str, str, str]]) -> None:
        self._folder = folder
        self._plain = plain

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        from starlette.responses import PlainTextResponse
        from starlette.responses import Response as Answer

        if scope["method"] not in ("GET", "HEAD"):
            await PlainTextResponse("pages are asked by GET", 405, {"allow": "GET, HEAD"})(scope, receive, send)
            return
        file = self._file(scope["path"])
        if file is None and _names_a_file(scope["path"]):
            await PlainTextResponse("there is no such file", 404)(scope, receive, send)
        elif file is None or file.name == "index.html":
            await self._page()(scope, receive, send)
        else:
            body, tag = _read(str(file), file.stat().st_mtime_ns)
            headers = {"etag": tag, "cache-control": "no-cache"}
            asked = dict(scope["headers"]).get(b"if-none-match", b"").decode("latin-1")
            same = tag in (each.strip().removeprefix("W/") for each in asked.split(","))
            kind = _TYPES.get(file.suffix, "application/octet-stream")
            response = Answer(status_code=304, headers=headers) if same else Answer(body, 200, headers, kind)
            await response(scope, receive, send)

    def _file(self, path: str) -> Path | None:
        """A file of the UI; links that lead out of its folder are none."""
        try:
            file = (self._folder / path.lstrip("/")).resolve()
            return file if file.is_relative_to(self._folder.resolve()) and file.is_file() else None
        except (OSError, ValueError):
            return None

    def _page(self) -> "Response":
        from starlette.responses import Response as Answer

        nonce = secrets.token_urlsafe(16)
        index = self._folder / "index.html"
        if index.is_file():
            body = index.read_bytes().replace(_NONCE, nonce.encode())
        else:
            title, state, error = (escape(text) for text in self._plain())
            told = f"<pre>{error}</pre>" if error else ""
            body = _PLAIN.format(nonce=nonce, title=title, state=state, error=told).encode()
        headers = {"cache-control": "no-store", "content-security-policy": content_security_policy(nonce)}
        return Answer(body, 200, headers, _TYPES[".html"])


def _names_a_file(path: str) -> bool:
    """Files are in assets/ or at the top; anywhere else a dot is part of a name, as in /run/model/local/qwen2.5."""
    top, _, rest = path.lstrip("/").partition("/")
    return top == "assets" or ".." in path.split("/") or (not rest and "." in top)


@lru_cache(maxsize=256)
def _read(file: str, changed_ns: int) -> tuple[bytes, str]:
    body = Path(file).read_bytes()
    return body, f'"{hashlib.sha256(body).hexdigest()[:32]}"'
