"""A search is killed: what it had found is in the file, whole.

    best.py MFC SCRATCH

mfc place saves the best so far on its way. What was at the target before and is of no use for the problem is replaced; what is
better stays."""
import json
import os
import shutil
import signal
import subprocess
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def read(path):
    with open(path, "rb") as f:
        return f.read()


class Killed:
    """A search that goes on for ever, and is killed at the end of the block."""

    def __init__(self, mfc, problem, target):
        self.command = [mfc, "place", problem, "--time", "100000", "--chains", "2", "-j1", "--progress", "always", "-o", target]

    def __enter__(self):
        self.child = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        return self.child

    def __exit__(self, *_):
        assert self.child.poll() is None, (self.child.returncode, self.child.stderr.read())
        self.child.send_signal(signal.SIGKILL)
        self.child.communicate()


def makespan(mfc, problem, strategy):
    subprocess.run([mfc, "simulate", problem, strategy], stdout=subprocess.DEVNULL, check=True)
    with open(strategy) as f:
        return json.load(f)["makespan"]


def main(mfc, scratch):
    shutil.rmtree(scratch, ignore_errors=True)
    os.makedirs(scratch)
    plain, problem, target = scratch + "/plain.json", scratch + "/problem.json", scratch + "/strategy.json"
    with open(plain, "w") as f:
        subprocess.run([TOP + "/bench/solver/generate", "unet", "4"], stdout=f, check=True)
    subprocess.run([TOP + "/bench/placement/on_devices.py", plain, problem, "--memory", "50%"], check=True)

    for before in (None, b"something else"):
        if before:
            with open(target, "wb") as f:
                f.write(before)
        with Killed(mfc, problem, target):
            while not os.path.exists(target) or read(target) == before:
                time.sleep(0.01)
        print("killed:", makespan(mfc, problem, target))

    subprocess.run([mfc, "place", problem, "--work", "600000", "-q", "-o", target], stdout=subprocess.DEVNULL, check=True)
    good, least = read(target), makespan(mfc, problem, target)
    with Killed(mfc, problem, target) as child:
        for line in child.stderr:
            if "makespan" in line:
                break
        time.sleep(2.5)  # it has saved by now, or would have
    assert read(target) == good or makespan(mfc, problem, target) < least

    # A stream gets the result alone.
    stream = scratch + "/stream"
    os.mkfifo(stream)
    fd = os.open(stream, os.O_RDWR)
    subprocess.run([mfc, "place", problem, "--work", "20000", "-j1", "-q", "-o", stream], stdout=subprocess.DEVNULL, check=True)
    json.loads(os.read(fd, 1 << 16))
    os.close(fd)


if __name__ == "__main__":
    main(*sys.argv[1:])
