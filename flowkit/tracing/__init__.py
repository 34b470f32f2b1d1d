"""Tracing of one app: where its span records go, and what is redacted before they leave the process.

tracing = start_tracing(Settings.from_env())
"""

from flowkit.config import Settings
from flowkit.core.spans import Tracing
from flowkit.tracing.recorder import recorder_for
from flowkit.tracing.redact import Redactor

__all__ = ["TRACES_FILE", "start_tracing"]

TRACES_FILE = "traces.db"
"""In the data folder."""


def start_tracing(settings: Settings, redactor: Redactor | None = None) -> Tracing:
    """How the runs of an app are traced: into the local store when `settings.traces`, and to the user's provider.

    Nothing is written or started before the first run.
    """
    recorder = recorder_for(settings.data_folder / TRACES_FILE, redactor)
    return Tracing(recorder if settings.traces else None, recorder.redactor.redact_json)
