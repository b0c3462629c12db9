"""What tools/contents.py finds in a folder, and what it writes about it."""
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import contents  # noqa: E402


class Contents(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def have(self, *files):
        for file in files:
            path = Path(self.folder.name, file)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()

    def test_tells_parts_from_files(self):
        self.have("lib/libcollage_store.so", "lib/collage/libcollage_backend_host.so")
        self.assertEqual({part.name for part in contents.parts_in(self.folder.name)}, {"SQLiteCpp", "fmt", "nlohmann-json"})

    def test_finds_nothing_of_others_in_headers(self):
        self.have("include/collage/collage.h", "lib/pkgconfig/collage.pc")
        self.assertEqual(contents.parts_in(self.folder.name), [])

    def test_refuses_an_engine_that_it_does_not_know(self):
        self.have("lib/collage/engines/libunknown.so.3")
        with self.assertRaisesRegex(SystemExit, "libunknown.so.3"):
            contents.parts_in(self.folder.name)

    def test_notices_have_the_licence_of_each_part(self):
        self.have("lib/libcollage_store.so")
        file = Path(self.folder.name, "copyright")
        contents.write_notices(self.folder.name, file)
        text = file.read_text()
        self.assertIn("Apache License", text)
        self.assertIn("SQLiteCpp: copyright", text)
        self.assertIn("Permission is hereby granted", text)

    def test_needed_packages_are_named_with_their_bounds(self):
        one = contents.needed("libc6 (>= 2.36)")
        self.assertEqual((one["name"], one["versionInfo"]), ("libc6", ">= 2.36"))

    def test_a_bill_names_each_package_once(self):
        self.have("lib/libcollage_store.so", "packed.deb")
        file = Path(self.folder.name, "bill.json")
        contents.write_bill(Path(self.folder.name, "packed.deb"), self.folder.name, file,
                            ["libc6 (>= 2.34)", "libc6 (>= 2.36)", "libgomp1"])
        bill = json.loads(file.read_text())
        names = [one["name"] for one in bill["packages"]]
        self.assertEqual(names, ["packed.deb", "SQLiteCpp", "fmt", "nlohmann-json", "libc6", "libgomp1"])
        self.assertEqual(len(bill["relationships"]), len(names))


if __name__ == "__main__":
    unittest.main()
