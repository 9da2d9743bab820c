"""mfc turns an ONNX model into a training step that fits the memory you have.

    import mfc

    plan = mfc.plan("model.onnx", "plan.onnx", budget="60%", optimizer="adamw", weights="inputs", initial="start.safetensors")
    print(plan.peak_bytes, plan.overhead)

    trainer = mfc.Trainer(onnxruntime.InferenceSession("plan.onnx"), "start.safetensors")
    ...                                                     # trainer.step(...), trainer.save("now.safetensors")
    mfc.export("model.onnx", "now.safetensors", "trained.onnx")

    schedule = mfc.solve([(10, 4096), (20, 4096)], [(0, 1)], budget=8192)      # the solver alone

Failures are exceptions: mfc.Error, and a class for every exit code of the command (mfc.InfeasibleError, ...). The module is
pure Python over libmfc; only Trainer needs numpy."""
from typing import Any

from ._library import lib
from .claims import claims
from .errors import (CancelledError, Error, FileError, InfeasibleError, InternalError, LimitError, MalformedError, Message,
                     NoPlanError, UnsupportedError, UsageError, VerifyError)
from .planning import Plan, PlanNode, PlanTensor, convert, export, options, plan
from .session import Progress
from .solving import Node, Replay, Schedule, Step, replay, solve

__version__ = lib.mfc_version().decode()
__all__ = ["CancelledError", "Error", "FileError", "InfeasibleError", "InternalError", "LimitError", "MalformedError",
           "Message", "Node", "NoPlanError", "Plan", "PlanNode", "PlanTensor", "Progress", "Replay", "Schedule", "Step",
           "Trainer", "UnsupportedError", "UsageError", "VerifyError", "claims", "convert", "export", "options", "plan",
           "replay", "solve"]


def __getattr__(name: str) -> Any:
    """Trainer, when it is asked for: it needs numpy, and the rest does not."""
    if name == "Trainer":
        from .training import Trainer
        return Trainer
    raise AttributeError(f"module mfc has no attribute {name}")
