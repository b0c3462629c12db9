"""Sessions: arrays in, arrays out."""

import array
import threading
import unittest

import collage
import numpy as np
from support import models
from support.plans import Plans, unmeasured

FLOAT = models.FLOAT


class SessionCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plans = Plans()
        cls.addClassCleanup(cls.plans.close)

    def session(self, name, *options):
        return self.plan(name, *options).session()

    def plan(self, name, *options):
        path = self.plans.folder / f"{name}.collage"
        if not path.exists():
            self.plans.tuned(name, getattr(models, name)(), *options)
        return collage.load(path)


class RunTest(SessionCase):
    def test_names_in_give_names_out(self):
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        out = self.session("increment").run({"x": x})
        self.assertEqual(list(out), ["y"])
        np.testing.assert_array_equal(out["y"], x + 1)

    def test_positions_in_give_positions_out(self):
        session = self.session("two_ways")
        a, b = np.float32([1, 2, 3]), np.float32([4, 5, 6])
        total, product = session.run([a, b])
        np.testing.assert_array_equal(total, a + b)
        np.testing.assert_array_equal(product, a * b)

    def test_one_array_is_enough_for_one_input(self):
        (y,) = self.session("increment").run(np.zeros((2, 3), np.float32))
        np.testing.assert_array_equal(y, np.ones((2, 3), np.float32))

    def test_results_of_earlier_runs_stay(self):
        session = self.session("increment")
        first = session.run({"x": np.zeros((2, 3), np.float32)})["y"]
        session.run({"x": np.ones((2, 3), np.float32)})
        np.testing.assert_array_equal(first, np.ones((2, 3), np.float32))

    def test_arrays_in_any_order_and_byte_order(self):
        session = self.session("increment")
        x = np.arange(6, dtype=np.float32).reshape(3, 2).T
        np.testing.assert_array_equal(session.run({"x": x})["y"], x + 1)
        np.testing.assert_array_equal(session.run({"x": x.astype(">f4")})["y"], x + 1)

    def test_lists_of_numbers(self):
        y = self.session("increment").run({"x": [[1, 2, 3], [4, 5, 6]]})["y"]
        np.testing.assert_array_equal(y, np.float32([[2, 3, 4], [5, 6, 7]]))

    def test_lists_are_converted_only_where_the_type_has_their_numbers(self):
        for kind, good, bad in (
            (models.TensorProto.INT8, [-128, 127], [300, 0]),
            (models.TensorProto.INT32, [2**31 - 1, True], [2**40 + 7, 0]),
            (models.TensorProto.UINT8, [0, 255], [-1, 0]),
            (models.TensorProto.UINT64, [2**63, 2**64 - 1], [0, 2**64]),
            (models.TensorProto.INT64, [-(2**63), 0], [2**63, 0]),
            (models.TensorProto.INT64, (1, 2), [1.5, 2]),
            (models.TensorProto.BOOL, [True, False], [1, 0]),
            (FLOAT, [1, 2.5], [1e300, 0]),
            (FLOAT, [float("inf"), -1], [1j, 0]),
            (models.TensorProto.BFLOAT16, [1, 2.5], [1e300, 0]),
        ):
            with self.subTest(kind=kind, bad=bad):
                session = unmeasured(models.identity(kind, [2])).session()
                self.assertEqual(session.run({"x": good})["y"].tolist(), list(good))
                with self.assertRaises(collage.BadInputError) as caught:
                    session.run({"x": bad})
                self.assertEqual(caught.exception.code, "api/wrong-type")

    def test_objects_with_a_buffer_have_the_type_of_the_input(self):
        session = self.session("two_ways")
        right = array.array("f", [1, 2, 3])
        self.assertEqual(session.run({"a": right, "b": memoryview(right)})["sum"].tolist(), [2, 4, 6])
        for wrong in (array.array("d", [1, 2, 3]), array.array("i", [1, 2, 3]), b"123", memoryview(b"123")):
            with self.assertRaises(collage.BadInputError) as caught:
                session.run({"a": right, "b": wrong})
            self.assertEqual(caught.exception.code, "api/wrong-type")

    def test_element_types_of_inputs_and_of_arrays_for_outputs(self):
        kinds = {"bfloat16": models.TensorProto.BFLOAT16, "float8_e5m2": models.TensorProto.FLOAT8E5M2,
                 "float16": models.TensorProto.FLOAT16, "bool": models.TensorProto.BOOL, "uint64": models.TensorProto.UINT64}
        for name, kind in kinds.items():
            with self.subTest(name):
                session = unmeasured(models.identity(kind)).session()
                feed, out = session.empty_inputs(), session.empty_outputs()
                self.assertEqual(str(feed["x"].dtype), name)
                feed["x"][:] = [[0, 1, 1], [1, 0, 1]]
                np.testing.assert_array_equal(session.run(feed)["y"], feed["x"])
                given = session.run(feed, out=out)
                self.assertIs(given["y"], out["y"])
                np.testing.assert_array_equal(out["y"], feed["x"])
                for wrong in (np.zeros((2, 3)), np.zeros((2, 3), f"i{out['y'].itemsize}"), out["y"].T, object()):
                    with self.assertRaises(collage.Error):
                        session.run(feed, out={"y": wrong})

    def test_arrays_without_elements(self):
        session = unmeasured(models.identity(FLOAT, [0, 3])).session()
        for empty in (np.zeros((0, 3), np.float32), np.zeros((3, 0), np.float32).T):
            self.assertEqual(session.run({"x": empty})["y"].shape, (0, 3))

    def test_arrays_through_dlpack(self):
        class Foreign:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **options):
                return self.array.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        out = self.session("increment").run({"x": Foreign(x)})["y"]
        np.testing.assert_array_equal(np.from_dlpack(out), x + 1)

    def test_element_types_and_scalars(self):
        x = np.float32([1.5, -2, 0, 3])
        out = self.session("many_types").run({"x": np.abs(x)})
        self.assertEqual({name: str(array.dtype) for name, array in out.items()},
                         {"half": "float16", "double": "float64", "byte": "uint8", "long": "int64", "positive": "bool",
                          "largest": "float32"})
        np.testing.assert_array_equal(out["positive"], [True, True, False, True])
        self.assertEqual(out["largest"].shape, ())
        self.assertEqual(out["largest"], 3)

    def test_an_output_whose_shape_only_a_run_knows(self):
        session = self.session("positions")
        for x in ([0, 1, 0, 1, 1, 0], [0] * 6):
            where = session.run({"x": np.float32(x)})["where"]
            np.testing.assert_array_equal(where, np.nonzero(x))


class EarlyEndTest(SessionCase):
    """Runs that end before they are done."""

    FOREVER = np.int64(1 << 60)

    def test_a_timeout_ends_a_run_and_the_session_runs_again(self):
        session = self.session("doubling_loop", "--input-range", "trips=1..3")
        x = np.float32([1, 2])
        with self.assertRaises(collage.LimitError) as caught:
            session.run({"trips": self.FOREVER, "x": x}, timeout=0.02)
        self.assertEqual(caught.exception.code, "session/deadline")
        np.testing.assert_array_equal(session.run({"trips": np.int64(2), "x": x}, timeout=3600)["y"], 4 * x)

    def test_another_thread_cancels_a_run(self):
        session, cancel = self.session("doubling_loop", "--input-range", "trips=1..3"), collage.Cancel()
        timer = threading.Timer(0.02, cancel.now)
        timer.start()
        with self.assertRaises(collage.CancelledError):
            session.run({"trips": self.FOREVER, "x": np.float32([1, 2])}, cancel=cancel)
        timer.join()

    def test_wrong_timeouts_are_refused(self):
        for timeout in (0, -1, float("nan"), "2"):
            with self.assertRaises(collage.UsageError):
                self.session("increment").run(np.zeros((2, 3), np.float32), timeout=timeout)
        with self.assertRaises(collage.UsageError):
            self.session("increment").run(np.zeros((2, 3), np.float32), cancel=1)


class OpenShapeTest(SessionCase):
    def open_session(self):
        return self.session("rows", "--shape", "n=1..8")

    def test_extents_come_from_the_feed(self):
        session = self.open_session()
        for count in (3, 1, 8, 3):
            x = np.ones((count, 4), np.float32)
            np.testing.assert_array_equal(session.run({"x": x})["y"], x + np.float32([1, 2, 3, 4]))

    def test_ports_show_names_of_open_extents(self):
        plan = self.plan("rows", "--shape", "n=1..8")
        self.assertEqual(plan.inputs[0].shape, ("n", 4))
        session = plan.session()
        session.set_shapes({"x": (5, 4)})
        self.assertEqual(session.inputs[0].shape, (5, 4))
        session.set_shapes([(6, 4)])
        self.assertEqual(session.inputs[0].shape, (6, 4))
        for wrong in ({"z": (5, 4)}, {}, [(5, 4), (5, 4)], {"x": (5,)}, {"x": (-1, 4)}):
            with self.assertRaises(collage.BadInputError):
                session.set_shapes(wrong)

    def test_extents_outside_the_plan_are_refused(self):
        with self.assertRaises(collage.BadInputError) as caught:
            self.open_session().run({"x": np.ones((9, 4), np.float32)})
        self.assertEqual(caught.exception.code, "shape/outside")


class GivenArrayTest(SessionCase):
    def test_outputs_go_to_the_arrays_given(self):
        session = self.session("two_ways")
        feed = {"a": np.float32([1, 2, 3]), "b": np.float32([4, 5, 6])}
        total = np.empty(3, np.float32)
        out = session.run(feed, out={"sum": total})
        self.assertIs(out["sum"], total)
        np.testing.assert_array_equal(total, [5, 7, 9])
        np.testing.assert_array_equal(out["product"], [4, 10, 18])

    def test_aligned_arrays_are_right_run_after_run(self):
        session = self.session("large")
        feed, out = session.empty_inputs(), session.empty_outputs()
        self.assertEqual(feed["x"].ctypes.data % 64, 0)
        for value in (1, 2):
            feed["x"][:] = value
            session.run(feed, out=out)
            self.assertTrue((out["y"] == -value).all())
        self.assertTrue((session.run({"x": np.full(1 << 16, 3, np.float32)})["y"] == -3).all())
        self.assertTrue((out["y"] == -2).all())

    def test_one_array_as_input_and_output(self):
        session = self.session("large")
        feed = session.empty_inputs()
        feed["x"][:] = 5
        out = session.run(feed, out={"y": feed["x"]})
        self.assertTrue((out["y"] == -5).all())

    def test_wrong_arrays_are_refused(self):
        session = self.session("increment")
        x = np.zeros((2, 3), np.float32)
        for wrong in (np.zeros((2, 3)), np.zeros((3, 2), np.float32), np.zeros((3, 2), np.float32).T, b"123"):
            with self.assertRaises(collage.Error):
                session.run({"x": x}, out={"y": wrong})
        frozen = np.zeros((2, 3), np.float32)
        frozen.flags.writeable = False
        with self.assertRaises(collage.UsageError):
            session.run({"x": x}, out={"y": frozen})
        np.testing.assert_array_equal(session.run({"x": x})["y"], x + 1)


class ErrorTest(SessionCase):
    def check(self, kind, code, feed):
        with self.assertRaises(kind) as caught:
            self.session("increment").run(feed)
        self.assertEqual(caught.exception.code, code)
        self.assertIn(code, str(caught.exception))

    def test_wrong_feeds(self):
        x = np.zeros((2, 3), np.float32)
        self.check(collage.BadInputError, "input/missing", {})
        self.check(collage.BadInputError, "input/unknown-name", {"x": x, "z": x})
        self.check(collage.BadInputError, "input/wrong-shape", {"x": np.zeros((3, 2), np.float32)})
        self.check(collage.BadInputError, "input/wrong-shape", {"x": np.zeros(6, np.float32)})
        self.check(collage.BadInputError, "api/wrong-type", {"x": np.zeros((2, 3))})
        self.check(collage.BadInputError, "api/wrong-type", {"x": object()})
        self.check(collage.BadInputError, "input/wrong-count", [x, x])

    def test_an_error_has_its_parts(self):
        with self.assertRaises(ValueError) as caught:
            self.session("increment").run({})
        error = caught.exception
        self.assertIsInstance(error, collage.Error)
        self.assertEqual((error.where, error.saw, error.allowed, error.kind), ("input x", "no array", "one for each of x", 3))

    def test_a_call_while_another_one_is_under_way_is_refused(self):
        session = self.session("increment")
        codes = []

        class Calling:
            """An array that calls the session that reads it."""

            def __array__(self, dtype=None, copy=None):
                for call in (lambda: session.run({"x": np.zeros((2, 3), np.float32)}), lambda: session.inputs,
                             lambda: session.outputs, session.empty_inputs, lambda: session.set_shapes([(2, 3)])):
                    try:
                        call()
                    except collage.UsageError as error:
                        codes.append(error.code)
                return np.zeros((2, 3), np.float32)

        self.assertEqual(session.run({"x": Calling()})["y"].tolist(), [[1, 1, 1]] * 2)
        self.assertEqual(codes, ["session/in-use"] * 5)
        self.assertEqual(session.inputs[0].shape, (2, 3))

    def test_threads_that_share_a_session_get_right_results_or_are_refused(self):
        session = self.session("large")
        x = np.zeros(1 << 16, np.float32)
        seen = []

        def runs():
            for _ in range(300):
                try:
                    seen.append(float(session.run({"x": x})["y"].sum()))
                except collage.UsageError as error:
                    seen.append(error.code)

        threads = [threading.Thread(target=runs) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertLessEqual(set(seen), {0.0, "session/in-use"})
        self.assertIn(0.0, seen)

    def test_sessions_of_one_plan_run_at_once(self):
        plan = self.plan("large")
        results = []

        def runs(value):
            session = plan.session()
            results.extend(float(session.run({"x": np.full(1 << 16, value, np.float32)})["y"][0]) for _ in range(20))

        threads = [threading.Thread(target=runs, args=(value,)) for value in (1, 2, 3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(results), [-3.0] * 20 + [-2.0] * 20 + [-1.0] * 20)
