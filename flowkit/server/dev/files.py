"""Files that a page may name: those of the project and its uploads, links resolved; never a hidden one.

path, source = project_file(root, "menus/lunch.pdf")
"""

from pathlib import Path

from flowkit.errors import InvalidInputError, NotFoundError

__all__ = ["project_file"]

_FILE_BYTES = 50_000_000


def project_file(root: Path, name: str) -> tuple[Path, str]:
    """Where a file is, and what its documents have as `source`: its path relative to the project, POSIX.

    Raises:
        NotFoundError: there is no such file in the project, or it is hidden (`.env`), or leads out of it.
        InvalidInputError: it is larger than 50 MB.
    """
    top = root.resolve()
    uploads = (root / ".flowkit" / "uploads").resolve()
    unknown = NotFoundError(
        f"no file {name[:200]!r} in the project", hint="name it relative to the project, or upload it"
    )
    try:
        path = (top / name).resolve()
        if not path.is_file():
            raise unknown
        size = path.stat().st_size
    except (OSError, ValueError):  # not to be read; a NUL in the name
        raise unknown from None
    if path.is_relative_to(uploads):
        source = f".flowkit/uploads/{path.relative_to(uploads).as_posix()}"
    elif path.is_relative_to(top) and not any(part.startswith(".") for part in path.relative_to(top).parts):
        source = path.relative_to(top).as_posix()
    else:
        raise unknown
    if size > _FILE_BYTES:
        raise InvalidInputError(f"{name!r} has {size:,} bytes", hint=f"a preview takes at most {_FILE_BYTES:,}")
    return path, source
