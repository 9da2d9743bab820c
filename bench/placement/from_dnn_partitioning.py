#!/usr/bin/env python3
"""Turns a layer graph of msr-fiddle/dnn-partitioning into a placement problem for mfc.

    bench/placement/from_dnn_partitioning.py IN OUT

Node names are the ids; devices are acc0, acc1, ... and cpu0, cpu1, ... As in the paper, an accelerator moves a
tensor to or from host memory by itself, in the time that the edge says, and a core moves nothing; every node
runs once; and memory is that of the resident sizes.
"""
import json
import sys

TICKS = 1000000  # units of time per millisecond


def ticks(milliseconds):
    return round(milliseconds * TICKS)


def topological(nodes, edges):
    """The nodes, each after those that it reads; the order of the file where that leaves a choice."""
    waits, readers = {n["id"]: 0 for n in nodes}, {n["id"]: [] for n in nodes}
    for e in edges:
        waits[e["destId"]] += 1
        readers[e["sourceId"]].append(e["destId"])
    rank = {n["id"]: k for k, n in enumerate(nodes)}
    ready, order = sorted((i for i in waits if waits[i] == 0), key=rank.get), []
    while ready:
        i = ready.pop(0)
        order.append(i)
        for j in readers[i]:
            waits[j] -= 1
            if waits[j] == 0:
                ready.append(j)
        ready.sort(key=rank.get)
    if len(order) != len(nodes):
        sys.exit("the graph has a cycle")
    return order


def convert(given):
    by_id = {n["id"]: n for n in given["nodes"]}
    order = topological(given["nodes"], given["edges"])
    number = {i: k for k, i in enumerate(order)}
    move = {i: 0 for i in order}
    for e in given["edges"]:
        move[e["sourceId"]] = max(move[e["sourceId"]], ticks(e["cost"]))
    nodes = []
    for i in order:
        n = by_id[i]
        cost = {"cpu": ticks(n["cpuLatency"])}
        if n.get("supportedOnFpga", 1):
            cost["acc"] = ticks(n["fpgaLatency"])
        node = {"name": str(i), "cost": cost, "bytes": 0, "resident": round(n["size"]), "move": move[i], "once": True}
        if n.get("colorClass") is not None:
            node["group"] = str(n["colorClass"])
        nodes.append(node)
    accelerators = [f"acc{k}" for k in range(int(given["maxFPGAs"]))]
    cores = [f"cpu{k}" for k in range(int(given["maxCPUs"]))]
    memory = int(given["maxSizePerFPGA"])
    edges = sorted({(number[e["sourceId"]], number[e["destId"]]) for e in given["edges"]})
    return {
        "format": "mfc-problem", "version": 1, "time": {"unit": "ms", "ticks": TICKS},
        "devices": [{"name": a, "kind": "acc", "memory": memory} for a in accelerators]
                   + [{"name": c, "kind": "cpu"} for c in cores],
        "links": [{"between": [a, "host"], "by_node": True, "blocking": True} for a in accelerators]
                 + [{"between": [c, "host"], "free": True} for c in cores],
        "nodes": nodes, "edges": edges,
    }


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1]) as f:
        problem = convert(json.load(f))
    with open(sys.argv[2], "w") as f:
        json.dump(problem, f)
        f.write("\n")
