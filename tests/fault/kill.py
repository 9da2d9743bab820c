"""Kills mfc with SIGKILL at random moments while it writes, and looks at what is there: the target must
be the old model or the new one, whole, with the data that it names.

    kill.py MFC SCRATCH [KILLS]

Two models take turns at one path. They come once with their weights inside, and once with weights in
a file elsewhere, which mfc has to copy, so that the target consists of two files. Moments are spread
over the time that a run takes; that time is learned on the way, for it depends on what else the
machine does. A run that ends before its moment does not count."""
import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import onnx

MB = 1 << 20
SIZE = 16 * MB


def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def make(folder, name, external):
    """A model with one large weight of random bytes."""
    os.makedirs(folder)
    bytes_ = random.Random(name).randbytes(SIZE)
    t = onnx.TensorProto(name="w", dims=[SIZE // 4], data_type=onnx.TensorProto.FLOAT)
    if external:
        t.data_location = onnx.TensorProto.EXTERNAL
        t.external_data.add(key="location", value="w.bin")
        with open(os.path.join(folder, "w.bin"), "wb") as f:
            f.write(bytes_)
    else:
        t.raw_data = bytes_
    io = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Add", ["x", "w"], ["y"])], name,
        [io("x", onnx.TensorProto.FLOAT, [SIZE // 4])], [io("y", onnx.TensorProto.FLOAT, None)], [t])
    path = os.path.join(folder, "m.onnx")
    onnx.save(onnx.helper.make_model(graph), path)
    return path


def state(target):
    """What is at the target: a digest of the model and of the files that it names."""
    parts = [digest(target)]
    with open(target, "rb") as f:
        model = onnx.ModelProto.FromString(f.read())
    for t in model.graph.initializer:
        for entry in t.external_data:
            if entry.key == "location":
                parts.append(digest(os.path.join(os.path.dirname(target), entry.value)))
    return tuple(parts)


def rounds(mfc, scratch, external, n):
    name = "external" if external else "inline"
    out = os.path.join(scratch, name, "out")
    target = os.path.join(out, "plan.onnx")
    models = [make(os.path.join(scratch, name, m), m, external) for m in ("a", "b")]
    os.makedirs(out)
    whole, span = [], 0
    for model in models:  # what the target looks like after a run that nobody disturbed
        start = time.monotonic()
        subprocess.run([mfc, "convert", model, target], check=True)
        span = time.monotonic() - start
        whole.append(state(target))
    assert whole[0] != whole[1]
    draw = random.Random(1)
    n_runs = n_killed = n_new = 0
    now = 1
    while n_killed < n and n_runs < 10 * n:
        child = subprocess.Popen([mfc, "convert", models[1 - now], target])
        time.sleep(draw.random() * span)
        child.send_signal(signal.SIGKILL)
        killed = child.wait() == -signal.SIGKILL
        span *= 1.02 if killed else 0.95
        found = state(target)
        if found not in whole:
            sys.exit(f"{name}, run {n_runs}: the target is neither of the two models")
        n_runs += 1
        n_killed += killed
        n_new += killed and found != whole[now]
        now = whole.index(found)
    litter = len(os.listdir(out)) - 1 - external
    subprocess.run([mfc, "convert", models[1 - now], target], check=True)
    left = [f for f in os.listdir(out) if f.endswith(".data")]
    if state(target) != whole[1 - now] or len(left) != external:
        sys.exit(f"{name}: the run after the kills left {sorted(os.listdir(out))}")
    print(f"{name}: killed {n_killed} times in {n_runs} runs: {n_killed - n_new} times the old model was "
          f"there, {n_new} times the new one, always whole; {litter} other files were left")
    if n_killed < n:
        sys.exit("too few of the runs were killed")


def main(mfc, scratch, n=100):
    shutil.rmtree(scratch, ignore_errors=True)
    for external in (False, True):
        rounds(mfc, scratch, external, int(n))
    shutil.rmtree(scratch)


if __name__ == "__main__":
    main(*sys.argv[1:])
