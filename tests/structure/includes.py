"""Include lines go one way: a module sees only the modules below it, and only its own outside libraries.

A module is a folder. Its headers are for the modules whose row names it. The checkers see none of what they check."""
import re
import sys

import tree

LIBC = """assert ctype dlfcn errno fcntl fenv float getopt inttypes langinfo limits locale math pthread sched
setjmp signal spawn stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string
strings sys/ time unistd dirent linux/ poll""".split()

BASE = ["ir/base", "ir/json", "ir"]
TABLES = ["solver/search_options.def", "solver/search_limits.def", "solver/placement_options.def"]  # option rows
DOORS = ["solver/solve.h", "solver/curve.h", "solver/place.h", "solver/offsets.h", "solver/search_options.h",
         "solver/model"] + TABLES
PASSES = BASE + DOORS + ["passes"]

# module -> (modules, or single headers, that it may include beside its own; outside libraries)
MODULES = {
    "ir/base": ([], ["uthash", "xxhash"]),
    "ir/json": (["ir/base"], ["jansson"]),
    "ir": (["ir/base"], []),
    "ir/text": (BASE, []),
    "ir/state": (BASE, ["jansson"]),
    "ir/check": (BASE, []),
    "ir/runtime": (BASE, []),
    "ir/wrapper": (BASE, []),
    "solver/model": (["ir/base", "ir/json"], ["jansson"]),
    "solver/modal": (["ir/base", "ir/json", "solver/model"], ["jansson"]),
    "solver/check": (["ir/base", "solver/model", "solver/modal"], []),
    "solver/sim": (["ir/base", "solver/model"], []),
    "solver/baselines": (["ir/base", "solver/model", "solver/solve.h", "solver/methods.h"], []),
    "solver/mip": (["ir/base", "solver/model", "solver/solve.h", "solver/methods.h"], []),
    "solver/cuts": (["ir/base", "solver/model", "solver/solve.h", "solver/methods.h", "solver/mip"], []),
    "solver/exhaust": (["ir/base", "solver/model", "solver/solve.h", "solver/methods.h"], []),
    "solver/anneal": (["ir/base", "solver/model", "solver/solve.h", "solver/excess_price.h", "solver/parallel.h",
                       "solver/cuts"], []),
    "solver/offsets": (["ir/base", "solver/model", "solver/check", "solver/offsets.h"], []),
    "solver/place": (["ir/base", "ir/json", "solver/model", "solver/check", "solver/sim", "solver/solve.h", "solver/place.h",
                      "solver/excess_price.h", "solver/parallel.h"], ["jansson"]),
    "solver/stages": (["ir/base", "solver/model", "solver/modal", "solver/check", "solver/place/mcmc.h", "solver/excess_price.h"], []),
    "solver": (["ir/base", "solver/model", "solver/check", "solver/anneal", "solver/cuts", "solver/exhaust", "solver/mip",
                "solver/baselines", "solver/place"], []),
    "passes": (BASE + ["passes/shape", "passes/param"], []),
    "passes/param": (BASE, []),
    "passes/adapt": (BASE + ["passes", "passes/shape", "passes/param"], []),
    "passes/shape": (BASE + ["passes"], []),
    "passes/fold": (BASE + ["passes", "passes/shape", "passes/param"], []),
    "passes/grad": (BASE + ["passes", "passes/shape", "passes/param", "passes/adapt"], []),
    "passes/update": (BASE + ["passes", "passes/shape"], []),
    "passes/recognize": (BASE + ["passes", "passes/shape"], []),
    "passes/decompose": (BASE + ["passes", "passes/shape", "passes/grad", "passes/recognize/formulas.h"], []),
    "passes/cost": (BASE + ["passes", "passes/shape"], []),
    "passes/shard": (BASE + ["passes", "passes/shape"], []),
    "passes/rewrite": (BASE + ["passes", "passes/shape", "ir/runtime", "ir/wrapper"], []),
    "passes/steer": (BASE + ["passes", "passes/shape", "ir/runtime", "solver/offsets.h", "solver/model"], []),
    "passes/remat": (PASSES + ["passes/cost"], []),
    "passes/layout": (PASSES + ["passes/remat"], []),
    "passes/plan": (PASSES + ["passes/remat", "passes/shard", "solver/check", "passes/rewrite/wrap.h",
                              "passes/steer/steer.h", "ir/check", "ir/runtime"], []),
    "backend": (BASE + ["ir/text", "backend/onnx", "third_party/onnx"], ["jansson", "protobuf-c/"]),
    "backend/onnx": (BASE, []),
    "backend/report": (BASE + ["ir/runtime", "backend"], []),
    "frontend/onnx": (BASE + ["third_party/onnx"], ["protobuf-c/"]),
    "frontend/inputs": (BASE + TABLES + ["passes/cost", "passes/remat", "solver/model"], ["jansson"]),
    "frontend/tools": (BASE + DOORS + ["ir/check", "ir/runtime", "ir/state", "passes", "passes/layout", "passes/param",
                                       "passes/plan", "passes/remat", "backend", "backend/report", "frontend"], []),
    "frontend/tools/inspect": (BASE + ["ir/runtime", "passes", "passes/param", "passes/plan"], []),
    "frontend": (BASE + ["solver/solve.h", "solver/model", "solver/check", "ir/state", "ir/text", "ir/wrapper", "backend", "backend/onnx", "passes", "passes/plan",
                         "passes/rewrite/wrap.h", "frontend/onnx", "frontend/inputs", "frontend/tools"], []),
    "frontend/cli": (BASE + ["solver/model", "solver/solve.h", "solver/curve.h", "solver/place.h", "solver/place/team.h",
                             "passes", "passes/plan", "frontend", "frontend/inputs"], ["jansson", "mpi"]),
    "frontend/cli/commands": (BASE + DOORS + ["ir/text", "solver/check", "solver/mip/worker.h", "solver/place/team.h",
                                     "solver/modal", "solver/stages/stage_search.h", "passes",
                                     "passes/layout", "passes/plan", "backend", "backend/report", "frontend",
                                     "frontend/inputs", "frontend/tools", "frontend/tools/inspect", "frontend/cli"], ["jansson"]),
    "examples": ([], ["mfc.h", "mfc/"]),
}

# file -> what it may include beyond the row of its module
FILES = {
    "frontend/main.c": ["frontend/cli/cli.h"],
    "frontend/mfc_solve.h": ["mfc.h"],       # as it is when both are installed
    "solver/mip/cbc.c": ["coin/"],           # the one file that knows CBC and Clp
    "frontend/version.c": ["coin/", "jansson", "protobuf-c/"],  # to tell their versions
}

# The checkers by file where a module holds both: what they must not see.
BLIND = {
    "passes/layout/layout_check.c": ["passes/layout/layout_inner.h", "solver/offsets.h"],
}

MAX_FILES = 32  # of one folder
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')


def module_of(path):
    return path.rpartition("/")[0]


def allowed(path, mark, name):
    module = module_of(path)
    inner, outer = MODULES[module]
    extra = FILES.get(path, [])
    if mark == '"':
        folder = name.rpartition("/")[0]
        return name not in BLIND.get(path, []) and (folder == module or name in inner + extra or folder in inner)
    return any(name == x or name == x + ".h" or (x.endswith("/") and name.startswith(x))
               for x in LIBC + outer + extra)


bad = n_lines = 0
stems, sizes = {}, {}
for path in tree.files(".c", ".h", ".def"):
    if path.partition("/")[0] not in ("ir", "solver", "passes", "backend", "frontend", "examples"):
        continue
    module = module_of(path)
    if module not in MODULES:
        print(f"{path}: {module} is no module: add a row to tests/structure/includes.py")
        bad += 1
        continue
    name = path.rpartition("/")[2]
    sizes[module] = sizes.get(module, 0) + 1
    if module != "examples" and stems.setdefault(name, path) != path:
        print(f"{path}: the name is taken by {stems[name]}")
        bad += 1
    for number, text in tree.lines(path):
        m = INCLUDE.match(text)
        if not m:
            continue
        n_lines += 1
        if not allowed(path, *m.groups()):
            print(f"{path}:{number}: {module} may not include {m.group(2)}")
            bad += 1
for module, n in sizes.items():
    if n > MAX_FILES:
        print(f"{module}: {n} files; is it still one subject?")
        bad += 1
print(f"{n_lines} include lines in {len(sizes)} modules, {bad} complaints")
sys.exit(bad != 0 or n_lines < 50)
