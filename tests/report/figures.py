"""figures.py MFC SOURCE SCRATCH: a figure is the same wherever it appears. Plans of several networks, on one device and on
several: the summary of the command, the report, --json, the metadata of the plan and `mfc verify --json` are read, and every
figure of each is compared with the others: exact numbers exactly, rounded ones as far as their digits go. Counts of nodes are
also counted in the text form of the plan."""
import html
import json
import os
import re
import subprocess
import sys

mfc, source, scratch = sys.argv[1:]
os.makedirs(scratch, exist_ok=True)
networks = os.path.join(source, "tests", "gradient", "networks")
examples = os.path.join(source, "examples")
n_bad = n_compared = n_over = 0
UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "%": 0.01, "": 1}


def complain(text):
    global n_bad
    n_bad += 1
    print("WRONG", text)


def same(case, what, x, y):
    global n_compared
    n_compared += 1
    if x != y:
        complain(f"{case}: {what}: {x} and {y}")


def shown(case, what, text, x):
    """A rounded quantity, such as "98.3 MiB", stands for x."""
    global n_compared
    n_compared += 1
    m = re.fullmatch(r"([\d.]+)\s*(\S*)", text.strip())
    if not m or m.group(2) not in UNITS:
        complain(f"{case}: {what}: {text!r} is no quantity; it should be {x}")
        return
    unit = UNITS[m.group(2)]
    digits = len(m.group(1).partition(".")[2])
    # Three digits are shown of sizes and times in the report, so 199 MiB may be any within one of the last digit.
    if abs(float(m.group(1)) * unit - x) > (0.5000001 * 10**-digits) * unit:
        complain(f"{case}: {what}: {text.strip()}, but it is {x / unit:.6g} {m.group(2)}")


def run(*arguments):
    got = subprocess.run([mfc, *arguments], capture_output=True, text=True)
    if got.returncode:
        raise SystemExit(f"mfc {' '.join(arguments)}: exit code {got.returncode}: {got.stderr}")
    return got


def plain(text):
    return html.unescape(re.sub(r"<[^>]*>", "", text)).replace("\u00a0", " ").strip()


def read_report(path):
    """Lead, key numbers ({name: (large, small)}) and facts ({name: text})."""
    with open(path, encoding="utf-8") as f:
        page = f.read()
    lead = plain(re.search(r'<p class="lead">(.*?)</p>', page, re.S).group(1))
    keys = {plain(a): (plain(b), plain(c)) for a, b, c in
            re.findall(r'<li><span class="soft">(.*?)</span><b>(.*?)</b><span class="soft">(.*?)</span></li>', page)}
    facts = {plain(a): plain(b) for a, b in re.findall(r'<th scope="row">(.*?)</th><td>(.*?)</td>', page, re.S)}
    marks = [plain(x) for x in re.findall(r'<text class="mark"[^>]*>(plan .*?)</text>', page)]
    return lead, keys, facts, marks


def read_metadata(path):
    """The metadata of the model, and how many nodes have each role; views, which share their operand's bytes, apart."""
    text = run("opt", path).stdout  # which takes a plan out of its branch
    entries = dict(re.findall(r'^metadata dev\.mfc\.(\w+)="(.*)"$', text, re.M))
    return {k: int(v) if v.isdigit() else v for k, v in entries.items()}, text


def exact(fact):
    """The exact number behind a rounded one: "1.2 MiB 1283640 B"."""
    m = re.search(r"(\d+)(?: B| ns)?$", fact)
    return int(m.group(1)) if m else None


def check_json_and_files(case, plan, verified, metadata, text):
    found, claimed = verified["found"], verified["found"]["claimed"]
    for key in ("peak_bytes", "plain_peak_bytes", "fused_peak_bytes", "first_run_bytes", "later_runs_bytes", "session_bytes", "liveness_bytes", "fixed_bytes", "arena_bytes", "runtime",
                "budget_bytes", "unplanned_peak_bytes", "unplanned_liveness_bytes", "nodes", "step_nodes", "recomputations",
                "control_nodes"):
        same(case, f"{key} in JSON and verify", plan[key], found[key])
    for key in ("cost", "base_cost", "bound", "makespan", "cost_model"):
        same(case, f"{key} in JSON and verify", plan[key], claimed[key])
    for key in ("peak_bytes", "plain_peak_bytes", "fused_peak_bytes", "first_run_bytes", "later_runs_bytes", "session_bytes", "liveness_bytes", "arena_bytes",
                "budget_bytes", "cost",
                "base_cost", "bound", "makespan", "cost_model", "unplanned_peak_bytes", "recomputations", "control_nodes",
                "runtime"):
        same(case, f"{key} in JSON and metadata", plan[key], metadata.get(key))
    same(case, "control nodes in the file", plan["control_nodes"], text.count('dev.mfc.role="control"'))
    same(case, "transfers in the file", plan["transfers"], text.count('dev.mfc.role="transfer"'))
    same(case, "nodes of the file", plan["nodes"], len(re.findall(r"^  %.* = \w", text, re.M)))
    same(case, "span and time", plan["span"], plan["cost"] if plan["makespan"] is None else plan["makespan"])
    if plan["bound"] is not None and not plan["base_cost"] <= plan["bound"] <= plan["cost"]:
        complain(f"{case}: bound {plan['bound']} between {plan['base_cost']} and {plan['cost']}")
    if plan["budget_bytes"] is not None and plan["peak_bytes"] > plan["budget_bytes"]:
        complain(f"{case}: over the budget")


def check_facts(case, plan, facts, marks):
    """The table at the end of the report, whose numbers are exact."""
    placed = plan["makespan"] is not None
    names = {"budget": "budget_bytes", "persistent memory": "fixed_bytes", "baseline step: liveness peak in file order":
             "unplanned_liveness_bytes"}
    least = [name for name in facts if name.startswith("lower bound of the peak")]
    same(case, "lower bound of the peak", exact(facts[least[0]]) if least else None, plan["least_bytes"])
    if placed:
        names |= {"largest device peak": "peak_bytes", "makespan, simulated with transfers": "makespan",
                  "time of the baseline step on the fastest device": "base_cost", "baseline step: peak on one device":
                  "unplanned_peak_bytes", "time of all nodes together": "cost",
                  "liveness peak of all devices together": "liveness_bytes"}
    else:
        names |= {"peak on the runtime": "peak_bytes", "liveness peak": "liveness_bytes", "time of the plan": "cost",
                  "baseline step: peak on the runtime": "unplanned_peak_bytes", "time of the baseline step": "base_cost"}
    for name, key in names.items():
        same(case, f"{name} in report and JSON", exact(facts[name]) if name in facts else None, plan[key])
        if name in facts:
            shown(case, name, " ".join(facts[name].split()[:2]), plan[key])
    if not placed:
        bound = facts["lower bound of the time"]
        same(case, "bound in report and JSON", None if bound == "none known" else exact(bound), plan["bound"])
    numbers = list(map(int, re.findall(r"\d+", facts["nodes"])))
    expected = [plan["nodes"], plan["recomputations"], plan["control_nodes"], plan["transfers"]]
    same(case, "counts in report and JSON", numbers, expected[:2] + [n for n in expected[2:] if n])
    same(case, "nodes of the step", int(facts["nodes of the baseline step"]), plan["step_nodes"])
    same(case, "cost model", facts["cost model"], plan["cost_model"])
    if not placed:  # a plot shows live tensors; one by time, one by step
        for mark in marks:
            shown(case, "peak in the plot", mark.removeprefix("plan "), plan["liveness_bytes"])


def check_lead(case, plan, lead, keys):
    """The sentence and the large numbers at the top of the report."""
    sizes = re.findall(r"[\d.]+ [KMG]?i?B", lead)
    baseline = plan["unplanned_peak_bytes"]
    peak = keys["largest device peak" if plan["makespan"] is not None else "peak memory"]
    shown(case, "peak of the lead", sizes[0], plan["peak_bytes"])
    shown(case, "large peak", peak[0], plan["peak_bytes"])
    share, of = peak[1].split(" of ")
    shown(case, "share of the peak", share, plan["peak_bytes"] / baseline)
    shown(case, "baseline beside the peak", of, baseline)
    if plan["makespan"] is not None:
        times = re.findall(r"[\d.]+ (?:ns|µs|ms|s)\b", lead)
        shown(case, "makespan of the lead", times[0], plan["makespan"])
        shown(case, "time on one device", times[1], plan["base_cost"])
        shown(case, "memory on one device", sizes[1], baseline)
        shown(case, "large makespan", keys["makespan"][0], plan["makespan"])
        shown(case, "share of the makespan", keys["makespan"][1].split(" of ")[0], plan["makespan"] / plan["base_cost"])
        same(case, "no overhead is shown", "overhead" in keys, False)
        return
    overhead = (plan["cost"] - plan["base_cost"]) / plan["base_cost"]
    shown(case, "large overhead", keys["overhead"][0], overhead)
    if plan["recomputations"]:
        shown(case, "overhead of the lead", re.search(r"with (\S+ %) overhead", lead).group(1), overhead)
        same(case, "recomputations of the lead", int(re.search(r"(\d+) recomputation", lead).group(1)), plan["recomputations"])
    same(case, "a budget is shown", "budget" in keys, plan["budget_bytes"] is not None)
    if plan["budget_bytes"] is not None:
        shown(case, "large budget", keys["budget"][0], plan["budget_bytes"])
        shown(case, "use of the budget", keys["budget"][1].removesuffix(" used"), plan["peak_bytes"] / plan["budget_bytes"])
    if plan["bound"] is None:
        same(case, "gap without a bound", keys["optimality gap"], ("unknown", "lower bound: none known"))
    else:
        shown(case, "gap", keys["optimality gap"][0], (plan["cost"] - plan["bound"]) / plan["cost"])


def size_of(text):
    number, unit = text.split()
    return float(number) * UNITS[unit], 0.5 * 10 ** -len(number.partition(".")[2]) * UNITS[unit]


def check_reasons(case, plan, path):
    """What would be if a tensor were kept: over the budget only if it is over, by as much as is said."""
    global n_compared, n_over
    with open(path, encoding="utf-8") as f:
        reasons = re.findall(r"if kept, the peak would be ([^<]*)", f.read().replace("\u00a0", " "))
    for reason in reasons:
        n_compared += 1
        peak, _, more = reason.partition(", ")
        m = re.fullmatch(r"([\d.]+ \w+) (over the budget|over the memory|more)|as it is", more)
        if not m:
            complain(f"{case}: a reason of another kind: {reason}")
            continue
        if plan["makespan"] is not None:
            continue  # limits are those of devices
        (x, dx), limit = size_of(peak), plan["budget_bytes"]
        by, dy = size_of(m.group(1)) if m.group(1) else (0, 0)
        is_over = m.group(2) == "over the budget"
        n_over += is_over
        base = limit if is_over else plan["liveness_bytes"]
        if abs(x - by - base) > dx + dy or (limit and not is_over and x - dx > limit):
            complain(f"{case}: {reason}; the budget is {limit}, the liveness peak {plan['liveness_bytes']}")


def check_summary(case, plan, summary):
    lines = {}
    for line in summary.splitlines():
        name, _, rest = line.strip().partition("  ")
        lines.setdefault(name, rest.strip())  # a link may have the name of a device, which comes first

    def sizes(name, x):
        size, share = re.fullmatch(r"([\d.]+ \w+)(?:\s+([\d.]+ %))?", lines[name]).groups()
        shown(case, f"{name} of the summary", size, x)
        if share:
            shown(case, f"share of {name}", share, x / plan["unplanned_peak_bytes"])

    if plan["makespan"] is not None:
        shown(case, "makespan of the summary", lines["makespan"], plan["makespan"])
        time, peak = lines["on one device"].split(", peak ")
        shown(case, "time on one device", time, plan["base_cost"])
        shown(case, "memory on one device", peak, plan["unplanned_peak_bytes"])
        for device in plan["devices"]:
            busy, _, nodes, peak, memory = re.split(r"\s{2,}", lines[device["name"]])
            shown(case, f"busy {device['name']}", busy, device["busy"])
            shown(case, f"peak of {device['name']}", peak, device["peak_bytes"])
            if device["memory_bytes"]:
                shown(case, f"memory of {device['name']}", memory, device["memory_bytes"])
        same(case, "transfers of the summary", int(lines["transfers"].split(",")[0]), plan["transfers"])
    else:
        sizes("baseline peak", plan["unplanned_peak_bytes"])
        sizes("planned peak", plan["peak_bytes"])
        sizes("liveness peak", plan["liveness_bytes"])
        sizes("arena", plan["arena_bytes"])
        sizes("persistent memory", plan["fixed_bytes"])
        if plan["budget_bytes"] is None:
            same(case, "no budget", lines["budget"].split()[0], "none")
        else:
            sizes("budget", plan["budget_bytes"])
        overhead = lines["overhead"].split(" (")[0]
        shown(case, "overhead of the summary", overhead, (plan["cost"] - plan["base_cost"]) / plan["base_cost"])
        if plan["bound"] is None:
            same(case, "bound of the summary", "none known" in lines["overhead"], True)
        else:
            least, gap = re.search(r"lower bound (\S+ %), optimality gap (\S+ %)", lines["overhead"]).groups()
            shown(case, "lower bound of the summary", least, (plan["bound"] - plan["base_cost"]) / plan["base_cost"])
            shown(case, "gap of the summary", gap, (plan["cost"] - plan["bound"]) / plan["cost"])
        same(case, "control nodes of the summary", int(lines["control nodes"]), plan["control_nodes"])
        same(case, "nodes of the summary", int(lines["nodes"]), plan["nodes"])
    recomputed, of = re.fullmatch(r"(\d+) of (\d+) nodes(?:, duplicates included)?", lines["recomputed"]).groups()
    same(case, "recomputations of the summary", int(recomputed), plan["recomputations"])
    same(case, "nodes of the step in the summary", int(of), plan["step_nodes"])


def check_devices(case, plan, verified, metadata, facts):
    for device, other, peak in zip(plan["devices"], verified["found"]["devices"],
                                   metadata["device_peaks"].split("\\n"), strict=True):
        for key in ("name", "peak_bytes", "memory_bytes"):
            same(case, f"{key} of {device['name']} in JSON and verify", device[key], other[key])
        same(case, f"peak of {device['name']} in the metadata", int(peak), device["peak_bytes"])
        same(case, f"peak of {device['name']} in the report", exact(facts[f"peak of {device['name']}"]), device["peak_bytes"])
        if device["busy"] > plan["makespan"]:
            complain(f"{case}: {device['name']} is busy for longer than the makespan")
    same(case, "the fullest device", max(d["peak_bytes"] for d in plan["devices"] if d["busy"]), plan["peak_bytes"])
    same(case, "time of all devices", sum(d["busy"] for d in plan["devices"]), plan["cost"])


def check(model, *options):
    case = " ".join([os.path.basename(model), *options])
    path = lambda name: os.path.join(scratch, name)
    got = run(model, "-o", path("plan.onnx"), "--json", path("plan.json"), "--report", path("plan.html"), "--verbose", "--progress",
              "never", *options)
    with open(path("plan.json"), encoding="utf-8") as f:
        plan = json.load(f)
    verified = json.loads(run("verify", model, path("plan.onnx"), "--json", "-").stdout)
    metadata, text = read_metadata(path("plan.onnx"))
    lead, keys, facts, marks = read_report(path("plan.html"))
    parts = [(check_json_and_files, verified, metadata, text), (check_facts, facts, marks), (check_lead, lead, keys),
             (check_summary, got.stderr), (check_reasons, path("plan.html"))]
    if plan["makespan"] is not None:
        parts.append((check_devices, verified, metadata, facts))
    for part, *given in parts:
        try:
            part(case, plan, *given)
        except (KeyError, ValueError, AttributeError, IndexError) as missing:
            complain(f"{case}: {part.__name__}: not there: {missing!r}")
    print(f"{case}: peak {plan['peak_bytes']}, {plan['recomputations']} recomputed")
    return plan


def small_rig():
    """Two devices of different speed, too small together: something goes to the host."""
    way = lambda a, b, bandwidth: {"between": [a, b], "bandwidth": bandwidth, "latency": 500}
    rig = {"format": "mfc-rig", "version": 1, "links": [way("fast", "slow", 10), way("fast", "host", 5), way("slow", "host", 5)],
           "devices": [{"name": "fast", "rate": 300, "memory_bandwidth": 40, "overhead": 1000, "memory": 700000},
                       {"name": "slow", "rate": 100, "memory_bandwidth": 15, "overhead": 2000, "memory": 600000}]}
    path = os.path.join(scratch, "rig.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(rig, f)
    return path


unet, resnet = os.path.join(examples, "unet.onnx"), os.path.join(examples, "resnet.onnx")
plans = [check(unet, "--budget", "33%", "--work", "50"),
         check(resnet, "--budget", "60%", "--work", "20"),
         check(resnet, "--budget", "85%", "--runtime", "file-order", "--work", "50"),
         check(os.path.join(examples, "mlp.onnx"), "--work", "20"),
         check(os.path.join(networks, "mobilenet-op17.onnx"), "--time", "2s")]
for name in ("decoder", "densenet", "encoder", "inception", "lstm", "mobilenet", "resnet", "unet"):
    plans.append(check(os.path.join(networks, f"{name}-op17.onnx"), "--budget", "75%", "--runtime", "ort-lean", "--work", "20"))
placed = [check(resnet, "--rig", "2xV100-16GB", "--work", "2000"),
          check(resnet, "--rig", small_rig(), "--work", "10000"),
          check(unet, "--rig", "4xT4-16GB", "--work", "500"),
          check(os.path.join(networks, "encoder-op17.onnx"), "--rig", "3xA100-40GB", "--work", "1000")]
# One device of that kind alone takes the time that the plan for two is compared with.
alone = check(resnet, "--rig", "V100-16GB", "--work", "2000")
same("resnet.onnx", "time on one device", alone["makespan"], placed[0]["base_cost"])
if "15700 GFLOP/s" not in placed[0]["cost_model"]:
    complain(f"the cost model is that of another device: {placed[0]['cost_model']}")
if n_over < 5:
    complain(f"only {n_over} reasons are about the budget")
# The comparison must have seen what it is about.
if sum(p["recomputations"] > 0 for p in plans) < 5 or not any(p["bound"] is not None for p in plans):
    complain("hardly a plan recomputes anything, or none has a bound")
if not any(p["recomputations"] for p in placed) or not any(p["devices"][-1]["peak_bytes"] for p in placed):
    complain("no plan for devices recomputes, or none offloads")
print(f"{len(plans) + len(placed)} plans, {n_compared} comparisons, {n_bad} complaints")
sys.exit(n_bad != 0)
