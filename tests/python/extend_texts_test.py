"""The texts that builders of patterns and rules write, and what estimators may say. Needs NumPy only."""

import json
import unittest

from collage import extend
from collage.extend import anything, combine, constant, grow, more, op, same, up_to, valid, value
from collage.extend import estimates


def described(**changes):
    """An Add of x and the constant c, as the program describes a candidate."""
    region = {
        "schema": "collage.region/1",
        "inputs": [{"name": "x", "type": "f32", "shape": [2, "N"]}],
        "constants": [
            {"name": "c", "type": "f32", "shape": [2], "values": [1.5, "-inf"]},
            {"name": "w", "type": "f32", "shape": [100]},
        ],
        "outputs": [{"name": "y", "type": "bf16", "shape": None}],
        "nodes": [
            {
                "name": "add",
                "domain": "",
                "op_type": "Add",
                "inputs": ["x", None, "c"],
                "outputs": ["y"],
                "attributes": {"axes": [0, 1], "t": {"tensor": {"type": "i64", "shape": [1], "values": [7]}}},
            }
        ],
    }
    candidate = {
        "schema": "collage.candidate/1",
        "backend": "onednn",
        "variant": "direct",
        "input_formats": ["plain"],
        "output_formats": ["channels_last"],
        "threads": 2,
        "accuracy": "strict",
        "region": region,
    }
    return json.dumps(candidate | changes)


class Patterns(unittest.TestCase):
    def test_chains_have_conditions_and_marks(self):
        pattern = op("Conv", "ConvTranspose", group=1, strides=[2, 2]).where("in1.dim2<=3").then("Relu", "Clip").optional()
        self.assertEqual(str(pattern), "Conv|ConvTranspose{@group=1, @strides=2x2, in1.dim2<=3} -> Relu|Clip?")
        self.assertEqual(str(op("Neg").then("Abs").repeated()), "Neg -> Abs*")

    def test_trees_have_operands(self):
        self.assertEqual(str(op("Mul").of(value("x"), op("Sigmoid").of(same("x")))), "Mul(x=*, Sigmoid($x))")
        conv = op("Conv", group=1).of(anything, constant, constant.or_absent())
        self.assertEqual(str(conv.then("Relu")), "Conv{@group=1}(*, const, const?) -> Relu")
        self.assertEqual(str(op("Relu").optional().of(op("Concat").of(anything, more))), "Relu?(Concat(*, ...))")

    def test_patterns_do_not_change(self):
        first = op("Conv")
        first.then("Relu")
        self.assertEqual(str(first), "Conv")

    def test_what_is_no_name_is_refused_at_once(self):
        for make in (lambda: op("Conv -> Relu"), lambda: op(), lambda: same("a b"), lambda: op("A").then("B").of(anything)):
            with self.assertRaises(ValueError):
                make()


class RulesText(unittest.TestCase):
    def test_statements_are_lines_in_order(self):
        rules = extend.Rules().pattern("onednn", "gate", op("Conv").then("Mul"), outputs=2)
        rules.fuse("onnxruntime", "head", "final pool", "/classifier/*").ban("*", "Softmax", "com.microsoft.Gelu")
        rules.limit("openvino", nodes=40, outputs=2, bodies=False)
        self.assertEqual(
            str(rules).splitlines(),
            [
                "pattern onednn gate: Conv -> Mul; outputs<=2",
                'fuse onnxruntime head: "final pool" /classifier/*',
                "ban *: Softmax|com.microsoft.Gelu",
                "limit openvino: nodes<=40, outputs<=2, no bodies",
            ],
        )

    def test_rules_contain_rules(self):
        grown = combine(up_to("broadcast"), grow("broadcast", "broadcast"), extend.parallel, depth=3)
        self.assertEqual(
            str(extend.Rules().replace("native", valid(grown, outputs=1, nodes=3, taps=False))),
            "replace native: valid(nodes<=3, outputs<=1, no taps; "
            "combine(class<=broadcast; broadcast->broadcast, parallel; depth<=3))\n",
        )
        both = extend.union(extend.label("gate", extend.named("g", "/gate/*")), extend.maximal(2), extend.singles)
        self.assertEqual(str(both), "union(label(gate; named(g: /gate/*)), maximal(splits<=2), singles)")

    def test_a_statement_is_one_line_and_a_limit_limits(self):
        with self.assertRaises(ValueError):
            extend.Rules().ban("*", "Relu\nban *: Conv")
        with self.assertRaises(ValueError):
            extend.Rules().limit("native")


class Estimators(unittest.TestCase):
    def test_are_told_of_a_candidate(self):
        candidate = estimates.candidate_from_text(described())
        self.assertEqual((candidate.backend, candidate.threads, candidate.accuracy), ("onednn", 2, "strict"))
        region = candidate.region
        self.assertEqual(region.inputs[0].shape, (2, "N"))
        self.assertEqual(region.constants["c"].tolist(), [1.5, float("-inf")])
        self.assertNotIn("w", region.constants)
        self.assertEqual([one.name for one in region.constant_types], ["c", "w"])
        node = region.node("Add")
        self.assertEqual(node.inputs, ("x", None, "c"))
        self.assertEqual(node.attributes["axes"], [0, 1])
        self.assertEqual(node.attributes["t"].tolist(), [7])
        with self.assertRaises(TypeError):
            region.outputs[0].dtype  # noqa: B018: a property that NumPy has no answer for
        with self.assertRaises(LookupError):
            region.node("Conv")

    def test_say_microseconds_or_nothing(self):
        self.assertEqual(estimates.estimate_us(lambda candidate: 3, described()), 3.0)
        self.assertIsNone(estimates.estimate_us(lambda candidate: None, described()))
        for bad in (0, -1, float("nan"), float("inf")):
            with self.assertRaises(ValueError):
                estimates.estimate_us(lambda candidate, bad=bad: bad, described())

    def test_are_found_by_name(self):
        self.assertIs(extend.estimator("math:sqrt"), __import__("math").sqrt)
        for bad, error in (("math", ValueError), ("math:pi", TypeError), ("no_such_module:f", ImportError)):
            with self.assertRaises(error):
                extend.estimator(bad)


if __name__ == "__main__":
    unittest.main()
