#!/usr/bin/python3
"""What it brings that a node may run on both of two devices, where sending its result is slow.

    bench/placement/networks.py /tmp/networks
    bench/placement/copies.py --networks /tmp/networks [NETWORK...] [--link 12] [--work 100000] [--seeds 3] [--out FOLDER]

Two V100s with ample memory, joined at --link GB/s (12: PCIe 3). Times of a step, best of --seeds searches with --work proposals each:

    one device      everything on one: nothing is sent
    sent            the search may not copy: what both devices read is sent
    copied          it may
    sent instead    the strategy of `copied`, node by node on the same devices, with every copy replaced by a transfer, and
    and improved    the search without copies going on from there

Prints a Markdown table and the copied tasks that save most; with --out also copies.csv and copies.svg.
"""
import argparse
import os
import tempfile

from placing import Bench, Table, arguments, bars, device, rig

NETWORKS = ["inception_v3", "resnet50", "bert24"]
PLACED = ["--no-recompute", "--no-offload"]


class Copies(Bench):
    def best(self, problem, flags, start=None):
        found = []
        for seed in range(1, self.options.seeds + 1):
            self.options.seed = seed
            found.append(self.place(problem, self.options.work, PLACED + flags, start))
        return min(found, key=lambda s: s["makespan"])

    def row(self, network):
        both = self.problem(network, rig([device("gpu", 2, 15700, 900)], ["gpu0", "gpu1"], self.options.link, self.options.link))
        one = {n["name"]: "gpu0" for n in both["nodes"]}
        sent, copied = self.best(both, ["--no-copies"]), self.best(both, [])
        order = list(dict.fromkeys(node for kind, node, *_ in copied["tasks"] if kind == "run"))
        plain = {"format": "mfc-strategy", "version": 1, "device": copied["device"], "order": order}
        instead = self.simulate(both, plain)
        bytes_of = {n["name"]: n["bytes"] for n in both["nodes"]}
        self.largest = sorted(copied.get("copies", {}), key=bytes_of.get)[::-1][:5]
        row = {"network": network, "tasks": len(both["nodes"]), "one": self.simulate(both, {**plain, "device": one}), "sent": sent["makespan"],
               "copied": copied["makespan"], "instead": instead, "improved": self.best(both, ["--no-copies"], plain)["makespan"]}
        row = {k: v / 1e6 if k not in ("network", "tasks") else v for k, v in row.items()}
        moved = {"sent_mb": sent["moved_bytes"] / 1e6, "copied_mb": copied["moved_bytes"] / 1e6}
        return {**row, **moved, "copies": len(copied.get("copies", {})),
                "ratio": row["copied"] / min(row["one"], row["sent"], row["instead"], row["improved"])}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--link", type=float, default=12)
    parser.add_argument("--work", type=int, default=100000)
    parser.add_argument("--seeds", type=int, default=3)
    options = arguments(parser, NETWORKS)
    table = Table([("network", "network", ""), ("tasks", "tasks", ""), ("one", "one device, ms", ".1f"), ("sent", "sent, ms", ".1f"),
                   ("copied", "copied, ms", ".1f"), ("instead", "sent instead, ms", ".1f"), ("improved", "and improved, ms", ".1f"),
                   ("copies", "tasks copied", ""), ("sent_mb", "moved when sent, MB", ".0f"), ("copied_mb", "moved when copied, MB", ".0f"),
                   ("ratio", "copied / best other", ".3f")])
    largest = {}
    with tempfile.TemporaryDirectory() as scratch:
        for network in options.names:
            bench = Copies(options, scratch)
            table.add(bench.row(network))
            largest[network] = bench.largest
    for network, names in largest.items():
        print(f"\n{network}, the largest that are copied: " + ", ".join(names))
    if options.out:
        table.write(os.path.join(options.out, "copies.csv"))
        bars(os.path.join(options.out, "copies.svg"), "Time of a training step on two devices with a slow link",
             [(r["network"], [("copied", r["copied"]), ("sent", r["sent"]), ("sent instead", r["instead"]),
                              ("and improved", r["improved"]), ("one device", r["one"])]) for r in table.rows])


if __name__ == "__main__":
    main()
