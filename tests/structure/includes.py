"""Include lines go one way: a room sees only the rooms below it, and only its own outside libraries."""
import re
import sys

import tree

LIBC = """assert ctype dlfcn errno fcntl fenv float getopt inttypes limits locale math pthread sched
setjmp signal spawn stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string
strings sys/ time unistd dirent linux/ poll""".split()

# room -> (rooms whose headers it may include, outside libraries it may include)
ROOMS = {
    "ir/base": (["ir/base"], ["uthash", "xxhash"]),
    "ir": (["ir/base", "ir"], []),
    "solver": (["ir/base", "solver"], ["coin/", "jansson"]),
    "passes": (["ir/base", "ir", "solver", "passes"], []),
    "backend": (["ir/base", "ir", "backend", "third_party/onnx"], ["jansson", "protobuf-c/"]),
    "frontend": (["ir/base", "ir", "solver", "passes", "backend", "frontend", "third_party/onnx"],
                 ["coin/", "jansson", "protobuf-c/", "mpi", "ifaddrs", "net/", "netinet/"]),
    "examples": ([], ["mfc.h"]),
}
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')


def room_of(path):
    folder = path.rpartition("/")[0]
    return folder if folder in ROOMS else path.partition("/")[0]


def allowed(room, mark, name):
    inner, outer = ROOMS[room]
    if mark == '"':
        return name in inner or name.rpartition("/")[0] in inner
    return any(name == x or name == x + ".h" or (x.endswith("/") and name.startswith(x))
               for x in LIBC + outer)


bad = n_lines = 0
for path in tree.files(".c", ".h", ".def"):
    room = room_of(path)
    if room not in ROOMS:
        continue
    for number, text in tree.lines(path):
        m = INCLUDE.match(text)
        if not m:
            continue
        n_lines += 1
        if not allowed(room, *m.groups()):
            print(f"{path}:{number}: {room} may not include {m.group(2)}")
            bad += 1
print(f"{n_lines} include lines, {bad} against the direction")
sys.exit(bad != 0 or n_lines < 50)
