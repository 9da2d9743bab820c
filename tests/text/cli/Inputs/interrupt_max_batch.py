"""interrupt_max_batch.py MFC MODEL JSON: starts a search for the largest batch that would go on for long, interrupts it in the middle
of the last method, and checks what is left: the exit code, the table, and a file that holds what was found."""
import json
import signal
import subprocess
import sys

mfc, model, path = sys.argv[1:]
run = subprocess.Popen([mfc, "max-batch", model, "--budget", "1MiB", "--methods", "keep-all,recursive,portfolio", "--time", "1000",
                        "--gap", "0", "--progress=always", "--json", path], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
n_tried = 0
for line in run.stderr:
    n_tried += "portfolio with a batch of" in line
    if n_tried == 3:
        break
run.send_signal(signal.SIGINT)
out, _ = run.communicate()
found = json.load(open(path, encoding="utf-8"))
batch = {m["name"]: m["batch"] for m in found["methods"]}
assert found["interrupted"] and list(batch) == ["keep-all", "recursive", "portfolio"], found
assert 0 < batch["keep-all"] <= batch["recursive"], found
print(f"exit code {run.returncode}\n{out}")
