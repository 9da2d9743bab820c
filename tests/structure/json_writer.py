"""JSON is written by ir/json/json_write.c alone: no other C file of a module has a string literal that looks like a piece
of a JSON document. Messages may quote JSON to show what is expected."""
import os
import re
import sys

import tree

MODULES = ("ir/", "passes/", "solver/", "backend/", "frontend/", "bench/", "examples/")
WRITER = "ir/json/json_write.c"
# Calls whose text a person reads, by the beginning of their names.
MESSAGES = ("diag_",)

TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\])'|"((?:\\.|[^"\\\n])*)"|[A-Za-z_]\w*|.""", re.S)
# {"key", ["text", ,"key": and "key": at the start of a literal.
PIECE = re.compile(r"""[{\[]\s*"|,\s*"[^"]*"\s*:|^\s*"[^"]*"\s*:|^"\s*[\]}:,]+\s*"?$|\bnull[\]}]""")


def literals(text):
    """(line, literal, name of the innermost call that it is an argument of); adjacent literals are one."""
    calls, word, joined, line = [], "", None, 1
    for m in TOKEN.finditer(text):
        token = m.group()
        if m.group(1) is not None:
            value = m.group(1).replace('\\"', '"').replace("\\n", "\n")
            joined = (joined[0], joined[1] + value, joined[2]) if joined else (line, value, calls[-1] if calls else "")
        elif not token.isspace() and not token.startswith(("//", "/*")):
            if joined:
                yield joined
            joined = None
            if token == "(":
                calls.append(word)
            elif token == ")" and calls:
                calls.pop()
            word = token if re.match(r"\w", token) else ""
        line += token.count("\n")


bad = n_literals = 0
for path in tree.files(".c", ".h"):
    if not path.startswith(MODULES) or path == WRITER:
        continue
    with open(os.path.join(tree.TOP, path), encoding="utf-8") as f:
        text = re.sub(r"(?m)^\s*#\s*include.*$", "", f.read())
    for line, value, call in literals(text):
        n_literals += 1
        if PIECE.search(value) and not call.startswith(MESSAGES):
            print(f"{path}:{line}: JSON by hand; use ir/json/json_write.h: {value.strip()[:80]!r}")
            bad += 1
print(f"{n_literals} literals, {bad} pieces of JSON")
sys.exit(bad != 0 or n_literals < 1000)
