"""Strings, sequences, optionals and maps: objects in, objects out."""

import unittest

import collage
import numpy as np
from support import models
from support.plans import Plans, unmeasured
from support.sessions import session_of


class ValuesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plans = Plans()
        cls.addClassCleanup(cls.plans.close)

    def session(self, name):
        return unmeasured(getattr(models, name)()).session()

    def test_strings_are_arrays_of_objects(self):
        session = self.session("joined_words")
        for a in (["x", "Grüße"], np.array(["x", "Grüße"]), np.array(["x", "Grüße"], object), ["x", "Grüße".encode()]):
            both = session.run({"a": a, "b": ["", "!"]})["both"]
            self.assertEqual(both.dtype, object)
            self.assertEqual(both.tolist(), ["x", "Grüße!"])

    def test_sequences_are_lists(self):
        session = self.session("appended")
        x = np.float32([1, 2, 3])
        for s in ([], [np.float32([7])], ([1.5, 2.5], [np.nan, np.inf])):
            parts = session.run({"s": s, "x": x})["t"]
            self.assertEqual(len(parts), len(s) + 1)
            for seen, expected in zip(parts, [*s, x]):
                np.testing.assert_array_equal(seen, np.float32(expected))
                self.assertEqual(seen.dtype, np.float32)

    def test_an_optional_is_its_value_or_none(self):
        session = self.session("maybe")
        self.assertFalse(session.run({"o": None})["has"])
        self.assertTrue(session.run({"o": np.float32([1, 2])})["has"])
        self.assertFalse(session.run({"o": None})["has"])

    def test_maps_are_dicts(self):
        counts = self.session("counted").run({"m": {"b": 2.0, "unknown": 1.0}})["y"]
        np.testing.assert_array_equal(counts, np.float32([[0, 2, 0]]))
        scores = self.session("scored").run({"x": np.float32([[1, 2], [3, 4]])})["z"]
        self.assertEqual(scores, [{4: 1.0, 7: 2.0}, {4: 3.0, 7: 4.0}])

    def test_wrong_values_are_errors(self):
        session = self.session("joined_words")
        for a in ([1, 2], ["x"], [["x", "y"]], "xy", None, [b"\xff", "x"], ["\ud800", "x"]):
            with self.assertRaises(collage.BadInputError, msg=repr(a)):
                session.run({"a": a, "b": ["", ""]})
        session = self.session("appended")
        x = np.float32([1, 2, 3])
        for s in (x, None, {"a": 1}, [["a"]], [np.float64([1])], [[[1]]]):
            with self.assertRaises(collage.BadInputError, msg=repr(s)):
                session.run({"s": s, "x": x})
        with self.assertRaises(collage.BadInputError):
            self.session("counted").run({"m": ["a"]})

    def test_plans_are_tuned_and_loaded(self):
        plan = self.plans.folder / "words.collage"
        self.plans.tuned("words", models.joined_words())
        session = collage.load(plan).session()
        self.assertEqual(session.run([["a", "b"], ["c", "d"]])[0].tolist(), ["ac", "bd"])

    def test_inference_session_takes_strings(self):
        session = session_of(models.joined_words())
        self.assertEqual(session.get_inputs()[0].type, "tensor(string)")
        (both,) = session.run(["both"], {"a": np.array(["x", "y"], object), "b": ["1", "2"]})
        self.assertEqual(both.tolist(), ["x1", "y2"])


if __name__ == "__main__":
    unittest.main()
