#!/usr/bin/python3
"""Every model of a folder becomes a training step that the ONNX checker and ONNX Runtime accept.

    bench/gradient/topologies.py MFC FOLDER [PATTERN]

Models whose weights are external and absent get a sparse file of zeros in their place. Prints a line a model with the time
mfc took and the number of nodes, and a summary. Needs python3-onnx and the packages of tests/runtime.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

import onnx

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SESSION = """
const ort = require('module').createRequire(process.argv[1] + '/x.js')('onnxruntime-node');
ort.InferenceSession.create(process.argv[2], { logSeverityLevel: 3, graphOptimizationLevel: 'disabled' })
  .then((s) => console.log(s.outputNames.length), (e) => { console.error(e.message); process.exit(1); });
"""


def stand_in(model, folder):
    """A sparse file of zeros for every external file that the model names."""
    sizes = {}
    for t in model.graph.initializer:
        if t.data_location == onnx.TensorProto.EXTERNAL:
            e = {x.key: x.value for x in t.external_data}
            end = int(e.get("offset", 0)) + int(e.get("length", 0))
            sizes[e["location"]] = max(sizes.get(e["location"], 0), end)
    for name, size in sizes.items():
        with open(os.path.join(folder, name), "wb") as f:
            f.truncate(size)


def check(mfc, path, folder):
    copy = os.path.join(folder, os.path.basename(path))
    shutil.copy(path, copy)
    stand_in(onnx.load(copy, load_external_data=False), folder)
    step = os.path.join(folder, "step.onnx")
    start = time.monotonic()
    batch = ["--batch", "8"] if "-bN-" in path else []
    subprocess.run([mfc, copy, "-o", step, "--budget", "none", "-q", *batch], check=True, capture_output=True, text=True)
    seconds = time.monotonic() - start
    onnx.checker.check_model(step)
    subprocess.run(["node", "-e", SESSION, os.path.join(TOP, "tests/runtime"), step], check=True, capture_output=True,
                   text=True)
    return seconds, len(onnx.load(step, load_external_data=False).graph.node)


def main():
    mfc, folder, pattern = os.path.abspath(sys.argv[1]), sys.argv[2], (sys.argv[3:] or [""])[0]
    good = bad = 0
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".onnx") or pattern not in name:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            try:
                seconds, nodes = check(mfc, os.path.join(folder, name), scratch)
                good += 1
                print(f"ok   {name:48} {nodes:6} nodes {seconds:6.2f} s", flush=True)
            except subprocess.CalledProcessError as e:
                bad += 1
                print(f"FAIL {name:48} {e.stderr.strip()[:300]}", flush=True)
            except Exception as e:  # the checker has several kinds of its own
                bad += 1
                print(f"FAIL {name:48} {str(e)[:300]}", flush=True)
    print(f"{good} passed, {bad} failed")
    return 1 if bad else 0


sys.exit(main())
