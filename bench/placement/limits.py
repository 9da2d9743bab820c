#!/usr/bin/python3
"""Time of a training step on equal devices against the memory of each, with recomputation, duplicates and offload and without.

    bench/placement/networks.py /tmp/networks
    bench/placement/limits.py --networks /tmp/networks [NETWORK...] [--devices 2,4] [--batch N] [--limits 10] [--work 40000]
        [--out FOLDER]

Three searches, each with --work proposals, from the same seed, on V100s that differ in nothing but memory:

    unlimited   knows no memory: one plan, which is valid wherever its peak fits
    plain       stays within the memory, by placement and order alone
    mfc         may also recompute, duplicate and offload; begins with what `plain` found, if it found something

The limits go, by equal ratios, from the largest single task, below which no plan of any kind can be, to the peak of `unlimited`.
Between the least limit at which a search finds something and the next one, its least memory is then narrowed to 2 %. Prints a
Markdown table of all limits and one that sums up; with --out also limits.csv and limits.svg. Times are ratios to that of `unlimited`.
"""
import argparse
import os
import tempfile

from placing import BLIND, Bench, Table, arguments, device, largest_task, peak, rig, with_memory

NETWORKS = ["vgg16", "vgg19", "resnet50", "inception_v3", "bert24", "lstm"]
NEAR = 1.02


def equal(n):
    return rig([device("gpu", n, 15700, 900)], [f"gpu{i}" for i in range(n)], 50, 12)


class Limits(Bench):
    def __init__(self, options, scratch, network, n):
        super().__init__(options, scratch)
        self.network, self.n = network, n
        self.whole = self.problem(network, equal(n))
        self.low = largest_task(self.whole)
        self.ample = self.search(1 << 50, BLIND)
        self.high = peak(self.ample, self.whole)

    def search(self, memory, flags, start=None):
        return self.place(with_memory(self.whole, memory), self.options.work, flags, start)

    def ratio(self, strategy):
        return strategy and strategy["makespan"] / self.ample["makespan"]

    def rows(self):
        count = self.options.limits
        for k in reversed(range(count)):
            memory = round(self.low * (self.high / self.low) ** (k / (count - 1)))
            plain = self.search(memory, BLIND)
            yield {"network": self.network, "devices": self.n, "tasks": len(self.whole["nodes"]), "memory": memory / 1e6,
                   "share": memory / self.high, "unlimited": 1.0 if memory >= self.high else None, "plain": self.ratio(plain),
                   "mfc": self.ratio(self.search(memory, [], plain))}

    def least(self, rows, name, flags):
        """The least memory, in MB, at which a search finds something, narrowed from both sides; None: it found nothing at all."""
        good = min((r["memory"] for r in rows if r[name]), default=None)
        bad = max((r["memory"] for r in rows if good and not r[name] and r["memory"] < good), default=good)
        while good and good > NEAR * bad:
            middle = (good * bad) ** 0.5
            good, bad = (middle, bad) if self.search(round(middle * 1e6), flags) else (good, middle)
        return good


def sum_up(limits, rows):
    mine = [r for r in rows if (r["network"], r["devices"]) == (limits.network, limits.n)]
    plain, full = limits.least(mine, "plain", BLIND), limits.least(mine, "mfc", [])
    slower = [r["mfc"] / r["plain"] for r in mine if r["plain"]]
    return {"network": limits.network, "devices": limits.n, "least": limits.low / 1e6, "unlimited": limits.high / 1e6, "plain": plain,
            "mfc": full, "of_unlimited": full and full * 1e6 / limits.high, "of_plain": full and plain and full / plain,
            "bound": plain and limits.low / 1e6 / plain, "best": min(slower, default=None), "worst": max(slower, default=None)}


def picture(rows, path):
    """One panel a network and number of devices: time over memory."""
    keys = list(dict.fromkeys((r["network"], r["devices"]) for r in rows))
    wide, high, across = 300, 170, 2
    down = (len(keys) + across - 1) // across
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide * across} {high * down + 40}" font-family="sans-serif" font-size="10">',
           '<text x="8" y="14">Time of a step (1: unlimited memory) over the memory of a device, as a share of what is used when it is not limited.</text>',
           '<text x="8" y="28"><tspan fill="#2b6cb0">mfc</tspan>, <tspan fill="#dd6b20">without recomputation, duplicates, offload</tspan></text>']
    for i, key in enumerate(keys):
        mine = [r for r in rows if (r["network"], r["devices"]) == key]
        x0, y0 = wide * (i % across) + 34, 40 + high * (i // across)
        top = max([r[k] for r in mine for k in ("mfc", "plain") if r[k]] + [1.2])

        def at(share, time):
            return x0 + share * (wide - 54), y0 + high - 30 - (time - 0.9) / (top - 0.9) * (high - 56)

        out.append(f'<text x="{x0}" y="{y0 + 14}" font-weight="bold">{key[0]}, {key[1]} devices</text>')
        out.append(f'<path d="M{x0} {y0 + 20}V{y0 + high - 30}H{x0 + wide - 54}" fill="none" stroke="#999"/>')
        out += ['<text x="%.0f" y="%.0f" text-anchor="end">%.1f</text>' % (x0 - 3, at(0, t)[1] + 3, t) for t in (1, top)]
        out += ['<text x="%.0f" y="%.0f" text-anchor="middle">%.1f</text>' % (at(s, 1)[0], y0 + high - 18, s) for s in (0, 0.5, 1)]
        for name, colour in (("mfc", "#2b6cb0"), ("plain", "#dd6b20")):
            found = sorted((r["share"], r[name]) for r in mine if r[name])
            out.append('<polyline points="%s" fill="none" stroke="%s"/>' % (" ".join("%.1f,%.1f" % at(*f) for f in found), colour))
            out += ['<circle cx="%.1f" cy="%.1f" r="2.5" fill="%s"/>' % (*at(*f), colour) for f in found]
    with open(path, "w") as f:
        f.write("\n".join(out + ["</svg>", ""]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--devices", default="2,4")
    parser.add_argument("--limits", type=int, default=10)
    parser.add_argument("--work", type=int, default=40000)
    options = arguments(parser, NETWORKS)
    table = Table([("network", "network", ""), ("devices", "devices", ""), ("tasks", "tasks", ""), ("memory", "memory, MB", ".0f"),
                   ("share", "share", ".3f"), ("unlimited", "unlimited", ".3f"), ("plain", "plain", ".3f"), ("mfc", "mfc", ".3f")])
    sums = []
    with tempfile.TemporaryDirectory() as scratch:
        for network in options.names:
            for n in map(int, options.devices.split(",")):
                limits = Limits(options, scratch, network, n)
                for row in limits.rows():
                    table.add(row)
                sums.append(sum_up(limits, table.rows))
    print()
    total = Table([("network", "network", ""), ("devices", "devices", ""), ("least", "largest task, MB", ".0f"),
                   ("unlimited", "unlimited, MB", ".0f"), ("plain", "plain down to, MB", ".0f"), ("mfc", "mfc down to, MB", ".0f"),
                   ("of_unlimited", "of unlimited", ".2f"), ("of_plain", "of plain", ".2f"), ("bound", "can be, of plain", ".2f"),
                   ("best", "mfc / plain, best", ".3f"), ("worst", "worst", ".3f")])
    for row in sums:
        total.add(row)
    if options.out:
        table.write(os.path.join(options.out, "limits.csv"))
        total.write(os.path.join(options.out, "limits-sum.csv"))
        picture(table.rows, os.path.join(options.out, "limits.svg"))


if __name__ == "__main__":
    main()
