"""Tracing of one app: where its span records go, and what is redacted before they leave the process.

    tracing = start_tracing(Settings.from_env())
"""

from flowkit.config import Settings
from flowkit.core.spans import Tracing

__all__ = ["start_tracing"]


def start_tracing(settings: Settings) -> Tracing:
    return Tracing()
