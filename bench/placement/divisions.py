#!/usr/bin/python3
"""The time of a training step on equal devices: undivided, by data parallelism, as a pipeline, and as mfc plans it.

    bench/placement/networks.py /tmp/networks
    bench/placement/divisions.py --networks /tmp/networks [NETWORK...] [--devices 2,4,8] [--links 50,12] [--batch N]
        [--work 4000] [--out FOLDER]

V100s with ample memory, and links of so many GB/s. `undivided` is the search with --no-shard, with the same work as mfc's;
the others are scheduled by mfc, before any search: pipelines (the best number of micro-batches), data parallelism with gradients
summed from device to device and in pieces, tensor parallelism of products, division by parameters or attributes alone. Times in
ms. Ends with exit code 1 when mfc is slower than the best of the others.
"""
import argparse
import re
import subprocess
import sys
import tempfile

from placing import BATCHES, Bench, arguments, device, rig

KINDS = [("pipeline", "pipeline"), ("tensor", "tensor"), ("pieces", "pieces"), ("data", "data"), ("other", "division by")]
NETWORKS = ["resnet50", "vgg16", "inception_v3", "bert24", "lstm"]


class Divisions(Bench):
    def plan(self, network, devices, link, *flags):
        names = [f"gpu{i}" for i in range(devices)]
        path = self.file("rig.json", rig([device("gpu", devices, 15700, 900)], names, link, 12))
        batch = self.options.batch or BATCHES[network]
        command = [self.options.mfc, f"{self.options.networks}/{network}.onnx", "--dim", f"batch={batch}", "--rig", path,
                   "-o", self.file("plan.mfc"), "--work", str(self.options.work), "--seed", str(self.options.seed), *flags]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout

    def row(self, network, devices, link):
        times = {}
        text = self.plan(network, devices, link)
        note = re.search(r"the step is divided: (.*?); before the search, (.*) \[shard\]", text.replace("\n", " "))
        times["mfc"] = makespan(text)
        for what, time in re.findall(r"([^;]+): ([0-9.]+) ms", note[2] if note else ""):
            kind = next(k for k, word in KINDS if word in what)
            times[kind] = min(times.get(kind, 1e30), float(time))
        times["undivided"] = makespan(self.plan(network, devices, link, "--no-shard"))
        return dict(times, network=network, devices=devices, link=link, division=note[1] if note else "none")


def makespan(text):
    return float(re.search(r"^makespan +([0-9.]+) ms", text, re.M)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--devices", default="2,4,8")
    parser.add_argument("--links", default="50,12")
    parser.add_argument("--work", type=int, default=4000)
    options = arguments(parser, NETWORKS)
    kinds, n_behind = ["undivided", "pipeline", "data", "pieces", "tensor", "other", "mfc"], 0
    print("| network | devices | GB/s | " + " | ".join(kinds) + " | division |")
    print("|---" * (4 + len(kinds)) + "|")
    with tempfile.TemporaryDirectory() as scratch:
        bench = Divisions(options, scratch)
        for network in options.names:
            for devices in map(int, options.devices.split(",")):
                for link in map(float, options.links.split(",")):
                    row = bench.row(network, devices, link)
                    n_behind += row["mfc"] > min(row[k] for k in kinds if k in row)
                    cells = [f"{row[k]:.1f}" if k in row else "" for k in kinds]
                    print(f"| {network} | {devices} | {link:g} | " + " | ".join(cells) + f" | {row['division']} |", flush=True)
    print(f"{n_behind} rows behind the best of the others")
    sys.exit(n_behind > 0)


if __name__ == "__main__":
    main()
