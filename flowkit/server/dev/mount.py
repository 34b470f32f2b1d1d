"""The dev API as a part of `flowkit start`: it hears what the supervisor says, and ends with the parent.

Plan(..., add=add_dev_api)
"""

from flowkit.config import Settings
from flowkit.server.dev.app import Dev, content_types
from flowkit.server.start.parent import About
from flowkit.server.start.serve import Additions
from flowkit.server.start.supervise import Supervisor

__all__ = ["add_dev_api"]


def add_dev_api(supervisor: Supervisor, about: About) -> Additions:
    """Routes over the project of `about`."""
    dev = Dev(about.root, settings=Settings.from_env())
    dev.set_app(supervisor.status.to_wire())
    supervisor.subscribe(lambda status: dev.set_app(status.to_wire()))
    return Additions(routes=dev.routes(), content_types=content_types, bare_errors=dev.bare_errors, aclose=dev.aclose)
