"""interrupt.py MFC MODEL SIGNAL PLAN: starts a search that would go on for long, sends the signal when it has its
first schedule, and shows what is left: the exit code, and a plan that verifies."""
import json
import os
import signal
import subprocess
import sys

mfc, model, name, plan = sys.argv[1:]
if os.path.exists(plan):
    os.remove(plan)
run = subprocess.Popen([mfc, model, "-o", plan, "--budget", "60%", "--runtime", "file-order", "--gap", "0",
                        "--time", "1000", "--progress=json"],
                       stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
for line in run.stderr:
    if line.startswith("{") and json.loads(line).get("cost") is not None:
        break
run.send_signal(getattr(signal, name))
run.stderr.read()
print("exit code", run.wait())
sys.stdout.flush()
subprocess.run([mfc, "verify", model, plan], check=True)
