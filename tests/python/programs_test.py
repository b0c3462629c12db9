"""What well-known programs call of ONNX Runtime's class, on models like theirs: they run with `import collage as ort`."""

import os
import pathlib
import pickle
import tempfile
import unittest

import collage as ort
import numpy as np
from support import models


class PickableInferenceSession(ort.InferenceSession):
    """insightface's: it is made again where it is unpickled."""

    def __init__(self, model_path, **options):
        super().__init__(model_path, **options)
        self.model_path = model_path

    def __getstate__(self):
        return {"model_path": self.model_path}

    def __setstate__(self, values):
        self.__init__(values["model_path"])


class ProgramsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def written(self, model):
        path = self.folder / "model.onnx"
        path.write_bytes(model)
        return str(path)

    def test_rapidocr(self):
        options = ort.SessionOptions()
        options.log_severity_level = 4
        options.enable_cpu_mem_arena = False
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
        if 1 <= 1 <= os.cpu_count():
            options.intra_op_num_threads = 1
            options.inter_op_num_threads = 1
        providers = [("CPUExecutionProvider", {"arena_extend_strategy": "kSameAsRequested"})]
        session = ort.InferenceSession(self.written(models.detector(character="a\nb\nc")), sess_options=options, providers=providers)
        self.assertEqual(session.get_providers()[0], "CPUExecutionProvider")
        names = session.get_modelmeta().custom_metadata_map
        self.assertEqual(names["character"].splitlines(), ["a", "b", "c"])
        for width in (32, 64, 48):
            image = np.ones((1, 3, 32, width), np.float32)
            feed = dict(zip([port.name for port in session.get_inputs()], [image]))
            found = session.run([port.name for port in session.get_outputs()], feed)[0]
            self.assertEqual(found.shape, (1, 1, 8, width // 4))

    def test_insightface(self):
        ort.set_default_logger_severity(3)
        session = PickableInferenceSession(self.written(models.detector()), providers=["CPUExecutionProvider"], provider_options=None)
        session.set_providers(["CPUExecutionProvider"])
        entry = session.get_inputs()[0]
        self.assertIsInstance(entry.shape[2], str)
        self.assertEqual(len(entry.shape), 4)
        session = pickle.loads(pickle.dumps(session))
        blob = np.zeros((1, 3, 16, 16), np.float32)
        outputs = session.run([port.name for port in session.get_outputs()], {entry.name: blob})
        np.testing.assert_array_equal(outputs[0], np.full((1, 1, 4, 4), 0.5, np.float32))

    def test_rembg(self):
        options = ort.SessionOptions()
        options.inter_op_num_threads = 1
        options.intra_op_num_threads = 1
        self.assertNotEqual(ort.get_device()[0:3], "GPU")
        providers = ort.get_available_providers()
        session = ort.InferenceSession(self.written(models.detector()), sess_options=options, providers=providers)
        image = np.random.default_rng(1).random((1, 3, 32, 32)).astype(np.float32)
        mask = session.run(None, {session.get_inputs()[0].name: image})[0][:, 0, :, :]
        mask = (mask - mask.min()) / (mask.max() - mask.min())
        self.assertEqual(np.squeeze(mask).shape, (8, 8))

    def test_silero_vad(self):
        options = ort.SessionOptions()
        options.inter_op_num_threads = 1
        options.intra_op_num_threads = 1
        self.assertIn("CPUExecutionProvider", ort.get_available_providers())
        session = ort.InferenceSession(self.written(models.recurrent()), providers=["CPUExecutionProvider"], sess_options=options)
        state = np.zeros((2, 1, 4), np.float32)
        for _ in range(3):
            out, state = session.run(
                None, {"input": np.ones((1, 512), np.float32), "state": state, "sr": np.array(16000, dtype="int64")})
        self.assertEqual(state.shape, (2, 1, 4))
        self.assertTrue((state == 3).all())
        self.assertAlmostEqual(float(out[0, 0]), 1 / 16000)

    def test_piper(self):
        session = ort.InferenceSession(self.written(models.speech()), sess_options=ort.SessionOptions(), providers=["CPUExecutionProvider"])
        for count in (3, 5):
            ids = np.expand_dims(np.arange(count, dtype=np.int64), 0)
            audio = session.run(None, {"input": ids, "input_lengths": np.array([count], dtype=np.int64),
                                       "scales": np.array([0.5, 1.0, 0.5], dtype=np.float32)})[0].squeeze()
            np.testing.assert_array_equal(audio, np.arange(count) * 2 + count)

    def test_sherpa(self):
        options = ort.SessionOptions()
        options.inter_op_num_threads = 1
        options.intra_op_num_threads = 1
        model = ort.InferenceSession(self.written(models.rows()), sess_options=options, providers=["CPUExecutionProvider"])
        self.assertEqual(model.get_modelmeta().custom_metadata_map, {})
        (y,) = model.run([model.get_outputs()[0].name], {model.get_inputs()[0].name: np.ones((2, 4), np.float32)})
        self.assertEqual(y.tolist(), [[2, 3, 4, 5]] * 2)

    def test_bound_decoders(self):
        session = ort.InferenceSession(self.written(models.rows()), ort.SessionOptions())
        binding = session.io_binding()
        x = np.ascontiguousarray(np.ones((2, 4), np.float32))
        y = np.empty((2, 4), np.float32)
        binding.bind_input("x", "cpu", 0, np.float32, x.shape, x.ctypes.data)
        binding.bind_output("y", "cpu", 0, np.float32, y.shape, y.ctypes.data)
        binding.synchronize_inputs()
        session.run_with_iobinding(binding)
        binding.synchronize_outputs()
        self.assertEqual(y.tolist(), [[2, 3, 4, 5]] * 2)
