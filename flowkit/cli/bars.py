"""Progress bars: on stderr, and only where somebody sits in front of it.

with progress(lambda: (BarColumn(), MofNCompleteColumn())) as shown: shown is None or shown.add_task("Copying")
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from flowkit.cli.lines import coloured

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

__all__ = ["progress"]


@contextmanager
def progress(columns: "Callable[[], Sequence[ProgressColumn]]") -> "Iterator[Progress | None]":
    """A display with these columns, gone when it ends; None where stderr is no terminal, and nothing is imported."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    colours = coloured(sys.stderr)
    console = Console(file=sys.stderr, color_system="256" if colours else None, no_color=not colours)
    with Progress(*columns(), console=console, transient=True) as shown:
        yield shown
