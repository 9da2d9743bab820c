#!/usr/bin/python3
"""docs/gradients.md lists exactly the operators that ir/op.def has gradient rules for, those that carry none, and those
that passes/decompose/decompose.def replaces."""
import re
import sys

top = sys.argv[1]
rows = re.findall(r"^OP\((\w+),.*, (\w+)\)$", open(f"{top}/ir/op.def").read(), re.M)
replaced = re.findall(r'^DECOMPOSE\("(.*)", (\w+), \w+\)$', open(f"{top}/passes/decompose/decompose.def").read(), re.M)
text = open(f"{top}/docs/gradients.md").read()


def listed(heading):
    return set(re.findall(r"`(\w+)`", text.split(heading)[1].split("\n\n")[1]))


wrong = []
for heading, want in (("These have a gradient rule:", {n for n, g in rows if g not in ("none", "zero")}),
                      ("These carry none by their nature", {n for n, g in rows if g == "zero"}),
                      ("as ONNX Runtime extends it:", {n for d, n in replaced if not d}),
                      ("Of `com.microsoft`:", {n for d, n in replaced if d})):
    have = listed(heading)
    wrong += [f"{n}: missing in docs/gradients.md" for n in sorted(want - have)]
    wrong += [f"{n}: in docs/gradients.md, but not in the tables" for n in sorted(have - want)]
print("\n".join(wrong))
sys.exit(1 if wrong or not rows else 0)
