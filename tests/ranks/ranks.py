"""Several mfc processes that search together.

    ranks.py MFC MPIRUN SCRATCH repeat|resume|rig|kill|signal|abort

Ranks are killed, and told to end, once the first of them has told of something that it found. They
come to their first meeting a moment later."""
import json
import os
import shutil
import signal
import subprocess
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
N = 3


class Ranks:
    def __init__(self, mfc, mpirun, scratch):
        self.mfc = mfc
        self.mpirun = [mpirun, "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", str(N)]
        self.scratch = scratch
        shutil.rmtree(scratch, ignore_errors=True)
        os.makedirs(scratch)
        # Sanitizers would report what MPI never gives back.
        self.environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=0")

    def path(self, name):
        return os.path.join(self.scratch, name)

    def problem(self):
        plain, problem = self.path("plain.json"), self.path("problem.json")
        with open(plain, "w") as f:
            subprocess.run([TOP + "/bench/solver/generate", "unet", "4"], stdout=f, check=True)
        subprocess.run([TOP + "/bench/placement/on_devices.py", plain, problem, "--memory", "50%"], check=True)
        return problem

    def start(self, *arguments, recovery=True, mca=()):
        options = ["--enable-recovery"] if recovery else []
        for key, value in mca:
            options += ["--mca", key, value]
        return subprocess.Popen(self.mpirun + options + [self.mfc, *arguments], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env=self.environment)

    def run(self, *arguments):
        child = self.start(*arguments)
        out, err = child.communicate()
        assert child.returncode == 0, (child.returncode, err)
        return out

    def makespan(self, problem, strategy):
        """By the independent replay, which also fails if the file is not whole or does not fit."""
        subprocess.run([self.mfc, "simulate", problem, strategy], stdout=subprocess.DEVNULL, check=True)
        with open(strategy) as f:
            return json.load(f)["makespan"]


def read(path):
    with open(path, "rb") as f:
        return f.read()


def repeat(t):
    problem = t.problem()
    search = ["--work", "210000", "--chains", "2"]
    outs = [t.run("place", problem, *search, "-q", "-j", str(k), "-o", t.path(f"{k}.json")) for k in (1, 2)]
    assert outs[0] == outs[1] and read(t.path("1.json")) == read(t.path("2.json"))
    assert outs[0].count("makespan") == 1, "one rank prints"
    assert f"ranks            {N} of {N} to the end" in outs[0], outs[0]
    assert "search           210000 proposals" in outs[0], outs[0]
    # The first rank alone, with its share of the work, does what it would without the others until
    # they meet; and no rank makes worse what another has found.
    subprocess.run([t.mfc, "place", problem, "--work", "32000", "--chains", "2", "-q", "-o", t.path("solo.json")],
                   stdout=subprocess.DEVNULL, check=True)
    assert t.makespan(problem, t.path("1.json")) <= t.makespan(problem, t.path("solo.json"))
    # What is wrong is said once, and its exit code comes through.
    child = t.start("place", t.path("none.json"), recovery=False)
    _, err = child.communicate()
    assert child.returncode == 8 and err.count("none.json") == 1, (child.returncode, err)


def resume(t):
    problem = t.problem()
    search = ["--chains", "2", "-q"]
    whole = t.run("place", problem, "--work", "192000", *search, "-o", t.path("whole.json"))
    t.run("place", problem, "--work", "96000", *search, "-o", t.path("half.json"), "--checkpoint", t.path("search"))
    assert sorted(f for f in os.listdir(t.scratch) if f.startswith("search")) == ["search", "search.1", "search.2"]
    rest = t.run("place", problem, "--work", "192000", *search, "-o", t.path("rest.json"), "--resume",
                 t.path("search"))
    assert read(t.path("whole.json")) == read(t.path("rest.json")) and whole == rest, (whole, rest)


def rig(t):
    model, plan = TOP + "/examples/mlp.onnx", t.path("plan.onnx")
    t.run(model, "-o", plan, "--rig", "2xV100-16GB", "--work", "100000", "-q")
    subprocess.run([t.mfc, "verify", model, plan], stdout=subprocess.DEVNULL, check=True)


def first_words(child):
    """Reads stderr until the first rank has told of a strategy; its makespan."""
    for line in child.stderr:
        if "makespan" in line:
            return int(line.split("makespan")[1].split()[0])
    raise AssertionError("the search has found nothing")


def rank_pid(mfc, output, rank):
    """The process of a rank, by what mpirun tells it, of the search that writes to `output`."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = read(f"/proc/{pid}/cmdline").split(b"\0")
            environment = read(f"/proc/{pid}/environ").split(b"\0")
        except OSError:
            continue
        if words[0] == mfc.encode() and output.encode() in words and \
                f"OMPI_COMM_WORLD_RANK={rank}".encode() in environment:
            return int(pid)
    raise AssertionError(f"rank {rank} is not there")


def start_and_kill(t, problem, target, victim, seconds, **options):
    """Kills a rank once something was found; the search as it goes on, and the makespan of that."""
    child = t.start("place", problem, "--time", seconds, "--chains", "2", "-j1", "--progress", "always", "-o", target, **options)
    found = first_words(child)
    time.sleep(2)
    os.kill(rank_pid(t.mfc, target, victim), signal.SIGKILL)
    return child, found


def kill(t):
    problem = t.problem()
    tcp = (("btl", "tcp,self"),)  # as between hosts
    for victim, mca in ((1, ()), (0, ()), (2, tcp), (0, tcp)):
        target = t.path(f"{victim}{len(mca)}.json")
        child, found = start_and_kill(t, problem, target, victim, "10", mca=mca)
        out, err = child.communicate()
        assert child.returncode == 0, child.returncode
        assert os.path.exists(target), f"rank {victim} killed, {dict(mca)}: nothing was written\n{out}\n{err}"
        assert t.makespan(problem, target) <= found
        assert f"ranks            {N - 1} of {N} to the end" in out, out
        assert os.listdir(t.scratch).count(os.path.basename(target)) == 1
        print(f"rank {victim} killed, {dict(mca)}: from {found} to {t.makespan(problem, target)}")


def interrupt(t):
    problem = t.problem()
    for name, to_rank in (("mpirun", None), ("rank", 1)):
        target = t.path(name + ".json")
        child = t.start("place", problem, "--time", "600", "--chains", "2", "-j1", "--progress", "always", "-o",
                        target)
        found = first_words(child)
        time.sleep(2)
        os.kill(child.pid if to_rank is None else rank_pid(t.mfc, target, to_rank), signal.SIGINT)
        child.communicate()
        assert t.makespan(problem, target) <= found
        print(f"SIGINT to {name}: from {found} to {t.makespan(problem, target)}")


def abort(t):
    """Without --enable-recovery mpirun ends the others a second after one has died."""
    problem = t.problem()
    for victim in (1, 0):
        target = t.path(f"abort{victim}.json")
        child, found = start_and_kill(t, problem, target, victim, "600", recovery=False)
        child.communicate()
        assert t.makespan(problem, target) <= found
        print(f"rank {victim} killed, all ended: from {found} to {t.makespan(problem, target)}")


if __name__ == "__main__":
    part = {"repeat": repeat, "resume": resume, "rig": rig, "kill": kill, "signal": interrupt, "abort": abort}[sys.argv[4]]
    part(Ranks(*sys.argv[1:4]))
