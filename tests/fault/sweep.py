"""Makes every call of a kind fail, one after the other, in each command, by faults.c.

    sweep.py MFC FAULTS SCRATCH KINDS [RUNS [CASE...]]

KINDS is a list such as alloc,write. For the k-th call, once and (allocations) from there on, the command must end as it
does without a fault, with the same files, or with the exit code of the fault (9 for allocations, 8 for files), an
"error: ..." on standard error, every older output as it was, and nothing else in the folder. RUNS limits how many calls
of a kind fail in a case, spread evenly; 0: all."""
import collections
import os
import shutil
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLES = os.path.join(TOP, "examples")
HOWS = {"read": ["EIO", "EINTR", "short"], "write": ["EIO", "ENOSPC", "EINTR", "short"], "alloc": ["", "+"]}
BUFFERS = "id,lower,upper,size\na,0,4,10\nb,2,6,20\nc,5,9,30\n"
SMALL = """mfc 1
opset 17
graph "m" {
  input %x : f32[4,8]
  param %w : f32[8,4] = {W}
  param %v : f32[4,3] = {V}
  %h = MatMul(%x, %w)
  %a = Relu(%h)
  %y = MatMul(%a, %v)
  output %y
}
""".replace("{W}", "{" + ",".join(["0.5"] * 32) + "}").replace("{V}", "{" + ",".join(["0.5"] * 12) + "}")
WORK = ["--work", "300", "--threads", "1"]

# name -> (arguments, outputs): files of the folder that setup() makes
CASES = {
    "import": (["convert", "m.onnx", "out.mfc"], ["out.mfc"]),
    "export": (["convert", "m.mfc", "out.onnx"], ["out.onnx"]),
    "external": (["convert", "elsewhere/big.mfc", "out.onnx"], ["out.onnx"]),
    "inspect": (["inspect", "m.onnx", "--json", "out.json"], ["out.json"]),
    "plan": (["m.onnx", "-o", "out.onnx", "--overhead", "5%"] + WORK, ["out.onnx"]),
    "report": (["m.onnx", "-o", "out.onnx", "--report", "out.html", "--json", "out.json", "--trace", "out.trace"] + WORK,
               ["out.onnx", "out.html", "out.json", "out.trace"]),
    "devices": (["m.onnx", "-o", "out.onnx", "--rig", "2xV100-16GB"] + WORK, ["out.onnx"]),
    "verify": (["verify", "m.onnx", "plan.onnx", "--json", "out.json"], ["out.json"]),
    "why": (["why", "plan.onnx", "h", "--json", "out.json"], ["out.json"]),
    "split": (["split", "placed.onnx", "out"], []),
    "solve": (["solve", "chain.csv", "--budget", "60%", "-o", "out.json"] + WORK, ["out.json"]),
    "ilp": (["solve", "chain.csv", "--budget", "60%", "--order", "given", "--method", "ilp", "-o", "out.json"] + WORK,
            ["out.json"]),
    "replay": (["verify", "chain.csv", "schedule.json"], []),
    "place": (["place", "placement.json", "-o", "out.json"] + WORK, ["out.json"]),
    "alloc": (["alloc", "buffers.csv", "-o", "out.csv"], ["out.csv"]),
    "sweep": (["sweep", "m.onnx", "--csv", "out.csv", "--budgets", "90%..100%/2"] + WORK, ["out.csv"]),
    "rig": (["rig", "2xV100-16GB", "-o", "out.json"], ["out.json"]),
}


def run(mfc, arguments, folder, environment=None, **more):
    return subprocess.run([mfc, *arguments], cwd=folder, env={**os.environ, **(environment or {})},
                          capture_output=True, stdin=subprocess.DEVNULL, **more)


def setup(mfc, folder):
    """Inputs of all cases; an input that cannot be made is a failure."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(os.path.join(folder, "elsewhere"))

    def write(name, text):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)

    write("m.mfc", SMALL)
    write("buffers.csv", BUFFERS)
    write("elsewhere/big.mfc", SMALL.replace("{" + ",".join(["0.5"] * 32) + "}",
                                             'external{location="w", offset="0", length="128"}'))
    write("elsewhere/w", "x" * 128)
    shutil.copy(os.path.join(EXAMPLES, "chain.csv"), folder)
    shutil.copy(os.path.join(TOP, "tests/text/place/Inputs/two.json"), os.path.join(folder, "placement.json"))
    for arguments in (["convert", "m.mfc", "m.onnx"],
                      ["m.onnx", "-o", "plan.onnx", *WORK],
                      ["m.onnx", "-o", "placed.onnx", "--rig", "2xV100-16GB", *WORK],
                      ["solve", "chain.csv", "--budget", "60%", "-o", "schedule.json", *WORK]):
        done = run(mfc, arguments, folder)
        if done.returncode:
            sys.exit(f"{arguments}: exit code {done.returncode}\n{done.stderr.decode()}")


def files(folder):
    found = {}
    for root, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(root, name)
            with open(path, "rb") as f:
                found[os.path.relpath(path, folder)] = f.read()
    return found


class Case:
    def __init__(self, mfc, faults, folder, name):
        self.mfc, self.faults, self.folder, self.name = mfc, faults, folder, name
        self.arguments, self.outputs = CASES[name]
        self.before = files(folder)
        self.before.update({o: b"old" for o in self.outputs})
        self.reset()
        self.code = run(mfc, self.arguments, folder).returncode
        self.after = files(folder)
        self.reset()
        run(mfc, self.arguments, folder)
        again = files(folder)
        self.varies = {p for p in self.after if again.get(p) != self.after[p]}  # times are in it

    def reset(self):
        now = files(self.folder)
        for path in now.keys() - self.before.keys():
            os.unlink(os.path.join(self.folder, path))
        shutil.rmtree(os.path.join(self.folder, "out"), ignore_errors=True)
        for path, text in self.before.items():
            if now.get(path) != text:
                with open(os.path.join(self.folder, path), "wb") as f:
                    f.write(text)

    def count(self, kind):
        path = os.path.join(self.folder, "..", "count")
        self.attempt(f"{kind}:999999999", path)
        self.reset()
        with open(path, encoding="utf-8") as f:
            return int(f.read())

    def attempt(self, fault, count=None):
        environment = {"MFC_FAULT": fault, "LD_PRELOAD": self.faults}
        if count:
            environment["MFC_FAULT_COUNT"] = count
        return run(self.mfc, self.arguments, self.folder, environment, timeout=120)

    def judge(self, done, expected):
        """What is wrong after a run with a fault; None: nothing."""
        now = files(self.folder)
        extra = now.keys() - self.before.keys() - self.after.keys()
        if extra:
            return f"left behind: {sorted(extra)}"
        if done.returncode == self.code:
            changed = [p for p in self.after if now.get(p) != self.after[p] and p not in self.varies]
            lost = [o for o in self.outputs if now.get(o) == b"old"]
            return f"files not as without a fault: {changed + lost}" if changed + lost else None
        if done.returncode != expected:
            return f"exit code {done.returncode}"
        if b"error: " not in done.stderr:
            return "no message"
        changed = [p for p in self.before if now.get(p) != self.before[p]]
        if changed or now.keys() - self.before.keys():
            return f"failed, and changed: {changed} {sorted(now.keys() - self.before.keys())}"
        return None


def main(mfc, faults, scratch, kinds, max_runs="0", *names):
    max_runs, failed, n_runs = int(max_runs), 0, 0
    for number, name in enumerate(names or CASES):
        folder = os.path.join(scratch, name)
        setup(mfc, folder)
        case = Case(mfc, faults, folder, name)
        for kind in kinds.split(","):
            n, codes = case.count(kind), collections.Counter()
            stride = -(-n // max_runs) if max_runs and n else 1
            for how in HOWS.get(kind, ["EIO"]):
                for k in range(1 + number % stride, n + 1, stride):
                    fault = f"{kind}:{k}{how}" if kind == "alloc" else f"{kind}:{k}:{how}"
                    try:
                        done = case.attempt(fault)
                        problem = case.judge(done, 9 if kind == "alloc" else 8)
                        codes[done.returncode] += 1
                    except subprocess.TimeoutExpired:
                        problem = "does not end"
                    n_runs += 1
                    if problem:
                        failed += 1
                        print(f"FAIL {name} {fault}: {problem}: "
                              f"{done.stderr.decode(errors='replace').strip()[-200:]}", flush=True)
                    case.reset()
            print(f"{name}: {n} calls of {kind}, exit codes {dict(sorted(codes.items()))}", flush=True)
    print(f"{n_runs} runs, {failed} failed")
    sys.exit(failed > 0 or n_runs == 0)


main(*sys.argv[1:])
