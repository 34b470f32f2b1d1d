"""The process of an app that `flowkit start` runs: the app is imported, and stays for developer tools.

$ python -m flowkit.cli.start_app [APP]

When its code raises, the traceback shows the user's own lines only, and the process ends with 78.
"""

import atexit
import sys
import threading
from pathlib import Path

from flowkit.cli.failures import user_traceback
from flowkit.cli.lines import complain, say
from flowkit.config import project_root
from flowkit.errors import FlowkitError
from flowkit.server.discover import AppImportError, find_app, load_app
from flowkit.server.reflection.host import current_host
from flowkit.server.reflection.offer import hold, let_go
from flowkit.server.start.supervise import IMPORT_FAILED
from flowkit.tracing.otlp import start_export
from flowkit.tracing.provider import install_if_unset

__all__ = ["main"]

# A module that takes longer may be one that runs a server of its own, and never ends.
_PATIENCE_SECONDS = 3.0


def main(argument: str | None) -> int:
    """Import the app. The process stays after this, since the app is served in a thread that goes on."""
    cwd = Path.cwd()
    hold()
    late = threading.Timer(_PATIENCE_SECONDS, let_go)
    late.daemon = True
    late.start()
    try:
        ai = load_app(find_app(argument, cwd=cwd, root=project_root(cwd)))
        sink = ai.runtime.tracing.sink
        stop_export = start_export(ai.settings.otlp, sink)
    except AppImportError as error:
        say(user_traceback(error.__cause__ or error))
        return IMPORT_FAILED
    except FlowkitError as error:
        complain(str(error))
        return IMPORT_FAILED
    finally:
        late.cancel()
    if stop_export is not None:
        atexit.register(stop_export)
    if sink is not None:
        install_if_unset(sink)
    let_go()
    return 0


if __name__ == "__main__":
    code = main(sys.argv[1] if len(sys.argv) > 1 else None)
    if code:  # otherwise it is the app's own affair when, and with what, the process ends
        host = current_host()
        if host is not None:
            host.program.finish()
        sys.exit(code)
