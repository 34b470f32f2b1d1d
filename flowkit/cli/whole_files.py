"""Files that commands write: the place is looked at before the work, and they are written whole or not at all.

check_output(Path("run.json"), "--output")      # before anything is done
write_whole(Path("run.json"), data)             # a full disk or a kill leaves what was there before
"""

import os
import shutil
from contextlib import suppress
from pathlib import Path

from flowkit.cli.lines import CliError

__all__ = ["check_output", "write_whole"]


def check_output(file: Path, name: str) -> None:
    """Refuse a place where no file can be; `name` is what the command calls it.

    Raises:
        CliError: its folder is not there, or it is a folder itself.
    """
    if not file.absolute().parent.is_dir():
        raise CliError(f"{name}: there is no folder {file.parent}", hint="make it, or name another")
    if file.is_dir():
        raise CliError(f"{name}: {file} is a folder", hint="name a file in it")


def write_whole(file: Path, data: bytes) -> None:
    """Make or replace a file. A link stays one, and a file's mode stays; pipes and devices are written to.

    Raises:
        OSError: it cannot be written; what was there is as it was. Its `filename` is that of the file.
    """
    target = file.resolve()
    if target.exists() and not target.is_file():
        target.write_bytes(data)
        return
    draft = target.with_name(f".{target.name}.{os.getpid()}.draft")
    try:
        draft.write_bytes(data)
        with suppress(OSError):  # there was none, or it is somebody else's
            shutil.copymode(target, draft)
        draft.replace(target)
    except OSError as error:
        error.filename, error.filename2 = str(file), None  # nobody has heard of the draft
        raise
    finally:
        draft.unlink(missing_ok=True)
