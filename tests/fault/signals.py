"""A search is stopped at many instants: signals.py MFC SCRATCH [INSTANTS [MODEL...]].

SIGTERM and SIGINT in turn, at instants spread over the time that a whole run takes, with and without an older output. The exit
code must be 128 + signal (or 0: the run had ended before), the output the old one or a plan that `mfc verify` accepts, and there
must be no other file and no worker left. The time from the signal to the end is printed, not judged."""
import os
import random
import shutil
import signal
import subprocess
import sys
import time

LONGEST = 4  # seconds until the last instant

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


MARK = f"MFC_SIGNALS={os.getpid()}"  # in the environment of all processes that are started here


def left_over():
    """Processes of runs that have ended."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as f:
                if MARK.encode() in f.read().split(b"\0"):
                    yield pid
        except OSError:
            continue


def instant(mfc, model, folder, number, at, old):
    """What is wrong, or None; the time to the end; what there was."""
    out = os.path.join(folder, "plan.onnx")
    if old:
        shutil.copy(old, out)
    elif os.path.exists(out):
        os.unlink(out)
    with open(out if old else os.devnull, "rb") as f:
        before = f.read() if old else None
    child = subprocess.Popen([mfc, model, "-o", out, "-q", "--time", "60", "--budget", "60%"], stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, env={**os.environ, **dict([MARK.split("=")])})
    time.sleep(at)
    child.send_signal(number)
    start = time.monotonic()
    message = child.communicate()[1].decode(errors="replace")
    left = time.monotonic() - start
    found = None
    if os.path.exists(out):
        with open(out, "rb") as f:
            found = f.read()
    kind = "nothing" if found is None else "old" if found == before else "plan"
    if child.returncode not in (0, -number, 128 + number):
        return f"exit code {child.returncode}: {message}", left, kind
    if set(os.listdir(folder)) - {"plan.onnx"}:
        return f"left behind: {os.listdir(folder)}", left, kind
    if kind == "plan" and subprocess.run([mfc, "verify", model, out], capture_output=True).returncode:
        return "the plan is not accepted", left, kind
    return None, left, kind


def main(mfc, scratch, n=40, *models):
    models = models or [os.path.join(TOP, "examples", m) for m in ("resnet.onnx", "unet.onnx")]
    failed, n_done, kinds, longest, draw = 0, 0, {}, 0, random.Random(1)
    for model in models:
        folder = os.path.join(scratch, "out")
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        old = os.path.join(scratch, "old.onnx")
        start = time.monotonic()
        subprocess.run([mfc, model, "-o", old, "-q", "--work", "50"], check=True, capture_output=True)
        span = min(max(time.monotonic() - start, 2), LONGEST)
        for k in range(-(-int(n) // len(models))):
            number = (signal.SIGTERM, signal.SIGINT)[k % 2]
            problem, left, kind = instant(mfc, model, folder, number, draw.random() * span, old if k % 4 < 2 else None)
            n_done += 1
            kinds[kind] = kinds.get(kind, 0) + 1
            longest = max(longest, left)
            if problem:
                failed += 1
                print(f"FAIL {model}, instant {k}: {problem}", flush=True)
    time.sleep(0.5)
    orphans = list(left_over())
    print(f"{n_done} instants: {kinds}; at most {longest:.2f} s to the end; {len(orphans)} processes left; {failed} failed")
    sys.exit(failed > 0 or bool(orphans))


main(*sys.argv[1:])
