"""The class with the calls of ONNX Runtime's InferenceSession."""

import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings

import collage
import numpy as np
from support import models
from support.sessions import quiet_options, session_of


class RunTest(unittest.TestCase):
    def test_runs_bytes_and_files(self):
        x = np.zeros((2, 3), np.float32)
        model = models.increment()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.onnx"
            path.write_bytes(model)
            for source in (model, path, str(path)):
                (y,) = session_of(source).run(None, {"x": x})
                np.testing.assert_array_equal(y, x + 1)

    def test_outputs_come_in_the_order_asked_for(self):
        session = session_of(models.two_ways())
        feed = {"a": np.float32([1, 2, 3]), "b": np.float32([4, 5, 6])}
        product, total = session.run(["product", "sum"], feed)
        np.testing.assert_array_equal(product, [4, 10, 18])
        np.testing.assert_array_equal(total, [5, 7, 9])
        self.assertEqual(len(session.run([], feed)), 2)

    def test_element_types_and_scalars(self):
        session = session_of(models.many_types())
        out = session.run(None, {"x": np.float32([1, 2, 0, 4])})
        self.assertEqual([str(a.dtype) for a in out], ["float16", "float64", "uint8", "int64", "bool", "float32"])
        self.assertEqual(out[-1].shape, ())

    def test_open_dimensions_are_those_of_the_feed(self):
        session = session_of(models.rows())
        for count in (1, 3, 2, 3, *range(4, 14), 1):
            x = np.ones((count, 4), np.float32)
            np.testing.assert_array_equal(session.run(["y"], {"x": x})[0], x + np.float32([1, 2, 3, 4]))

    def test_no_elements_are_elements_too(self):
        session = session_of(models.rows())
        self.assertEqual(session.run(None, {"x": np.ones((0, 4), np.float32)})[0].shape, (0, 4))
        self.assertEqual(session.run(None, {"x": np.ones((1, 4), np.float32)})[0].shape, (1, 4))

    def test_shapes_and_overrides_fix_dimensions(self):
        options = quiet_options()
        options.add_free_dimension_override_by_name("n", 2)
        for session in (collage.InferenceSession(models.rows(), options), session_of(models.rows(), shapes={"x": (2, 4)})):
            self.assertIsNotNone(session.plan)
            with self.assertRaises(collage.BadInputError):
                session.run(None, {"x": np.ones((3, 4), np.float32)})
            self.assertEqual(session.run(None, {"x": np.ones((2, 4), np.float32)})[0].shape, (2, 4))

    def test_inputs_of_any_rank_take_shape_from_the_feed(self):
        model = models.identity(models.FLOAT, None)
        session = session_of(model)
        for shape in ((2, 3), (), (4,), (1, 2, 0), (2, 3)):
            self.assertEqual(session.run(None, {"x": np.ones(shape, np.float32)})[0].shape, shape)
        self.assertEqual(session.get_inputs()[0].shape, [])
        bound = session_of(model, shapes={"x": (2,)})
        self.assertEqual(bound.plan.inputs[0].shape, (2,))
        with self.assertRaises(collage.BadInputError):
            bound.run(None, {"x": np.ones((2, 3), np.float32)})

    def test_values_may_be_fed_like_arrays(self):
        value = collage.OrtValue.ortvalue_from_numpy(np.ones((2, 4), np.float32))
        self.assertEqual(session_of(models.rows()).run(None, {"x": value})[0].tolist(), [[2, 3, 4, 5]] * 2)

    def test_a_program_may_end_while_a_thread_runs(self):
        program = """
import sys, time
import collage
import numpy as np

class Late:
    def __array__(self, dtype=None, copy=None):
        time.sleep(0.5)
        return np.zeros((2, 3), np.float32)

session = collage.InferenceSession(sys.argv[1])
session.run_async(None, {"x": Late()}, lambda outputs, data, problem: print(outputs[0].tolist(), problem), None)
"""
        with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
            file.write(models.increment())
            file.flush()
            done = subprocess.run([sys.executable, "-c", program, file.name], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout.strip()), (0, str([[1.0] * 3] * 2)), done.stderr)

    def test_a_program_may_end_while_a_tune_waits_for_quiet(self):
        program = """
import atexit, sys, threading
atexit.register(lambda: print(*[thread.name for thread in threading.enumerate()]))
import collage
session = collage.InferenceSession(sys.argv[1], tune="background")
print(*[thread.name for thread in threading.enumerate()])
"""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.onnx"
            path.write_bytes(models.increment())
            done = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, timeout=60,
                                  env={**os.environ, "XDG_CACHE_HOME": folder})
        self.assertEqual((done.returncode, done.stdout), (0, "MainThread collage-background\nMainThread\n"), done.stderr)

    def test_threads_share_a_session(self):
        session = session_of(models.rows())
        wrong = []

        def runs(value):
            for count in (1, 2, 3) * 5:
                x = np.full((count, 4), value, np.float32)
                if not np.array_equal(session.run(None, {"x": x})[0], x + np.float32([1, 2, 3, 4])):
                    wrong.append(value)

        threads = [threading.Thread(target=runs, args=(value,)) for value in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_runs_later_in_a_thread(self):
        done, seen = threading.Event(), []

        def callback(outputs, user_data, error):
            seen.extend([outputs[0].tolist(), user_data, error])
            done.set()

        session = session_of(models.increment((1,)))
        session.run_async(None, {"x": np.zeros(1, np.float32)}, callback, "data")
        self.assertTrue(done.wait(30))
        self.assertEqual(seen, [[1.0], "data", ""])


class ErrorTest(unittest.TestCase):
    def test_wrong_feeds(self):
        session = session_of(models.increment())
        x = np.zeros((2, 3), np.float32)
        with self.assertRaisesRegex(ValueError, r"Required inputs \(\['x'\]\) are missing from input feed \(\['z'\]\)"):
            session.run(None, {"z": x})
        for names, feed in ((None, {"x": x, "z": x}), (["nothing"], {"x": x}), (None, {"x": x.astype(np.float64)}),
                            (None, {"x": x[:1]}), (None, {"x": x[None]})):
            with self.assertRaises(collage.BadInputError):
                session.run(names, feed)

    def test_wrong_ranks_and_extents_of_open_inputs(self):
        session = session_of(models.rows())
        for shape in ((4,), (2, 5), (1, 2, 4)):
            with self.assertRaises(collage.BadInputError):
                session.run(None, {"x": np.ones(shape, np.float32)})

    def test_models_with_text_give_arrays_of_objects(self):
        (y,) = session_of(models.text()).run(None, {"x": np.array(["a", "b"])})
        self.assertEqual(y.dtype, object)
        self.assertEqual(y.tolist(), ["a", "b"])

    def test_models_that_are_none(self):
        number_as_name = b"\x3a\x09\x10\xff\xff\xff\xff\xff\xff\xff\x7f"
        for content in (b"", b"no model", b"\x08", b"\x38\x05", number_as_name, b"\x2a\x01\x05\x3a\x00", b"\x3a\x02\x58\x01"):
            with self.assertRaises(collage.BadInputError):
                session_of(content)
        with self.assertRaises(collage.FileAccessError):
            session_of("/nowhere/model.onnx")

    def test_options_with_a_meaning_that_is_not_had_are_refused_by_name(self):
        options = collage.SessionOptions()
        for field, value in (("enable_profiling", True), ("optimized_model_filepath", "m.onnx"), ("intra_op_num_threads", -1)):
            with self.assertRaisesRegex(collage.UsageError, field):
                setattr(options, field, value)
        with self.assertRaises(AttributeError):
            options.no_such_field = 1
        with self.assertRaises(collage.UsageError):
            session_of(models.increment(), tune="sometimes")

    def test_a_run_that_is_to_end_at_once_is_refused(self):
        session = session_of(models.increment())
        options = collage.RunOptions()
        feed = {"x": np.zeros((2, 3), np.float32)}
        self.assertEqual(len(session.run(None, feed, options)), 1)
        options.terminate = True
        binding = session.io_binding()
        binding.bind_cpu_input("x", feed["x"])
        for call in (lambda: session.run(None, feed, options), lambda: session.run_with_iobinding(binding, options)):
            with self.assertRaisesRegex(collage.UsageError, "terminate"):
                call()

    def test_absent_providers_are_named_in_a_warning(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            session = collage.InferenceSession(models.increment(), quiet_options(), ["CUDAExecutionProvider", "CPUExecutionProvider"])
        self.assertIn("CUDAExecutionProvider", str(caught[0].message))
        self.assertEqual(session.get_providers(), ["CPUExecutionProvider"])


class FactsTest(unittest.TestCase):
    def test_inputs_and_outputs(self):
        session = session_of(models.recurrent())
        self.assertEqual([tuple(port) for port in session.get_inputs()], [
            ("input", "tensor(float)", [None, None]), ("state", "tensor(float)", [2, None, 4]), ("sr", "tensor(int64)", [])])
        self.assertEqual(session.get_outputs()[1].name, "stateN")
        self.assertIn("NodeArg(name='x'", str(session_of(models.increment()).get_inputs()[0]))

    def test_metadata(self):
        meta = session_of(models.increment(character="a\nb")).get_modelmeta()
        self.assertEqual((meta.producer_name, meta.graph_name, meta.version), ("tests", "small", 2**63 - 1))
        self.assertEqual(meta.custom_metadata_map, {"character": "a\nb"})


class BindingTest(unittest.TestCase):
    def test_bound_inputs_and_outputs(self):
        session = session_of(models.two_ways())
        a, b = np.float32([1, 2, 3]), np.float32([4, 5, 6])
        binding = session.io_binding()
        binding.bind_cpu_input("a", a)
        binding.bind_input("b", "cpu", 0, np.float32, [3], b.ctypes.data)
        binding.bind_output("product")
        binding.bind_output("sum", "cpu")
        session.run_with_iobinding(binding)
        product, total = binding.copy_outputs_to_cpu()
        np.testing.assert_array_equal(product, a * b)
        np.testing.assert_array_equal(total, a + b)
        b[:] = 0
        session.run_with_iobinding(binding)
        np.testing.assert_array_equal(binding.get_outputs()[1].numpy(), a)

    def test_outputs_go_to_memory_of_the_program(self):
        session = session_of(models.increment((3,)))
        y = np.zeros(3, np.float32)
        value = collage.OrtValue.ortvalue_from_shape_and_type([3], np.float32)
        binding = session.io_binding()
        binding.bind_ortvalue_input("x", collage.OrtValue.ortvalue_from_numpy(np.float32([1, 2, 3])))
        binding.bind_output("y", "cpu", 0, np.float32, [3], y.ctypes.data)
        session.run_with_iobinding(binding)
        np.testing.assert_array_equal(y, [2, 3, 4])
        half = collage.OrtValue.ortvalue_from_shape_and_type([3], models.TensorProto.BFLOAT16)
        other = session_of(models.identity(models.TensorProto.BFLOAT16, [3]))
        halves = other.io_binding()
        halves.bind_cpu_input("x", np.float32([1, 2, 3]).astype(half.numpy().dtype))
        halves.bind_ortvalue_output("y", half)
        other.run_with_iobinding(halves)
        self.assertEqual(half.numpy().tolist(), [1, 2, 3])
        binding.clear_binding_outputs()
        binding.bind_ortvalue_output("y", value)
        session.run_with_iobinding(binding)
        np.testing.assert_array_equal(value.numpy(), [2, 3, 4])
        with self.assertRaises(collage.UnsupportedError):
            binding.bind_output("y", "cuda")
        with self.assertRaises(collage.BadInputError):
            binding.bind_cpu_input("z", y)

    def test_values(self):
        value = collage.OrtValue.ortvalue_from_numpy(np.zeros((2, 3), np.float16))
        self.assertEqual((value.shape(), value.data_type(), value.element_type()), ([2, 3], "tensor(float16)", 10))
        value.update_inplace(np.ones((2, 3), np.float16))
        self.assertEqual(float(value.numpy().sum()), 6)
        self.assertIs(np.asarray(value), value.numpy())
        self.assertIsNot(value.__array__(copy=True), value.numpy())
        self.assertEqual(value.__array__(np.float32).dtype, np.float32)
        with self.assertRaises(ValueError):
            value.__array__(np.float32, copy=False)
        out = session_of(models.increment()).run_with_ort_values(
            None, {"x": collage.OrtValue.ortvalue_from_numpy(np.zeros((2, 3), np.float32))})
        self.assertEqual(out[0].numpy().tolist(), [[1, 1, 1], [1, 1, 1]])
