#!/usr/bin/env python3
"""Puts a plain mfc-problem (JSON) on N equal devices with links between all of them and to the host.

    bench/placement/on_devices.py IN OUT [--devices 2] [--memory 50%] [--speed-link 0.1] [--speed-host 0.5]

--memory is that of one device, in bytes or as a share of what the given order needs on a single device. The time
to move a tensor of mean size is --speed-link (between devices) or --speed-host times the mean cost of a node. A
problem that has devices already, such as `mfc inspect MODEL --rig RIG --json` writes, only gets the memory.
"""
import argparse
import json


def given_peak(p):
    last = list(range(len(p["nodes"])))
    for a, b in p["edges"]:
        last[a] = max(last[a], b)
    kept = set(p.get("keep", [])) | {i for i, n in enumerate(p["nodes"]) if n.get("keep")}
    leaves = [[] for _ in last]
    for i, k in enumerate(last):
        if i not in kept:
            leaves[k].append(i)
    now = peak = p.get("fixed_bytes", 0) + sum(n.get("resident", 0) for n in p["nodes"])
    for i, n in enumerate(p["nodes"]):
        now += n["bytes"]
        peak = max(peak, now + n.get("workspace", 0))
        now -= sum(p["nodes"][k]["bytes"] for k in leaves[i])
    return peak


def add_devices(p, o):
    n = len(p["nodes"])
    mean_bytes = sum(x["bytes"] for x in p["nodes"]) / n or 1
    mean_cost = sum(x["cost"] for x in p["nodes"]) / n or 1
    names = [f"gpu{k}" for k in range(o.devices)]
    for i, x in enumerate(p["nodes"]):  # names may be there twice in files for mfc solve
        x["name"] = f"{i}:{x.get('name', '')}"
    p["devices"] = [{"name": d} for d in names]
    p["links"] = [{"between": [a, b], "bandwidth": mean_bytes / (mean_cost * o.speed_link)}
                  for i, a in enumerate(names) for b in names[i + 1:]]
    p["links"] += [{"between": [d, "host"], "bandwidth": mean_bytes / (mean_cost * o.speed_host)} for d in names]


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("input")
    options.add_argument("output")
    options.add_argument("--devices", type=int, default=2)
    options.add_argument("--memory", default="50%")
    options.add_argument("--speed-link", type=float, default=0.1)
    options.add_argument("--speed-host", type=float, default=0.5)
    o = options.parse_args()
    with open(o.input) as f:
        p = json.load(f)
    if "devices" not in p:
        add_devices(p, o)
    memory = int(given_peak(p) * float(o.memory[:-1]) / 100) if o.memory.endswith("%") else int(o.memory)
    for d in p["devices"]:
        d["memory"] = memory
    with open(o.output, "w") as f:
        json.dump(p, f)
        f.write("\n")


if __name__ == "__main__":
    main()
