#!/usr/bin/python3
"""Whether a training step fits devices of a memory when mfc may divide operators.

    bench/placement/networks.py /tmp/networks
    bench/placement/fits.py --networks /tmp/networks vgg16:2:2169 vgg19:4:1846 [--work 10000]

NETWORK:DEVICES:MB, on equal V100s with links of 50 GB/s and an update by SGD, as in limits.py. Prints a row for each: the makespan,
and how the step is divided, or by how much all devices together are over.
"""
import argparse
import re
import subprocess
import tempfile

from placing import BATCHES, Bench, arguments, device, rig


class Fits(Bench):
    def plan(self, network, devices, megabytes):
        path = self.file("rig.json", rig([device("gpu", devices, 15700, 900, int(megabytes * 1e6))],
                                         [f"gpu{i}" for i in range(devices)], 50, 12))
        command = [self.options.mfc, f"{self.options.networks}/{network}.onnx", "--optimizer", "sgd", "--dim",
                   f"batch={self.options.batch or BATCHES[network]}", "--rig", path, "-o", self.file("plan.mfc"),
                   "--work", str(self.options.work), "--seed", str(self.options.seed)]
        run = subprocess.run(command, capture_output=True, text=True)
        assert run.returncode in (0, 6), run.stderr
        return run.stdout + run.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=int, default=10000)
    options = arguments(parser, [])
    print("| network | devices | MB | makespan, ms | division |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        bench = Fits(options, scratch)
        for case in options.names:
            network, devices, megabytes = case.split(":")
            text = bench.plan(network, int(devices), float(megabytes))
            makespan = re.search(r"^makespan +([0-9.]+) ms", text, re.M)
            over = re.search(r"was over by (\S+ \S+)", text)
            division = re.search(r"the step is divided: (.*?); before the search", text)
            print(f"| {network} | {devices} | {megabytes} | {makespan[1] if makespan else 'over by ' + over[1]} | "
                  f"{division[1] if division else 'none'} |", flush=True)


if __name__ == "__main__":
    main()
