"""Files in object storage as documents: Amazon S3 and what speaks like it, Google Cloud Storage, Azure Blob Storage.

load.cloud("s3://bucket/docs/")
load.cloud("s3://bucket/docs/", endpoint_url="https://cos.ap-guangzhou.myqcloud.com")
"""

import logging
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from flowkit.core.threads import run_in_thread
from flowkit.errors import BackendError, ConfigError, FlowkitError, InvalidInputError, NotFoundError
from flowkit.rag.load.endpoints import check_endpoint, endpoint_of
from flowkit.rag.load.found import Found, Parser
from flowkit.rag.load.ignore import patterns
from flowkit.rag.load.loader import Loader
from flowkit.rag.load.skipped import Skipped

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem
    from pathspec import GitIgnoreSpec

__all__ = ["SCHEMES", "Cloud", "cloud"]

SCHEMES = {"s3": "s3fs", "gs": "gcsfs", "az": "adlfs"}
"""Scheme → the package that speaks to it."""

_LOGGERS = {"s3": ("s3fs", "aiobotocore", "botocore"), "gs": ("gcsfs", "google.auth"), "az": ("azure",)}
_LISTED = 256
_AT_ONCE = 8  # what takes time is the network


def cloud(
    address: str,
    *,
    glob: str | Sequence[str] | None = None,
    recursive: bool = True,
    endpoint_url: str | None = None,
    options: Mapping[str, Any] | None = None,
    max_size_bytes: int = 200_000_000,
    parser: Parser | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> "Cloud":
    """One object, or those under a prefix, in the order of their names.

    Credentials come from where the provider's own tools look for them (environment, profile, machine), or from
    `options`. A `source` is the object's address, `s3://bucket/docs/menu.pdf`; `modified` is when it was written, where
    the store says it. Empty objects that stand for folders are passed over; what cannot be read is skipped, and told.

    Args:
        address: `s3://bucket/prefix/`, `gs://…` or `az://container/…`. A prefix is a folder: `docs` is not `docs-old`.
        glob: Which objects, by their name under the prefix, as for `load.directory`.
        recursive: Whether to enter the folders in it.
        endpoint_url: Of another store that speaks S3 (Tencent COS, MinIO, R2), or of an emulator.
        options: For the file system: those of `s3fs.S3FileSystem` (`key`, `secret`, `profile`, `anon`),
            `gcsfs.GCSFileSystem` (`token`, `project`), `adlfs.AzureBlobFileSystem` (`account_name`, `account_key`,
            `connection_string`).
        max_size_bytes: Of one object; larger ones are skipped, and told.
        parser: By default it goes by the ending of the name.
        metadata: For every document, beside its source; put over what the parser says.

    Raises:
        InvalidInputError: it is no such address.
        ConfigError: the `cloud` extra is not installed.
    """
    scheme, separator, path = address.partition("://")
    if not separator or scheme not in SCHEMES or not path.partition("/")[0]:
        known = ", ".join(f"{each}://" for each in SCHEMES)
        raise InvalidInputError(
            f"{address!r} is no address in a cloud", hint=f"it begins with {known} and names a bucket"
        )
    settings = dict(options or {})
    if endpoint_url is not None:
        settings |= _endpoint(scheme, endpoint_url, settings)
    spec = None if glob is None else patterns(glob if isinstance(glob, str) else tuple(glob))
    return Cloud(
        _opener(scheme, f"{scheme}://{path.strip('/')}", settings),
        scheme,
        path.strip("/"),
        spec,
        recursive,
        max_size_bytes,
        parser=parser,
        metadata=metadata,
    )


class _Object(NamedTuple):
    path: str
    """With the bucket."""
    size_bytes: int
    media_type: str | None
    modified: str | None


class Cloud(Loader):
    """See `cloud`."""

    _at_once = _AT_ONCE
    _together = 1

    def __init__(
        self,
        open_it: "Callable[[], AbstractFileSystem]",
        scheme: str,
        path: str,
        glob: "GitIgnoreSpec | None",
        recursive: bool,
        max_size_bytes: int,
        *,
        parser: Parser | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(parser, metadata)
        self._open = open_it
        self._scheme = scheme
        self._path = path
        self._glob = glob
        self._recursive = recursive
        self._max_size_bytes = max_size_bytes

    @property
    def scope(self) -> str | None:
        """All under the prefix. If it is one object, nothing else begins so."""
        return f"{self._scheme}://{self._path}/"

    async def _found(self) -> AsyncGenerator[Found | Skipped, None]:
        files = await run_in_thread(self._open)
        objects = self._objects(files)
        while listed := await run_in_thread(lambda: list(islice(objects, _LISTED))):
            for each in listed:
                yield self._item(files, each)

    def _item(self, files: "AbstractFileSystem", each: _Object) -> Found | Skipped:
        source = f"{self._scheme}://{each.path}"
        if each.size_bytes > self._max_size_bytes:
            reason = f"it has {each.size_bytes / 1e6:,.0f} MB, and {self._max_size_bytes / 1e6:,.0f} MB is the limit"
            return Skipped(source=source, reason=reason, hint="pass a larger max_size_bytes, if it is worth it")
        return Found(
            source=source,
            name=each.path.rpartition("/")[2],
            content=lambda: _read(files, each.path, source),
            size_bytes=each.size_bytes,
            media_type=each.media_type,
            metadata={} if each.modified is None else {"modified": each.modified},
        )

    def _objects(self, files: "AbstractFileSystem") -> Iterator[_Object]:
        """Blocks. A folder's names at a time are in memory."""
        root = f"{self._scheme}://{self._path}"
        pending = [_listed(files, self._path, root)]
        while pending:
            info = next(pending[-1], None)
            if info is None:
                pending.pop()
                continue
            path = str(info["name"]).strip("/")
            if info["type"] == "directory":
                if self._recursive and path != self._path:
                    pending.append(_listed(files, path, root))
                continue
            relative = path.removeprefix(f"{self._path}/") if path != self._path else path.rpartition("/")[2]
            size = int(info.get("size") or 0)
            is_folder = str(info["name"]).endswith("/") or (size == 0 and path == self._path)
            if not is_folder and (self._glob is None or self._glob.match_file(relative)):
                yield _Object(path, size, _media_type(info), _modified(info))


def _listed(files: "AbstractFileSystem", path: str, root: str) -> "Iterator[dict[str, Any]]":
    try:
        found: list[dict[str, Any]] = files.ls(path, detail=True)
    except FileNotFoundError as error:
        raise NotFoundError(
            f"there is nothing at {root!r}", hint="check bucket and prefix, and who may read them"
        ) from error
    except Exception as error:
        raise _backend(error, root) from error
    return iter(sorted(found, key=lambda info: str(info["name"])))


def _read(files: "AbstractFileSystem", path: str, source: str) -> bytes:
    try:
        data: bytes = files.cat_file(path)
    except FileNotFoundError:
        raise  # gone since it was listed
    except Exception as error:
        raise _backend(error, source) from error
    return data


def _backend(error: Exception, what: str) -> FlowkitError:
    """The packages raise errors of three providers, of aiohttp and of the system."""
    told = " ".join(str(error).split())[:300] or type(error).__name__
    if isinstance(error, PermissionError):
        return BackendError(
            f"{what!r} may not be read: {told}", hint="check the credentials", status="PERMISSION_DENIED"
        )
    return BackendError(f"{what!r} cannot be read: {told}", hint="check the credentials, or try again")


def _media_type(info: Mapping[str, Any]) -> str | None:
    """What the store says, unless it is what stores say of everything."""
    settings = info.get("content_settings")
    kind = info.get("contentType") or info.get("ContentType") or (settings or {}).get("content_type")
    return None if not kind or "octet-stream" in str(kind) else str(kind)


def _modified(info: Mapping[str, Any]) -> str | None:
    found = info.get("LastModified") or info.get("last_modified") or info.get("mtime") or info.get("updated")
    return found.isoformat() if isinstance(found, datetime) else str(found) if found else None


def _endpoint(scheme: str, endpoint_url: str, options: Mapping[str, Any]) -> dict[str, Any]:
    if scheme != "az":
        return {"endpoint_url": endpoint_url}
    if "connection_string" in options:
        raise InvalidInputError("a connection string names its endpoint itself", hint="leave out endpoint_url")
    return {"account_host": endpoint_url.partition("://")[2] or endpoint_url}


def _opener(scheme: str, root: str, options: Mapping[str, Any]) -> "Callable[[], AbstractFileSystem]":
    try:
        kind = _kind(scheme)
    except ImportError:
        raise ConfigError(f"{scheme}:// needs {SCHEMES[scheme]}", hint="pip install 'flowkit-ai[cloud]'") from None
    # Listings change between two syncs, and one file system may have other credentials than the next.
    settings = {"skip_instance_cache": True, "use_listings_cache": False, **options}

    def open_it() -> "AbstractFileSystem":
        _quiet(scheme)
        if scheme == "gs":  # looking for credentials takes long where there is no network
            check_endpoint(_opened(kind, scheme, {**settings, "token": "anon"}, root)[1], root)
            return _opened(kind, scheme, settings, root)[0]
        files, endpoint = _opened(kind, scheme, settings, root)
        check_endpoint(endpoint, root)
        return files

    return open_it


def _opened(
    kind: "type[AbstractFileSystem]", scheme: str, settings: Mapping[str, Any], root: str
) -> "tuple[AbstractFileSystem, str]":
    """The file system, and the URL that it sends its requests to."""
    try:
        files = kind(**settings)
        return files, endpoint_of(scheme, files)
    except Exception as error:
        told = " ".join(str(error).split())
        raise ConfigError(f"{root!r} cannot be opened: {told}", hint="check options= and the credentials") from error


def _quiet(scheme: str) -> None:
    """Keep what the packages log of each try off the terminal, unless the user has set a level for it: we say it."""
    for name in _LOGGERS[scheme]:
        logger = logging.getLogger(name)
        if logger.level == logging.NOTSET:
            logger.setLevel(logging.CRITICAL)


def _kind(scheme: str) -> "type[AbstractFileSystem]":
    if scheme == "gs":
        # What gcsfs offers by its own name first asks, by gRPC, what kind of bucket it is, which emulators, proxies and
        # rights to read alone do not answer. This one reads every kind.
        from gcsfs.core import GCSFileSystem

        reading: type[AbstractFileSystem] = GCSFileSystem
        return reading
    from fsspec import get_filesystem_class

    kind: type[AbstractFileSystem] = get_filesystem_class(scheme)
    return kind
