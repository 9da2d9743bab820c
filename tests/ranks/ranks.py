"""Several mfc processes that search together.

    ranks.py MFC MPIRUN SCRATCH repeat|resume|rig|kill|inherit|signal|abort|all

Ranks are killed, and told to end, once something that was found is in the file. The result must be as
good as that, whoever was killed."""
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


def rig(t):
    """The same for plans, which are written when the search has ended."""
    model = TOP + "/examples/mlp.onnx"
    for name, rank, number in (("whole", None, 0), ("killed", 0, signal.SIGKILL), ("told", None, signal.SIGUSR1)):
        plan = t.path(name + ".onnx")
        limit = ("--time", "600") if number == signal.SIGUSR1 else ("--time", "3")
        child = t.start(model, "-o", plan, "--rig", "2xV100-16GB", *limit, "--threads", "1", "--progress", "always")
        while number and "tasks" not in child.stderr.readline():
            assert child.poll() is None, (child.returncode, child.communicate())
        if number:
            os.kill(child.pid if rank is None else rank_pid(t.mfc, plan, rank), number)
        out, err = child.communicate()
        assert os.path.exists(plan), (name, child.returncode, out, err)
        subprocess.run([t.mfc, "verify", model, plan], stdout=subprocess.DEVNULL, check=True)


class Search:
    """A search of which something is in the file already: at least as good must be what it ends with."""

    def __init__(self, t, problem, name, seconds, **options):
        self.t, self.problem, self.target = t, problem, t.path(name + ".json")
        self.child = t.start("place", problem, "--time", seconds, "--chains", "2", "-j1", "-o", self.target, **options)
        while not os.path.exists(self.target):
            assert self.child.poll() is None, (self.child.returncode, self.child.communicate())
            time.sleep(0.01)
        self.known = t.makespan(problem, self.target)

    def signal(self, rank, number):
        os.kill(self.child.pid if rank is None else rank_pid(self.t.mfc, self.target, rank), number)

    def end(self, what):
        """What was printed."""
        out, err = self.child.communicate()
        found = self.t.makespan(self.problem, self.target)
        assert found <= self.known, (what, found, self.known, out, err)
        print(f"{what}: from {self.known} to {found}")
        return out


def kill_one(t, problem, victim, mca):
    """False: the search was over before."""
    for seconds in ("4", "20", "100"):
        search = Search(t, problem, f"{victim}{len(mca)}-{seconds}", seconds, mca=mca)
        try:
            search.signal(victim, signal.SIGKILL)
        except (AssertionError, ProcessLookupError):
            pass
        out = search.end(f"rank {victim} killed, {dict(mca)}")
        assert search.child.returncode == 0, search.child.returncode
        if f"ranks            {N} of {N} to the end" not in out:
            assert f"ranks            {N - 1} of {N} to the end" in out, out
            return True
    return False


def kill(t):
    problem = t.problem()
    for mca in ((), (("btl", "tcp,self"),)):
        for victim in range(N):
            assert kill_one(t, problem, victim, mca)


def inherit(t):
    """What the first rank has saved, and none of the others knows of, is not lost with it."""
    problem, better = t.problem(), t.path("better")
    subprocess.run([t.mfc, "place", problem, "--work", "600000", "-q", "-o", better], stdout=subprocess.DEVNULL, check=True)
    search = Search(t, problem, "inherited", "4", mca=())
    search.known = t.makespan(problem, better)
    os.rename(better, search.target)
    search.signal(0, signal.SIGKILL)
    out = search.end("rank 0 killed, which had found something")
    assert f"makespan         {t.makespan(problem, search.target)}" in out, out


def interrupt(t):
    problem = t.problem()
    for name, rank, number in (("mpirun", None, signal.SIGINT), ("rank", 1, signal.SIGINT), ("all", None, signal.SIGUSR1)):
        search = Search(t, problem, name, "600")
        search.signal(rank, number)
        out = search.end(f"{signal.Signals(number).name} to {name}")
        assert "makespan" in out or number == signal.SIGINT and rank is None, out


def abort(t):
    """Without --enable-recovery mpirun ends the others a second after one has died."""
    problem = t.problem()
    for victim in (1, 0):
        search = Search(t, problem, f"abort{victim}", "600", recovery=False)
        search.signal(victim, signal.SIGKILL)
        search.end(f"rank {victim} killed, all ended")


def all_at_once(t):
    search = Search(t, t.problem(), "all", "600")
    for rank in (*range(N), None):
        search.signal(rank, signal.SIGKILL)
    search.end("all killed")


PARTS = {"repeat": repeat, "resume": resume, "rig": rig, "kill": kill, "inherit": inherit, "signal": interrupt,
         "abort": abort, "all": all_at_once}

if __name__ == "__main__":
    PARTS[sys.argv[4]](Ranks(*sys.argv[1:4]))
