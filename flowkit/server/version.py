"""The version that the protocol's headers and files show.

flowkit_version()        "0.1.0"
"""

from functools import cache
from importlib import metadata

__all__ = ["flowkit_version"]


@cache
def flowkit_version() -> str:
    """The installed version, "0" in a bare source tree."""
    try:
        return metadata.version("flowkit-ai")
    except metadata.PackageNotFoundError:
        return "0"
