#!/usr/bin/env python3
"""Reads a workload in the input format of Piper (msr-fiddle/piper), and plans it with mfc place.

    bench/placement/from_piper.py INPUT [--devices N] [--memory 2.5GiB] [--mfc build/mfc] [--time 30s | --work N]
    bench/placement/from_piper.py INPUT --problem OUT       # only the problem for mfc place

Every layer has modes by degree of tensor parallelism, with and without recomputation of its activations; stages may
be replicated (data parallelism). Reports the time per sample in Piper's terms, computed here from the stages alone:
the largest of a stage, (time of its layers + bytes over its borders, both ways / bandwidth) / d
+ 4 (d-1) / d * parameters / batch / bandwidth, with a * ceil(s / d) + b bytes of each layer within memory, s being the
replicas of this and all later stages. Beside it: equal splits of the layers, and the mean load, which no plan beats.
"""
import argparse
import json
import math
import re
import subprocess
import sys
import tempfile

TICKS = 10**9  # units of time that all layers take together, in their fastest modes on one device


def size(text):
    m = re.fullmatch(r"([0-9.]+) *([KMGT]?)(i?)B?", text)
    if not m:
        sys.exit(f"{text} is not a size such as 2.5GiB")
    return int(float(m[1]) * (1024 if m[3] or m[2] else 1) ** " KMGT".index(m[2] or " "))


def topological(given):
    """Layer ids, each after those that it reads; the order of the file where that leaves a choice."""
    reads = {n["id"]: set() for n in given["nodes"]}
    for e in given["edges"]:
        reads[e["destId"]].add(e["sourceId"])
    order, done, ids = [], set(), [n["id"] for n in given["nodes"]]
    while len(order) < len(ids):
        ready = [i for i in ids if i not in done and reads[i] <= done]
        if not ready:
            sys.exit("the layers have a cycle")
        order.append(ready[0])
        done.add(ready[0])
    return order


def convert(given, devices, memory):
    """The problem, and the number of ticks in a unit of Piper's time."""
    layers = {n["id"]: n for n in given["nodes"]}
    order = topological(given)
    number = {i: k for k, i in enumerate(order)}
    total = sum(min(c["timePerSample"] for l in layers[i]["TMPCs"].values() for c in l) for i in order)
    ticks = TICKS / total if total > 0 else 1
    nodes = []
    for i in order:
        modes = []
        for degree, list_ in layers[i]["TMPCs"].items():
            for c in list_:
                mode = {"name": f"{degree} {c['id']}", "degree": int(degree), "cost": math.ceil(c["timePerSample"] * ticks),
                        "stash": math.ceil(c["memoryUsageA"]), "resident": math.ceil(c["memoryUsageB"]),
                        "exchange": math.ceil(2 * c["parameterSize"])}
                for key, member in ("syncTimeFw", "receive"), ("syncTimeBw", "send"):
                    extra = {str(j): math.ceil(2 * b) for j, b in c[key].items() if b}
                    if extra:
                        mode[member] = extra
                modes.append(mode)
        nodes.append({"name": str(i), "modes": modes})
    edges = sorted({(number[e["sourceId"]], number[e["destId"]]) for e in given["edges"]})
    transfers = [[number[e["sourceId"]], number[e["destId"]], math.ceil(2 * e["communicationCost"])] for e in given["edges"]]
    return {"format": "mfc-problem", "version": 1, "samples": given["mbsInBatch"], "disjoint": True,
            "time": {"unit": "ms", "ticks": max(1, round(ticks))},
            "network": {"bandwidth": given["bandwidth"] / ticks, "blocking": True},
            "devices": [{"name": f"acc{k}", "memory": memory} for k in range(devices)],
            "nodes": nodes, "edges": edges, "transfers": transfers}


def time_per_sample(given, memory, stages):
    """Piper's, of stages [(replicas, degree, {layer: mode})]; infinite when a stage does not fit."""
    layers = {n["id"]: n for n in given["nodes"]}
    at = {i: k for k, (_, _, modes) in enumerate(stages) for i in modes}
    left, worst = sum(d for d, _, _ in stages), 0
    for k, (d, t, modes) in enumerate(stages):
        chosen = {i: next(c for c in layers[i]["TMPCs"][str(t)] if c["id"] == m) for i, m in modes.items()}
        moved = sum(2 * (e["communicationCost"] + chosen[e["destId"]]["syncTimeFw"][str(e["sourceId"])])
                    for e in given["edges"] if at[e["destId"]] == k != at[e["sourceId"]])
        moved += sum(2 * (e["communicationCost"] + chosen[e["sourceId"]]["syncTimeBw"][str(e["destId"])])
                     for e in given["edges"] if at[e["sourceId"]] == k != at[e["destId"]])
        held = sum(c["memoryUsageA"] * math.ceil(left / d) + c["memoryUsageB"] for c in chosen.values())
        synced = sum(4 * (d - 1) * c["parameterSize"] / d / given["mbsInBatch"] for c in chosen.values())
        left -= d
        if held > memory:
            return math.inf
        worst = max(worst, (moved / d + synced) / given["bandwidth"] + sum(c["timePerSample"] for c in chosen.values()) / d)
    return worst


def equal_splits(given, devices, memory):
    """As many layers on each device; the fastest modes where they fit, else the smallest."""
    order, best = topological(given), math.inf
    layers = {n["id"]: n for n in given["nodes"]}
    for key in ("timePerSample", "memoryUsageA"):
        cuts = [round(k * len(order) / devices) for k in range(devices + 1)]
        stages = [(1, 1, {i: min(layers[i]["TMPCs"]["1"], key=lambda c: c[key])["id"] for i in order[a:b]})
                  for a, b in zip(cuts, cuts[1:]) if a < b]
        best = min(best, time_per_sample(given, memory, stages))
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input")
    parser.add_argument("--devices", type=int, help="default: as in the input")
    parser.add_argument("--memory", type=size, help="of a device; default: as in the input")
    parser.add_argument("--mfc", default="build/mfc")
    parser.add_argument("--time", default="30s")
    parser.add_argument("--work", help="proposals, instead of a time")
    parser.add_argument("--problem", metavar="OUT", help="write the problem, and search nothing")
    parser.add_argument("--stages", metavar="OUT", help="write the stages in Piper's output format")
    args = parser.parse_args()
    with open(args.input) as f:
        given = json.load(f)
    devices, memory = args.devices or given["maxDevices"], args.memory or int(given["maxMemoryPerDevice"])
    problem = convert(given, devices, memory)
    if args.problem:
        with open(args.problem, "w") as f:
            json.dump(problem, f)
        return
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/problem.json", "w") as f:
            json.dump(problem, f)
        limit = ["--work", args.work] if args.work else ["--time", args.time]
        done = subprocess.run([args.mfc, "place", f"{folder}/problem.json", "--objective", "throughput", "-o",
                               f"{folder}/strategy.json", "--quiet", *limit], stdout=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(done.returncode)
        with open(f"{folder}/strategy.json") as f:
            strategy = json.load(f)
    stages = [(s["replicas"], len(s["devices"]) // s["replicas"],
               {int(i): mode.partition(" ")[2] for i, mode in s["nodes"]}) for s in strategy["stages"]]
    for d, t, modes in stages:
        print(f"stage of {len(modes)} layers: {d} replicas of degree {t}, "
              f"{sum(m != 'vanilla' for m in modes.values())} recompute")
    if args.stages:
        with open(args.stages, "w") as f:
            json.dump({"stages": [{"nodes": list(m), "dataParallelDegree": d, "tensorParallelDegree": t,
                                   "TMPCids": {str(i): c for i, c in m.items()}} for d, t, m in stages]}, f)
    mean = sum(min(c["timePerSample"] * int(t) for t, l in n["TMPCs"].items() for c in l) for n in given["nodes"]) / devices
    print(f"time per sample  {time_per_sample(given, memory, stages):.4f}")
    print(f"equal splits     {equal_splits(given, devices, memory):.4f}")
    print(f"mean load        {mean:.4f}")


if __name__ == "__main__":
    main()
