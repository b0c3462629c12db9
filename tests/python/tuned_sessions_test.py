"""Sessions that tune their model: at once, in the background, from the cache."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import unittest
from unittest import mock

import collage
import numpy as np
from collage import background, cache
from collage.background import CoreUse
from collage.onnx_file import external_files
from support import models
from support.sessions import quiet_options, session_of

CUSTOM_OPS = pathlib.Path(collage.__file__).parents[2] / "tests" / "modules" / "custom_ops" / "libcollage_custom_ops.so"


class TuneTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.enterContext(mock.patch.dict(os.environ, {"XDG_CACHE_HOME": folder.name}))
        self.folder = pathlib.Path(folder.name)

    def test_a_tuned_plan_is_found_again(self):
        x = np.zeros((2, 3), np.float32)
        session = session_of(models.increment(), tune="now", budget=1)
        np.testing.assert_array_equal(session.run(None, {"x": x})[0], x + 1)
        (plan,) = (self.folder / "collage" / "plans").glob("*.collage")
        written = plan.stat().st_mtime_ns
        again = session_of(models.increment(), tune="cached")
        np.testing.assert_array_equal(again.run(None, {"x": x})[0], x + 1)
        self.assertEqual(again.plan.to_bytes(), plan.read_bytes())
        self.assertEqual(plan.stat().st_mtime_ns, written)

    @unittest.skipUnless(CUSTOM_OPS.exists(), "ONNX Runtime is not built")
    def test_operators_of_a_library_run_tuned_or_not(self):
        options = quiet_options()
        options.register_custom_ops_library(CUSTOM_OPS)
        x = np.arange(-48, 48, dtype=np.float32).reshape(6, 16)
        wanted = 2 * (np.maximum(x, 0) + 2.5)
        for tune in (None, "now", "cached"):
            session = collage.InferenceSession(models.shifted(), options, tune=tune, budget=1)
            np.testing.assert_allclose(session.run(None, {"x": x})[0], wanted, rtol=1e-6)
        with self.assertRaises(collage.Error):
            session_of(models.shifted())
        options = quiet_options()
        options.register_custom_ops_library("/nowhere/library.so")
        with self.assertRaisesRegex(collage.Error, "library.so"):
            collage.InferenceSession(models.shifted(), options)

    def test_a_damaged_plan_is_not_used(self):
        x = np.zeros((2, 3), np.float32)
        session_of(models.increment(), tune="now", budget=1)
        (plan,) = (self.folder / "collage" / "plans").glob("*.collage")
        plan.write_bytes(b"damaged")
        np.testing.assert_array_equal(session_of(models.increment(), tune="cached").run(None, {"x": x})[0], x + 1)

    def test_a_plan_of_the_background_takes_over_between_runs(self):
        x = np.zeros((2, 3), np.float32)
        idle = iter([None] + [0.0] * 10000)
        with mock.patch.object(CoreUse, "others", lambda self, group=0: next(idle)), \
                mock.patch("collage.background.QUIET_S", 1):
            session = session_of(models.increment(), tune="background", budget=1)
            first = session.plan
            for _ in range(400):
                np.testing.assert_array_equal(session.run(None, {"x": x})[0], x + 1)
                if session.plan is not first:
                    break
                threading.Event().wait(0.1)
        self.assertIsNot(session.plan, first)
        self.assertEqual(len(list((self.folder / "collage" / "plans").glob("*.collage"))), 1)
        np.testing.assert_array_equal(session.run(None, {"x": x})[0], x + 1)

    def test_a_busy_machine_is_left_alone(self):
        use = CoreUse()
        self.assertIsNone(use.others())
        self.assertGreaterEqual(use.others(), 0)
        with mock.patch.object(CoreUse, "others", lambda self, group=0: 1.0), mock.patch("collage.background.QUIET_S", 1), \
                mock.patch("collage.background._started", side_effect=AssertionError) as started:
            session = session_of(models.increment(), tune="background", budget=1)
            threading.Event().wait(2.5)
        started.assert_not_called()
        self.assertEqual(list((self.folder / "collage" / "plans").glob("*.collage*")), [])
        self.assertIsNotNone(session.plan)

    def test_a_plan_that_cannot_be_used_makes_room(self):
        session_of(models.increment(), tune="now", budget=1)
        (plan,) = (self.folder / "collage" / "plans").glob("*.collage")
        plan.write_bytes(b"damaged")
        session_of(models.increment(), tune="cached")
        self.assertTrue(plan.exists())
        with mock.patch("collage.background.BackgroundTuner.ask") as ask:
            session_of(models.increment(), tune="background")
        self.assertEqual(ask.call_args.args[0].path, str(plan))
        self.assertFalse(plan.exists())

    def test_cached_makes_no_folder(self):
        session_of(models.increment(), tune="cached")
        self.assertEqual(list(self.folder.iterdir()), [])
        with mock.patch("os.makedirs", side_effect=PermissionError(13, "no")):
            self.assertIsNotNone(session_of(models.increment(), tune="cached").plan)
            with self.assertRaises(collage.FileAccessError):
                session_of(models.increment(), tune="now", budget=1)

    def test_an_interrupted_tune_is_not_kept(self):
        with mock.patch("collage.report.TuneReport.interrupted", True), self.assertRaises(KeyboardInterrupt):
            session_of(models.increment(), tune="now", budget=1)
        self.assertEqual(list((self.folder / "collage" / "plans").iterdir()), [])

    def test_extents_may_be_numbers_of_numpy(self):
        session = session_of(models.rows(), tune="now", budget=1, shapes={"n": np.int64(2)})
        with mock.patch("collage.background.BackgroundTuner.ask") as ask:
            session_of(models.rows(), tune="background", shapes={"n": np.int64(3)})
        self.assertEqual(json.loads(json.dumps(ask.call_args.args[0].options))["shapes"], {"x": [3, 4]})
        self.assertEqual(session.plan.inputs[0].shape, (2, 4))

    def test_the_hash_of_a_model_is_made_once_until_a_file_changes(self):
        path, weights = self.folder / "model.onnx", self.folder / "weights.bin"
        weights.write_bytes(b"1234")
        path.write_bytes(models.with_external_weights(weights.name))
        of = cache.ModelHash(str(path))
        first = of.value()
        with mock.patch("collage.cache._hash_of_file", side_effect=AssertionError):
            self.assertEqual(of.value(), first)
        self.assertEqual(cache.ModelHash(str(path)).value(), first)
        weights.write_bytes(b"12345")
        self.assertNotEqual(of.value(), first)
        weights.unlink()
        self.assertNotEqual(of.value(), first)


class ExternalFilesTest(unittest.TestCase):
    def test_are_found_wherever_tensors_are(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.onnx"
            path.write_bytes(models.external_everywhere())
            self.assertEqual(external_files(path), ["attribute", "body", "function", "initializer", "list"])
            path.write_bytes(models.increment())
            self.assertEqual(external_files(path), [])


class Wanting:
    """A runner that wants plans for some keys, and keeps what it is given."""

    def __init__(self, *keys):
        self.keys = set(keys)
        self.used = []

    def wants(self, key):
        return key in self.keys

    def use(self, key, path):
        self.used.append((key, path))


class BackgroundTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.enterContext(mock.patch.dict(os.environ, {"XDG_CACHE_HOME": self.folder}))

    def order(self, key, budget=None):
        return background.Order(key, os.path.join(self.folder, f"{key}.collage"), {"budget": budget})

    def finished(self, tuner):
        for _ in range(1000):
            if not tuner._is_working:
                return
            threading.Event().wait(0.01)
        self.fail("the thread works on")

    def test_one_thread_serves_the_orders_that_are_still_wanted(self):
        runner, threads, tuned = Wanting("a", "b", "c"), set(), []
        tuner = background.BackgroundTuner(runner, b"model")
        asked = threading.Event()

        def tune(self, order, budget):
            asked.wait(30)
            threads.add(threading.get_ident())
            tuned.append(order.key)
            pathlib.Path(order.path).touch()
            return True

        with mock.patch.object(background.BackgroundTuner, "_tune_in_process", tune), \
                mock.patch("collage.background.QUIET_S", 0):
            for key in "abcd":
                tuner.ask(self.order(key))
            tuner.forget("b")
            tuner.forget("d")
            asked.set()
            self.finished(tuner)
        self.assertEqual((tuned, len(threads)), (["a", "c"], 1))
        self.assertEqual([key for key, _ in runner.used], ["a", "c"])

    def test_small_budgets_tune_too(self):
        runner, budgets = Wanting("a"), []
        tuner = background.BackgroundTuner(runner, b"model")

        def tune(self, order, budget):
            budgets.append(budget)
            return None

        with mock.patch.object(background.BackgroundTuner, "_tune_in_process", tune), \
                mock.patch("collage.background.QUIET_S", 0):
            tuner.ask(self.order("a", 0.5))
            self.finished(tuner)
        self.assertEqual(budgets, [0.5])

    def test_a_plan_that_cannot_be_used_ends_no_thread(self):
        runner = Wanting("a", "b")
        tuner = background.BackgroundTuner(runner, b"model")
        runner.use = mock.Mock(side_effect=collage.BadInputError("plan/damaged"))
        for key in "ab":
            pathlib.Path(self.order(key).path).touch()
            tuner.ask(self.order(key))
        self.finished(tuner)
        self.assertEqual(runner.use.call_count, 2)

    def test_a_process_that_does_not_end_is_killed(self):
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            process = subprocess.Popen(["sleep", "100"], start_new_session=True)
        finally:
            signal.signal(signal.SIGINT, before)
        tuner = background.BackgroundTuner(Wanting(), b"model")
        with process, mock.patch("collage.background.STOP_S", 0):
            self.assertTrue(tuner._watch(self.order("a"), process))
        self.assertEqual(process.returncode, -signal.SIGKILL)

    def test_the_process_hears_a_signal_that_the_program_ignores(self):
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            with mock.patch("os.nice"), mock.patch("collage.background._end_with_the_program"), \
                    mock.patch("collage.tuning.tune") as tune:
                tune.return_value.report.interrupted = False
                options = {"shapes": {}, "threads": 1, "budget": 1}
                background.main(json.dumps({"plan": "p.collage", "options": options, "model": "m.onnx"}))
            self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)
        finally:
            signal.signal(signal.SIGINT, before)

    def test_a_forked_process_does_not_keep_the_lock(self):
        path = os.path.join(self.folder, "lock")
        with background._Lock(path) as lock:
            self.assertTrue(lock.take())
            copy = os.dup(lock._file.fileno())  # as a forked process has it
        self.addCleanup(os.close, copy)
        with background._Lock(path) as again:
            self.assertTrue(again.take())
