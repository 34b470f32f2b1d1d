"""Packages from npm that tests run, installed once beside the lock file that names them.

folder = installed(HERE, "Genkit's command line comes from npm")        # folder / "node_modules" / …
"""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import require, required

__all__ = ["installed"]


def installed(place: Path, reason: str) -> Path:
    """The folder in which they are installed; it stays between runs, and is named after the lock file.

    Without npm, or when npm cannot have them, the test is skipped with `reason`.
    """
    require("npm", reason)
    digest = hashlib.sha256((place / "package-lock.json").read_bytes()).hexdigest()[:12]
    folder = place / "node_modules" / f".cli-{digest}"
    if not folder.is_dir():
        draft = folder.with_name(f"{folder.name}.{os.getpid()}")
        draft.mkdir(parents=True)
        for name in ("package.json", "package-lock.json", ".npmrc"):
            shutil.copy(place / name, draft)
        # Without scripts: they would download more. Without what is optional: it is three times the rest.
        command = ["npm", "ci", "--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund"]
        ran = subprocess.run(command, cwd=draft, capture_output=True, text=True, timeout=600)
        if ran.returncode:
            shutil.rmtree(draft)
            why = f"{reason}, which could not install it: {ran.stderr[-500:]}"
            pytest.fail(why) if "npm" in required() else pytest.skip(why)
        try:
            draft.rename(folder)
        except OSError:  # another worker was quicker
            if not folder.is_dir():
                raise
            shutil.rmtree(draft)
    return folder
