"""interrupt.py MFC SIGNAL FILE [OPTION...]: starts a search that would go on for long, sends the signal when
it has its first schedule, and checks what is left: the exit code, and a schedule that verifies."""
import json
import random
import signal
import subprocess
import sys

mfc, name, path, *options = sys.argv[1:]
number = getattr(signal, name)
rng = random.Random(4)
n = 200
nodes = [{"cost": rng.randrange(1, 1000), "bytes": rng.randrange(100, 6000)} for _ in range(n)]
edges = sorted({(max(0, i - rng.randrange(1, 40)), i) for i in range(1, n) for _ in range(2)})
with open(path + ".problem.json", "w") as f:
    json.dump({"format": "mfc-problem", "version": 1, "nodes": nodes, "edges": [list(e) for e in edges]}, f)

run = subprocess.Popen([mfc, "solve", path + ".problem.json", "--budget", "80%", "--gap", "0", "--time", "1000",
                        "--progress=json", "-o", path, *options],
                       stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
for line in run.stderr:
    if json.loads(line)["cost"] is not None:
        break
run.send_signal(number)
run.stderr.read()
code = run.wait()
assert code == 128 + number, f"exit code {code}"
done = subprocess.run([mfc, "verify", path + ".problem.json", path], capture_output=True, text=True)
print(f"exit code {code}; {done.stdout.splitlines()[0] if done.stdout else done.stderr}")
