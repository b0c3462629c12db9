"""Changes of a header that tools/abi.py must tell apart: those that break compiled programs, and additions."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import abi  # noqa: E402

STUB = Path(__file__).resolve().parents[2] / "src/api/c/collage_abi.c"
HEADER = STUB.with_name("collage.h").read_text()
LAST = (
    "  collage_status* (*session_output_json)(collage_session* session, size_t index, const char** json, size_t* bytes);\n"
)
FREE = "  void (*session_free)(collage_session* session);\n"


class Interface(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.usual = abi.described(STUB)

    def change(self, old, new):
        """Facts that are gone and new when the header has `new` in place of `old`."""
        self.assertIn(old, HEADER)
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "collage.h").write_text(HEADER.replace(old, new, 1))
            now = abi.described(STUB, Path(folder))
        return [line for line in self.usual if line not in now], [line for line in now if line not in self.usual]

    def test_names_functions_members_and_constants(self):
        self.assertIn("function collage_get_api: const collage_api* (uint32_t)", self.usual)
        self.assertIn("struct collage_tensor   28 rank: int32_t", self.usual)
        self.assertIn("constant COLLAGE_BUG = 70", self.usual)

    def test_takes_a_function_at_the_end_as_an_addition(self):
        gone, added = self.change(LAST, LAST + "  void (*more)(collage_plan* plan);\n")
        self.assertEqual(gone, [])
        self.assertEqual(added, ["struct collage_api  368 more: void (*)(collage_plan*)"])

    def test_takes_a_constant_as_an_addition(self):
        gone, added = self.change("COLLAGE_INT2 = 26", "COLLAGE_INT2 = 26, COLLAGE_MORE = 27")
        self.assertEqual((gone, added), ([], ["constant COLLAGE_MORE = 27"]))

    def test_takes_a_member_at_the_end_of_a_struct_with_size_as_an_addition(self):
        gone, added = self.change("  const int64_t* extents;  ///< `rank` of them\n} collage_tensor;",
                                  "  const int64_t* extents;\n  int32_t more;\n} collage_tensor;")
        self.assertEqual((gone, added), ([], ["struct collage_tensor   40 more: int32_t"]))

    def test_refuses_a_function_between_others(self):
        gone, _ = self.change(FREE, "  void (*more)(collage_plan* plan);\n" + FREE)
        self.assertTrue(any("session_free" in line for line in gone))

    def test_refuses_a_function_that_is_gone(self):
        gone, _ = self.change(LAST, "")
        self.assertEqual(len(gone), 1)

    def test_refuses_another_type_behind_a_pointer(self):
        gone, _ = self.change("  int32_t threads;  ", "  int64_t threads;  ")
        self.assertTrue(any(line.endswith("threads: int32_t") for line in gone))

    def test_refuses_growth_of_a_struct_that_has_no_size(self):
        gone, _ = self.change("  size_t rank;\n} collage_shape;", "  size_t rank;\n  size_t more;\n} collage_shape;")
        self.assertEqual(gone, ["struct collage_shape bytes 16"])

    def test_refuses_another_number_of_a_constant(self):
        gone, _ = self.change("COLLAGE_BUG = 70", "COLLAGE_BUG = 71")
        self.assertEqual(gone, ["constant COLLAGE_BUG = 70"])


if __name__ == "__main__":
    unittest.main()
