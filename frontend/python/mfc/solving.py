"""The solver alone: a graph of costs and sizes, a budget, and back comes a schedule with its certificate."""
import ctypes
from dataclasses import dataclass, field
from typing import List, NamedTuple, Optional, Sequence, Tuple, Union

from . import _library
from ._library import known, lib
from .errors import BY_STATUS, InfeasibleError, InternalError, NoPlanError
from .session import OnMessage, OnProgress, Session, text

OUTCOMES = ("unknown", "feasible", "optimal", "infeasible")
KINDS = ("compute", "free")
ORDERS = ("any", "given")
KEEP, ONCE, BACKWARD = 1, 2, 4


class Node(NamedTuple):
    """A node of a problem. Nodes come in a topological order."""

    cost: int  # in any unit
    bytes: int  # of its output
    workspace_bytes: int = 0  # counted only while it runs
    name: Optional[str] = None
    keep: bool = False  # a result: in memory when the schedule ends
    once: bool = False  # must not run twice
    backward: bool = False  # only published baselines ask for it


class Step(NamedTuple):
    kind: str  # "compute" or "free"
    node: int


@dataclass(frozen=True)
class Schedule:
    """What a search found and has proven. None is "not known"."""

    outcome: str  # one of OUTCOMES
    budget_bytes: int
    peak_bytes: Optional[int]  # by an independent replay, as is the cost
    cost: Optional[int]
    base_cost: int  # every node once
    given_peak_bytes: int  # of the given order, nothing recomputed
    bound_order: Optional[int]  # no schedule in this order costs less
    bound: Optional[int]  # no schedule costs less
    min_bytes: Optional[int]  # no schedule has a lower peak
    feasible_bytes: Optional[int]  # the least peak of a schedule that was seen
    n_recomputed: int
    forcing: List[int] = field(repr=False)  # infeasible: nodes whose tensors are in memory together
    steps: List[Step] = field(repr=False)


class Replay(NamedTuple):
    """A replayed schedule."""

    valid: bool
    peak_bytes: int
    cost: int
    peak_step: int
    failed_step: Optional[int]
    node: Optional[int]  # that the reason is about
    reason: Optional[str]
    given_order: bool  # whether the first executions come in the given order


Nodes = Sequence[Union[Node, Tuple[int, int]]]
Edges = Sequence[Tuple[int, int]]


def make_problem(nodes: Nodes, edges: Edges, persistent_bytes: int) -> _library.Problem:
    all_nodes = [n if isinstance(n, Node) else Node(*n) for n in nodes]
    n = len(all_nodes)
    numbers = ctypes.c_int64 * max(n, 1)
    flags = [KEEP * bool(x.keep) | ONCE * bool(x.once) | BACKWARD * bool(x.backward) for x in all_nodes]
    names = [None if x.name is None else x.name.encode() for x in all_nodes]
    flat = [end for edge in edges for end in edge]
    return _library.Problem(
        ctypes.sizeof(_library.Problem), n, numbers(*(x.cost for x in all_nodes)), numbers(*(x.bytes for x in all_nodes)),
        numbers(*(x.workspace_bytes for x in all_nodes)), (ctypes.c_ubyte * max(n, 1))(*flags),
        (ctypes.c_char_p * max(n, 1))(*names), len(edges), (ctypes.c_int32 * max(len(flat), 1))(*flat), persistent_bytes)


def make_steps(steps: Sequence[Step]) -> ctypes.Array:
    return (_library.Step * max(len(steps), 1))(*((KINDS.index(kind), node) for kind, node in steps))


def make_options(budget: Union[int, str, None], order: str, initial: Optional[Schedule],
                 options: dict) -> _library.SolveOptions:
    o = _library.SolveOptions()
    lib.mfc_solve_init(ctypes.byref(o), ctypes.sizeof(o))
    if isinstance(budget, str):
        if not budget.endswith("%"):
            raise ValueError(f'a budget is a number of bytes, or a share such as "60%", not {budget!r}')
        o.budget_share = float(budget[:-1]) / 100
    elif budget is not None:
        o.budget_bytes = budget
    if order not in ORDERS:
        raise ValueError(f'the order is "any" or "given", not {order!r}')
    o.order = ORDERS.index(order)
    for name, value in options.items():
        if name not in ("threads", "gap", "seconds", "work", "seed", "method"):
            raise TypeError(f"solve() has no option {name}")
        if value is not None:
            setattr(o, name, value.encode() if isinstance(value, str) else value)
    if initial:
        o.initial, o.n_initial = make_steps(initial.steps), len(initial.steps)
    return o


def take_schedule(s: _library.Schedule) -> Schedule:
    figures = {name: known(getattr(s, name)) for name, kind in _library.Schedule._fields_ if kind is ctypes.c_int64}
    return Schedule(outcome=OUTCOMES[s.outcome], forcing=s.forcing[:s.n_forcing] if s.n_forcing else [],
                    steps=[Step(KINDS[x.kind], x.node) for x in s.steps[:s.n_steps]], **figures)


def solve(nodes: Nodes, edges: Edges, budget: Union[int, str, None] = None, *, order: str = "any",
          persistent_bytes: int = 0, initial: Optional[Schedule] = None, progress: Optional[OnProgress] = None,
          on_message: Optional[OnMessage] = None, memory_limit: int = 0, **options: Union[int, float, str]) -> Schedule:
    """Finds the cheapest order of computing, freeing and recomputing within a budget of memory.

    nodes: Node(cost, bytes, ...) or pairs (cost, bytes), in a topological order. edges: pairs of a node, and a node that
    reads its output. budget: bytes, or a share ("50%") of what the given order needs without recomputation; None: all of it.
    order: "any", or "given" when first executions must come in the given order. initial: a schedule to begin with.
    progress, on_message, memory_limit: as of plan(). options: threads, gap, seconds, work, seed, method, as of `mfc solve`.

    InfeasibleError, NoPlanError: what is known of the problem is in the exception's `schedule`."""
    session = Session(memory_limit, on_message, progress)
    at = ctypes.POINTER(_library.Schedule)()
    status, messages = session.status_of(lib.mfc_solve, ctypes.byref(make_problem(nodes, edges, persistent_bytes)),
                                         ctypes.byref(make_options(budget, order, initial, options)), ctypes.byref(at))
    found = take_schedule(at.contents) if at else None
    if status:
        error = BY_STATUS.get(status, InternalError)(messages)
        if isinstance(error, (InfeasibleError, NoPlanError)):
            error.schedule = found  # type: ignore[assignment]
        raise error
    assert found
    return found


def replay(nodes: Nodes, edges: Edges, steps: Sequence[Step], *, persistent_bytes: int = 0) -> Replay:
    """Replays steps from anywhere, by the code that checks every schedule of solve() and shares nothing with the search."""
    session, out = Session(), _library.Replay()
    status, messages = session.status_of(lib.mfc_replay, ctypes.byref(make_problem(nodes, edges, persistent_bytes)),
                                         make_steps(steps), len(steps), ctypes.byref(out))
    if status and not out.reason:
        raise BY_STATUS.get(status, InternalError)(messages)
    return Replay(not out.reason, out.peak_bytes, out.cost, out.peak_step, None if out.failed_step < 0 else out.failed_step,
                  None if out.node < 0 else out.node, text(out.reason), bool(out.given_order))
