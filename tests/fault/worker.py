"""CBC runs in a process of its own, which may die at any moment: it costs the search that answer and nothing else.

    worker.py MFC SCRATCH

Every worker that mfc starts is killed as soon as it is seen. Then the result must be there, whole, and some worker must have
been there to kill: a search that runs CBC inside of mfc would die with it."""
import os
import shutil
import signal
import subprocess
import sys
import time

MAX_RUNS = 50  # on a busy machine a worker may be done before it is seen

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def workers(parent):
    """Processes whose parent is `parent`, and which were started to serve it."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as f:
                is_child = int(f.read().rpartition(")")[2].split()[1]) == parent
            if is_child:
                with open(f"/proc/{pid}/cmdline", "rb") as f:
                    if b"__worker" in f.read().split(b"\0"):
                        yield int(pid)
        except OSError:
            continue


def run_and_kill(*command):
    """How many workers were killed."""
    killed = set()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while child.poll() is None:
        for pid in workers(child.pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            killed.add(pid)
        time.sleep(0.005)
    assert child.returncode == 0, (command, child.returncode, child.stderr.read())
    return len(killed)


def main(mfc, scratch):
    shutil.rmtree(scratch, ignore_errors=True)
    os.makedirs(scratch)
    plain, problem = scratch + "/plain.json", scratch + "/problem.json"
    with open(plain, "w") as f:
        subprocess.run([TOP + "/bench/solver/generate", "unet", "4"], stdout=f, check=True)
    subprocess.run([TOP + "/bench/placement/on_devices.py", plain, problem, "--memory", "50%"], check=True)
    searches = [("solve", plain, "--budget", "50%", "--work", "200", "--gap", "0"), ("place", problem, "--work", "60000")]
    for command, source, *options in searches:
        out = f"{scratch}/{command}.json"
        check = [{"solve": "verify", "place": "simulate"}[command], source, out]
        n = 0
        for seed in range(MAX_RUNS):
            n = run_and_kill(mfc, command, source, *options, "--seed", str(seed), "-j1", "-q", "-o", out)
            subprocess.run([mfc, *check], stdout=subprocess.DEVNULL, check=True)
            if n > 0:
                break
        assert n > 0, f"mfc {command} has started no worker in {MAX_RUNS} runs"
        print(f"mfc {command}: {n} workers killed")


main(*sys.argv[1:])
