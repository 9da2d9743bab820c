"""libmfc by ctypes: where it is found, its structs and its functions, as in mfc.h and mfc/solve.h."""
import ctypes
import os
from ctypes import POINTER, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_ubyte, c_uint64, c_void_p
from typing import Iterator, Optional

SONAME = "libmfc.so.0.2"
UNKNOWN = -(1 << 63)


def known(number: int) -> Optional[int]:
    """A number of the library; None for one that is not known."""
    return None if number == UNKNOWN else number


class Message(ctypes.Structure):
    _fields_ = [("severity", c_int), ("status", c_int), ("code", c_char_p), ("text", c_char_p), ("file", c_char_p),
                ("offset", c_int64), ("line", c_int64), ("column", c_int64), ("path", c_char_p), ("whole", c_char_p)]


class Search(ctypes.Structure):
    _fields_ = [("cost", c_int64), ("bound", c_int64), ("peak_bytes", c_int64), ("base_cost", c_int64),
                ("budget_bytes", c_int64), ("round", c_int32), ("seconds", c_double)]


class Node(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("op_type", c_char_p), ("origin", c_char_p), ("device", c_char_p), ("role", c_int32),
                ("n_tensors", c_int32), ("first_tensor", c_size_t), ("cost", c_int64), ("workspace_bytes", c_int64)]


class Tensor(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("bytes", c_int64), ("address", c_int64), ("first", c_size_t), ("last", c_size_t)]


class Plan(ctypes.Structure):
    _fields_ = [(name, c_int64) for name in ("budget_bytes", "peak_bytes", "baseline_bytes", "persistent_bytes",
                                             "session_bytes", "arena_bytes", "cost", "base_cost", "bound", "min_bytes")]
    _fields_ += [("overhead", c_double), ("min_overhead", c_double), ("session_in_peak", c_int64), ("n_recomputed", c_int64),
                 ("outcome", c_char_p), ("runtime", c_char_p), ("nodes", POINTER(Node)), ("n_nodes", c_size_t), ("tensors", POINTER(Tensor)),
                 ("n_tensors", c_size_t)]


class Problem(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("n_nodes", c_int32), ("cost", POINTER(c_int64)), ("bytes", POINTER(c_int64)),
                ("workspace_bytes", POINTER(c_int64)), ("flags", POINTER(c_ubyte)), ("names", POINTER(c_char_p)),
                ("n_edges", c_int64), ("edges", POINTER(c_int32)), ("persistent_bytes", c_int64)]


class Step(ctypes.Structure):
    _fields_ = [("kind", c_int32), ("node", c_int32)]


class SolveOptions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("budget_bytes", c_int64), ("budget_share", c_double), ("order", c_int32),
                ("threads", c_int32), ("gap", c_double), ("seconds", c_double), ("work", c_int64), ("seed", c_uint64),
                ("method", c_char_p), ("worker", c_char_p), ("initial", POINTER(Step)), ("n_initial", c_size_t)]


class Schedule(ctypes.Structure):
    _fields_ = [("outcome", c_int32)]
    _fields_ += [(name, c_int64) for name in ("budget_bytes", "peak_bytes", "cost", "base_cost", "given_peak_bytes",
                                              "bound_order", "bound", "min_bytes", "feasible_bytes")]
    _fields_ += [("forcing", POINTER(c_int32)), ("n_forcing", c_size_t), ("steps", POINTER(Step)), ("n_steps", c_size_t),
                 ("n_recomputed", c_int64)]


class Replay(ctypes.Structure):
    _fields_ = [("peak_bytes", c_int64), ("cost", c_int64), ("peak_step", c_int64), ("failed_step", c_int64),
                ("node", c_int32), ("reason", c_char_p), ("given_order", c_int32)]


ON_MESSAGE = ctypes.CFUNCTYPE(None, c_void_p, POINTER(Message))
ON_SEARCH = ctypes.CFUNCTYPE(None, c_void_p, POINTER(Search))

# Function: result, arguments.
FUNCTIONS = {
    "mfc_version": (c_char_p, []),
    "mfc_new": (c_void_p, [c_int64]),
    "mfc_free": (None, [c_void_p]),
    "mfc_on_message": (None, [c_void_p, ON_MESSAGE, c_void_p]),
    "mfc_on_search": (None, [c_void_p, ON_SEARCH, c_void_p]),
    "mfc_set": (c_int, [c_void_p, c_char_p, c_char_p]),
    "mfc_option": (None, [c_void_p, c_size_t, POINTER(c_char_p), POINTER(c_char_p), POINTER(c_char_p)]),
    "mfc_load": (c_int, [c_void_p, c_char_p]),
    "mfc_load_memory": (c_int, [c_void_p, c_char_p, c_size_t]),
    "mfc_run": (c_int, [c_void_p, c_char_p]),
    "mfc_write": (c_int, [c_void_p, c_char_p]),
    "mfc_write_as": (c_int, [c_void_p, c_char_p, c_char_p]),
    "mfc_write_memory": (c_int, [c_void_p, c_char_p, POINTER(c_void_p), POINTER(c_size_t)]),
    "mfc_get_plan": (c_int, [c_void_p, POINTER(POINTER(Plan))]),
    "mfc_write_state": (c_int, [c_void_p, c_char_p, c_char_p]),
    "mfc_export": (c_int, [c_void_p, c_char_p]),
    "mfc_cancel": (None, [c_void_p]),
    "mfc_solve_init": (None, [POINTER(SolveOptions), c_size_t]),
    "mfc_solve": (c_int, [c_void_p, POINTER(Problem), POINTER(SolveOptions), POINTER(POINTER(Schedule))]),
    "mfc_replay": (c_int, [c_void_p, POINTER(Problem), POINTER(Step), c_size_t, POINTER(Replay)]),
}


def places() -> Iterator[str]:
    """Where libmfc may be: named by MFC_LIBRARY; in the tree that this module is installed in, at most six folders up;
    where the system looks for libraries; in the folder of cmake --install."""
    if os.environ.get("MFC_LIBRARY"):
        yield os.environ["MFC_LIBRARY"]
        return
    folder = os.path.dirname(os.path.abspath(__file__))
    for _ in range(6):
        folder = os.path.dirname(folder)
        for inner in ("lib", "lib64"):
            path = os.path.join(folder, inner, SONAME)
            if os.path.exists(path):
                yield path
    yield SONAME
    yield os.path.join("/usr/local/lib", SONAME)


def load() -> ctypes.CDLL:
    reasons = []
    for path in places():
        try:
            library = ctypes.CDLL(path)
        except OSError as error:
            reasons.append(str(error))
            continue
        for name, (result, arguments) in FUNCTIONS.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
        return library
    raise ImportError(f"mfc: {SONAME} cannot be loaded; install it (cmake --install build), or name the file in the "
                      f"environment variable MFC_LIBRARY: {'; '.join(reasons)}")


lib = load()
