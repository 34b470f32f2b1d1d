"""Loaders: a place in, its documents out, one after another.

async for item in load.directory("docs", glob="**/*.md"): ...       # Document | Skipped
report = await ai.ingest("docs", load.auto("https://shop.test/help"))

One bad item is told as a `Skipped`, and the others follow. All loaders take a `parser`; by default it goes by content
type and name. Every document says where it is from in `metadata["source"]`: a path relative to the project, or an
address.
"""

from flowkit.rag.load.browser import Browser, browser
from flowkit.rag.load.cloud import Cloud, cloud
from flowkit.rag.load.files import Files, directory, file
from flowkit.rag.load.found import Parser
from flowkit.rag.load.loader import Loader
from flowkit.rag.load.package import Package, package
from flowkit.rag.load.place import auto
from flowkit.rag.load.skipped import Skipped
from flowkit.rag.load.url import Urls, url

__all__ = [
    "Browser",
    "Cloud",
    "Files",
    "Loader",
    "Package",
    "Parser",
    "Skipped",
    "Urls",
    "auto",
    "browser",
    "cloud",
    "directory",
    "file",
    "package",
    "url",
]
