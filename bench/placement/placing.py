"""What the commands of this folder share: networks as placement problems, searches on them, tables."""
import csv
import json
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
BATCHES = {"alexnet": 512, "vgg16": 64, "vgg19": 64, "resnet50": 128, "inception_v3": 128, "bert24": 16, "lstm": 512, "unet": 32}
BLIND = ["--no-recompute", "--no-duplicates", "--no-offload"]


def arguments(parser, names):
    """Options of every command; `names`: the networks when none is given."""
    parser.add_argument("names", nargs="*", metavar="NETWORK", help="of bench/placement/networks.py: " + ", ".join(names))
    parser.add_argument("--networks", required=True, metavar="FOLDER", help="where networks.py wrote them")
    parser.add_argument("--out", metavar="FOLDER", help="also write table and picture there")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--batch", type=int, help="of all networks, instead of the batch that each has here")
    parser.add_argument("--mfc", default=os.path.join(HERE, "..", "..", "build", "mfc"))
    options = parser.parse_intermixed_args()
    options.names = options.names or list(names)
    return options


def device(name, count, rate, memory_bandwidth, memory=None):
    made = {"name": name, "count": count, "rate": rate, "memory_bandwidth": memory_bandwidth, "overhead": 5000}
    return dict(made, memory=memory) if memory else made


def rig(devices, names, link, host):
    """Every device is linked with every other, and over one bus with the host; GB/s."""
    links = [{"between": [a, b], "bandwidth": link, "latency": 5000} for i, a in enumerate(names) for b in names[i + 1:]]
    links += [{"between": [a, "host"], "bandwidth": host, "latency": 10000, "bus": "host"} for a in names]
    return {"format": "mfc-rig", "version": 1, "devices": devices, "host": {"memory": 1 << 40}, "links": links}


def with_memory(problem, memory):
    return dict(problem, devices=[dict(d, memory=memory) for d in problem["devices"]])


def largest_task(problem):
    """No plan can have less on every device: the most that one task reads, makes, needs and holds."""
    nodes, need = problem["nodes"], [n["bytes"] + n.get("workspace", 0) + n.get("resident", 0) for n in problem["nodes"]]
    for a, b in {tuple(e) for e in problem["edges"]}:
        need[b] += nodes[a]["bytes"]
    return problem["fixed_bytes"] + max(need)


class Bench:
    """Runs mfc on files in a scratch folder."""

    def __init__(self, options, scratch):
        self.options, self.scratch = options, scratch

    def file(self, name, content=None):
        path = os.path.join(self.scratch, name)
        if content is not None:
            with open(path, "w") as f:
                json.dump(content, f)
        return path

    def problem(self, network, rig_file):
        out, batch = self.file("problem.json"), self.options.batch or BATCHES[network]
        subprocess.run([self.options.mfc, "inspect", os.path.join(self.options.networks, network + ".onnx"), "--optimizer", "sgd",
                        "--dim", f"batch={batch}", "--rig", self.file("rig.json", rig_file), "--json", out],
                       check=True, stdout=subprocess.DEVNULL)
        with open(out) as f:
            return json.load(f)

    def place(self, problem, work, flags, start=None):
        """The strategy that was found; None: none was."""
        out = self.file("strategy.json")
        more = ["--initial", self.file("start.json", start)] if start else []
        run = subprocess.run([self.options.mfc, "place", self.file("limited.json", problem), "-q", "-o", out, "--threads", "1", "--time",
                              "0", "--work", str(work), "--seed", str(self.options.seed), *more, *flags], capture_output=True, text=True)
        if run.returncode == 6:
            return None
        assert run.returncode == 0, run.stderr
        with open(out) as f:
            return json.load(f)

    def simulate(self, problem, strategy):
        """The makespan of a strategy written by hand."""
        out = self.file("simulated.json")
        run = subprocess.run([self.options.mfc, "simulate", self.file("limited.json", problem), self.file("strategy.json", strategy),
                              "-q", "-o", out], capture_output=True, text=True)
        assert run.returncode in (0, 10), run.stderr
        with open(out) as f:
            return json.load(f)["makespan"]


def peak(strategy, problem):
    return max(strategy["peak_bytes"][d["name"]] for d in problem["devices"])


class Table:
    """Rows as Markdown on standard output as they come, and as CSV in the end. A column: name, title, format."""

    def __init__(self, columns):
        self.columns, self.rows = columns, []
        print("| " + " | ".join(title for _, title, _ in columns) + " |\n" + "|---" * len(columns) + "|", flush=True)

    def add(self, row):
        self.rows.append(row)
        print("| " + " | ".join("none" if row[name] is None else format(row[name], how) for name, _, how in self.columns) + " |",
              flush=True)

    def write(self, path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", newline="") as f:
            out = csv.writer(f)
            out.writerow(name for name, _, _ in self.columns)
            out.writerows([row[name] for name, _, _ in self.columns] for row in self.rows)


def bars(path, title, rows):
    """A picture of (label, [(legend, value or None)]): one bar a value, as a share of the longest of its label."""
    shades, wide, y = ["#2b6cb0", "#a0aec0", "#cbd5e0", "#e2a04a", "#d1d5db"], 640, 30
    out = []
    for label, values in rows:
        longest = max(v for _, v in values if v is not None)
        out.append(f'<text x="4" y="{y + 10}" font-weight="bold">{label}</text>')
        y += 16
        for k, (legend, v) in enumerate(values):
            length = (wide - 330) * v / longest if v is not None else 0
            out.append(f'<rect x="200" y="{y}" width="{length:.1f}" height="11" fill="{shades[k % len(shades)]}"/>')
            out.append(f'<text x="12" y="{y + 10}">{legend}</text>')
            out.append(f'<text x="{206 + length:.1f}" y="{y + 10}">{"does not fit" if v is None else f"{v:.1f} ms"}</text>')
            y += 14
        y += 8
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {y}" font-family="sans-serif" font-size="11">'
    with open(path, "w") as f:
        f.write("\n".join([head, f'<text x="4" y="14">{title}</text>'] + out + ["</svg>", ""]))
