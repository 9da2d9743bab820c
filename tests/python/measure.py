"""measure.py MFC SOURCE: examples/measure.py, with the stand-in of this folder: a plan needs what it promises, the baseline step
more, and claims are read from plans as mfc reports them."""
import json
import os
import subprocess
import sys
import tempfile

import mfc

MFC, SOURCE = sys.argv[1:3]
UNET = os.path.join(SOURCE, "examples/unet.onnx")
MIB = 1 << 20

with tempfile.TemporaryDirectory() as folder:
    plan, step = (os.path.join(folder, name) for name in ("plan.onnx", "step.onnx"))
    made = mfc.plan(UNET, plan, budget="60%", method="keep-all")
    mfc.plan(UNET, step, budget="none")
    claims = mfc.claims(plan)
    assert {name: claims[name] for name in ("peak_bytes", "session_bytes", "cost")} == \
           {"peak_bytes": made.peak_bytes, "session_bytes": made.session_bytes, "cost": made.cost}, claims
    program = [sys.executable, os.path.join(SOURCE, "examples/measure.py"), plan, step, "--runs", "3"]
    planned, baseline = json.loads(subprocess.run([*program, "--json"], check=True, stdout=subprocess.PIPE).stdout)
    worst = [max(run["peak_bytes"] for run in one["runs"]) for one in (planned, baseline)]
    promised = planned["promised_bytes"]
    print(f"promised {promised / MIB:.0f} MiB, measured {worst[0] / MIB:.0f}; baseline step {worst[1] / MIB:.0f}")
    # Python's own memory is in what is measured.
    assert 0.8 * promised < worst[0] < 1.05 * promised + 8 * MIB, "the promise is not what is measured"
    assert worst[1] > 1.5 * worst[0], "the baseline step needs no more"
    table = subprocess.run(program, check=True, stdout=subprocess.PIPE, text=True).stdout
    assert len(table.splitlines()) == 3 and f" {promised / MIB:.0f} " in table, table
