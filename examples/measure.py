"""Measures plans with the package onnxruntime, for those who do not believe mfc; measure.mjs is the same for Node.

    mfc model.onnx -o plan.onnx
    mfc model.onnx -o step.onnx --budget none
    python3 examples/measure.py plan.onnx step.onnx

Each step runs in a process of its own with the default options of ONNX Runtime. The table has what the plan promises (its
peak, and the session), and per run the peak memory of the process over the loaded library, and the processor time. The runs
ask for the smallest output alone (ONNX Runtime computes all of them anyway). Memory is read from /proc: Linux only."""
import argparse
import gc
import json
import os
import re
import resource
import subprocess
import sys

MIB = 1 << 20
LEVELS = {"disabled": "ORT_DISABLE_ALL", "basic": "ORT_ENABLE_BASIC", "extended": "ORT_ENABLE_EXTENDED", "all": "ORT_ENABLE_ALL"}
TYPES = {"float": "float32", "double": "float64", "float16": "float16", "bool": "bool"}


def memory():
    """Bytes now, and at most since the last reset, without the pages of files."""
    with open("/proc/self/status", encoding="ascii") as f:
        field = {name: int(kib) * 1024 for name, kib in re.findall(r"(\w+):\s+(\d+) kB", f.read())}
    return field["RssAnon"] + field["RssShmem"], field["VmHWM"] - field["RssFile"]


def made_up(np, entry):
    """Small random floats, integers 0 and 1, the same in every run."""
    if not all(isinstance(d, int) and d >= 0 for d in entry.shape):
        raise SystemExit(f"input {entry.name}: the shape {entry.shape} is open; set it with mfc --dim first")
    kind = entry.type[len("tensor("):-1]
    random = np.random.default_rng(1)
    if kind in ("float", "double", "float16"):
        wide = 2 / max(1, int(np.prod(entry.shape[1:]))) ** 0.5 if len(entry.shape) > 1 else 1
        values = random.random(entry.shape) - (0.5 if len(entry.shape) > 1 else 0)
        return (values * wide).astype(TYPES[kind])
    return (np.arange(int(np.prod(entry.shape))) % 2).astype(TYPES.get(kind, kind)).reshape(entry.shape)


def run(job):
    """The measured process."""
    import numpy as np
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 3, job["threads"]
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, LEVELS[job["level"]])
    base, runs = memory()[0], []
    session = onnxruntime.InferenceSession(job["step"], options, providers=["CPUExecutionProvider"])
    feeds = {entry.name: made_up(np, entry) for entry in session.get_inputs()}
    smallest = min(session.get_outputs(), key=lambda o: int(np.prod(o.shape)) if all(isinstance(d, int) for d in o.shape) else 1 << 62)
    for _ in range(job["runs"]):
        gc.collect()
        with open("/proc/self/clear_refs", "w", encoding="ascii") as f:
            f.write("5")
        before = resource.getrusage(resource.RUSAGE_SELF)
        session.run([smallest.name], feeds)
        after = resource.getrusage(resource.RUSAGE_SELF)
        cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        runs.append({"peak_bytes": memory()[1] - base, "cpu_s": cpu_s})
    return runs


def measure(step, given):
    import mfc
    job = json.dumps({"step": step, "runs": given.runs, "level": given.level, "threads": given.threads})
    done = subprocess.run([sys.executable, os.path.abspath(__file__), "--child"], input=job, stdout=subprocess.PIPE, text=True,
                          check=False)
    if done.returncode:
        raise SystemExit(f"{step} does not run")
    claims = mfc.claims(step)
    session = claims.get("session_bytes", 0) if claims.get("session") == "apart" else 0
    promised = claims["peak_bytes"] + session if "peak_bytes" in claims else None
    return {"step": step, "promised_bytes": promised, "runs": json.loads(done.stdout)}


def show(results):
    rows = [["MiB", "promised", *(f"run {i + 1}" for i in range(len(results[0]["runs"]))), "seconds"]]
    for r in results:
        rows.append([r["step"], *("-" if n is None else f"{n / MIB:.0f}" for n in
                                  [r["promised_bytes"], *(x["peak_bytes"] for x in r["runs"])]),
                     f"{min(x['cpu_s'] for x in r['runs']):.2f}"])
    wide = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.rjust(wide[k]) if k else cell.ljust(wide[k]) for k, cell in enumerate(row)))


def main():
    parser = argparse.ArgumentParser(description="Measures steps on ONNX Runtime.")
    parser.add_argument("steps", nargs="+", metavar="STEP.onnx")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--level", choices=LEVELS, default="all")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    results = [measure(step, given) for step in given.steps]
    if given.json:
        print(json.dumps(results, indent=1))
    else:
        show(results)


if __name__ == "__main__":
    if sys.argv[1:] == ["--child"]:
        print(json.dumps(run(json.load(sys.stdin))))
    else:
        main()
