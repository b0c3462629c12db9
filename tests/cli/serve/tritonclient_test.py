"""NVIDIA's HTTP client against `collage serve`: tritonclient_test.py COLLAGE. Exits with 77 where the client is absent."""

import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

try:
    import tritonclient.http as triton
    from tritonclient.utils import InferenceServerException
except ImportError:
    print("tritonclient is not installed")
    sys.exit(77)


def write_model(path):
    """x f32[batch,4], i i64[batch,2] -> y = Relu(x w) f32[batch,3], s = i + i."""
    weights = np.arange(12, dtype=np.float32).reshape(4, 3) - 5
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Relu", ["p"], ["y"]),
         helper.make_node("Add", ["i", "i"], ["s"])], "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 4]),
         helper.make_tensor_value_info("i", TensorProto.INT64, ["batch", 2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 3]),
         helper.make_tensor_value_info("s", TensorProto.INT64, ["batch", 2])],
        [helper.make_tensor("w", TensorProto.FLOAT, [4, 3], weights.flatten())])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, path)
    return weights


class ClientTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        home = pathlib.Path(cls.folder.name)
        cls.weights = write_model(str(home / "net.onnx"))
        cls.plan = str(home / "net.collage")
        subprocess.run([COLLAGE, "tune", str(home / "net.onnx"), "-o", cls.plan, "--shape", "batch=1..8", "--points",
                        "2", "--budget", "4s", "--store", "memory:", "--quiet"], check=True, capture_output=True)
        port = home / "port"
        cls.server = subprocess.Popen([COLLAGE, "serve", cls.plan, "--port", "0", "--port-file", str(port), "--quiet"],
                                      stdout=subprocess.PIPE, text=True)
        for _ in range(1000):
            if port.exists():
                break
            time.sleep(0.02)
        cls.url = "127.0.0.1:" + port.read_text().strip()

    @classmethod
    def tearDownClass(cls):
        cls.server.send_signal(signal.SIGTERM)
        out, _ = cls.server.communicate(timeout=30)
        cls.folder.cleanup()
        assert cls.server.returncode == 0, cls.server.returncode
        assert "net:" in out, out

    def setUp(self):
        self.client = triton.InferenceServerClient(self.url, concurrency=8)

    def tearDown(self):
        self.client.close()

    def inputs(self, rows, binary):
        x = np.random.default_rng(rows).standard_normal((rows, 4)).astype(np.float32)
        i = np.arange(rows * 2, dtype=np.int64).reshape(rows, 2)
        given = [triton.InferInput("x", x.shape, "FP32"), triton.InferInput("i", i.shape, "INT64")]
        given[0].set_data_from_numpy(x, binary_data=binary)
        given[1].set_data_from_numpy(i, binary_data=binary)
        return x, i, given

    def check(self, result, x, i):
        np.testing.assert_allclose(result.as_numpy("y"), np.maximum(x @ self.weights, 0), rtol=1e-3, atol=1e-4)
        np.testing.assert_array_equal(result.as_numpy("s"), i + i)

    def test_tells_about_itself(self):
        self.assertTrue(self.client.is_server_live())
        self.assertTrue(self.client.is_server_ready())
        self.assertTrue(self.client.is_model_ready("net"))
        self.assertTrue(self.client.is_model_ready("net", "1"))
        self.assertEqual(self.client.get_server_metadata()["name"], "collage")
        metadata = self.client.get_model_metadata("net")
        self.assertEqual([one["name"] for one in metadata["inputs"]], ["x", "i"])
        self.assertEqual(metadata["inputs"][0]["shape"], [-1, 4])
        self.assertEqual(self.client.get_model_config("net")["max_batch_size"], 8)

    def test_infers_binary_and_json_tensors(self):
        for rows in (1, 3, 8):
            for binary_in in (True, False):
                for binary_out in (True, False):
                    x, i, given = self.inputs(rows, binary_in)
                    asked = [triton.InferRequestedOutput(name, binary_data=binary_out) for name in ("s", "y")]
                    self.check(self.client.infer("net", given, outputs=asked, request_id="7"), x, i)

    def test_infers_all_outputs_when_none_is_named(self):
        x, i, given = self.inputs(2, True)
        result = self.client.infer("net", given, model_version="1", timeout=10_000_000)
        self.check(result, x, i)

    def test_compresses(self):
        x, i, given = self.inputs(2, True)
        for algorithm in ("gzip", "deflate"):
            self.check(self.client.infer("net", given, request_compression_algorithm=algorithm,
                                         response_compression_algorithm=algorithm), x, i)

    def test_infers_from_many_threads(self):
        failures = []

        def work(rows):
            client = triton.InferenceServerClient(self.url)
            try:
                x, i, given = self.inputs(rows, True)
                for _ in range(20):
                    self.check(client.infer("net", given), x, i)
            except Exception as error:  # seen by the test's own thread
                failures.append(error)
            finally:
                client.close()

        threads = [threading.Thread(target=work, args=(1 + n % 3,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_gets_errors_with_codes(self):
        _, _, given = self.inputs(9, True)
        with self.assertRaisesRegex(InferenceServerException, r"error\[shape/outside\]"):
            self.client.infer("net", given)
        with self.assertRaisesRegex(InferenceServerException, r"error\[serve/unknown-model\]"):
            self.client.infer("nett", given)
        wrong = triton.InferInput("x", [1, 4], "INT64")
        wrong.set_data_from_numpy(np.zeros((1, 4), np.int64))
        with self.assertRaisesRegex(InferenceServerException, r"error\[serve/wrong-datatype\]"):
            self.client.infer("net", [wrong, given[1]])
        with self.assertRaises(InferenceServerException):
            self.client.infer("net", given, sequence_id=5)

    def test_loads_and_unloads(self):
        self.assertEqual(self.client.get_model_repository_index()[0]["state"], "READY")
        self.client.unload_model("net")
        self.assertFalse(self.client.is_model_ready("net"))
        self.client.load_model("net")
        self.assertTrue(self.client.is_model_ready("net"))
        self.server.send_signal(signal.SIGHUP)
        x, i, given = self.inputs(1, True)
        self.check(self.client.infer("net", given), x, i)


if __name__ == "__main__":
    COLLAGE = sys.argv.pop(1)
    unittest.main(verbosity=2)
