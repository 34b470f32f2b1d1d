"""`trace:export` and `trace:import`: one run as a file, for a colleague or a bug report. The app is not imported.

$ flowkit trace:export latest run.json
$ flowkit trace:import run.json
"""

import sys
from pathlib import Path

import click

from flowkit.cli.apps import HELP
from flowkit.cli.lines import CliError, say, write
from flowkit.cli.traces import newest_of, open_traces

__all__ = ["trace_export", "trace_import"]


@click.command("trace:export", context_settings=HELP)
@click.argument("trace_id", metavar="ID")
@click.argument("file", metavar="FILE")
@click.option("-f", "--force", is_flag=True, help="Overwrite FILE")
def trace_export(trace_id: str, file: str, force: bool) -> int:
    """Write the run ID with all its steps, whole values and logs to FILE.

    ID is a full id, the beginning of one, or `latest`; FILE may be - for stdout. Secrets were replaced when the run
    was stored. Genkit's tools read the file, too.
    """
    from flowkit.cli.units import size
    from flowkit.cli.whole_files import check_output, write_whole
    from flowkit.tracing.files import trace_file

    path = None if file == "-" else Path(file)
    if path is not None:
        check_output(path, "FILE")
        if path.exists() and not force:
            raise CliError(f"{file} is there already", hint="--force overwrites it")
    store = open_traces()
    data = trace_file(store, newest_of(store, trace_id))
    if path is None:
        write(data.decode() + "\n")
        return 0
    write_whole(path, data + b"\n")
    say(f"{file}  {size(len(data))}", "dim")
    return 0


@click.command("trace:import", context_settings=HELP)
@click.argument("file", metavar="FILE")
def trace_import(file: str) -> int:
    """Put the run of FILE into this project's traces.

    FILE comes from trace:export, from trace:get --json, from the UI or from Genkit's tools; - reads stdin. A run that
    is there already is written again.
    """
    import json

    from flowkit.errors import InvalidInputError
    from flowkit.tracing.files import trace_of_file
    from flowkit.tracing.log_store import LogStore
    from flowkit.tracing.redact import PLAIN
    from flowkit.tracing.snapshot import redact_row

    if file == "-" and sys.stdin is None:
        raise CliError("the run is to come from stdin, which is closed")
    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except FileNotFoundError:
        raise CliError(f"there is no file {file!r}", hint="check the path and the working folder") from None
    except OSError as error:
        raise CliError(f"{file} cannot be read: {error.strerror or error}", hint="name a file of a run") from None
    try:
        rows, logs = trace_of_file(json.loads(raw))
    except InvalidInputError as error:
        raise CliError(f"{file}: {error.message}", hint=error.hint) from None
    except (ValueError, RecursionError) as error:
        raise CliError(f"{file} is no JSON: {error}") from None
    store = open_traces()
    for row in rows:
        redact_row(row, PLAIN)
        row.input_bytes, row.output_bytes = len(row.input or b""), len(row.output or b"")
    store.write(rows)
    LogStore(store).write(logs)
    trace_id = rows[0].trace_id
    write(f"{trace_id}\n")
    say(f"{len(rows)} step{'s' if len(rows) > 1 else ''}; flowkit trace:get {trace_id[:8]} shows them", "dim")
    return 0
