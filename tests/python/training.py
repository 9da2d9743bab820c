"""training.py MFC SOURCE: examples/training/train.py on ONNX Runtime, through the stand-in of this folder. Its losses are those
of train.mjs in Node, to the last bit; a resumed run is the same as one that was not interrupted; the trained model is exported
and classifies; accumulation updates; and a state that does not fit is refused."""
import os
import subprocess
import sys
import tempfile

import mfc
import numpy as np
import onnxruntime
from mfc import safetensors

MFC, SOURCE = sys.argv[1:3]
CNN = os.path.join(SOURCE, "examples/training/cnn.onnx")
SETTINGS = {"lr": 0.002, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "weight_decay": 0.01}
sys.path.insert(0, os.path.join(SOURCE, "examples/training"))


def losses(path):
    with open(path, encoding="utf-8") as f:
        return [float(line.split()[1]) for line in f]


def train(program, folder, name, *words):
    environment = {**os.environ, "MFC_NODE_MODULES": os.path.join(SOURCE, "tests/runtime")}
    subprocess.run([*program, "step.onnx", "start.safetensors", "-o", f"{name}.safetensors", "--log", f"{name}.log", "--set",
                    "lr=0.002", *words], cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)


def accumulation(folder):
    """Four quarters of a batch, then an update: the loss falls, and only the update changes the parameters."""
    at = lambda name: os.path.join(folder, name)
    mfc.plan(os.path.join(SOURCE, "examples/mlp.onnx"), at("quarter.onnx"), optimizer="adamw", accumulate=4,
             update=at("apply.onnx"), weights="inputs", budget="none", initial=at("sums.safetensors"))
    sessions = [onnxruntime.InferenceSession(at(name)) for name in ("quarter.onnx", "apply.onnx")]
    trainer, random, seen = mfc.Trainer(sessions[0], at("sums.safetensors"), sessions[1]), np.random.default_rng(1), []
    assert trainer.wanted == ["image", "labels"], trainer.wanted
    batches = [{"image": random.random((32, 64), np.float32), "labels": random.integers(0, 10, 32)} for _ in range(4)]
    for _ in range(10):
        before = {name: value.copy() for name, value in trainer.state.items()}
        seen.append(np.mean([trainer.step(**batch)["loss"] for batch in batches]))
        assert np.array_equal(before["w0"], trainer.state["w0"])
        trainer.update(**{**SETTINGS, "lr": 0.01})
        assert not np.array_equal(before["w0"], trainer.state["w0"])
    assert seen[-1] < seen[0] * 0.8, seen


def main(folder):
    at = lambda name: os.path.join(folder, name)
    mfc.plan(CNN, at("step.onnx"), optimizer="adamw", weights="inputs", budget="200%", method="keep-all", initial=at("start.safetensors"))
    python = [sys.executable, os.path.join(SOURCE, "examples/training/train.py")]
    node = ["node", os.path.join(SOURCE, "examples/training/train.mjs")]
    train(python, folder, "whole", "--steps", "40")
    train(python, folder, "part", "--steps", "17", "--every", "5")
    train(python, folder, "part", "--steps", "40")
    train(node, folder, "node", "--steps", "40")
    whole = losses(at("whole.log"))
    assert len(whole) == 40 and whole[-1] < whole[0] / 5, whole
    assert whole == losses(at("part.log")), "a resumed run differs"
    assert whole == losses(at("node.log")), "Node's losses differ"
    states = [safetensors.load(at(f"{name}.safetensors"))[0] for name in ("whole", "part", "node")]
    for name, value in states[0].items():
        assert all(np.array_equal(value, other[name]) for other in states[1:]), name

    mfc.export(CNN, at("whole.safetensors"), at("trained.onnx"))
    import train as example
    batch, session = example.Data(7).batch(), onnxruntime.InferenceSession(at("trained.onnx"))
    scores, = session.run(None, {"image": batch["image"]})
    correct = float(np.mean(scores.argmax(1) == batch["labels"]))
    assert correct > 0.9, correct

    accumulation(folder)
    with open(at("cut.safetensors"), "wb") as cut, open(at("start.safetensors"), "rb") as start:
        cut.write(start.read()[:-100])
    for bad in ("cut.safetensors", "step.onnx"):
        try:
            mfc.Trainer(onnxruntime.InferenceSession(at("step.onnx")), at(bad))
            raise AssertionError(f"{bad} was taken")
        except ValueError as error:
            assert bad in str(error), error
    print(f"40 steps as in Node, loss {whole[0]:.3f} to {whole[-1]:.3f}, {100 * correct:.0f} % classified correctly")


with tempfile.TemporaryDirectory() as scratch:
    main(scratch)
