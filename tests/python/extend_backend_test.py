"""Backends of Python functions and estimators, through tune: in workers, in plans, in other processes."""

import importlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import collage
import numpy as np
from collage import extend, python_worker
from collage.extend import _bridge
from support import models
from support.plans import command
from support.python_backend import RIGHT, Module

FLOAT = models.FLOAT


def add_relu_neg(rows=3):
    """y = -max(x + (1, 2, 3, 4), 0)"""
    node = models.helper.make_node
    return models.model(
        [node("Add", ["x", "steps"], ["a"], "add"), node("Relu", ["a"], ["b"], "relu"), node("Neg", ["b"], ["y"], "neg")],
        [("x", FLOAT, (rows, 4))],
        [("y", FLOAT, (rows, 4))],
        [("steps", np.arange(1, 5, dtype=np.float32))],
    )


X = np.linspace(-4, 4, 12, dtype=np.float32).reshape(3, 4)
Y = -np.maximum(X + np.arange(1, 5, dtype=np.float32), 0)


ADDRESSES = """
import numpy as np
from collage.extend import region_function

seen = []

@region_function("Neg")
def negate(inputs, region, out):
    seen[:] = [inputs[0].ctypes.data, out[0].ctypes.data]
    np.negative(inputs[0], out=out[0])
"""


class Case(unittest.TestCase):
    """A folder with the model."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="collage-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.model = self.folder / "model.onnx"
        self.model.write_bytes(add_relu_neg())
        self.plan = self.folder / "model.collage"

    def module(self, source):
        module = Module(self.folder / "modules", source)
        self.addCleanup(module.close)
        return module

    def tune(self, backends, **options):
        options = {"store": "memory:", "budget": 2, "progress": False, **options}
        return collage.tune(self.model, self.plan, backends=["onnxruntime", *backends], **options)

    def assert_right(self, plan):
        np.testing.assert_allclose(plan.session().run({"x": X})["y"], Y, rtol=1e-5, atol=1e-5)


class PythonBackend(Case):
    def tuned(self):
        """A plan in which the functions take all nodes."""
        module = self.module(RIGHT)
        return module, self.tune([module.backend], pin={"*": module.backend})

    def test_takes_part_in_a_tune_and_computes_in_the_plan(self):
        module, plan = self.tuned()
        self.assert_right(plan)
        self.assertIn(module.backend, str(plan.metadata))
        self.assertTrue(collage.verify(self.plan, seeds=2))

    def test_is_found_by_name_in_another_process(self):
        module, _ = self.tuned()
        load = f"import collage, numpy; plan = collage.load({str(self.plan)!r})\n"
        done = module.python(load + "print(plan.session().run({'x': numpy.ones((3, 4), 'f4')})['y'])")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("[-2. -3. -4. -5.]", done.stdout)

    def test_is_refused_where_no_python_runs(self):
        self.tuned()
        done = subprocess.run([command(), "run", self.plan], capture_output=True, text=True)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("needs Python", done.stderr)

    def test_is_refused_when_its_source_changed(self):
        module, _ = self.tuned()
        module.write(RIGHT.replace("maximum", "minimum"))
        done = module.python(f"import collage; collage.load({str(self.plan)!r})")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("backend/incompatible-artifact", done.stderr)
        self.assertIn("source", done.stderr)

    def test_a_reloaded_module_has_the_source_that_workers_import(self):
        module = self.module(RIGHT)
        source = lambda: json.loads(_bridge.describe(module.name))["source"]  # noqa: E731
        first = source()
        module.write(RIGHT + "# another source\n")
        self.assertEqual(source(), first)
        importlib.reload(sys.modules[module.name])
        self.assertNotEqual(source(), first)

    def test_workers_compute_with_the_threads_of_the_plan(self):
        module = self.module(RIGHT)
        self.tune([module.backend], pin={"*": module.backend}, threads=2)
        argv = python_worker.worker_of({"plan": str(self.plan), "always": True}, [])
        self.assertEqual(json.loads(argv[-1])["threads"], 2)

    def test_large_aligned_arrays_of_the_caller_are_the_plans_memory(self):
        self.model.write_bytes(models.large())
        module = self.module(ADDRESSES)
        session = self.tune([module.backend], pin={"*": module.backend}).session()
        feed, out = session.empty_inputs(), session.empty_outputs()
        given = [feed["x"].ctypes.data, out["y"].ctypes.data]
        session.run(feed, out=out)
        self.assertEqual(sys.modules[module.name].seen, given)
        session.run({"x": feed["x"].copy()})
        self.assertNotIn(given[1], sys.modules[module.name].seen)

    def test_an_exception_at_a_run_is_an_error_with_its_text(self):
        module, plan = self.tuned()
        session = plan.session()
        os.environ["FAIL_AT_RUN"] = "1"
        self.addCleanup(os.environ.pop, "FAIL_AT_RUN", None)
        with self.assertRaises(collage.UnsupportedError) as caught:
            session.run({"x": X})
        self.assertEqual(caught.exception.code, "backend/library-failed")
        self.assertIn(f"RuntimeError: asked to fail ({module.name}.py:", str(caught.exception))
        del os.environ["FAIL_AT_RUN"]
        np.testing.assert_allclose(session.run({"x": X})["y"], Y, rtol=1e-5, atol=1e-5)

    def test_a_function_may_refuse(self):
        self.model.write_bytes(add_relu_neg(rows=101))
        module = self.module(RIGHT)
        with self.assertRaises(collage.Error):
            self.tune([module.backend], pin={"relu": module.backend})


#: Name -> the body of a function for Neg, and what the store says of it.
WRONG = {
    "raises": ("return 1 / 0", "ZeroDivisionError: division by zero (region_functions_of_tests.py:"),
    "other_values": ("return inputs[0] + 1", "expected"),
    "other_type": ("return -inputs[0].astype('f8')", "returned float64[3, 4] for"),
    "other_shape": ("return -inputs[0].ravel()", "returned float32[12] for"),
    "no_array": ("pass", "returned a NoneType"),
    "too_many": ("return [-inputs[0]] * 2", "returned 2 arrays for 1 outputs"),
    "writes_input": ("inputs[0][:] = 0; return -inputs[0]", "read-only"),
    "ends": ("os._exit(3)", "crashed"),
    "hangs": ("time.sleep(1000)", "timeout"),
}


class WrongFunctions(Case):
    def tune_with(self, *names):
        """A tune in which the functions are tried before anything else; what the store says of each."""
        bodies = [f"@region_function('Neg')\ndef {name}(inputs, region): {WRONG[name][0]}\n" for name in names]
        module = self.module("import os, time\nfrom collage.extend import region_function\n" + "".join(bodies))
        store = self.folder / "costs"
        first = lambda one: 0.1 if one.backend == module.backend else 1000 * len(one.region.nodes)  # noqa: E731
        plan = self.tune([module.backend], store=str(store), estimate=first, measure_all=True, budget=20)
        self.assert_right(plan)
        self.assertNotIn(module.backend, str(plan.metadata["backends"]))
        exported = self.folder / "costs.jsonl"
        export = [command(), "db", "export", exported, "--store", store, "--quiet"]
        subprocess.run(export, check=True, stdout=subprocess.DEVNULL)
        costs = [json.loads(line) for line in exported.read_text().splitlines()]
        return {name: next((str(one["cost"]) for one in costs if f"variant={name} " in one["key"]), "") for name in names}

    def test_are_refused_with_a_reason_and_leave_the_plan_right(self):
        names = [name for name in WRONG if name != "hangs"]
        for name, text in self.tune_with(*names).items():
            with self.subTest(name):
                self.assertIn(WRONG[name][1], text)

    def test_that_hang_end_a_worker_and_not_the_tune(self):
        self.assertIn(WRONG["hangs"][1], self.tune_with("hangs")["hangs"])


class Modules(Case):
    def test_must_be_importable_and_have_functions(self):
        with self.assertRaises(ModuleNotFoundError):
            extend.backend("no_such_module_anywhere")
        with self.assertRaises(ValueError):
            extend.backend("__main__")
        with self.assertRaises(ValueError):
            extend.backend("json")

    def test_unusable_ones_are_named_with_the_reason(self):
        with self.assertRaises(collage.UnsupportedError) as caught:
            self.tune(["python:module=no_such_module_anywhere"])
        self.assertIn("No module named 'no_such_module_anywhere'", str(caught.exception))

    def test_a_bad_pattern_is_told(self):
        module = self.module("from collage.extend import region_function\n@region_function('Neg ->')\ndef f(i, r): pass\n")
        with self.assertRaises(collage.UnsupportedError) as caught:
            self.tune([module.backend])
        self.assertIn("region/bad-pattern", str(caught.exception))


class Estimators(Case):
    def test_stand_for_measuring_and_leave_the_plan_right(self):
        asked = []

        def estimate(candidate):
            asked.append((candidate.backend, candidate.region.nodes[0].op_type))
            return 1.0

        plan = self.tune([], estimate=estimate, estimates="only")
        self.assertTrue(asked)
        self.assertEqual(plan.report.summary["measured"], 0)
        self.assert_right(plan)

    def test_say_what_is_measured_first(self):
        plan = self.tune([], estimate=lambda candidate: 1e6 if candidate.backend == "onnxruntime" else None)
        self.assertGreater(plan.report.summary["measured"], 0)
        self.assert_right(plan)

    def test_that_raise_end_the_tune_with_what_they_raised(self):
        def estimate(candidate):
            raise LookupError("no table for " + candidate.backend)

        with self.assertRaisesRegex(LookupError, "no table for"):
            self.tune([], estimate=estimate)
        with self.assertRaises(ValueError):
            self.tune([], estimate=lambda candidate: -1)

    def test_are_used_in_one_of_two_ways(self):
        with self.assertRaises(collage.UsageError):
            self.tune([], estimate=lambda candidate: None, estimates="always")


class RulesInTunes(Case):
    def test_are_taken_from_the_builder(self):
        self.assert_right(self.tune([], rules=extend.Rules().limit("onnxruntime", nodes=1)))
        with self.assertRaises(collage.Error) as caught:
            self.tune([], rules=extend.Rules().ban("onnxruntime", "NoSuchOperator"))
        self.assertIn("NoSuchOperator", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
