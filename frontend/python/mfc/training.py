"""Training with ONNX Runtime's Python API on a step that mfc made. Needs numpy, as ONNX Runtime does."""
from typing import Any, Dict, List, Optional, Union

import numpy as np

from . import safetensors
from .safetensors import Path

TYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16}


class Trainer:
    """Holds the state of a training step: parameters, running statistics, what the optimizer remembers. Every output
    next(NAME) is the input NAME of the next step.

        session = onnxruntime.InferenceSession("step.onnx")
        trainer = mfc.Trainer(session, "start.safetensors")
        for images, labels in data:
            loss = trainer.step(image=images, labels=labels, lr=1e-3)["loss"]
        trainer.save("now.safetensors", steps=1000)

    session: an onnxruntime.InferenceSession, or anything with its get_inputs, get_outputs and run. state: a safetensors
    file, of `mfc state`, of the option --initial, or of save(). update: with --accumulate, the session of the --update file."""

    def __init__(self, session: Any, state: Path, update: Optional[Any] = None):
        self.session, self.updating = session, update
        self.state: Dict[str, np.ndarray] = {}
        self.metadata: Dict[str, str] = {}
        self.restore(state)

    def restore(self, path: Path) -> None:
        """Takes the tensors of a checkpoint; `metadata` has its texts."""
        self.state, self.metadata = safetensors.load(path)

    def save(self, path: Path, **metadata: Any) -> None:
        """Writes a checkpoint, with texts of your own. Nothing else is needed to go on, to the last bit."""
        safetensors.save(path, self.state, {name: str(value) for name, value in metadata.items()})

    @property
    def wanted(self) -> List[str]:
        """What each step needs beside the state: the data, and the settings of the optimizer."""
        return [i.name for i in self.session.get_inputs() if i.name not in self.state]

    def step(self, **feeds: Any) -> Dict[str, np.ndarray]:
        """One step: an array for each input, a number for settings such as lr. Settings that the step does not have are
        ignored; names that are no identifiers go in by **{...}. Returns the outputs that are not fed back; "loss" is the
        loss as a number."""
        outputs = self._run(self.session, feeds)
        name = self.session.get_outputs()[0].name
        return {**outputs, "loss": float(np.asarray(outputs[name]).reshape(-1)[0])}  # type: ignore[dict-item]

    def update(self, **settings: Union[float, np.ndarray]) -> Dict[str, np.ndarray]:
        """With --accumulate: applies the mean of the gradients, after every N steps."""
        if self.updating is None:
            raise ValueError("update() needs the session of the file of --update")
        return self._run(self.updating, settings)

    def _run(self, session: Any, feeds: Dict[str, Any]) -> Dict[str, np.ndarray]:
        inputs = {}
        for entry in session.get_inputs():
            if entry.name in self.state:
                inputs[entry.name] = self.state[entry.name]
            elif entry.name not in feeds:
                raise ValueError(f"the step needs a value for its input {entry.name}")
            else:
                given = feeds[entry.name]
                inputs[entry.name] = np.asarray(given, TYPES.get(entry.type)) if isinstance(given, (int, float)) else given
        names, rest = [o.name for o in session.get_outputs()], {}
        for name, value in zip(names, session.run(names, inputs)):
            fed = name[len("next("):-1] if name.startswith("next(") and name.endswith(")") else None
            if fed in self.state:
                self.state[fed] = value  # type: ignore[index]
            else:
                rest[name] = value
        return rest
