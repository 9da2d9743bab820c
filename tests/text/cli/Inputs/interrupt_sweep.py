"""interrupt_sweep.py MFC MODEL FOLDER: starts a sweep that would go on for long, interrupts it in the middle of the search, and
checks what is left: the exit code, and files that hold the points done."""
import csv
import os
import signal
import subprocess
import sys

mfc, model, folder = sys.argv[1:]
table, page = os.path.join(folder, "part.csv"), os.path.join(folder, "part.html")
run = subprocess.Popen([mfc, "sweep", model, "--shape", "image:4x3x16x16", "--budgets", "50%..100%/6", "--methods",
                        "keep-all,recursive,portfolio", "--time", "1000", "--gap", "0", "--progress=always", "--csv", table,
                        "--report", page], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
for line in run.stderr:
    if "portfolio at 80.0 %" in line:
        break
run.send_signal(signal.SIGINT)
out, _ = run.communicate()
rows = list(csv.DictReader(open(table, encoding="utf-8")))
done = [r for r in rows if r["method"] == "portfolio" and r["cost"]]
assert run.returncode == 130, f"exit code {run.returncode}"
assert len(rows) == 18 and 2 <= len(done) <= 3, rows
assert "stopped early" in out and "</html>" in open(page, encoding="utf-8").read()
print(f"exit code {run.returncode}; {rows[0]['method']} costs {rows[0]['overhead']} more")
