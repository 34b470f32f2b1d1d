"""Docling's service: a machine elsewhere that reads scans, tables and layouts, and answers in Markdown.

parser = docling("http://localhost:5001", api_key="…")
document = parser(Path("scan.pdf"))
"""

import base64
import logging
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flowkit.errors import BackendError, ConfigError, InvalidInputError, ParseError
from flowkit.rag.parse.docling_pages import PAGE_BREAK, paged
from flowkit.rag.parse.files import Given, read
from flowkit.rag.parse.limits import DEFAULT_LIMITS, Limits
from flowkit.rag.parse.made import document_of
from flowkit.rag.parsed import PAGE_STARTS
from flowkit.schema.documents import Document

__all__ = ["Docling", "docling"]

_log = logging.getLogger("flowkit.parse")

_WAIT_SECONDS = 5.0
"""How long the service may hold the question whether it is done."""
_FIRST_PAUSE_SECONDS = 0.05
_LONGEST_PAUSE_SECONDS = 2.0
_SENT_SECONDS = 60.0
_UNFINISHED = ("pending", "started")


def docling(
    url: str,
    *,
    api_key: str | None = None,
    options: Mapping[str, Any] | None = None,
    timeout_seconds: float = 600.0,
    limits: Limits = DEFAULT_LIMITS,
) -> "Docling":
    """A parser that has a Docling service (`docling-serve`) do the work.

    It sends each file to the service, waits until that is done, and takes its Markdown. Only the ending of a file's
    name is sent with it. Pages become each chunk's `page`, where the service tells them apart.

    Args:
        url: Where the service is, without the path of its API.
        api_key: When it asks for one.
        options: Of the conversion, by the service's names: `{"do_ocr": False}`, `{"ocr_lang": ["de"]}`.
        timeout_seconds: For a whole file.
        limits: `max_bytes` and `max_characters` count.

    Raises:
        InvalidInputError: that is no address.
    """
    if not url.startswith(("http://", "https://")):
        raise InvalidInputError(f"{url!r} is no address of a service", hint='such as "http://localhost:5001"')
    if timeout_seconds <= 0:
        raise InvalidInputError(f"timeout_seconds is {timeout_seconds!r}", hint="use a number above 0")
    return Docling(url.rstrip("/"), api_key, dict(options or {}), timeout_seconds, limits)


class Docling:
    """See `docling`. It may be used from several threads."""

    def __init__(
        self, url: str, api_key: str | None, options: dict[str, Any], timeout_seconds: float, limits: Limits
    ) -> None:
        self._url = url
        self._headers = {"X-Api-Key": api_key} if api_key else {}
        self._options = options
        self._timeout_seconds = timeout_seconds
        self._limits = limits

    def __call__(self, source: Path | str | bytes, *, source_name: str | None = None) -> Document:
        """
        Metadata: `source`, `document_size_bytes`, and `pages` and `page_starts` where they are known.

        Raises:
            NotFoundError: there is no such file.
            ParseError: the service cannot read it, or finds no text.
            BackendError: the service cannot be reached, fails, or takes too long.
            ConfigError: it refuses the key.
        """
        given = read(source, source_name, max_bytes=self._limits.max_bytes)
        answer = self._converted(given)
        if answer.get("kind") == "TaskFailureResult":
            failure = answer.get("failure") or {}
            raise ParseError(
                f"Docling cannot read {given.name!r}: {failure.get('message') or 'it does not say why'}",
                hint="try again later" if failure.get("retryable") else "look at the service's log",
            )
        errors = [_told(error) for error in answer.get("errors") or ()]
        if errors:
            _log.warning("%s: Docling says: %s", given.name, errors[0])
        found = answer.get("document") or {}
        text, starts = paged(found.get("md_content") or found.get("text_content") or "", found.get("json_content"))
        if not text.strip() and (errors or answer.get("status") != "success"):
            why = errors[0] if errors else f"its status is {answer.get('status')!r}"
            raise ParseError(f"Docling cannot read {given.name!r}: {why}", hint="look at the service's log")
        kept: dict[str, Any] = {"document_size_bytes": given.size_bytes}
        if starts:
            kept |= {"pages": len(starts), PAGE_STARTS: starts}
        return document_of(given, text, kept, markdown=True, warnings=errors[:3], limits=self._limits)

    def _converted(self, given: Given) -> dict[str, Any]:
        import httpx

        until = time.monotonic() + self._timeout_seconds
        job = {
            "options": {
                "to_formats": ["md", "json"],
                "image_export_mode": "placeholder",
                "md_page_break_placeholder": PAGE_BREAK,
                **self._options,
            },
            "sources": [
                {
                    "kind": "file",
                    "base64_string": base64.b64encode(given.data).decode("ascii"),
                    "filename": f"document{given.suffix}",
                }
            ],
            "target": {"kind": "inbody"},
        }
        try:
            with httpx.Client(base_url=self._url, headers=self._headers, timeout=_SENT_SECONDS) as service:
                task = self._answer(service.post("/v1/convert/source/async", json=job))
                pause = _FIRST_PAUSE_SECONDS
                while task.get("task_status") in _UNFINISHED:
                    left = until - time.monotonic()
                    if left <= 0:
                        raise BackendError(
                            f"Docling has not read {given.name!r} in {self._timeout_seconds:g} seconds",
                            hint="raise timeout_seconds, or cut the file into parts",
                        )
                    time.sleep(min(pause, left))
                    pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
                    wait = {"wait": min(_WAIT_SECONDS, left)}
                    task = self._answer(service.get(f"/v1/status/poll/{task['task_id']}", params=wait))
                return self._answer(service.get(f"/v1/result/{task['task_id']}"))
        except httpx.HTTPError as error:
            raise BackendError(
                f"the Docling service at {self._url} cannot be reached: {str(error) or type(error).__name__}",
                hint="start it: docling-serve run",
            ) from error
        except KeyError as error:
            raise self._strange() from error

    def _answer(self, response: Any) -> dict[str, Any]:
        """The JSON of a good answer."""
        try:
            found = response.json()
        except ValueError:
            found = None
        detail = found.get("detail") if isinstance(found, dict) else None
        said = detail if isinstance(detail, str) else str(detail or "")[:300]
        if response.status_code in (401, 403):
            raise ConfigError(f"the Docling service at {self._url} refuses the key", hint="pass api_key=")
        if response.status_code == 404 and not said.startswith("Task"):
            raise self._strange()
        if response.status_code >= 400:
            raise BackendError(
                f"the Docling service at {self._url} answers {response.status_code}{': ' if said else ''}{said}",
                hint="look at its log; a code of 422 means that an option is wrong",
            )
        if not isinstance(found, dict):
            raise self._strange()
        return found

    def _strange(self) -> BackendError:
        return BackendError(
            f"what answers at {self._url} is no Docling service, or one before its API v1", hint="check the address"
        )


def _told(error: Any) -> str:
    message = error.get("error_message") if isinstance(error, Mapping) else error
    page = error.get("page_no") if isinstance(error, Mapping) else None
    return f"{f'page {page}: ' if page else ''}{' '.join(str(message).split())[:300]}"
