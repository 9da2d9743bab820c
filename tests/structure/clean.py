"""No file names a package registry, a path of somebody's machine, or unfinished work; none is binary
except the models and the picture of the report; C files stay readable in size."""
import re
import sys

import tree

RULES = [  # written so that no rule matches itself
    (re.compile(r"registry[.]npmjs|deb[.]debian[.]org|pypi[.]org|files[.]pythonhosted"),
     "host of a registry"),
    (re.compile(r"(^|[\s\"'=(:])/(work|root|home)/"), "path of a machine"),
    (re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b"), "mark of unfinished work"),
]
MAX_LINES = 430

bad = 0
everything = tree.files()
for path in everything:
    lines = tree.lines(path) if not path.endswith((".onnx", ".bin", ".pb", ".png", ".data")) else []
    if not lines and not path.endswith((".onnx", ".bin", ".pb", ".data")) and path != "docs/report.png":
        print(f"{path}: binary")
        bad += 1
    if path.endswith((".c", ".h")) and len(lines) > MAX_LINES:
        print(f"{path}: {len(lines)} lines; does it still hold one idea?")
        bad += 1
    for number, text in lines:
        for rule, what in RULES:
            if rule.search(text):
                print(f"{path}:{number}: {what}: {text.strip()[:80]}")
                bad += 1
print(f"{len(everything)} files, {bad} complaints")
sys.exit(bad != 0 or len(everything) < 30)
