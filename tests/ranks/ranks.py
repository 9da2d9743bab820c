"""The ranks of an MPI job search together.

    ranks.py MFC MPIRUN SCRATCH repeat|resume|rig|kill|signal|abort|all

Ranks are killed, and signalled, once an incumbent is in the file. The result must be as good as that."""
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

    def start(self, *arguments, mca=()):
        options = [word for key, value in mca for word in ("--mca", key, value)]
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
    child = t.start("place", t.path("none.json"))
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
    # A rank that fails alone leaves the search to the others; without rank 0 all of them end.
    os.remove(t.path("search.1"))
    out = t.run("place", problem, "--work", "192000", *search, "--resume", t.path("search"))
    assert f"ranks            {N - 1} of {N} to the end" in out, out
    os.remove(t.path("search"))
    child = t.start("place", problem, "--time", "600", *search, "--resume", t.path("search"))
    out, err = child.communicate()
    assert child.returncode == 8 and "makespan" not in out and err.count("search: ") == 1, (child.returncode, out, err)


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
    """The same for plans, which are written when the search has ended: whole, or not at all."""
    model = TOP + "/examples/mlp.onnx"
    for name, rank, number in (("whole", None, 0), ("killed", 0, signal.SIGKILL), ("told", None, signal.SIGUSR1)):
        plan = t.path(name + ".onnx")
        limit = ("--time", "600") if number else ("--time", "3")
        child = t.start(model, "-o", plan, "--rig", "2xV100-16GB", *limit, "--threads", "1", "--progress", "always")
        while number and "tasks" not in child.stderr.readline():
            assert child.poll() is None, (child.returncode, child.communicate())
        if number:
            os.kill(child.pid if rank is None else rank_pid(t.mfc, plan, rank), number)
        out, err = child.communicate()
        if number == signal.SIGKILL:
            assert child.returncode != 0 and not os.path.exists(plan), (name, child.returncode, out, err)
            continue
        assert os.path.exists(plan), (name, child.returncode, out, err)
        subprocess.run([t.mfc, "verify", model, plan], stdout=subprocess.DEVNULL, check=True)


class Search:
    """A search whose incumbent is in the file already: it must end with one that is as good."""

    def __init__(self, t, problem, name, *options, mca=()):
        self.t, self.problem, self.target = t, problem, t.path(name + ".json")
        self.child = t.start("place", problem, "--time", "600", "--chains", "2", "-j1", "-o", self.target, *options,
                             mca=mca)
        self.wait_for(self.target)
        self.known = t.makespan(problem, self.target)

    def wait_for(self, path):
        while not os.path.exists(path):
            assert self.child.poll() is None, (self.child.returncode, self.child.communicate())
            time.sleep(0.01)

    def signal(self, rank, number):
        os.kill(self.child.pid if rank is None else rank_pid(self.t.mfc, self.target, rank), number)

    def end(self, what):
        """What was printed."""
        out, err = self.child.communicate()
        found = self.t.makespan(self.problem, self.target)
        assert found <= self.known, (what, found, self.known, out, err)
        print(f"{what}: from {self.known} to {found}")
        return out


def checkpointed(path):
    """The incumbent of a checkpoint file, which must be whole: value and number of tasks."""
    with open(path) as f:
        search = json.load(f)
    assert search["format"] == "mfc-search" and len(search["chains"]) == 2, search.keys()
    return float.fromhex(search["value"]), len(search["best"])


def kill(t):
    """A rank dies, and mpirun ends the job. The checkpoints are whole, and --resume goes on from them: its first
    incumbent is theirs, and its last is as good as all that was known."""
    problem = t.problem()
    for victim, mca in ((0, ()), (1, ()), (2, (("btl", "tcp,self"),))):
        name = t.path(f"search{victim}")
        files = [name] + [f"{name}.{rank}" for rank in range(1, N)]
        search = Search(t, problem, f"killed{victim}", "--checkpoint", name, "--checkpoint-every", "0.2", mca=mca)
        for path in files:
            search.wait_for(path)
        search.signal(victim, signal.SIGKILL)
        search.end(f"rank {victim} killed")
        assert search.child.returncode != 0, "the job ends as MPI jobs do"
        values = [checkpointed(path)[0] for path in files]
        assert all(n > 0 for n in (checkpointed(path)[1] for path in files))
        resumed = t.path(f"resumed{victim}.json")
        child = t.start("place", problem, "--time", "3", "--chains", "2", "-j1", "-o", resumed, "--resume", name,
                        "--start", search.target, "--progress", "json")
        out, err = child.communicate()
        assert child.returncode == 0, (child.returncode, out, err)
        first = json.loads(next(line for line in err.splitlines() if line.startswith("{")))
        assert first["value"] <= values[0], (first, values)
        found = t.makespan(problem, resumed)
        assert found <= min(values) and found <= t.makespan(problem, search.target), (found, values)
        assert f"ranks            {N} of {N} to the end" in out, out
        print(f"rank {victim} killed at {min(values):g}, resumed to {found}")


def interrupt(t):
    problem = t.problem()
    for name, rank, number in (("mpirun", None, signal.SIGINT), ("rank", 1, signal.SIGINT), ("all", None, signal.SIGUSR1)):
        search = Search(t, problem, name)
        search.signal(rank, number)
        out = search.end(f"{signal.Signals(number).name} to {name}")
        assert "makespan" in out or number == signal.SIGINT and rank is None, out


def abort(t):
    """Without a checkpoint, too, the incumbent is in the file when a rank has died; also one that is better than
    what the search has found, from a search before."""
    problem = t.problem()
    for victim in (1, 0):
        search = Search(t, problem, f"abort{victim}")
        search.signal(victim, signal.SIGKILL)
        search.end(f"rank {victim} killed")
        assert search.child.returncode != 0
    better = t.path("better")
    subprocess.run([t.mfc, "place", problem, "--work", "600000", "-q", "-o", better], stdout=subprocess.DEVNULL, check=True)
    search = Search(t, problem, "inherited")
    search.known = t.makespan(problem, better)
    os.rename(better, search.target)
    search.signal(0, signal.SIGKILL)
    search.end("rank 0 killed, with a better strategy in the file")


def all_at_once(t):
    search = Search(t, t.problem(), "all")
    for rank in (*range(N), None):
        search.signal(rank, signal.SIGKILL)
    search.end("all killed")


PARTS = {"repeat": repeat, "resume": resume, "rig": rig, "kill": kill, "signal": interrupt, "abort": abort,
         "all": all_at_once}

if __name__ == "__main__":
    PARTS[sys.argv[4]](Ranks(*sys.argv[1:4]))
