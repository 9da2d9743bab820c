"""Trains a model with ONNX Runtime alone, on its training step made by mfc; a template for your own loop:

    mfc examples/training/cnn.onnx -o step.onnx --optimizer adamw --weights inputs --initial start.safetensors
    python3 examples/training/train.py step.onnx start.safetensors -o now.safetensors --steps 200 --set lr=0.01
    mfc export examples/training/cnn.onnx --state now.safetensors -o trained.onnx

The state is saved every --every steps and at the end. When the file of -o is there already, training goes on from it, with
the same losses as if it had never ended. Replace Data by your own; to go on from a checkpoint, the data must be a function
of the number of steps that are done."""
import argparse
import os

import numpy as np
import onnxruntime

import mfc

BATCH, CLASSES, SIDE = 32, 4, 12


class Data:
    """Images of noise with a bright bar, whose position is the class: those of data.mjs."""

    def __init__(self, seed):
        self.x = seed

    def unit(self):
        self.x = (self.x * 1103515245 + 12345) % 2147483648
        return self.x / 2147483648

    def batch(self):
        image, labels = np.zeros((BATCH, 1, SIDE, SIDE), np.float32), np.zeros(BATCH, np.int64)
        for i in range(BATCH):
            labels[i] = label = int(self.unit() * CLASSES)
            for y in range(SIDE):
                for x in range(SIDE):
                    bar = 1 if (x if label < 2 else y) // 3 == (1 if label % 2 else 2) else 0
                    image[i, 0, y, x] = self.unit() - 0.5 + bar
        return {"image": image, "labels": labels}


def main():
    parser = argparse.ArgumentParser(description="Trains a step that mfc made.")
    parser.add_argument("step")
    parser.add_argument("start", help="the state of mfc state, or of --initial")
    parser.add_argument("-o", "--output", default="now.safetensors")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--every", type=int, default=50)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=NUMBER", help="a setting of the optimizer")
    parser.add_argument("--log", help='a file that gets a line "step loss" for each step')
    given = parser.parse_args()
    settings = {"lr": 0.01, "momentum": 0.9, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "weight_decay": 0.01}
    settings.update((name, float(number)) for name, number in (word.split("=") for word in given.set))

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors
    session = onnxruntime.InferenceSession(given.step, options, providers=["CPUExecutionProvider"])
    trainer = mfc.Trainer(session, given.output if os.path.exists(given.output) else given.start)
    done, data = int(trainer.metadata.get("steps", 0)), Data(1)
    for _ in range(done):
        data.batch()
    for i in range(done, given.steps):
        loss = trainer.step(**settings, **data.batch())["loss"]
        if given.log:
            with open(given.log, "a", encoding="utf-8") as log:
                log.write(f"{i} {loss!r}\n")
        if i % 50 == 0 or i + 1 == given.steps:
            print(f"step {i}: loss {loss:.4f}")
        if (i + 1) % given.every == 0 or i + 1 == given.steps:
            trainer.save(given.output, steps=i + 1)


if __name__ == "__main__":
    main()
