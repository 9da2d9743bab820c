"""Models with much data, in small: what happens above 2 GB happens here above a limit of 1 MB. The
weights must arrive in a file beside the output, whether they were inside the model or beside it, and
whether the model came straight from its file or by way of its text.

    data.py PROGRAM SCRATCH
"""
import os
import shutil
import subprocess
import sys

import onnx
import sparse

N_TENSORS, N_BYTES, LIMIT = 4, 16 << 20, 1 << 20


def main(program, scratch):
    shutil.rmtree(scratch, ignore_errors=True)
    wrong = []
    for form in ("inline", "external"):
        folder = os.path.join(scratch, form)
        out = os.path.join(folder, "out")
        os.makedirs(out)
        path = os.path.join(folder, "sparse.onnx")
        sparse.write(path, N_TENSORS, N_BYTES, form == "external")
        done = subprocess.run([program, out, str(LIMIT)], input=path + "\n", text=True)
        if done.returncode:
            wrong.append(f"{form}: it ended with {done.returncode}")
            continue
        for way in ("direct", "text"):
            copy = os.path.join(out, f"0.{way}.onnx")
            wrong += [f"{form}, {way}: {text}" for text in sparse.check(copy, N_TENSORS, N_BYTES)]
            old, new = onnx.load(path), onnx.load(copy)  # both with their data
            if [t.raw_data for t in old.graph.initializer] != [t.raw_data for t in
                                                               new.graph.initializer]:
                wrong.append(f"{form}, {way}: onnx reads other weights")
            onnx.checker.check_model(copy)
            room = sum(os.stat(os.path.join(out, n)).st_blocks * 512 for n in os.listdir(out))
            if room > N_BYTES:
                print(f"{form}: holes were filled ({room} bytes); the file system may not have them")
        if len(os.listdir(out)) != 4:
            wrong.append(f"{form}: {sorted(os.listdir(out))}")
    shutil.rmtree(scratch)
    print("\n".join(wrong) or "2 of 2 models have the same weights, both ways")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main(*sys.argv[1:])
