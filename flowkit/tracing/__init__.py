"""Tracing of one app: where its span records go, and what is redacted before they leave the process.

tracing = start_tracing(Settings.from_env())
"""

from flowkit.config import Settings
from flowkit.core.spans import Tracing
from flowkit.tracing.redact import PLAIN, Redactor

__all__ = ["TRACES_FILE", "start_tracing", "stop_tracing"]

TRACES_FILE = "traces.db"
"""In the data folder."""


def start_tracing(settings: Settings, redactor: Redactor | None = None) -> Tracing:
    """How the runs of an app are traced: into the local store when `settings.traces`, and to the user's provider.

    Nothing is written or started before the first run.
    """
    redactor = redactor or PLAIN
    if not settings.traces:
        return Tracing(None, redactor.redact_json)
    from flowkit.tracing.recorder import recorder_for  # a third of what `import flowkit` would cost
    from flowkit.tracing.retention import Kept

    recorder = recorder_for(settings.data_folder / TRACES_FILE, redactor, Kept.by(settings))
    return Tracing(recorder, redactor.redact_json)


def stop_tracing(tracing: Tracing) -> None:
    """Write what is queued, end the writer's thread and close the file. A later run opens them again."""
    if tracing.sink is not None:
        from flowkit.tracing.recorder import Recorder

        if isinstance(tracing.sink, Recorder):
            tracing.sink.close()
