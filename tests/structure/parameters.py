"""No function takes more than six parameters: what belongs together becomes a struct."""
import re
import sys

import tree

MAX_PARAMETERS = 6

DEFINITION = re.compile(r"^(?:static |inline |_Noreturn |const |unsigned |struct |enum )*\w+[ *]+(\w+)\(([^;{}]*?)\)\s*[{;]", re.M)


def top_level_commas(text):
    depth = n = 0
    for c in text:
        depth += (c in "([{") - (c in ")]}")
        n += c == "," and depth == 0
    return n


bad = n_functions = 0
seen = set()
for path in tree.files(".c", ".h"):
    text = "\n".join(line for _, line in tree.lines(path))
    text = re.sub(r"//[^\n]*", "", text)
    for m in DEFINITION.finditer(text):
        name, parameters = m.groups()
        if m.group(0).startswith(("return ", "else ", "typedef ")):
            continue
        n_functions += 1
        n = top_level_commas(parameters) + 1
        if n > MAX_PARAMETERS and (path, name) not in seen:
            seen.add((path, name))
            print(f"{path}:{text.count(chr(10), 0, m.start()) + 1}: {name} has {n} parameters")
            bad += 1
print(f"{n_functions} functions, {bad} with more than {MAX_PARAMETERS} parameters")
sys.exit(bad != 0 or n_functions < 1000)
