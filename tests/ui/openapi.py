"""The OpenAPI document of the dev API, as the UI's types are made of it.

python -m tests.ui.openapi >devui/openapi.json
"""

import json
import tempfile
from pathlib import Path

from flowkit.server.dev.app import Dev
from flowkit.server.dev.openapi import openapi

__all__ = ["document"]


def document() -> str:
    """As it lies in devui/."""
    with tempfile.TemporaryDirectory() as folder:
        described = openapi(Dev(Path(folder)).operations)
    return json.dumps(described, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(document(), end="")
