"""kill.py MFC SOURCE N: examples/training/train.mjs is killed at N instants and started again each time. The losses must be those
of a run that nobody disturbed, to the last bit, and so must be the state at the end."""
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

mfc, source, n_kills = sys.argv[1], sys.argv[2], int(sys.argv[3])
STEPS = 120
rng = random.Random(5)
environment = {**os.environ, "MFC_NODE_MODULES": os.path.join(source, "tests", "runtime")}


def command(folder, name):
    path = lambda end: os.path.join(folder, name + end)
    return ["node", os.path.join(source, "examples/training/train.mjs"), os.path.join(folder, "step.onnx"),
            os.path.join(folder, "start.safetensors"), "-o", path(".safetensors"), "--log", path(".log"), "--steps", str(STEPS),
            "--every", "1", "--set", "lr=0.002"]


def losses(path):
    """By step; a step that ran twice must have had the same loss both times."""
    found = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            for line in f.read().split("\n")[:-1]:
                step, loss = line.split()
                assert found.setdefault(int(step), loss) == loss, f"step {step}: {loss}, before {found[int(step)]}"
    return found


def content(path):
    with open(path, "rb") as f:
        return f.read()


with tempfile.TemporaryDirectory() as folder:
    subprocess.run([mfc, os.path.join(source, "examples/training/cnn.onnx"), "-o", os.path.join(folder, "step.onnx"),
                    "--optimizer", "adamw", "--weights", "inputs", "--initial", os.path.join(folder, "start.safetensors"),
                    "--budget", "none", "-q"], check=True)
    subprocess.run(command(folder, "whole"), env=environment, check=True, stdout=subprocess.DEVNULL)
    killed = 0
    while True:
        before = len(losses(os.path.join(folder, "part.log")))
        process = subprocess.Popen(command(folder, "part"), env=environment, stdout=subprocess.DEVNULL)
        log = os.path.join(folder, "part.log")
        if killed == n_kills:
            assert process.wait() == 0
            break
        # Somewhere in the part of the run that this kill may use up.
        goal = before + rng.randrange(1, max(2, (STEPS - before) // (n_kills - killed + 1) + 1))
        while process.poll() is None and len(losses(log)) < goal:
            time.sleep(0.002)
        time.sleep(rng.random() * 0.004)
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
        if process.returncode == 0:
            break
    want, got = losses(os.path.join(folder, "whole.log")), losses(os.path.join(folder, "part.log"))
    same = content(os.path.join(folder, "whole.safetensors")) == content(os.path.join(folder, "part.safetensors"))
    print(f"{killed} kills, {len(got)} steps: losses {'equal' if got == want else 'DIFFER'}, "
          f"states {'equal' if same else 'DIFFER'}")
    sys.exit(got != want or not same or len(want) != STEPS or killed < n_kills // 2)
