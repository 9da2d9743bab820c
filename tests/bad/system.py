"""A system that refuses: files that are not there, not readable, not files; disks that are full; folders
that are read-only; signals. Exit code 8, a message with the reason, and the old output untouched."""
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

import command
from command import check, finish, run

MODEL = sys.argv[3]
STEP = ["--budget", "none"]  # what is written is the subject, not the search
AS_NOBODY = {"user": 65534, "group": 65534, "extra_groups": []} if os.getuid() == 0 else {}


def small_files():
    """As a full disk: a write over 4 KiB fails (with EFBIG; the signal is ignored)."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


def content(path):
    with open(path, "rb") as f:
        return f.read()


with tempfile.TemporaryDirectory() as folder:
    os.chmod(folder, 0o755)
    # Somebody else runs the command: root may read and write everything. So it must be where all can go.
    program = os.path.join(folder, "mfc")
    shutil.copy(command.MFC, program)
    command.MFC = program
    model = os.path.join(folder, "model.onnx")
    shutil.copy(MODEL, model)
    os.chmod(model, 0o644)
    target = os.path.join(folder, "target")
    os.mkdir(target)
    os.chmod(target, 0o777)
    out = os.path.join(target, "out.onnx")

    check("missing", run(["no.onnx", "-o", out]), (8,), r"no\.onnx: .*No such file", target)
    check("folder as a model", run([folder, "-o", out]), (8,), r"folder", target)
    check("device as a model", run(["/dev/zero", "-o", out]), (8,), r"not a regular file", target)
    secret = os.path.join(folder, "secret.onnx")
    shutil.copy(model, secret)
    os.chmod(secret, 0)
    check("unreadable", run([secret, "-o", out], **AS_NOBODY), (8,), r"secret\.onnx: .*Permission denied", target)

    check("folder as output", run([model, "-o", target]), (8,), r"folder", target)
    check("output in no folder", run([model, "-o", os.path.join(target, "no", "x.onnx")]), (8,),
          r"No such file", target)
    closed = os.path.join(folder, "closed")
    os.mkdir(closed)
    os.chmod(closed, 0o555)
    check("read-only folder", run([model, "-o", os.path.join(closed, "x.onnx")], **AS_NOBODY), (8,),
          r"Permission denied", closed)

    check("full disk", run([model, "-o", out, *STEP], before=small_files), (8,), r"cannot write", target)
    with open(out, "wb") as f:
        f.write(b"the old one")
    check("full disk, output exists", run([model, "-o", out, *STEP], before=small_files), (8,), r"cannot write",
          target, ["out.onnx"])
    if content(out) != b"the old one":
        command.failures.append("full disk, output exists")
        print("full disk: the old output is gone")
    check("full standard output", run([model, "-o", "-", *STEP], before=small_files), (8,), r"cannot write", target,
          ["out.onnx"])

    # A real one, where we may mount.
    disk = os.path.join(folder, "disk")
    os.mkdir(disk)
    mounted = subprocess.call(["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", disk],
                              stderr=subprocess.DEVNULL) == 0
    if mounted:
        try:
            check("full tmpfs", run([model, "-o", os.path.join(disk, "x.onnx"), *STEP]), (8,), r"No space left", disk)
        finally:
            subprocess.check_call(["umount", disk])

    # What is allowed: over the old output, and over the model itself.
    check("over the old output", run([model, "-o", out, *STEP]), (0,), r"^note: .* loss: [^\n]*\n$", target, ["out.onnx"])
    fresh = content(out)
    check("over itself", run([model, "-o", model, *STEP]), (0,), r"^note: .* loss: [^\n]*\n$", target, ["out.onnx"])
    if content(model) != fresh:
        command.failures.append("over itself")
        print("the model over itself is not what it is elsewhere")
    code, piped, err = run(["-", "-o", "-", *STEP], stdin=open(MODEL, "rb"))
    if code != 0 or piped != fresh:
        command.failures.append("through pipes")
        print(f"through pipes: {code} {err}")
finish(13)
