"""Seeds for every door, one folder each: seeds.py MFC FOLDER.

Small files as mfc itself writes them, and those of the examples."""
import json
import os
import shutil
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DOORS = ["import", "text", "problem", "state", "schedule", "strategy", "checkpoint", "inputs", "buffers", "verify", "plan_in"]
BUFFERS = "id,lower,upper,size\na,0,4,10\nb,2,6,20\nc,5,9,30\n"
PROFILE = [{"cat": "Session", "name": "model_run", "ts": 0, "dur": 9},
           {"cat": "Node", "name": "h_kernel_time", "ts": 1, "dur": 5, "args": {"op_name": "MatMul", "node_index": "1"}}]


def step_text():
    """The model of step.h."""
    with open(os.path.join(TOP, "tests/fuzz/step.h"), encoding="utf-8") as f:
        return "".join(json.loads(line[line.index('"'):line.rindex('"') + 1]) for line in f if '\\n"' in line)


def main(mfc, folder):
    shutil.rmtree(folder, ignore_errors=True)
    for door in DOORS:
        os.makedirs(os.path.join(folder, door))

    def path(name):
        return os.path.join(folder, name)

    def run(*arguments):
        subprocess.run([mfc, *arguments, "-q"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)

    def read(name):
        with open(os.path.join(TOP, name), "rb") as f:
            return f.read()

    def write(name, *parts):
        with open(path(name), "wb") as f:
            f.write(b"\0".join(p if isinstance(p, bytes) else p.encode() for p in parts))

    for model in "control functions old surroundings types unsorted".split():
        shutil.copy(os.path.join(TOP, f"tests/models/{model}.onnx"), path("import"))
        subprocess.run([mfc, "convert", path(f"import/{model}.onnx"), path(f"text/{model}.mfc")], check=True)
    write("model.mfc", step_text())
    for name, options in {"plain": [], "tight": ["--overhead", "30%"], "lean": ["--runtime", "ort-lean"]}.items():
        run("model.mfc", "-o", f"verify/{name}.onnx", "--json", f"plan_in/{name}.json", "--work", "50", *options)
        run("convert", f"verify/{name}.onnx", f"verify/{name}.mfc")
    run("state", "verify/plain.onnx", "-o", "state/start.safetensors")
    chain, two = read("examples/chain.csv"), read("tests/text/place/Inputs/two.json")
    write("chain.csv", chain)
    write("two.json", two)
    write("problem/csv", b"\1" + chain)
    run("solve", "chain.csv", "--budget", "60%", "--work", "50", "-o", "schedule.json")
    run("place", "two.json", "--work", "300", "-j1", "-o", "strategy.json", "--checkpoint", "checkpoint.json")
    write("schedule/chain", chain, read(path("schedule.json")))
    write("strategy/two", two, read(path("strategy.json")))
    write("checkpoint/two", two, read(path("checkpoint.json")))
    write("problem/json", b"\2" + two)
    write("buffers/small.csv", BUFFERS)
    run("rig", "2xV100-16GB", "-o", "rig.json")
    write("inputs/rig", b"r" + read(path("rig.json")))
    write("inputs/costs", b"c" + read("examples/costs.json"))
    write("inputs/profile", b"p" + json.dumps(PROFILE).encode())


main(*sys.argv[1:])
