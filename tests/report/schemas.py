"""schemas.py MFC SOURCE SCRATCH: what the commands write as JSON follows the schemas in docs/schemas, and the schemas say
something: a document that lacks a member, or has one of another kind, does not pass. Traces must also make sense."""
import json
import os
import re
import shutil
import subprocess
import sys

import jsonschema

mfc, source, scratch = sys.argv[1:]
os.makedirs(scratch, exist_ok=True)
folder = os.path.join(source, "docs", "schemas")
example = os.path.join(source, "examples")
store = {}
for file in sorted(os.listdir(folder)):
    with open(os.path.join(folder, file), encoding="utf-8") as f:
        store[file] = json.load(f)
    jsonschema.Draft202012Validator.check_schema(store[file])
used, n_bad = set(), 0


def complain(text):
    global n_bad
    n_bad += 1
    print("WRONG", text)


def validator(name):
    file = f"{name}.schema.json"
    used.add(file)
    resolver = jsonschema.RefResolver("", store[file], store=store)
    return jsonschema.Draft202012Validator(store[file], resolver=resolver)


def check(name, document):
    v = validator(name)
    for error in list(v.iter_errors(document))[:5]:
        complain(f"{name}: {'/'.join(map(str, error.absolute_path))}: {error.message[:200]}")
    # The schema must notice damage of any required member.
    for member in store[f"{name}.schema.json"]["required"]:
        without = {k: x for k, x in document.items() if k != member}
        kinds = [{**document, member: other} for other in ({"no": "such thing"}, -0.5)]
        if v.is_valid(without) or all(v.is_valid(k) for k in kinds):
            complain(f"{name} does not notice what became of {member}")
    print("ok   ", name)


def run(*arguments, out=None, exits=0):
    path = out and os.path.join(scratch, out)
    got = subprocess.run([mfc, *[path if a == "OUT" else a for a in arguments]], capture_output=True, text=True)
    if got.returncode != exits:
        complain(f"{arguments}: exit code {got.returncode}: {got.stderr}")
    if not path:
        return json.loads(got.stdout)
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def check_trace(trace):
    ends, arrows, slices = {}, {}, 0
    for e in trace["traceEvents"]:
        if e["ph"] == "X":
            slices += 1
            lane = (e["pid"], e["tid"])
            if e["ts"] < ends.get(lane, 0) - 1e-6:
                complain(f"trace: {e['name']} begins before the one before it has ended")
            ends[lane] = e["ts"] + e["dur"]
        elif e["ph"] == "s":
            arrows[e["id"]] = e
        elif e["ph"] == "f":
            start = arrows.pop(e["id"])
            if start["ts"] > e["ts"] + 1e-6 or start["pid"] == e["pid"]:
                complain(f"trace: arrow {e['id']} goes back in time or nowhere")
    if arrows or not slices:
        complain(f"trace: {slices} slices, {len(arrows)} arrows without an end")


devices = """mfc 1
opset 17
device "one"
device "t<w>o \\"2\\""
graph "g" {
  input %x : f32[4]
  %a = Exp(%x) : f32[4] cost=1500 @one
  %b = Neg(%a) : f32[4] cost=10 @one
  %"c\\x01\\xff" = Abs(%a) : f32[4] cost=10 @"t<w>o \\"2\\""
  %a.1 = Exp(%x) : f32[4] cost=1500 again(%a) @one
  %d = Sum(%b, %"c\\x01\\xff", %a.1) : f32[4] cost=10 @one
  output %d
}
"""
with open(os.path.join(scratch, "devices.mfc"), "w", encoding="utf-8") as f:
    f.write(devices)

plan = [os.path.join(example, "mlp.onnx"), "-o", os.path.join(scratch, "plan.onnx"), "--work", "100"]
check("mfc-plan", run(*plan, "--json", "-"))
trace = run(*plan, "--trace", "OUT", out="trace.json")
check("mfc-trace", trace)
check_trace(trace)
check("mfc-why", run("why", os.path.join(scratch, "plan.onnx"), "h0", "--json", "-"))
check("mfc-why", run("why", os.path.join(scratch, "plan.onnx"), "image", "--json", "-"))
check("mfc-curves", run("sweep", os.path.join(example, "mlp.onnx"), "--budgets", "50%..100%/3", "--methods", "keep-all,portfolio",
                        "--work", "50", "-q", "--json", "-"))
check("mfc-max-batch", run("max-batch", os.path.join(example, "mlp.onnx"), "--budget", "200kB", "--methods", "keep-all,portfolio",
                           "--work", "50", "-q", "--json", "-"))
# No pass: the text is the plan, with devices and repetitions as written.
text = [os.path.join(scratch, "devices.mfc"), "--passes", "sort", "-o", os.path.join(scratch, "out.mfc")]
trace = run(*text, "--trace", "OUT", out="devices.json")
check("mfc-trace", trace)
check_trace(trace)
phases = [e["ph"] for e in trace["traceEvents"]]
names = {e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "process_name"}
if phases.count("s") != 2 or phases.count("X") != 5 or names != {"one", 't<w>o "2"'}:
    complain(f"trace of two devices: {phases} {names}")
document = run(*text, "--json", "-")
check("mfc-plan", document)
if document["order"] != ["a", "b", "c\x01\ufffd", "a", "d"] or document["recomputations"] != 1 or document["span"] != 3020:
    complain(f"plan of two devices: {document}")
placed = run(os.path.join(example, "mlp.onnx"), "-o", os.path.join(scratch, "placed.onnx"), "--rig", "2xV100-16GB", "--work", "2000",
             "-q", "--trace", os.path.join(scratch, "placed.trace.json"), "--json", "-")
check("mfc-plan", placed)
if not placed["makespan"] or not placed["peak_bytes"] or placed["devices"][0]["memory_bytes"] != 16 << 30:
    complain(f"plan on devices: {placed}")
with open(os.path.join(scratch, "placed.trace.json"), encoding="utf-8") as f:
    trace = json.load(f)
check("mfc-trace", trace)
check_trace(trace)
check("mfc-inspection", run("inspect", os.path.join(example, "resnet.onnx"), "--json", "-"))
buffers = os.path.join(scratch, "buffers.csv")
with open(buffers, "w", encoding="utf-8") as f:
    f.write("id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\n")
check("mfc-allocation", run("alloc", buffers, "--work", "100", "--json", "-"))
check("mfc-allocation", run("alloc", buffers, "--capacity", "4", "--json", "-", exits=5))
mlp = os.path.join(example, "mlp.onnx")
check("mfc-layout", run("layout", mlp, "--streams", "2", "--layout", "OUT", out="layout.json"))
check("mfc-comparison", run("layout", mlp, "--compare", "--time", "0.1", "--form", "json"))
chain = os.path.join(example, "chain.csv")
check("mfc-schedule", run("solve", chain, "--budget", "50%", "--work", "2000", "-o", "OUT", out="schedule.json"))
check("mfc-schedule", run("solve", chain, "--budget", "10MiB", "-o", "OUT", out="none.json", exits=5))
check("mfc-sweep", run("solve", chain, "--sweep", "60%..100%/3", "--work", "500", "-o", "OUT", out="sweep.json"))
check("mfc-matrices", run("solve", chain, "--work", "500", "--matrices", "OUT", out="matrices.json"))
two = os.path.join(source, "tests", "text", "place", "Inputs", "two.json")
check("mfc-strategy", run("place", two, "--work", "200", "-o", "OUT", out="strategy.json"))
check("mfc-rig", run("rig", "2xV100-16GB"))
parts = os.path.join(scratch, "parts")
shutil.rmtree(parts, ignore_errors=True)
subprocess.run([mfc, "split", os.path.join(scratch, "devices.mfc"), parts], check=True)
with open(os.path.join(parts, "manifest.json"), encoding="utf-8") as f:
    check("mfc-split", json.load(f))
with open(os.path.join(example, "costs.json"), encoding="utf-8") as f:
    check("mfc-costs", json.load(f))
with open(two, encoding="utf-8") as f:
    check("mfc-problem", json.load(f))
check("mfc-problem", {"format": "mfc-problem", "version": 1, "nodes": [{"cost": 1, "bytes": 2}, {"cost": {"gpu": 3}, "bytes": 1}],
                      "edges": [[0, 1]]})
check("mfc-schedule", run("solve", chain, "--budget", "50%", "--work", "500", "-q", "--json", "-"))
check("mfc-strategy", run("place", two, "--work", "200", "--json", "-"))
check("mfc-strategy", run("simulate", two, os.path.join(scratch, "strategy.json"), "--json", "-"))
check("mfc-comparison", run("layout", mlp, "--compare", "--time", "0.1", "--json", "-"))
check("mfc-layout", run("layout", mlp, "--json", "-"))
check("mfc-rig", run("rig", "2xV100-16GB", "--json", "-"))
check("mfc-rigs", run("rig", "--json", "-"))
check("mfc-inspection", run("opt", mlp, "--passes", "upgrade,shapes", "--json", "-"))
check("mfc-inspection", run("convert", mlp, os.path.join(scratch, "mlp.mfc"), "--json", "-"))
shutil.rmtree(parts)
check("mfc-split", run("split", os.path.join(scratch, "devices.mfc"), parts, "--json", "-"))
for one in run("explain", "--json", "-")["diagnostics"]:
    check("mfc-diagnostics", run("explain", one["code"], "--json", "-"))
check("mfc-verification", run("verify", chain, os.path.join(scratch, "schedule.json"), "--json", "-"))
right = run("verify", mlp, os.path.join(scratch, "plan.onnx"), "--json", "-")
other = run("verify", os.path.join(example, "resnet.onnx"), os.path.join(scratch, "plan.onnx"), "--json", "OUT", out="other.json", exits=10)
for one in right, other:
    check("mfc-verification", one)
if not right["right"] or right["problems"] or other["right"] or not other["problems"]:
    complain(f"verifications: {right} {other}")

# From training and back.
step, start, trained = (os.path.join(scratch, f) for f in ("step.onnx", "start.safetensors", "trained.onnx"))
subprocess.run([mfc, os.path.join(example, "mlp.onnx"), "-o", step, "-q", "--budget", "none", "--optimizer", "adamw"], check=True)
check("mfc-state", run("state", step, "-o", start, "--json", "-"))
check("mfc-export", run("export", os.path.join(example, "mlp.onnx"), "--state", start, "-o", trained, "--json", "-"))

# Every command that mfc --help lists has --json.
listed = subprocess.run([mfc, "--help"], capture_output=True, text=True).stdout.split("Commands (")[1].split("\n\n")[0]
commands = re.findall(r"^  (\S+)", listed, re.M)
if len(commands) < 15:
    complain(f"only {len(commands)} commands listed: {commands}")
for command in commands:
    if "--json" not in subprocess.run([mfc, command, "--help"], capture_output=True, text=True).stdout:
        complain(f"no --json: {command}")

for arguments in (["solve", chain, "--budget", "60%", "--work", "500"], ["place", two, "--work", "200"],
                  ["sweep", mlp, "--budgets", "70%..100%/2", "--methods", "keep-all,portfolio", "--work", "50"],
                  ["max-batch", mlp, "--budget", "200kB", "--methods", "keep-all", "--work", "50"], plan):
    lines = subprocess.run([mfc, *arguments, "--progress=json"], capture_output=True, text=True).stderr.splitlines()
    lines = [json.loads(line) for line in lines if line.startswith("{")]
    for line in lines:
        check("mfc-progress", line)
    if not lines:
        complain(f"no line of progress: {arguments}")
if used != set(store):
    complain(f"schemas that nothing was checked against: {sorted(set(store) - used)}")
sys.exit(n_bad != 0)
