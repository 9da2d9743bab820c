"""From a model to a plan, to a training state, and back to a model for inference."""
import ctypes
import json
import math
from dataclasses import dataclass, field
from typing import Any, List, NamedTuple, Optional

from . import _library
from ._library import known, lib
from .session import OnMessage, OnProgress, Path, Session, path_bytes, text

ROLES = ("forward", "backward", "recomputed", "transfer", "control")


class PlanNode(NamedTuple):
    """A node of a plan."""

    name: str
    op_type: str
    origin: str  # the node of the baseline step that it is, or recomputes
    device: str  # "": the only one
    role: str  # one of ROLES; the optimizer is "backward"
    cost: Optional[int]
    workspace_bytes: int  # while it runs


class PlanTensor(NamedTuple):
    """A tensor that a node of a plan computes."""

    name: str
    bytes: int
    address: Optional[int]  # in the static layout
    first: int  # the index of the node that computes it
    last: int  # of its last reader; the number of nodes for a result


@dataclass(frozen=True)
class Plan:
    """A plan: its figures (docs/plans.md; None is "not known"), its nodes in their order, and its tensors.

    Bytes include persistent memory, except those of the layout (`arena_bytes`)."""

    budget_bytes: Optional[int]  # None: the plan minimizes memory
    peak_bytes: Optional[int]
    baseline_bytes: Optional[int]
    persistent_bytes: Optional[int]
    session_bytes: Optional[int]  # of ONNX Runtime for the graph
    arena_bytes: Optional[int]
    cost: Optional[int]
    base_cost: Optional[int]
    bound: Optional[int]  # no plan within the budget costs less
    min_bytes: Optional[int]  # no plan has a lower peak
    overhead: Optional[float]  # (cost - base_cost) / base_cost
    min_overhead: Optional[float]
    session_in_peak: bool  # whether the peak and the budget count session_bytes
    n_recomputed: Optional[int]
    outcome: Optional[str]  # "optimal", "feasible"; None: the step is not planned
    runtime: str
    nodes: List[PlanNode] = field(repr=False)
    tensors: List[PlanTensor] = field(repr=False)
    session: Session = field(repr=False, compare=False)

    @property
    def messages(self) -> list:
        """Warnings and notes."""
        return self.session.messages

    def write(self, path: Path, form: Optional[str] = None) -> None:
        """Writes the plan: "onnx", "mfc" (text), "dot", "json", "html" (the report) or "trace". Without a form the name
        decides between onnx, mfc and dot, and the options initial, update and split write their files, too."""
        self.session.write(path, form)

    def to_bytes(self, form: str = "onnx") -> bytes:
        """The same in memory."""
        return self.session.to_bytes(form)

    def to_json(self) -> Any:
        """Figures and order as `mfc --json` writes them."""
        return json.loads(self.to_bytes("json"))

    def write_state(self, path: Path, model: Optional[Path] = None) -> None:
        """The state that training starts with, as safetensors. `model`: a file with the weights, if the plan has none."""
        self.session.call(lib.mfc_write_state, None if model is None else path_bytes(model), path_bytes(path))


def real(number: float) -> Optional[float]:
    return None if math.isnan(number) else number


def take_plan(session: Session) -> Plan:
    at = ctypes.POINTER(_library.Plan)()
    session.call(lib.mfc_get_plan, ctypes.byref(at))
    p = at.contents
    nodes = [PlanNode(text(n.name) or "", text(n.op_type) or "", text(n.origin) or "", text(n.device) or "", ROLES[n.role],
                      known(n.cost), n.workspace_bytes) for n in p.nodes[:p.n_nodes]]
    tensors = [PlanTensor(text(t.name) or "", t.bytes, known(t.address), t.first, t.last) for t in p.tensors[:p.n_tensors]]
    figures = {name: known(getattr(p, name)) for name, kind in _library.Plan._fields_ if kind is ctypes.c_int64}
    figures["session_in_peak"] = bool(p.session_in_peak)
    return Plan(**figures, overhead=real(p.overhead), min_overhead=real(p.min_overhead), outcome=text(p.outcome),
                runtime=text(p.runtime) or "", nodes=nodes, tensors=tensors, session=session)


def plan(model: Any, output: Optional[Path] = None, *, progress: Optional[OnProgress] = None,
         on_message: Optional[OnMessage] = None, memory_limit: int = 0, **options: Any) -> Plan:
    """Makes the training step of a model and plans it, as `mfc MODEL -o OUTPUT` does.

    model: a path, the bytes of an ONNX model, or an onnx.ModelProto. output: the file to write, or None.
    progress: is called with a Progress; False as its result ends the search with the best plan so far.
    on_message: is called with every Message. memory_limit: bytes that mfc itself may allocate; 0: no limit.
    options: those of the command, with _ for -: plan(m, "plan.onnx", budget="60%", optimizer="adamw", clip_norm=1).

    InfeasibleError: proven that no plan fits the budget; the message has one that works."""
    session = Session(memory_limit, on_message, progress)
    session.set(**options)
    session.load(model)
    session.call(lib.mfc_run, None)
    made = take_plan(session)
    if output is not None:
        session.write(output)
    return made


def convert(model: Any, output: Path, *, passes: Optional[str] = None, on_message: Optional[OnMessage] = None,
            **options: Any) -> None:
    """Runs single passes ("shapes,grad") on a model, as `mfc opt` does, and writes it."""
    session = Session(0, on_message)
    session.set(**options)
    session.load(model)
    if passes:
        session.call(lib.mfc_run, passes.encode())
    session.write(output)


def export(model: Any, state: Path, output: Path, *, on_message: Optional[OnMessage] = None) -> None:
    """Writes a model for inference: `model`, from which the step was made, with the parameters of a state (a safetensors
    file) and training mode off."""
    session = Session(0, on_message)
    session.load(model)
    session.call(lib.mfc_export, path_bytes(state))
    session.write(output)


def options() -> dict:
    """The options that plan() takes: name, with its help and default."""
    session, found, i = Session(), {}, 0
    while True:
        name, help_text, default = ctypes.c_char_p(), ctypes.c_char_p(), ctypes.c_char_p()
        lib.mfc_option(session.handle, i, ctypes.byref(name), ctypes.byref(help_text), ctypes.byref(default))
        if name.value is None:
            return found
        found[text(name.value).replace("-", "_")] = (text(help_text.value), text(default.value))  # type: ignore[union-attr]
        i += 1
