"""Plans: files, bytes, what they say of themselves; and the package as a whole."""

import os
import pathlib
import resource
import subprocess
import sys
import unittest
from unittest import mock

import collage
import numpy as np
from collage.plan import prepare_libraries
from support import models
from support.plans import Plans, command


class PlanTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plans = Plans()
        cls.addClassCleanup(cls.plans.close)
        cls.path = cls.plans.tuned("increment", models.increment())

    def run_once(self, plan):
        return plan.session().run({"x": np.zeros((2, 3), np.float32)})["y"].tolist()

    def test_loads_a_path_and_bytes(self):
        for source in (self.path, str(self.path), self.path.read_bytes(), bytearray(self.path.read_bytes())):
            self.assertEqual(self.run_once(collage.load(source)), [[1, 1, 1], [1, 1, 1]])

    def test_says_what_it_is(self):
        plan = collage.load(self.path)
        self.assertEqual(plan.inputs, [("x", "float32", (2, 3), 1)])
        self.assertEqual([port.name for port in plan.outputs], ["y"])
        self.assertEqual(plan.threads, 1)
        self.assertEqual(plan.verdict, ("same", []))
        self.assertEqual(plan.metadata["schema"], "collage.plan-metadata/1")
        self.assertIn("x: float32[2,3]", repr(plan))

    def test_saves_what_it_loaded(self):
        copy = self.plans.folder / "copy.collage"
        collage.load(self.path).save(copy)
        self.assertEqual(copy.read_bytes(), self.path.read_bytes())
        collage.load(self.path.read_bytes()).save(copy)
        self.assertEqual(self.run_once(collage.load(copy)), [[1, 1, 1], [1, 1, 1]])
        self.assertEqual(collage.load(copy).to_bytes(), self.path.read_bytes())

    def test_a_save_that_fails_leaves_the_old_file(self):
        copy = self.plans.folder / "kept.collage"
        copy.write_bytes(b"old")
        before = set(self.plans.folder.iterdir())
        plan = collage.Plan(collage.load(self.path)._native, b"longer than the limit")
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (8, limits[1]))
        try:
            with self.assertRaises(OSError):
                plan.save(copy)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        self.assertEqual(copy.read_bytes(), b"old")
        self.assertEqual(set(self.plans.folder.iterdir()), before)

    def test_a_saved_file_has_the_permissions_of_new_files(self):
        copy = self.plans.folder / "new.collage"
        before = os.umask(0o027)
        try:
            with mock.patch("os.umask", side_effect=AssertionError("other threads make files, too")):
                collage.load(self.path).save(copy)
        finally:
            os.umask(before)
        self.assertEqual(copy.stat().st_mode & 0o777, 0o640)

    def test_sessions_outlive_their_plan(self):
        session = collage.load(self.path).session()
        self.assertEqual(session.run([np.zeros((2, 3), np.float32)])[0].tolist(), [[1, 1, 1], [1, 1, 1]])

    def test_a_plan_has_to_be_signed_where_a_key_is_given(self):
        key = self.plans.folder / "key.pem"
        half = self.plans.folder / "key.pub.pem"
        signed = self.plans.folder / "signed.collage"
        subprocess.run([command(), "sign", "--new-key", key], check=True, capture_output=True)
        subprocess.run([command(), "sign", self.path, "--key", key, "-o", signed], check=True, capture_output=True)
        for keys in (half, str(half), half.read_text()):
            for source in (signed, signed.read_bytes()):
                plan = collage.load(source, signed_by=keys)
                self.assertEqual(self.run_once(plan), [[1, 1, 1], [1, 1, 1]])
                self.assertTrue(plan.metadata["signature_checked"])
        self.assertIsNone(collage.load(self.path).metadata["signer"])
        with self.assertRaises(collage.BadInputError) as caught:
            collage.load(self.path, signed_by=half)
        self.assertEqual(caught.exception.code, "signature/missing")
        with self.assertRaises(collage.FileAccessError):
            collage.load(signed, signed_by=self.plans.folder / "nowhere.pem")

    def test_errors_have_codes_and_kinds(self):
        with self.assertRaises(collage.FileAccessError) as caught:
            collage.load("/nowhere/at.all")
        self.assertEqual(caught.exception.code, "io/cannot-read")
        for content in (b"", b"not a plan"):
            with self.assertRaises(collage.BadInputError):
                collage.load(content)
        with self.assertRaises(collage.Error) as caught:
            collage.load(self.path, threads=3)
        self.assertEqual(caught.exception.code, "plan/other-threads")


class Frozen(dict):
    """An environment that cannot be changed."""

    __setitem__ = None


class PackageTest(unittest.TestCase):
    def in_new_process(self, code):
        folder = pathlib.Path(collage.__file__).parent.parent
        return subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(folder)}, check=True,
                              capture_output=True, text=True).stdout

    def test_an_import_brings_neither_numpy_nor_engines(self):
        loaded = self.in_new_process(
            "import collage, sys; collage.load; print([m for m in sys.modules if m.startswith(('numpy', 'onnx'))]);"
            "print(open('/proc/self/maps').read().count('collage_tuner'))")
        self.assertEqual(loaded.split("\n")[:2], ["[]", "0"])

    def test_engines_of_a_user_installation_are_found(self):
        with mock.patch.dict(os.environ, {"COLLAGE_LIBRARY_PATH": "/first"}), mock.patch("site.ENABLE_USER_SITE", True), \
                mock.patch("site.getusersitepackages", lambda: "/user/site"):
            prepare_libraries()
            path = os.environ["COLLAGE_LIBRARY_PATH"]
            with mock.patch("os.environ", Frozen(os.environ)):
                prepare_libraries()
        self.assertTrue(path.startswith("/first:"))
        self.assertTrue(path.endswith(":/user/site"))

    def test_every_public_name_has_a_docstring(self):
        for name in collage.__all__:
            self.assertTrue(getattr(collage, name).__doc__, name)
        self.assertIn("InferenceSession", collage.__doc__)

    def test_an_unknown_name_is_an_attribute_error(self):
        with self.assertRaises(AttributeError):
            collage.no_such_name  # noqa: B018


if __name__ == "__main__":
    unittest.main()
