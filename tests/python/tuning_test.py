"""tune and its relatives, reports, progress."""

import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import collage
import numpy as np
from collage import _native, progress, tuner_call
from support import models
from support.plans import unmeasured


# Whoever waits for a tune is interrupted at each news of it; the last thing that is told is which threads there are.
INTERRUPTED_TWICE = """
import atexit, sys, threading
atexit.register(lambda: print(*[thread.name for thread in threading.enumerate()]))
import collage
from collage import tuner_call

class Interrupted(tuner_call.Latest):
    def take(self):
        if super().take():
            raise KeyboardInterrupt
        return []

tuner_call.Latest = Interrupted
try:
    collage.tune(sys.argv[1], shapes={"x": (1, 3, 64, 64)}, budget=60, store="memory:", progress=False)
except KeyboardInterrupt:
    print("left")
"""


class OptionTest(unittest.TestCase):
    def test_budgets(self):
        for text, seconds in ((None, None), (60, 60), ("60", 60), ("60s", 60), ("1.5m", 90), (" 2h ", 7200)):
            self.assertEqual(tuner_call.seconds_of(text), seconds)
        for text in ("", "soon", "5 days"):
            with self.assertRaises(collage.UsageError):
                tuner_call.seconds_of(text)

    def test_shapes(self):
        given = {"x": (1, 3, 64, 64), "n": 8, "m": range(1, 9), "k": "2..4", "scalar": ()}
        self.assertEqual(
            tuner_call.assignments(given, tuner_call.shape_text), ["x=1x3x64x64", "n=8", "m=1..8", "k=2..4", "scalar="])
        with self.assertRaises(collage.UsageError):
            tuner_call.shape_text(range(1, 9, 2))


class ProgressTest(unittest.TestCase):
    SEEN = collage.Progress("price", 3, 6, 0, 1500.0, 12.0, "")

    def test_a_line_says_how_far_it_is(self):
        text = progress.text_of(self.SEEN)
        for part in ("price", "[############............] 3/6", "best 1.500 ms", "12 s left"):
            self.assertIn(part, text)
        text = progress.text_of(self.SEEN._replace(rival="openvino", speedup=1.304))
        self.assertIn("best 1.500 ms (1.30x of openvino)", text)

    def test_a_terminal_shows_notes_once_and_ends_with_an_empty_line(self):
        stream = io.StringIO()
        terminal = progress.Terminal(stream)
        terminal.show(self.SEEN._replace(note="a note"))
        terminal.show(self.SEEN)
        terminal.close()
        self.assertEqual(stream.getvalue().count("a note\n"), 1)
        self.assertTrue(stream.getvalue().endswith("\r"))


class FailedStartTest(unittest.TestCase):
    def test_progress_that_cannot_be_shown_starts_nothing(self):
        called = []
        with mock.patch("collage.tuner_call.shower", side_effect=ZeroDivisionError), self.assertRaises(ZeroDivisionError):
            tuner_call.call_tuner(called.append, {}, None, None, None)
        self.assertEqual(called, [])

    def test_a_program_without_a_terminal_shows_nothing(self):
        with mock.patch("sys.stderr", None):
            for wish in (None, True):
                self.assertIs(type(progress.shower(wish)), progress.Silent)

    def test_a_plan_without_a_file_leaves_none(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch("tempfile.tempdir", folder):
            with self.assertRaises(collage.UsageError) as caught:
                collage.verify(unmeasured(models.increment()), progress=False)
            self.assertEqual(os.listdir(folder), [])
        self.assertEqual(caught.exception.code, "plan/not-a-file")

    def test_options_of_another_type_are_named(self):
        for option in ({"threads": "4"}, {"seed": -1}, {"accuracy": 3}, {"measure_all": "yes"}, {"backends": b"x"}):
            with self.subTest(option), self.assertRaises(collage.UsageError) as caught:
                _native.tune({"model": "m.onnx", **option})
            self.assertEqual(caught.exception.code, "api/wrong-option")
            self.assertEqual(caught.exception.where, f"option {next(iter(option))}")

    def test_a_plan_is_no_bytes_for_the_relatives_of_tune(self):
        for call in (collage.bench, collage.verify, collage.recheck, collage.explain):
            with self.assertRaises(collage.UsageError):
                call(b"bytes")


class TuneTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.model = cls.folder / "model.onnx"
        cls.model.write_bytes(models.detector())
        cls.seen = []
        cls.plan = collage.tune(
            cls.model, shapes={"x": (1, 3, 16, 16)}, budget="1s", store="memory:", progress=cls.seen.append)

    def test_the_plan_runs_and_stays_when_it_is_saved(self):
        x = np.zeros((1, 3, 16, 16), np.float32)
        np.testing.assert_allclose(self.plan.session().run({"x": x})["map"], np.full((1, 1, 4, 4), 0.5), rtol=1e-3)
        self.plan.save(self.folder / "kept.collage")
        np.testing.assert_allclose(
            collage.load(self.folder / "kept.collage").session().run([x])[0], np.full((1, 1, 4, 4), 0.5), rtol=1e-3)

    def test_temporary_plans_end_with_their_plan(self):
        plan = collage.tune(models.increment(), budget=1, store="memory:", progress=False)
        path = plan._source
        self.assertTrue(os.path.exists(path))
        del plan
        self.assertFalse(os.path.exists(path))

    def test_the_report_has_numbers_text_and_a_table(self):
        report = self.plan.report
        self.assertEqual(report.data["schema"], "collage.tune/1")
        self.assertGreater(report.measured_us, 0)
        self.assertGreater(report.speedup, 0)
        self.assertFalse(report.interrupted)
        self.assertIn("onnxruntime", report.best_rival)
        self.assertIn("candidates", str(report))
        self.assertIn(">this plan</td>", report._repr_html_())

    def test_progress_is_told(self):
        self.assertTrue(self.seen)
        self.assertTrue(all(isinstance(news, collage.Progress) for news in self.seen))
        self.assertTrue(self.seen[-1].rival)
        self.assertGreater(self.seen[-1].speedup, 0)

    def test_relatives_of_tune(self):
        self.assertTrue(collage.verify(self.plan))
        self.assertEqual(collage.explain(self.plan).data["schema"], "collage.explain/1")
        self.assertEqual(collage.recheck(self.plan).data["verdict"], "same")
        found = collage.bench(self.plan, seconds=0.2, progress=False)
        self.assertIn("<table ", found._repr_html_())
        names = {backend["name"] for backend in collage.backends().data["backends"]}
        self.assertIn("host", names)

    def test_ctrl_c_ends_a_tune_early(self):
        asked = []

        def stop(news):
            if not asked:
                asked.append(news)
                raise KeyboardInterrupt

        try:
            plan = collage.tune(self.model, shapes={"x": (1, 3, 64, 64)}, budget="60s", store="memory:", progress=stop)
            self.assertTrue(plan.report.interrupted)
        except KeyboardInterrupt as ended:
            self.assertIsInstance(ended.__cause__, collage.Error)
        self.assertTrue(asked)

    def test_a_second_ctrl_c_leaves_and_the_program_ends_in_order(self):
        program = [sys.executable, "-c", INTERRUPTED_TWICE, self.model]
        done = subprocess.run(program, capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stdout), (0, "left\nMainThread\n"), done.stderr)

    def test_an_exception_of_progress_ends_the_tune(self):
        with self.assertRaises(ZeroDivisionError):
            collage.tune(self.model, shapes={"x": (1, 3, 64, 64)}, budget="60s", store="memory:", progress=lambda news: 1 / 0)

    def test_errors_have_codes(self):
        for model, options, code in (
            ("/nowhere.onnx", {}, "import/not-found"),
            (self.model, {}, "import/unbound-dimension"),
            (self.model, {"backends": ["nothing"], "shapes": {"x": (1, 3, 16, 16)}}, "backend/missing"),
            (self.model, {"limits": {"nodes": 1}, "shapes": {"x": (1, 3, 16, 16)}}, "import/limit"),
        ):
            with self.assertRaises(collage.Error) as caught:
                collage.tune(model, budget=1, store="memory:", progress=False, **options)
            self.assertEqual(caught.exception.code, code)
