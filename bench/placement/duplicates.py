#!/usr/bin/python3
"""What it brings that a node may run on both of two devices, where sending its result is slow.

    bench/placement/networks.py /tmp/networks
    bench/placement/duplicates.py --networks /tmp/networks [NETWORK...] [--link 12,25] [--work 100000] [--seeds 3] [--out FOLDER]

Two V100s with ample memory, joined at --link GB/s (12: PCIe 3). Times of a step, means over --seeds searches with --work proposals each:

    one device      everything on one: nothing is sent
    sent            the search may not duplicate: what both devices read is sent
    duplicated      it may
    sent instead    the strategies of `duplicated`, node by node on the same devices, with every duplicate replaced by a transfer, and
    and improved    the search without duplicates going on from there

`duplicated / best other` compares the mean with that of the best of the others, `worst / best` the worst seed of `duplicated` with the best of
all others with any seed: below 1, no luck is needed. Prints a Markdown table and the largest duplicates; with --out also
duplicates.csv and duplicates.svg.
"""
import argparse
import os
import tempfile
from statistics import mean

from placing import Bench, Table, arguments, bars, device, rig

NETWORKS = ["inception_v3", "resnet50", "bert24"]
PLACED = ["--no-recompute", "--no-offload"]


class Duplicates(Bench):
    def found(self, problem, flags, starts=None):
        """The strategies of all seeds."""
        found = []
        for self.options.seed in range(1, self.options.seeds + 1):
            start = starts[self.options.seed - 1] if starts else None
            found.append(self.place(problem, self.options.work, PLACED + flags, start))
        return found

    def row(self, network, link):
        both = self.problem(network, rig([device("gpu", 2, 15700, 900)], ["gpu0", "gpu1"], link, link))
        one = {n["name"]: "gpu0" for n in both["nodes"]}
        sent, duplicated = self.found(both, ["--no-duplicates"]), self.found(both, [])
        plain = [{"format": "mfc-strategy", "version": 1, "device": s["device"],
                  "order": list(dict.fromkeys(node for kind, node, *_ in s["tasks"] if kind == "run"))} for s in duplicated]
        improved = self.found(both, ["--no-duplicates"], plain)
        bytes_of = {n["name"]: n["bytes"] for n in both["nodes"]}
        self.largest = sorted(duplicated[0]["copies"], key=bytes_of.get)[::-1][:5]
        times = {"one": [self.simulate(both, {**plain[0], "device": one})], "sent": [s["makespan"] for s in sent],
                 "duplicated": [s["makespan"] for s in duplicated], "instead": [self.simulate(both, s) for s in plain],
                 "improved": [s["makespan"] for s in improved]}
        row = {k: mean(v) / 1e6 for k, v in times.items()}
        others = [k for k in times if k != "duplicated"]
        return {"network": network, "tasks": len(both["nodes"]), "link": link, **row, "duplicates": mean(len(s["copies"]) for s in duplicated),
                "sent_mb": mean(s["moved_bytes"] for s in sent) / 1e6, "duplicated_mb": mean(s["moved_bytes"] for s in duplicated) / 1e6,
                "ratio": row["duplicated"] / min(row[k] for k in others),
                "worst": max(times["duplicated"]) / min(min(times[k]) for k in others)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--link", default="12,25")
    parser.add_argument("--work", type=int, default=100000)
    parser.add_argument("--seeds", type=int, default=3)
    options = arguments(parser, NETWORKS)
    table = Table([("network", "network", ""), ("tasks", "tasks", ""), ("link", "GB/s", "g"), ("one", "one device, ms", ".1f"), ("sent", "sent, ms", ".1f"),
                   ("duplicated", "duplicated, ms", ".1f"), ("instead", "sent instead, ms", ".1f"), ("improved", "and improved, ms", ".1f"),
                   ("duplicates", "duplicates", ".0f"), ("sent_mb", "moved when sent, MB", ".0f"), ("duplicated_mb", "moved when duplicated, MB", ".0f"),
                   ("ratio", "duplicated / best other", ".3f"), ("worst", "worst / best", ".3f")])
    largest = {}
    with tempfile.TemporaryDirectory() as scratch:
        for network in options.names:
            bench = Duplicates(options, scratch)
            for link in map(float, options.link.split(",")):
                table.add(bench.row(network, link))
            largest[network] = bench.largest
    for network, names in largest.items():
        print(f"\n{network}, the largest duplicates: " + ", ".join(names))
    if options.out:
        table.write(os.path.join(options.out, "duplicates.csv"))
        bars(os.path.join(options.out, "duplicates.svg"), "Time of a training step on two devices with a slow link",
             [(f"{r['network']}, {r['link']:g} GB/s", [("duplicated", r["duplicated"]), ("sent", r["sent"]), ("sent instead", r["instead"]),
                              ("and improved", r["improved"]), ("one device", r["one"])]) for r in table.rows])


if __name__ == "__main__":
    main()
