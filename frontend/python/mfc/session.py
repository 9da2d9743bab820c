"""A session of libmfc: calls, messages, progress, and stopping.

A call runs in a thread of its own while this one waits, so that Ctrl-C is noticed at once: the search is cancelled, and
KeyboardInterrupt raised. The callbacks come from that thread, one at a time."""
import ctypes
import os
import threading
from typing import Any, Callable, List, NamedTuple, Optional, Tuple, Union

from . import _library
from ._library import known, lib
from .errors import BY_STATUS, InternalError, LimitError, Message

Path = Union[str, "os.PathLike[str]"]


class Progress(NamedTuple):
    """The state of a search. None: not known yet."""

    cost: Optional[int]  # of the best schedule so far
    bound: Optional[int]  # no schedule costs less
    peak_bytes: Optional[int]
    base_cost: int  # without recomputation
    budget_bytes: int
    round: int  # a plan takes several searches
    seconds: float  # since this search began


# Is called with the progress of a search; a result that is False ends the search with the best so far.
OnProgress = Callable[[Progress], Optional[bool]]
OnMessage = Callable[[Message], None]


def text(value: Optional[bytes]) -> Optional[str]:
    return None if value is None else value.decode("utf-8", "replace")


def path_bytes(path: Path) -> bytes:
    return os.fsencode(os.fspath(path))


class Session:
    """Owns a struct mfc. `messages` has the diagnostics of all calls so far."""

    def __init__(self, memory_limit: int = 0, on_message: Optional[OnMessage] = None, progress: Optional[OnProgress] = None):
        self.messages: List[Message] = []
        self.on_message, self.progress = on_message, progress
        self.raised: Optional[BaseException] = None  # by a callback
        self.kept: List[Any] = []  # what the library refers to
        self.handle = lib.mfc_new(memory_limit)
        if not self.handle:
            raise LimitError()
        self.message_call = _library.ON_MESSAGE(self._message)
        lib.mfc_on_message(self.handle, self.message_call, None)
        if progress:
            self.search_call = _library.ON_SEARCH(self._search)
            lib.mfc_on_search(self.handle, self.search_call, None)

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            lib.mfc_free(self.handle)
            self.handle = None

    def _guarded(self, call: Callable[..., Any], argument: Any) -> Any:
        """An exception of a callback cannot pass through C: the call is ended, and raises it afterwards."""
        try:
            return call(argument)
        except BaseException as error:  # pylint: disable=broad-except
            self.raised = self.raised or error
            lib.mfc_cancel(self.handle)
            return None

    def _message(self, _: Any, at: Any) -> None:
        m = at.contents
        message = Message(("note", "warning", "error")[m.severity], text(m.code) or "", text(m.text) or "", text(m.file),
                          text(m.path), text(m.whole) or "")
        self.messages.append(message)
        if self.on_message:
            self._guarded(self.on_message, message)

    def _search(self, _: Any, at: Any) -> None:
        s = at.contents
        state = Progress(known(s.cost), known(s.bound), s.peak_bytes or None, s.base_cost, s.budget_bytes, s.round, s.seconds)
        if self.progress and self._guarded(self.progress, state) is False:
            lib.mfc_cancel(self.handle)

    def cancel(self) -> None:
        """Asks a running call to stop soon; any thread may call it."""
        lib.mfc_cancel(self.handle)

    def _call(self, function: Callable[..., int], arguments: Tuple[Any, ...]) -> int:
        status: List[int] = []
        worker = threading.Thread(target=lambda: status.append(function(self.handle, *arguments)))
        worker.start()
        interrupt = None
        while worker.is_alive():
            try:
                worker.join()
            except KeyboardInterrupt as error:
                interrupt = error
                lib.mfc_cancel(self.handle)
        if interrupt or self.raised:
            error, self.raised = interrupt or self.raised, None
            raise error  # type: ignore[misc]
        return status[0]

    def status_of(self, function: Callable[..., int], *arguments: Any) -> Tuple[int, List[Message]]:
        """Calls a function of the library. Returns its status, and the messages of this call."""
        before = len(self.messages)
        status = self._call(function, arguments)
        return status, self.messages[before:]

    def call(self, function: Callable[..., int], *arguments: Any) -> None:
        """The same; a failure is an exception."""
        status, messages = self.status_of(function, *arguments)
        if status:
            raise BY_STATUS.get(status, InternalError)(messages)

    # ---- Models ----

    def set(self, **options: Any) -> None:
        """Sets options of the command mfc: `clip_norm=1` is --clip-norm 1. True and False are for flags, a list repeats an
        option, None leaves it out."""
        for name, value in options.items():
            for one in value if isinstance(value, (list, tuple)) else [value]:
                if one is not None:
                    word = str(one).lower() if isinstance(one, bool) else str(one)
                    self.call(lib.mfc_set, name.replace("_", "-").encode(), word.encode())

    def load(self, model: Any) -> None:
        """A path, the bytes of a model, or a ModelProto of the package onnx."""
        if hasattr(model, "SerializeToString"):
            model = model.SerializeToString()
        if isinstance(model, (bytes, bytearray, memoryview)):
            data = bytes(model)
            self.kept = [data]  # weights are not loaded: the library reads them when it writes
            self.call(lib.mfc_load_memory, data, len(data))
        else:
            self.call(lib.mfc_load, path_bytes(model))

    def write(self, path: Path, form: Optional[str] = None) -> None:
        """Writes the model; without a form, that of the file's name."""
        if form is None:
            self.call(lib.mfc_write, path_bytes(path))
        else:
            self.call(lib.mfc_write_as, form.encode(), path_bytes(path))

    def to_bytes(self, form: str) -> bytes:
        at, size = ctypes.c_void_p(), ctypes.c_size_t()
        self.call(lib.mfc_write_memory, form.encode(), ctypes.byref(at), ctypes.byref(size))
        return ctypes.string_at(at, size.value)
