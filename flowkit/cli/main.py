"""The entry point. Help and version are answered from a table, before anything is imported.

$ flowkit --help
"""

import sys

__all__ = ["main", "version"]


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    args = sys.argv[1:] if arguments is None else arguments
    if args[:1] == ["help"]:
        args = [*args[1:2], "--help"]
    first = args[0] if args else "--help"
    if first in ("-h", "--help", "--version"):
        from flowkit.cli.commands import help_text
        from flowkit.cli.lines import ReaderLeft, coloured, write

        try:
            write(f"flowkit {version()}\n" if first == "--version" else help_text(colour=coloured(sys.stdout)))
        except ReaderLeft:
            pass
        return 0
    from flowkit.cli.dispatch import dispatch

    return dispatch(args)


def version() -> str:
    """The installed version, "0 (not installed)" in a bare source tree."""
    from importlib import metadata

    try:
        return metadata.version("flowkit-ai")
    except metadata.PackageNotFoundError:
        return "0 (not installed)"
