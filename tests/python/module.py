"""module.py MFC SOURCE: the Python module, as installed: plans equal the command's, the solver's certificate, progress and
stopping, exceptions with mfc's codes, bytes and files. Run with the module on the path and MFC_LIBRARY set."""
import importlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

import mfc

MFC, SOURCE = sys.argv[1:3]
MLP, RESNET = (os.path.join(SOURCE, "examples", name) for name in ("mlp.onnx", "resnet.onnx"))
LAYERS = 12
NODES = [mfc.Node(100 if i < LAYERS else 200, 1 << 20, name=f"n{i}") for i in range(2 * LAYERS)]
EDGES = [(i - 1, i) for i in range(1, 2 * LAYERS)] + [(i, 2 * LAYERS - 1 - i) for i in range(LAYERS - 1)]


def content(path):
    with open(path, "rb") as f:
        return f.read()


def unknown_operator():
    """y = Unknown(x), as the bytes of an ONNX model."""
    def field(number, data):
        return bytes([number << 3 | 2, len(data)]) + data
    kind = field(2, field(1, b"\x08\x01" + field(2, field(1, b"\x08\x02"))))  # float[2]
    node = field(1, b"x") + field(2, b"y") + field(4, b"Unknown")
    graph = field(1, node) + field(2, b"g") + field(11, field(1, b"x") + kind) + field(12, field(1, b"y") + kind)
    return b"\x08\x08" + field(7, graph) + field(8, b"\x10\x11")


class Planning(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def at(self, name):
        return os.path.join(self.folder.name, name)

    def test_the_command_writes_the_same(self):
        options = {"budget": "80%", "work": 50, "optimizer": "adamw", "clip_norm": 1, "weights": "inputs"}
        words = [w for name, value in options.items() for w in ("--" + name.replace("_", "-"), str(value))]
        subprocess.run([MFC, MLP, "-o", self.at("command.onnx"), "--initial", self.at("command.st"), *words, "-q"], check=True)
        plan = mfc.plan(MLP, self.at("module.onnx"), initial=self.at("module.st"), **options)
        self.assertEqual(content(self.at("command.onnx")), content(self.at("module.onnx")))
        self.assertEqual(content(self.at("command.st")), content(self.at("module.st")))
        self.assertEqual(plan.to_bytes(), content(self.at("module.onnx")))
        self.assertLessEqual(plan.peak_bytes, plan.budget_bytes)
        self.assertEqual(plan.peak_bytes, plan.to_json()["peak_bytes"])
        self.assertEqual([m.code for m in plan.messages], ["loss"])
        with open(MLP, "rb") as f:
            memory = mfc.plan(f.read(), **options)
        self.assertEqual(memory.to_bytes(), plan.to_bytes())

    def test_order_and_addresses(self):
        plan = mfc.plan(MLP, budget="97%", work=50)
        self.assertEqual({n.role for n in plan.nodes} - set(mfc.planning.ROLES), set())
        live = [t for t in plan.tensors if t.address is not None]
        self.assertTrue(live)
        for i, a in enumerate(live):
            self.assertLessEqual(a.address + a.bytes, plan.arena_bytes)
            for b in live[:i]:
                same = a.address == b.address  # in place, or a view
                apart = a.last < b.first or b.last < a.first or a.address + a.bytes <= b.address or b.address + b.bytes <= a.address
                self.assertTrue(apart or same, (a, b))

    def test_formats(self):
        plan = mfc.plan(MLP, budget="none")
        for form in ("onnx", "dot", "html", "trace"):
            plan.write(self.at(form), form)
            self.assertEqual(plan.to_bytes(form), content(self.at(form)))
        with self.assertRaises(mfc.UsageError):
            plan.write(self.at("x"), "pdf")

    def test_single_passes(self):
        mfc.convert(MLP, self.at("grad.mfc"), passes="shapes,loss,grad", loss="mse")
        subprocess.run([MFC, "opt", MLP, "--passes=shapes,loss,grad", "--loss", "mse", "-o", self.at("command.mfc")], check=True)
        self.assertEqual(content(self.at("grad.mfc")), content(self.at("command.mfc")))

    def test_a_model_of_the_package_onnx(self):
        onnx = importlib.import_module("onnx")
        plan = mfc.plan(onnx.load(MLP), budget="none")
        self.assertEqual(plan.persistent_bytes, mfc.plan(MLP, budget="none").persistent_bytes)

    def test_export_without_training_gives_the_model(self):
        plan = mfc.plan(MLP, budget="none", optimizer="sgd")
        plan.write_state(self.at("start.st"))
        mfc.export(MLP, self.at("start.st"), self.at("out.onnx"))
        self.assertEqual(content(MLP), content(self.at("out.onnx")))

    def test_failures(self):
        for kind, status, code, arguments in [
                (mfc.UsageError, 2, "usage", {"model": MLP, "budgt": 1}),
                (mfc.UsageError, 2, "usage", {"model": MLP, "budget": 0.5}),
                (mfc.FileError, 8, "io", {"model": "missing.onnx"}),
                (mfc.MalformedError, 3, "not-onnx", {"model": b""}),
                (mfc.InfeasibleError, 5, "infeasible", {"model": MLP, "budget": "1KiB"}),
                (mfc.LimitError, 9, "limit", {"model": MLP, "memory_limit": 300000}),
                (mfc.UnsupportedError, 4, "loss", {"model": unknown_operator()})]:
            with self.assertRaises(kind, msg=str(arguments)) as caught:
                mfc.plan(**arguments)
            self.assertEqual(caught.exception.status, status)
            self.assertEqual(caught.exception.code, code)
            self.assertIn(f"[{code}]", str(caught.exception))

    def test_progress_and_stop(self):
        seen = []
        mfc.plan(MLP, budget="97%", progress=seen.append)
        self.assertTrue(seen and all(isinstance(s, mfc.Progress) for s in seen))
        stopped = mfc.plan(RESNET, budget="70%", progress=lambda s: s.cost is None)
        self.assertIn(stopped.outcome, ("optimal", "feasible"))

        def fail(_):
            raise KeyError("mine")
        with self.assertRaisesRegex(KeyError, "mine"):
            mfc.plan(MLP, budget="97%", progress=fail)

    def test_control_c(self):
        timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
        with self.assertRaises(KeyboardInterrupt):
            mfc.plan(RESNET, budget="45%", time="60s", gap=0, progress=lambda s: timer.is_alive() or timer.start())

    def test_options(self):
        options = mfc.options()
        self.assertIn("clip_norm", options)
        self.assertEqual(options["optimizer"][1], "none")


class Solving(unittest.TestCase):
    def test_half_the_memory(self):
        seen = []
        schedule = mfc.solve(NODES, EDGES, "50%", seed=3, work=20, progress=seen.append)
        self.assertEqual((seen[-1].cost, seen[-1].budget_bytes), (schedule.cost, schedule.budget_bytes))
        self.assertEqual(seen[-1].base_cost, sum(n.cost for n in NODES))
        bounded = [s for s in seen if s.cost is not None and s.bound is not None]
        self.assertTrue(bounded and all(s.bound <= s.cost for s in bounded) and bounded[0].bound < bounded[0].cost, bounded)
        self.assertLessEqual(schedule.peak_bytes, schedule.budget_bytes)
        self.assertLessEqual(schedule.bound, schedule.cost)
        self.assertGreater(schedule.n_recomputed, 0)
        replayed = mfc.replay(NODES, EDGES, schedule.steps)
        self.assertTrue(replayed.valid)
        self.assertEqual((replayed.peak_bytes, replayed.cost), (schedule.peak_bytes, schedule.cost))
        again = mfc.solve(NODES, EDGES, "50%", initial=schedule, work=5)
        self.assertLessEqual(again.cost, schedule.cost)

    def test_a_wrong_schedule(self):
        wrong = mfc.replay(NODES, EDGES, [mfc.Step("compute", 1)])
        self.assertFalse(wrong.valid)
        self.assertEqual((wrong.failed_step, wrong.node), (0, 1))

    def test_too_little(self):
        with self.assertRaises(mfc.InfeasibleError) as caught:
            mfc.solve(NODES, EDGES, 1 << 20)
        self.assertGreaterEqual(len(caught.exception.schedule.forcing), 2)
        self.assertIn("n", str(caught.exception))

    def test_wrong_problems(self):
        with self.assertRaises(mfc.MalformedError):
            mfc.solve(NODES, [(3, 2)])
        with self.assertRaises(mfc.MalformedError):
            mfc.solve([(-1, 1)], [])
        with self.assertRaises(ValueError):
            mfc.solve(NODES, EDGES, "50")
        with self.assertRaises(TypeError):
            mfc.solve(NODES, EDGES, sed=1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
