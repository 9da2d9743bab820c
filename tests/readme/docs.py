"""docs.py SOURCE MFC: what the documentation names exists.

- every relative link leads to a file, and its fragment to a heading;
- every path in code marks is in the tree;
- every option is one of mfc: of the command that stands before it on the same line, or of any command where none does.
  Options of a script of the tree must occur in that script or in a module beside it;
- in CONTRIBUTING.md and docs/architecture.md, every name in code marks occurs in the source, and a block marked with a
  file name is a part of that file; an ellipsis stands for anything within a line;
- the text uses one word for one thing: none of RETIRED;
- docs/architecture.md gives every module, and what it may use, as tests/structure/includes.py does."""
import ast
import functools
import glob
import os
import re
import subprocess
import sys

source, mfc = sys.argv[1:]
PAGES = sorted(glob.glob("*.md", root_dir=source) + glob.glob("docs/**/*.md", root_dir=source, recursive=True)
               + glob.glob("third_party/*.md", root_dir=source)
               + [p for top in ("examples", "bench", "tests")
                  for p in glob.glob(top + "/**/*.md", root_dir=source, recursive=True) if "node_modules" not in p])
STRICT = ("CONTRIBUTING.md", "docs/architecture.md")
TOPS = ("backend/", "bench/", "docs/", "examples/", "frontend/", "ir/", "passes/", "scripts/", "solver/", "tests/",
        "third_party/")
# Words that other terms have replaced: baseline step, recomputed, overhead, persistent memory, liveness peak, offload,
# arena, file order, dead, stopped, default, out of memory.
RETIRED = re.compile(r"unplanned|computed? again|time more|extra time|fixed part|held throughout|by liveness|put aside|"
                     r"laid out|as they stand|nobody|told to end|preset|no room|the whole way|priced|what is to be small|"
                     r"cannot treat|let go|had better|\bheat\b|\btwins?\b", re.I)
counts = {"links": 0, "paths": 0, "options": 0, "names": 0, "blocks": 0, "modules": 0, "words": 0}
complaints = []


def read(path):
    with open(os.path.join(source, path), encoding="utf-8") as f:
        return f.read()


def exists(path):
    return bool(glob.glob(os.path.join(source, path), include_hidden=True))


@functools.cache
def slugs(page):
    """The fragments of a page's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", read(page), flags=re.M | re.S)
    heads = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in heads}


@functools.cache
def help_options(command):
    """The options in the help of a command; of all commands for None."""
    if command is None:
        return set().union(*(help_options(c) for c in commands()))
    out = subprocess.run([mfc, command, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return set(re.findall(r"--[a-z][a-z-]*", out))


@functools.cache
def commands():
    out = subprocess.run([mfc, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return re.findall(r"^  ([a-z-]+)  ", out[out.index("Commands"):out.index("Options of every")], re.M)


@functools.cache
def words():
    """All identifiers of the sources."""
    found = set()
    for folder, inner, names in os.walk(source):
        inner[:] = [n for n in inner if n not in ("node_modules", "__pycache__", ".git")
                    and not (folder == source and n.startswith("build"))]
        for name in names:
            if name.endswith((".c", ".h", ".def", ".py", ".mjs", ".test", ".txt", ".proto", ".sh")):
                found |= set(re.findall(r"\w+", read(os.path.join(os.path.relpath(folder, source), name))))
    return found


def check_links(page, text):
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        counts["links"] += 1
        path, _, fragment = target.partition("#")
        to = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if not exists(to):
            complaints.append(f"{page}: link to {target}: no such file")
        elif fragment and fragment not in slugs(to):
            complaints.append(f"{page}: link to {target}: no such heading")


def check_paths(page, text):
    for path in re.findall(r"(?<![\w/.-])(?:%s)[\w*./-]*" % "|".join(TOPS), text):
        counts["paths"] += 1
        if not exists(path.rstrip(".")):
            complaints.append(f"{page}: {path}: no such file")


def check_option(page, option, before, scripts):
    """`before` is what stands before it in the same code, `scripts` are the files of the tree that the paragraph names."""
    counts["options"] += 1
    found = re.findall(r"(?:^|[\s/])(mfc|cmake|ctest|cc|git|mpirun|npm|pkg-config)(?=\s)|((?:%s)[\w./-]+)(?=\s)"
                       % "|".join(TOPS), before)
    programs = ["mfc" if b == "scripts/mfc" else a or b for a, b in found
                if a or os.path.splitext(b)[1] in ("", ".py", ".mjs", ".sh")]
    name = next((p for p in programs if p != "mpirun"), programs[0] if programs else None)
    if name == "mfc":
        rest = before[before.rindex("mfc") + 3:].split()
        command = rest[0] if rest and rest[0] in commands() else "plan"
        if option not in help_options(command):
            complaints.append(f"{page}: mfc {command} has no option {option}")
    elif name and name.startswith(TOPS):
        folder = os.path.join(source, os.path.dirname(name))
        files = [name] + [os.path.relpath(f, source) for f in glob.glob(folder + "/*.py") + glob.glob(folder + "/*.mjs")]
        if not any(option in read(f) for f in files):
            complaints.append(f"{page}: {name} has no option {option}")
    elif not name and option not in help_options(None) and not any(option in read(s) for s in scripts):
        complaints.append(f"{page}: mfc has no option {option}")


def codes(text):
    """Everything in code marks, with the paragraph around it: spans, and lines of blocks."""
    text = re.sub(r"\\\n\s*", " ", text)
    for kind, block in re.findall(r"^```(?!json)(\w*)[^\n]*\n(.*?)^```", text, re.M | re.S):
        yield from ((line, block) for line in block.split("\n") if kind != "console" or line.startswith("$ "))
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    for paragraph in re.split(r"\n\s*\n", text):
        if all(line.startswith("    ") for line in paragraph.split("\n") if line):
            yield from ((line.split("  #")[0].strip(), paragraph) for line in paragraph.split("\n"))
        else:
            yield from ((" ".join(span.split()), paragraph) for span in re.findall(r"`([^`]+)`", paragraph))


def check_options(page, text):
    for code, paragraph in codes(text):
        scripts = [p for p in re.findall(r"(?:%s)[\w./-]*\w" % "|".join(TOPS), paragraph)
                   if os.path.isfile(os.path.join(source, p)) and not p.endswith((".onnx", ".png"))]
        for m in re.finditer(r"(?<![\w-])--[a-z][a-z-]*", code):
            check_option(page, m.group(), code[:m.start()], scripts)


def check_names(page, text):
    for span in re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)):
        if span.startswith(TOPS) or re.match(r"(scripts/)?(mfc|cmake|ctest|clang-format|git) ", span):
            continue
        counts["names"] += 1
        unknown = [w for w in re.findall(r"[A-Za-z]\w*", span)
                   if not w.endswith("_") and w not in words() and not exists(w)]
        if unknown and not exists(span):
            complaints.append(f"{page}: `{span}`: no {', '.join(unknown)} in the source")


def check_blocks(page, text):
    for name, block in re.findall(r"^```\w* ?([\w/]+\.\w+)\n(.*?)^```", text, re.M | re.S):
        counts["blocks"] += 1
        lines = [r"\s+".join(re.escape(w).replace("…", ".*?") for w in line.split()) for line in block.split("\n")]
        if not re.search(r"\s+".join(line for line in lines if line), read(name)):
            complaints.append(f"{page}: the block marked {name} is not in that file:\n{block}")


def check_words(page, text):
    text = re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))
    counts["words"] += len(text.split())
    for found in RETIRED.findall(text):
        complaints.append(f"{page}: \"{found}\": use the term that replaces it")


def check_modules(text):
    rules = {}
    for node in ast.parse(read("tests/structure/includes.py")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) in ("BASE", "TABLES", "DOORS", "PASSES", "MODULES"):
            exec(compile(ast.Module([node], []), "includes.py", "exec"), rules)
    said = {}
    for cell, uses in re.findall(r"^\| (`[^|]*) \|.*\| ([^|]*) \|$", text, re.M):
        for module in re.findall(r"`([\w/]+)`", cell):
            said[module] = set()
            for use in re.findall(r"`([\w/.]+)`", uses):
                said[module] |= set(rules[use] if use in rules else [use])
    for module, (uses, _) in rules["MODULES"].items():
        counts["modules"] += 1
        if module != "examples" and said.get(module) != set(uses):
            complaints.append(f"docs/architecture.md: {module} may use {sorted(uses)}, the page has "
                              f"{sorted(said.get(module, []))}")


for page in PAGES:
    text = read(page)
    check_links(page, text)
    check_paths(page, text)
    check_options(page, text)
    check_words(page, text)
    if page in STRICT:
        check_names(page, text)
        check_blocks(page, text)
check_modules(read("docs/architecture.md"))
print("\n".join(complaints))
print(", ".join(f"{n} {what}" for what, n in counts.items()), f"in {len(PAGES)} pages, {len(complaints)} complaints")
sys.exit(bool(complaints) or min(counts.values()) == 0)
