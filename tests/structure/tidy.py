"""Every C file of the modules passes the checks of .clang-tidy.

    tidy.py CLANG_TIDY BUILD        BUILD has compile_commands.json"""
import concurrent.futures
import os
import subprocess
import sys

import tree

tidy, build = sys.argv[1:]
paths = [os.path.join(tree.TOP, p) for p in tree.files(".c")
         if p.partition("/")[0] in ("ir", "solver", "passes", "backend", "frontend")]
n_parts = 2 * (os.cpu_count() or 1)


def run(part):
    done = subprocess.run([tidy, "--quiet", "-p", build, *part], capture_output=True, text=True)
    return done.returncode, done.stdout + ("" if done.returncode == 0 else done.stderr)


with concurrent.futures.ThreadPoolExecutor(2) as pool:
    results = list(pool.map(run, [paths[i::n_parts] for i in range(n_parts)]))
for code, text in results:
    if code:
        print(text)
print(f"{len(paths)} files")
sys.exit(any(code for code, _ in results) or len(paths) < 100)
