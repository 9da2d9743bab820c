"""Sends every ONNX model beneath some folders through the program `roundtrip`, and compares what comes
out with what went in (compare.py).

    run.py PROGRAM SCRATCH LEAST FOLDER...      LEAST: how many models there must be
"""
import os
import shutil
import subprocess
import sys

import compare


def models(folders):
    for folder in folders:
        for place, below, names in os.walk(folder):
            below.sort()
            yield from (os.path.join(place, n) for n in sorted(names) if n.endswith(".onnx"))


def main(program, scratch, least, *folders):
    found = list(models(folders))
    if len(found) < int(least):
        sys.exit(f"{len(found)} models were found; there should be at least {least}")
    shutil.rmtree(scratch, ignore_errors=True)
    os.makedirs(scratch)
    done = subprocess.run([program, scratch], input="\n".join(found) + "\n", text=True)
    good = done.returncode == 0
    for form in ("direct", "text"):
        print(f"{form}: ", end="")
        good &= compare.compare_files([(path, os.path.join(scratch, f"{k}.{form}.onnx"))
                                       for k, path in enumerate(found)])
    shutil.rmtree(scratch)
    sys.exit(not good)


if __name__ == "__main__":
    main(*sys.argv[1:])
