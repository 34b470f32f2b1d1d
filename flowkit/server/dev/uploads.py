"""Files that a page uploads: kept in `.flowkit/uploads`, each in a folder of its own, and only ever given back as a
download.

    operations = upload_operations(Uploads(root))

A flow reads one by the path that the answer tells, which is relative to the project.
"""

import os
import re
import secrets
import shutil
import stat
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from flowkit.core.threads import run_in_thread
from flowkit.errors import InvalidInputError, NotFoundError
from flowkit.schema.wire import Wire
from flowkit.server.dev.shapes import Deleted
from flowkit.server.operations import Call, Operation

if TYPE_CHECKING:
    from starlette.types import ASGIApp

__all__ = [
    "MULTIPART",
    "UPLOAD_BYTES",
    "Upload",
    "UploadForm",
    "UploadList",
    "Uploads",
    "safe_name",
    "upload_operations",
]

UPLOAD_BYTES = 100_000_000
MULTIPART = "multipart/form-data"
_NAME_BYTES = 120
_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*]')
# Names that are devices on Windows, whatever follows the dot.
_DEVICES = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")


class UploadForm(Wire):
    """The field of the form."""

    file: bytes


class Upload(Wire):
    """A file that is kept; `path` is relative to the project, POSIX."""

    id: str
    name: str
    path: str
    size_bytes: int


class UploadList(Wire):
    uploads: tuple[Upload, ...]
    """Newest first."""


class Uploads:
    """The folder."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.folder = root / ".flowkit" / "uploads"

    def add(self, name: str, source: Any) -> Upload:
        """Keep what a file object holds under a new random id."""
        upload_id = secrets.token_urlsafe(16)
        folder = self.folder / upload_id
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.mkdir(mode=0o700)
        target = folder / safe_name(name)
        with ExitStack() as undo:
            undo.callback(shutil.rmtree, folder, ignore_errors=True)
            with target.open("xb") as out:
                shutil.copyfileobj(source, out, 1 << 20)
            undo.pop_all()  # it is whole, and kept
        return self._told(target, target.stat())

    def find(self, upload_id: str) -> Path:
        """The file of an upload.

        Raises:
            NotFoundError: there is none.
        """
        found = self._file(self.folder / upload_id)
        if found is None:
            raise _unknown(upload_id)
        return found[0]

    def list(self) -> list[Upload]:
        """All of them, newest first."""
        if not self.folder.is_dir():
            return []
        found = [file for file in map(self._file, self.folder.iterdir()) if file is not None]
        found.sort(key=lambda each: each[1].st_mtime_ns, reverse=True)
        return [self._told(*each) for each in found]

    def delete(self, upload_id: str) -> None:
        """Remove an upload.

        Raises:
            NotFoundError: there is none.
        """
        try:
            shutil.rmtree(self.find(upload_id).parent)
        except FileNotFoundError:  # another call was quicker
            raise _unknown(upload_id) from None

    def _file(self, folder: Path) -> tuple[Path, os.stat_result] | None:
        """The file in an upload's folder; None when there is none, when it has just been deleted, or when it is a link
        out of there, which somebody may have made."""
        try:
            for file in folder.iterdir():
                about = file.stat()
                if stat.S_ISREG(about.st_mode) and file.resolve().is_relative_to(self.folder.resolve()):
                    return file, about
        except OSError:
            return None
        return None

    def _told(self, file: Path, about: os.stat_result) -> Upload:
        path = file.relative_to(self._root).as_posix()
        return Upload(id=file.parent.name, name=file.name, path=path, size_bytes=about.st_size)


def _unknown(upload_id: str) -> NotFoundError:
    return NotFoundError(f"no upload {upload_id!r}", hint="GET /api/uploads lists them")


def safe_name(name: str) -> str:
    """The last part of a name, as a file name that every system takes; its ending, by which parsers go, is kept."""
    last = re.split(r"[/\\]", name)[-1]
    clean = _UNSAFE.sub("_", last).strip(" .") or "file"
    if _DEVICES.fullmatch(clean):
        clean = f"_{clean}"
    stem, dot, ending = clean.rpartition(".")
    ending = f".{ending}" if dot and stem and len(ending) <= 10 else ""
    stem = clean.removesuffix(ending) if ending else clean
    room = _NAME_BYTES - len(ending.encode())
    return stem.encode()[:room].decode("utf-8", "ignore") + ending


def upload_operations(uploads: Uploads) -> Sequence[Operation]:
    """The operations."""

    async def upload(call: Call) -> Upload:
        from starlette.datastructures import UploadFile
        from starlette.exceptions import HTTPException
        from starlette.formparsers import MultiPartException

        if int(call.request.headers.get("content-length") or 0) > UPLOAD_BYTES + 10_000:
            raise InvalidInputError("the file is too large", hint=f"upload at most {UPLOAD_BYTES} bytes")
        try:
            async with call.request.form(max_files=1, max_fields=10) as form:
                file = form.get("file")
                if not isinstance(file, UploadFile) or not file.filename:
                    raise InvalidInputError("the form has no file", hint='send it as the field "file"')
                if (file.size or 0) > UPLOAD_BYTES:
                    raise InvalidInputError("the file is too large", hint=f"upload at most {UPLOAD_BYTES} bytes")
                kept: Upload = await run_in_thread(uploads.add, (file.filename, file.file))
                return kept
        except (HTTPException, MultiPartException) as error:  # Starlette's words for a form that is not right
            raise InvalidInputError(f"the form cannot be read: {error}") from None

    async def list_uploads(call: Call) -> UploadList:
        return UploadList(uploads=tuple(await run_in_thread(uploads.list)))

    async def download(call: Call) -> "ASGIApp":
        from starlette.responses import FileResponse

        file = uploads.find(call.params["upload_id"])
        headers = {
            "content-disposition": f"attachment; filename*=UTF-8''{quote(file.name, safe='')}",
            "x-content-type-options": "nosniff",
            "content-security-policy": "default-src 'none'; sandbox",
        }
        return FileResponse(file, media_type="application/octet-stream", headers=headers)

    async def delete(call: Call) -> Deleted:
        await run_in_thread(uploads.delete, (call.params["upload_id"],))
        return Deleted(deleted=1)

    return [
        Operation(
            "upload",
            "POST",
            "/api/uploads",
            "Keep a file, for flows that read one",
            upload,
            body=UploadForm,
            takes=(MULTIPART,),
            reads="nothing",
            answer=Upload,
        ),
        Operation("listUploads", "GET", "/api/uploads", "Files that are kept", list_uploads, answer=UploadList),
        Operation(
            "download",
            "GET",
            "/api/uploads/{upload_id}",
            "A file, as a download",
            download,
            gives="application/octet-stream",
        ),
        Operation("deleteUpload", "DELETE", "/api/uploads/{upload_id}", "Remove a file", delete, answer=Deleted),
    ]
