"""Pages that scripts make, as a browser shows them: Chromium, driven by Playwright.

load.browser("https://shop.test/menu", wait_for="#dishes")
"""

import asyncio
import os
import shutil
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from flowkit.errors import BackendError, ConfigError, FlowkitError, InvalidInputError, NotFoundError
from flowkit.rag.load.addresses import allowed_addresses
from flowkit.rag.load.fetch import Limits, checked_url, shown
from flowkit.rag.load.found import Found, Parser
from flowkit.rag.load.loader import Loader
from flowkit.rag.load.proxy import Proxy
from flowkit.rag.load.skipped import Skipped

if TYPE_CHECKING:
    from playwright.async_api import Browser as Chromium
    from playwright.async_api import Page

__all__ = ["Browser", "browser"]

WaitUntil = Literal["commit", "domcontentloaded", "load", "networkidle"]

# The first one draws nothing on a screen, so it needs half the processor time.
_NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "microsoft-edge",
)
# Calls between browsers would go around the proxy.
_SWITCHES = [
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--disable-component-update",
]


def browser(
    address: str | Sequence[str],
    *,
    wait_for: str | None = None,
    wait_until: WaitUntil = "load",
    max_size_bytes: int = 50_000_000,
    timeout_seconds: float = 30.0,
    allow_private: bool = False,
    executable: str | Path | None = None,
    parser: Parser | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> "Browser":
    """One page, or several, one after another, each in a browser window of its own without cookies or history.

    All that a page asks for goes through a proxy of ours with the rules of `load.url`: only the public internet is
    reached, names are looked up once and pinned. Downloads, service workers and permissions are refused.

    `source` is the address as given, without its fragment; `url` is where the page was in the end.

    Args:
        wait_for: A CSS selector of what must be on the page before it is read.
        wait_until: Until when to wait before that: "load" (images and all), "domcontentloaded", or "networkidle", when
            nothing was asked for during half a second.
        max_size_bytes: Of a page with all that it asks for.
        timeout_seconds: For one page, in all.
        allow_private: Allow every address. Only where nobody else chooses the addresses, nor writes the pages.
        executable: The browser; by default Playwright's own, else a Chromium or Chrome on the path.
        parser: By default the page's HTML is read as text.
        metadata: For every document, beside its source; put over what the parser says.

    Raises:
        InvalidInputError: one is no http or https address.
        ConfigError: the `browser` extra is not installed; or, when loading begins, there is no browser.
    """
    try:
        import playwright.async_api  # noqa: F401  imported here to say so at once
    except ImportError:
        raise ConfigError("load.browser needs playwright", hint="pip install 'flowkit-ai[browser]'") from None
    addresses = [address] if isinstance(address, str) else list(address)
    limits = Limits(max_size_bytes, timeout_seconds, allow_private=allow_private)
    asked = [checked_url(each) for each in addresses]
    return Browser(asked, limits, wait_for, wait_until, executable, parser=parser, metadata=metadata)


class Browser(Loader):
    """See `browser`."""

    _at_once = 1
    _together = 1

    def __init__(
        self,
        addresses: Sequence[str],
        limits: Limits,
        wait_for: str | None,
        wait_until: WaitUntil,
        executable: str | Path | None,
        *,
        parser: Parser | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(parser, metadata)
        self._addresses = addresses
        self._limits = limits
        self._wait_for = wait_for
        self._wait_until: WaitUntil = wait_until
        self._executable = executable

    async def count(self) -> int | None:
        return len(self._addresses)

    async def _found(self) -> AsyncGenerator[Found | Skipped, None]:
        async with Proxy(self._limits) as proxy, self._started(proxy) as chromium:
            for address in self._addresses:
                proxy.reset()
                try:
                    yield await self._page(chromium, proxy, address)
                except FlowkitError as error:
                    yield Skipped(source=address, reason=error.message, hint=error.hint)

    async def _page(self, chromium: "Chromium", proxy: Proxy, address: str) -> Found:
        """
        Raises:
            FlowkitError: it cannot be had.
        """
        from playwright.async_api import Error
        from playwright.async_api import TimeoutError as TooLong

        parts = urlsplit(address)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        await allowed_addresses(parts.hostname or "", port, allow_private=self._limits.allow_private)
        try:
            async with await chromium.new_context(accept_downloads=False, service_workers="block") as context:
                context.set_default_timeout(1000 * self._limits.timeout_seconds)
                page = await context.new_page()
                html = await self._within(proxy, self._html(page, address), address)
                url = page.url
        except (TooLong, TimeoutError) as error:
            what = "" if self._wait_for is None else f" until {self._wait_for!r} was there"
            raise BackendError(
                f"{shown(address)} took more than {self._limits.timeout_seconds:g} seconds{what}",
                hint="try again, or pass a larger timeout_seconds",
                status="DEADLINE_EXCEEDED",
            ) from error
        except Error as error:
            raise self._failure(proxy, address, error) from error
        if len(html) > self._limits.max_size_bytes:
            raise self._too_large(address)
        return Found(
            source=address,
            name="page.html",
            content=html,
            size_bytes=len(html),
            media_type="text/html",
            encoding="utf-8",
            metadata={"url": url},
        )

    async def _within(self, proxy: Proxy, work: Coroutine[Any, Any, bytes], address: str) -> bytes:
        """The page, unless it takes too long or too much before that: a page cut short never says that it is there."""
        getting = asyncio.ensure_future(work)
        full = asyncio.ensure_future(proxy.full.wait())
        try:
            limit = self._limits.timeout_seconds
            await asyncio.wait((getting, full), timeout=limit, return_when=asyncio.FIRST_COMPLETED)
            if proxy.full.is_set():
                raise self._too_large(address)
            if not getting.done():
                raise TimeoutError
            return getting.result()
        finally:
            getting.cancel()
            full.cancel()
            await asyncio.wait((getting, full))
            if not getting.cancelled():
                getting.exception()  # looked at, so that nobody is told of it again

    def _too_large(self, address: str) -> InvalidInputError:
        return InvalidInputError(
            f"{shown(address)} takes more than {self._limits.max_size_bytes / 1e6:g} MB",
            hint="pass a larger max_size_bytes, if it is worth it",
        )

    async def _html(self, page: "Page", address: str) -> bytes:
        response = await page.goto(address, wait_until=self._wait_until)
        status = response.status if response is not None else 200
        if status in (404, 410):
            raise NotFoundError(f"there is no page {shown(address)} ({status})", hint="check the address")
        if status >= 400:
            raise BackendError(f"{shown(address)} answers {status}", hint="try again later")
        if self._wait_for is not None:
            await page.wait_for_selector(self._wait_for, state="attached")
        return (await page.content()).encode("utf-8", "replace")

    def _failure(self, proxy: Proxy, address: str, error: Exception) -> FlowkitError:
        if proxy.refused:
            return InvalidInputError(proxy.refused[-1], hint="pass allow_private=True when it is meant")
        told = str(error).splitlines()[0].removeprefix("Page.goto: ")[:200]
        hint = "use load.url for files" if "ownload" in told or "ERR_ABORTED" in told else "try again"
        return BackendError(f"{shown(address)} could not be shown: {told}", hint=hint)

    @asynccontextmanager
    async def _started(self, proxy: Proxy) -> "AsyncIterator[Chromium]":
        from playwright.async_api import Error, async_playwright

        async with async_playwright() as playwright:
            program = self._executable or _program(playwright.chromium.executable_path)
            try:
                chromium = await playwright.chromium.launch(
                    executable_path=program,
                    args=_SWITCHES,
                    # Without the second, what is on this machine would be asked without the proxy.
                    proxy={"server": proxy.url, "bypass": "<-loopback>"},
                    # Chromium has no sandbox for root.
                    chromium_sandbox=not hasattr(os, "geteuid") or os.geteuid() != 0,
                    timeout=1000 * max(30.0, self._limits.timeout_seconds),
                )
            except Error as error:
                told = str(error).splitlines()[0][:200]
                raise ConfigError(f"{program} does not start: {told}", hint="does it start in a terminal?") from error
            try:
                yield chromium
            finally:
                await chromium.close()


def _program(own: str) -> str:
    """Playwright's own browser where it was installed, else what is on the path.

    Raises:
        ConfigError: there is none.
    """
    found = own if Path(own).exists() else next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        raise ConfigError("there is no Chromium", hint="run `playwright install chromium`, or install one")
    return found
