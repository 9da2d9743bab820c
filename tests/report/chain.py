"""chain.py LAYERS BASELINE PLAN [--hostile]: a chain of layers, forward and backward, as text: once as it is, and
once with every sqrt(n)-th activation kept and the others recomputed, segment by segment (Chen et al., 2016).
With --hostile, names are what an attacker would write."""
import math
import sys

HOSTILE = ["<script>alert(1)</script>", "\" onload=\"alert(1)", "</title></svg><img src=x onerror=alert(1)>", "&lt;b&gt;",
           "'; DROP TABLE", "a\\x01\\x1b[31mred", "\\xff\\xfe", "\\xe2\\x80\\xaegnp.exe", "]]>", "<!--", "x" * 300,
           "{{constructor}}", "${alert(1)}", "back\\\\slash", "new\\nline", "\\xc3\\xa4\\xe6\\x97\\xa5"]


def quoted(text):
    return '"' + "".join(c if c != '"' else '\\"' for c in text) + '"'


def main(n, baseline, plan, hostile):
    def name(stem, i):
        return f"{stem}{i}" + (HOSTILE[i % len(HOSTILE)] if hostile else "")

    def value(stem, i):
        return "%" + quoted(name(stem, i))

    def width(i):
        return 1024 * (1 + i % 3)

    def forward(i, out, read, again=""):
        # Layers differ in width, so that sizes differ; Pad and Slice would add nothing to the plot.
        return (f"  %{quoted(out)} = Expand({read}, %s{width(i)}) : f32[1,{width(i)}] cost={1000 * (1 + i % 5)}"
                f" name={quoted('layer ' + out)}{again}\n")

    def backward(i, held):
        above = value("g", i + 1) if i + 1 < n else value("f", n - 1)
        return (f"  {value('e', i)} = ReduceMax({above}, keepdims=1) : f32[1,1] cost=100 workspace=512\n"
                f"  {value('g', i)} = Mul({held}, {value('e', i)}) : f32[1,{width(i)}] cost=2000\n")

    # Expand wants [1, 1]: each layer first takes the maximum of the one before.
    def layer(i, out, read, again="", again_max=""):
        return (f"  %{quoted(out + '/max')} = ReduceMax({read}, keepdims=1) : f32[1,1] cost=100{again_max}\n"
                + forward(i, out, f"%{quoted(out + '/max')}", again))

    head = "mfc 1\nir_version 8\nopset 17\n"
    graph = ('graph "chain" {\n  input %x : f32[1,4096]\n'
             + "".join(f"  const %s{w} : i64[2] = {{1,{w}}}\n" for w in (1024, 2048, 3072)))
    ends = f"  %loss = ReduceSum({value('f', n - 1)}, keepdims=0) : f32[] cost=50\n"
    outputs = f"  output %loss\n  output {value('g', 0)}\n}}\n"

    def source(i):
        return value("f", i - 1) if i else "%x"

    text = head + graph + "".join(layer(i, name("f", i), source(i)) for i in range(n)) + ends
    text += "".join(backward(i, value("f", i)) for i in reversed(range(n))) + outputs
    with open(baseline, "w", encoding="utf-8") as f:
        f.write(text)

    every = max(2, math.isqrt(n))
    body = "".join(layer(i, name("f", i), source(i)) for i in range(n)) + ends
    for start in reversed(range(0, n, every)):
        stop = min(n, start + every)
        last = stop == n  # the last segment is still there
        for i in range(start + 1, stop):
            if not last:
                read = value("f", start) if i == start + 1 else "%" + quoted(name("f", i - 1) + ".1")
                body += layer(i, name("f", i) + ".1", read, f" again({value('f', i)})",
                              f" again(%{quoted(name('f', i) + '/max')})")
        for i in reversed(range(start, stop)):
            body += backward(i, value("f", i) if last or i == start else "%" + quoted(name("f", i) + ".1"))
    with open(plan, "w", encoding="utf-8") as f:
        f.write(head + f'metadata dev.mfc.budget_bytes="{4 * 1024 * (n // 2 + 8)}"\nmetadata dev.mfc.runtime="file-order"\n'
                + graph + body + outputs)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3], "--hostile" in sys.argv[4:])
