"""Pages of the web as documents.

load.url("https://shop.test/help")
load.url(["https://shop.test/help", "https://shop.test/menu.pdf"], timeout_seconds=10)
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from flowkit.errors import FlowkitError
from flowkit.rag.load.fetch import Fetcher, Limits, checked_url
from flowkit.rag.load.found import Found, Parser
from flowkit.rag.load.loader import Loader
from flowkit.rag.load.skipped import Skipped
from flowkit.rag.parse.decoding import known_codec

__all__ = ["Urls", "url"]


def url(
    address: str | Sequence[str],
    *,
    headers: Mapping[str, str] | None = None,
    max_size_bytes: int = 20_000_000,
    timeout_seconds: float = 30.0,
    max_redirects: int = 5,
    allow_private: bool = False,
    parser: Parser | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> "Urls":
    """One page, or several, got one after another. Links are not followed.

    Only the public internet is reached: a host that is, or redirects to, a private, loopback, link-local or reserved
    address is refused, also when its name changes what it stands for in between. Proxies of the environment are not
    used. A page that cannot be had is skipped, and told.

    `source` is the address as given, without its fragment; `url` is where the page was after redirects.

    Args:
        headers: Sent along, but not to other hosts that a page redirects to.
        max_size_bytes: Of one page, unpacked.
        timeout_seconds: For one page, in all.
        allow_private: Allow every address. Only where nobody else chooses the addresses.
        parser: By default it goes by the content type that the server says, then by the ending of the address.
        metadata: For every document, beside its source; put over what the parser says.

    Raises:
        InvalidInputError: one is no http or https address.
    """
    addresses = [address] if isinstance(address, str) else list(address)
    limits = Limits(max_size_bytes, timeout_seconds, max_redirects, allow_private)
    return Urls([checked_url(each) for each in addresses], Fetcher(limits, headers), parser=parser, metadata=metadata)


class Urls(Loader):
    """See `url`."""

    _at_once = 1
    _together = 1

    def __init__(
        self,
        addresses: Sequence[str],
        fetcher: Fetcher,
        *,
        parser: Parser | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(parser, metadata)
        self._addresses = addresses
        self._fetcher = fetcher

    async def count(self) -> int | None:
        return len(self._addresses)

    async def _found(self) -> AsyncGenerator[Found | Skipped, None]:
        for address in self._addresses:
            try:
                page = await self._fetcher.get(address)
            except FlowkitError as error:
                yield Skipped(source=address, reason=error.message, hint=error.hint)
                continue
            yield Found(
                source=address,
                name=PurePosixPath(unquote(urlsplit(page.url).path)).name or "index.html",
                content=page.data,
                size_bytes=len(page.data),
                media_type=page.media_type,
                encoding=known_codec(page.encoding),
                metadata={"url": page.url},
            )
