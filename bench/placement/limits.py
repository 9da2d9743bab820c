#!/usr/bin/python3
"""Time of a training step on equal devices against the memory of each: with recomputation, copies and offload in the
search, and without any of them.

    bench/placement/limits.py MODEL.onnx... [--devices 2,4] [--limits 10] [--time 5] [--out FOLDER] [--mfc build/mfc]

The limits go from the least that any single task needs to what the search that knows no memory comes to. Prints a Markdown
table; with --out also limits.csv and limits.svg. Times are ratios to the best one with ample memory.
"""
import argparse
import csv
import json
import os
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BLIND = ["--no-recompute", "--no-copies", "--no-offload"]


def rig(n):
    names = [f"d{i}" for i in range(n)]
    links = [{"between": [a, b], "bandwidth": 10, "latency": 5000} for i, a in enumerate(names) for b in names[i + 1:]]
    links += [{"between": [a, "host"], "bandwidth": 5, "latency": 10000, "bus": "host"} for a in names]
    return {"format": "mfc-rig", "version": 1, "links": links,
            "devices": [{"name": "d", "count": n, "rate": 100, "memory_bandwidth": 15, "overhead": 2000}]}


def floor_of(problem):
    """No device can have less: the most that one task reads, makes and needs."""
    nodes, need = problem["nodes"], [n["bytes"] + n.get("workspace", 0) + n.get("resident", 0) for n in problem["nodes"]]
    for a, b in {tuple(e) for e in problem["edges"]}:
        need[b] += nodes[a]["bytes"]
    return problem["fixed_bytes"] + max(need)


class Bench:
    def __init__(self, options, scratch):
        self.options, self.scratch = options, scratch

    def file(self, name, content=None):
        path = os.path.join(self.scratch, name)
        if content is not None:
            with open(path, "w") as f:
                json.dump(content, f)
        return path

    def problem(self, model, n):
        out = self.file("problem.json")
        subprocess.run([self.options.mfc, "inspect", model, "--rig", self.file("rig.json", rig(n)), "--json", out],
                       check=True, stdout=subprocess.DEVNULL)
        with open(out) as f:
            return json.load(f)

    def place(self, problem, memory, flags):
        """Makespan and the largest peak of a device; None: no strategy was found."""
        limited = dict(problem, devices=[dict(d, memory=memory) for d in problem["devices"]])
        out = self.file("strategy.json")
        run = subprocess.run([self.options.mfc, "place", self.file("limited.json", limited), "-q", "-o", out, "--threads", "1",
                              "--time", str(self.options.time)] + flags, capture_output=True, text=True)
        if run.returncode == 6:
            return None
        assert run.returncode == 0, run.stderr
        with open(out) as f:
            facts = json.load(f)
        return facts["makespan"], max(facts["peak_bytes"][d["name"]] for d in problem["devices"])

    def rows(self, model, n):
        problem = self.problem(model, n)
        ample = self.place(problem, 1 << 50, BLIND)
        low, high = floor_of(problem), ample[1]
        count = self.options.limits
        for k in reversed(range(count)):
            memory = round(low * (high / low) ** (k / (count - 1)))
            yield {"model": os.path.basename(model)[:-5], "devices": n, "tasks": len(problem["nodes"]),
                   "memory": memory, "share": memory / high, "ample": ample[0],
                   "blind": self.place(problem, memory, BLIND), "full": self.place(problem, memory, [])}


def ratio(result, ample):
    return f"{result[0] / ample:.3f}" if result else "none"


def picture(rows, path):
    """One line a model and number of devices: time over memory; crosses where the blind search has nothing."""
    lines = {}
    for r in rows:
        lines.setdefault(f"{r['model']} x{r['devices']}", []).append(r)
    wide, high, left = 640, 360, 60
    times = [r[k][0] / r["ample"] for r in rows for k in ("full", "blind") if r[k]]
    top, low = max(times + [1.2]), min(r["share"] for r in rows)

    def at(share, time):
        return left + (share - low) / (1 - low) * (wide - left - 120), high - 40 - (time - 0.9) / (top - 0.9) * (high - 60)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" font-family="sans-serif" font-size="11">',
           f'<text x="{left}" y="{high - 8}">memory of a device, as a share of what a search that knows no memory uses</text>',
           f'<text x="{left}" y="14">time of a step, 1 = ample memory; circles: nothing is found without recomputation, copies, offload</text>']
    for i, (name, points) in enumerate(sorted(lines.items())):
        colour = f"hsl({i * 360 // len(lines)} 60% 40%)"
        found = sorted((r["share"], r["full"][0] / r["ample"], r["blind"] is None) for r in points if r["full"])
        if not found:
            continue
        path_of = " ".join("%.1f,%.1f" % at(s, t) for s, t, _ in found)
        out.append(f'<polyline points="{path_of}" fill="none" stroke="{colour}"/>')
        out += ['<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>' % (*at(s, t), colour) for s, t, alone in found if alone]
        out.append('<text x="%.1f" y="%.1f" fill="%s">%s</text>' % (wide - 116, 30 + 14 * i, colour, name))
    with open(path, "w") as f:
        f.write("\n".join(out + ["</svg>", ""]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", nargs="+")
    parser.add_argument("--devices", default="2,4")
    parser.add_argument("--limits", type=int, default=10)
    parser.add_argument("--time", type=float, default=5)
    parser.add_argument("--out")
    parser.add_argument("--mfc", default=os.path.join(HERE, "..", "..", "build", "mfc"))
    options = parser.parse_args()
    rows = []
    print("| model | devices | tasks | memory, MB | share | blind | mfc |\n|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        for model in options.models:
            for n in map(int, options.devices.split(",")):
                for r in Bench(options, scratch).rows(model, n):
                    rows.append(r)
                    print(f"| {r['model']} | {n} | {r['tasks']} | {r['memory'] / 1e6:.1f} | {r['share']:.3f} "
                          f"| {ratio(r['blind'], r['ample'])} | {ratio(r['full'], r['ample'])} |", flush=True)
    print("\n| model | devices | least memory blind, MB | least memory mfc, MB | ratio | slower where both are valid |\n|---|---|---|---|---|---|")
    for key in sorted({(r["model"], r["devices"]) for r in rows}):
        mine = [r for r in rows if (r["model"], r["devices"]) == key]
        least = {k: min((r["memory"] for r in mine if r[k]), default=None) for k in ("blind", "full")}
        slower = max((r["full"][0] / r["blind"][0] for r in mine if r["blind"] and r["full"]), default=1)
        share = f"{least['full'] / least['blind']:.3f}" if all(least.values()) else "-"
        show = {k: f"{x / 1e6:.1f}" if x else "none" for k, x in least.items()}
        print(f"| {key[0]} | {key[1]} | {show['blind']} | {show['full']} | {share} | {slower:.4f} |")
    if options.out:
        os.makedirs(options.out, exist_ok=True)
        with open(os.path.join(options.out, "limits.csv"), "w", newline="") as f:
            table = csv.writer(f)
            table.writerow(["model", "devices", "tasks", "memory_bytes", "blind", "mfc"])
            table.writerows([r["model"], r["devices"], r["tasks"], r["memory"], r["blind"] and r["blind"][0] / r["ample"],
                             r["full"] and r["full"][0] / r["ample"]] for r in rows)
        picture(rows, os.path.join(options.out, "limits.svg"))


main()
