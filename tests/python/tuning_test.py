"""tune and its relatives, reports, progress."""

import io
import os
import pathlib
import tempfile
import unittest

import collage
import numpy as np
from collage import progress, tuner_call
from support import models


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

    def test_a_terminal_shows_notes_once_and_ends_with_an_empty_line(self):
        stream = io.StringIO()
        terminal = progress.Terminal(stream)
        terminal.show(self.SEEN._replace(note="a note"))
        terminal.show(self.SEEN)
        terminal.close()
        self.assertEqual(stream.getvalue().count("a note\n"), 1)
        self.assertTrue(stream.getvalue().endswith("\r"))


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
        self.assertIn("<td>this plan</td>", report._repr_html_())

    def test_progress_is_told(self):
        self.assertTrue(self.seen)
        self.assertTrue(all(isinstance(news, collage.Progress) for news in self.seen))

    def test_relatives_of_tune(self):
        self.assertTrue(collage.verify(self.plan))
        self.assertEqual(collage.explain(self.plan).data["schema"], "collage.explain/1")
        self.assertEqual(collage.recheck(self.plan).data["verdict"], "same")
        found = collage.bench(self.plan, seconds=0.2, progress=False)
        self.assertIn("<table>", found._repr_html_())
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

    def test_an_exception_of_progress_ends_the_tune(self):
        with self.assertRaises(ZeroDivisionError):
            collage.tune(self.model, shapes={"x": (1, 3, 64, 64)}, budget="60s", store="memory:", progress=lambda news: 1 / 0)

    def test_errors_have_codes(self):
        for model, options, code in (
            ("/nowhere.onnx", {}, "import/not-found"),
            (self.model, {}, "import/open-dimension"),
            (self.model, {"backends": ["nothing"], "shapes": {"x": (1, 3, 16, 16)}}, "backend/missing"),
        ):
            with self.assertRaises(collage.Error) as caught:
                collage.tune(model, budget=1, store="memory:", progress=False, **options)
            self.assertEqual(caught.exception.code.split("/")[0], code.split("/")[0])
