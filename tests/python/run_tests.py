"""Runs a file of unittest cases: run_tests.py FILE [XML]. The cases go to XML in the form of gtest."""

import importlib.util
import pathlib
import sys
import time
import unittest
import xml.etree.ElementTree as tree


class Result(unittest.TextTestResult):
    """Keeps an element for each case."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.suite = tree.Element("testsuite", name="python")
        self._begun = 0.0

    def startTest(self, test):
        super().startTest(test)
        self._begun = time.monotonic()

    def _add(self, test, result="completed", failure=None):
        group, _, name = test.id().rpartition(".")
        seconds = f"{time.monotonic() - self._begun:.3f}"
        case = tree.SubElement(self.suite, "testcase", name=name, classname=group, result=result, time=seconds)
        if failure is not None:
            tree.SubElement(case, "failure", message=failure)

    def addSuccess(self, test):
        super().addSuccess(test)
        self._add(test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._add(test, result="skipped")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._add(test, failure=str(err[1]))

    def addError(self, test, err):
        super().addError(test, err)
        self._add(test, failure=str(err[1]))

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._add(subtest, failure=str(err[1]))


def main(file, xml=None):
    path = pathlib.Path(file).resolve()
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    cases = unittest.defaultTestLoader.loadTestsFromModule(module)
    result = unittest.TextTestRunner(resultclass=Result, verbosity=2).run(cases)
    if xml:
        tree.ElementTree(result.suite).write(xml, encoding="utf-8", xml_declaration=True)
    if not result.testsRun:
        print(f"{file}: no cases")
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
