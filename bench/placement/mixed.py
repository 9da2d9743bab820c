#!/usr/bin/python3
"""A fast small device, a slow large one and host memory: together, and each alone.

    bench/placement/networks.py /tmp/networks
    bench/placement/mixed.py --networks /tmp/networks [NETWORK...] [--memory 0.5] [--work 100000] [--seeds 3] [--out FOLDER]

The fast device computes like a V100, but has only --memory of what the whole step needs on one device without recomputation; the slow
one has a quarter of the speed and as much memory as one likes; all are joined by PCIe 3. Times of a step, means over --seeds searches
with --work proposals each:

    fast, plain     the fast device alone, without recomputation and offload
    fast            the fast device alone, with recomputation and host memory
    slow            the slow device alone
    both            the two of them, also relative to the better one alone with the same seed: the mean, and the worst seed

Prints a Markdown table; with --out also mixed.csv and mixed.svg.
"""
import argparse
import os
import tempfile
from statistics import mean

from placing import BLIND, Bench, Table, arguments, bars, device, peak, rig

NETWORKS = ["vgg16", "vgg19", "resnet50", "inception_v3", "bert24"]
PCIE = 12


def alone(of):
    return rig([of], [of["name"]], PCIE, PCIE)


class Mixed(Bench):
    def times(self, problem, flags):
        """In milliseconds, a seed each; None: with some nothing was found."""
        found = []
        for self.options.seed in range(1, self.options.seeds + 1):
            found.append(self.place(problem, self.options.work, flags))
        return [f["makespan"] / 1e6 for f in found] if all(found) else None

    def row(self, network):
        whole = self.problem(network, alone(device("fast", 1, 15700, 900)))
        needed = peak(self.place(whole, 1, BLIND), whole)
        fast = device("fast", 1, 15700, 900, round(needed * self.options.memory))
        slow = device("slow", 1, 15700 / 4, 900 / 4)
        small = self.problem(network, alone(fast))
        together = self.problem(network, rig([fast, slow], ["fast", "slow"], PCIE, PCIE))
        times = {"plain": self.times(small, BLIND), "fast": self.times(small, []),
                 "slow": self.times(self.problem(network, alone(slow)), []), "both": self.times(together, [])}
        single = [times[k] for k in ("fast", "slow") if times[k]]
        ratios = [both / min(one) for both, *one in zip(times["both"], *single)]
        return {"network": network, "tasks": len(whole["nodes"]), "memory": fast["memory"] / 1e6,
                **{k: v and mean(v) for k, v in times.items()}, "ratio": mean(ratios), "worst": max(ratios)}



def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memory", type=float, default=0.5)
    parser.add_argument("--work", type=int, default=100000)
    parser.add_argument("--seeds", type=int, default=3)
    options = arguments(parser, NETWORKS)
    table = Table([("network", "network", ""), ("tasks", "tasks", ""), ("memory", "memory of the fast one, MB", ".0f"),
                   ("plain", "fast, plain, ms", ".1f"), ("fast", "fast, ms", ".1f"), ("slow", "slow, ms", ".1f"), ("both", "both, ms", ".1f"),
                   ("ratio", "both / better one", ".3f"), ("worst", "worst", ".3f")])
    with tempfile.TemporaryDirectory() as scratch:
        for network in options.names:
            table.add(Mixed(options, scratch).row(network))
    if options.out:
        table.write(os.path.join(options.out, "mixed.csv"))
        bars(os.path.join(options.out, "mixed.svg"), "Time of a training step with a fast small and a slow large device",
             [(r["network"], [("both", r["both"]), ("fast alone", r["fast"]), ("fast alone, plain", r["plain"]), ("slow alone", r["slow"])])
              for r in table.rows])


if __name__ == "__main__":
    main()
