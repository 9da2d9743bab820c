"""The failures of mfc, as exceptions. `status` is the exit code of the command mfc, `code` what `mfc explain` explains."""
from typing import NamedTuple, Optional, Sequence


class Message(NamedTuple):
    """A diagnostic: an error, a warning or a note."""

    severity: str  # "note", "warning", "error"
    code: str
    text: str
    file: Optional[str] = None
    path: Optional[str] = None  # where in a graph
    whole: str = ""  # all of it in one line, as the command prints it

    def __str__(self) -> str:
        return self.whole or self.text


class Error(Exception):
    """A call failed. Its text is the first error; all are in `messages`."""

    status = 1

    def __init__(self, messages: Sequence[Message] = ()):
        self.messages = list(messages)
        self.errors = [m for m in self.messages if m.severity == "error"]
        self.code = self.errors[0].code if self.errors else ""
        super().__init__("\n".join(map(str, self.errors)) or type(self).__doc__)


class InternalError(Error):
    """A defect of mfc."""


class UsageError(Error, ValueError):
    """An option or value that mfc does not know."""

    status = 2


class MalformedError(Error, ValueError):
    """The input does not follow its format."""

    status = 3


class UnsupportedError(Error):
    """The input is valid, but mfc does not support it."""

    status = 4


class InfeasibleError(Error):
    """Proven: nothing fits the budget."""

    status = 5
    schedule = None  # of solve(): what is known (a Schedule without steps)


class NoPlanError(Error):
    """Nothing was found within the limits of the search."""

    status = 6
    schedule = None


class FileError(Error, OSError):
    """A file cannot be read or written."""

    status = 8


class LimitError(Error, MemoryError):
    """Out of memory, or over a size limit."""

    status = 9


class VerifyError(Error):
    """A plan or schedule failed verification."""

    status = 10


class CancelledError(Error):
    """Stopped before there was a result."""

    status = 130


BY_STATUS = {kind.status: kind for kind in (InternalError, UsageError, MalformedError, UnsupportedError, InfeasibleError,
                                            NoPlanError, FileError, LimitError, VerifyError, CancelledError)}
