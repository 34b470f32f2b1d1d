"""The error tree. Every error says what happened, to what, and what to do about it.

    FlowkitError                      INTERNAL
    ├── InvalidInputError             INVALID_ARGUMENT      a value the caller gave is wrong
    │   ├── FilterTypeError           INVALID_ARGUMENT      a filter compares a key with a value of another type
    │   └── UnsupportedFilter         UNIMPLEMENTED         a store cannot do this filter operator
    ├── InvalidOutputError            INTERNAL              an action returned what its types forbid
    ├── NotFoundError                 NOT_FOUND             no such action, index, trace or file
    ├── ConfigError                   FAILED_PRECONDITION   something is not set up (a key, a plugin, an app)
    ├── StateError                    FAILED_PRECONDITION   the call cannot be made in the present state
    │   └── IdentityError             FAILED_PRECONDITION   an index was built with another embedder or dimension
    ├── StoreError                    DATA_LOSS             a stored file is damaged or of a newer format
    ├── ParseError                    INVALID_ARGUMENT      a document cannot be read (broken, encrypted, empty)
    ├── UnsupportedError              UNIMPLEMENTED         the backend or model cannot do this
    └── BackendError                  UNAVAILABLE           a service behind a plugin failed

Statuses are gRPC names, as Genkit uses them; `HTTP_STATUS` and `GRPC_CODE` map them to numbers.
"""

from typing import ClassVar, Literal, get_args

__all__ = [
    "GRPC_CODE",
    "HTTP_STATUS",
    "BackendError",
    "ConfigError",
    "FilterTypeError",
    "FlowkitError",
    "IdentityError",
    "InvalidInputError",
    "InvalidOutputError",
    "NotFoundError",
    "ParseError",
    "StateError",
    "Status",
    "StoreError",
    "UnsupportedError",
    "UnsupportedFilter",
]

Status = Literal[
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
]

GRPC_CODE: dict[Status, int] = {name: number for number, name in enumerate(get_args(Status))}

HTTP_STATUS: dict[Status, int] = {
    "OK": 200,
    "CANCELLED": 499,
    "UNKNOWN": 500,
    "INVALID_ARGUMENT": 400,
    "DEADLINE_EXCEEDED": 504,
    "NOT_FOUND": 404,
    "ALREADY_EXISTS": 409,
    "PERMISSION_DENIED": 403,
    "RESOURCE_EXHAUSTED": 429,
    "FAILED_PRECONDITION": 400,
    "ABORTED": 409,
    "OUT_OF_RANGE": 400,
    "UNIMPLEMENTED": 501,
    "INTERNAL": 500,
    "UNAVAILABLE": 503,
    "DATA_LOSS": 500,
    "UNAUTHENTICATED": 401,
}


class FlowkitError(Exception):
    """Root of every error that flowkit raises itself.

    `message` says what was wrong and with what; `hint` says what to do (or is None);
    `status` is a gRPC status name; `details` is JSON for the wire, for instance the field paths of a bad input.
    """

    default_status: ClassVar[Status] = "INTERNAL"

    def __init__(
        self, message: str, *, hint: str | None = None, status: Status | None = None, details: object = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.status: Status = status or self.default_status
        self.details = details

    @property
    def code(self) -> int:
        """The gRPC number of `status`."""
        return GRPC_CODE[self.status]

    @property
    def http_status(self) -> int:
        return HTTP_STATUS[self.status]

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class InvalidInputError(FlowkitError, ValueError):
    """A value that the caller gave is wrong; `details` may hold `{"errors": [{"path", "message"}]}`."""

    default_status: ClassVar[Status] = "INVALID_ARGUMENT"


class FilterTypeError(InvalidInputError, TypeError):
    """A filter compares a metadata key with a value of a type that the key does not have."""


class UnsupportedFilter(InvalidInputError):
    """A store cannot evaluate a filter operator; the message names both."""

    default_status = "UNIMPLEMENTED"


class InvalidOutputError(FlowkitError):
    """An action returned a value that its own annotations forbid."""


class NotFoundError(FlowkitError, LookupError):
    """There is no action, index, trace or file of that name."""

    default_status = "NOT_FOUND"


class ConfigError(FlowkitError):
    """Something is not set up: a key, a plugin, a model, an app."""

    default_status = "FAILED_PRECONDITION"


class StateError(FlowkitError, RuntimeError):
    """The call is legal, but not in the present state (closed object, wrong thread)."""

    default_status = "FAILED_PRECONDITION"


class IdentityError(StateError):
    """An index was built with another embedder or another dimension than the one in use."""


class StoreError(FlowkitError):
    """Stored data is damaged, or was written by a newer version; it is never overwritten."""

    default_status = "DATA_LOSS"


class ParseError(FlowkitError, ValueError):
    """A document cannot be read: missing, empty, broken, or encrypted."""

    default_status = "INVALID_ARGUMENT"


class UnsupportedError(FlowkitError):
    """The backend, model or platform cannot do what was asked."""

    default_status = "UNIMPLEMENTED"


class BackendError(FlowkitError):
    """A service behind a plugin failed; `__cause__` is the SDK's own error."""

    default_status = "UNAVAILABLE"
