"""One valid node of each operator that has rules for its attributes, and the values that break each rule."""

from onnx import TensorProto as T

F, I64, I32, U8, BOOL, STR = T.FLOAT, T.INT64, T.INT32, T.UINT8, T.BOOL, T.STRING
HUGE = 2**62
INF, NAN = float("inf"), float("nan")


class Operator:
    """A node that is valid as it stands: inputs are (type, shape) or a constant array, `bad` maps attributes to values."""

    def __init__(self, name, inputs, good, bad, outputs=1, opset=22, domain="", out_type=F):
        self.name, self.inputs, self.good, self.bad = name, inputs, good, bad
        self.outputs, self.opset, self.domain, self.out_type = outputs, opset, domain, out_type


IMAGE = (F, [1, 4, 8, 8])
SIGNAL = (F, [2, 3, 4])
WINDOW = {
    "strides": [[0, 0], [-1, 1], [1], [1, 1, 1], [HUGE, 1]],
    "dilations": [[0, 0], [1, -1], [2**40, 1], [1]],
    "pads": [[1, 1], [-1, 0, 0, 0], [0, 0, 0, -5], [1, 1, 1], [2**30, 2**30, 2**30, 2**30], [0] * 6],
    "auto_pad": ["SAME", "same_upper"],
}
KERNEL = {"kernel_shape": [[0, 0], [-3, 3], [2**31, 2**31], [3], [3, 3, 3]]}
POOL = {**WINDOW, **KERNEL, "ceil_mode": [2, -1]}
PADDED = [{"auto_pad": "SAME_UPPER", "pads": [1, 1, 1, 1]}, {"auto_pad": "VALID", "pads": [1, 0, 0, 0]}]
RECURRENT = {
    "hidden_size": [0, -1, 2**31, HUGE],
    "direction": ["backward", "", "FORWARD "],
    "layout": [2, -1],
    "clip": [NAN],
}
REDUCED = {"keepdims": [2, -1], "noop_with_empty_axes": [2]}


def recurrent(name, gates):
    return Operator(
        name,
        [(F, [5, 2, 3]), (F, [1, 4 * gates, 3]), (F, [1, 4 * gates, 4])],
        {"hidden_size": 4},
        {**RECURRENT, "activations": [["Nothing"] * (3 if name == "LSTM" else 2 if name == "GRU" else 1), []]},
        opset=14,
    )


def reduction(name, opset=12):
    return Operator(
        name,
        [SIGNAL],
        {"axes": [1], "keepdims": 1},
        {"axes": [[1, 1], [0, -3], [3], [-4], [HUGE]], "keepdims": [2, -1]},
        opset=opset,
    )


def generator(name, good, bad):
    return Operator(name, [], {"shape": [2, 3], **good}, {"shape": [[-1, 2], [HUGE, HUGE], [2**41]], **bad})


OPERATORS = [
    Operator(
        "Conv",
        [IMAGE, (F, [6, 2, 3, 3])],
        {"group": 2, "kernel_shape": [3, 3]},
        {**WINDOW, **KERNEL, "group": [0, -1, 3, HUGE], None: PADDED},
    ),
    Operator(
        "ConvTranspose",
        [IMAGE, (F, [4, 3, 3, 3])],
        {"strides": [2, 2]},
        {
            **WINDOW,
            **KERNEL,
            "group": [0, -1, 3, HUGE],
            "output_padding": [[-1, 0], [2, 2], [1]],
            "output_shape": [[0, 0], [-4, 4]],
            None: PADDED,
        },
    ),
    Operator(
        "ConvInteger",
        [(U8, [1, 4, 8, 8]), (U8, [6, 2, 3, 3])],
        {"group": 2},
        {**WINDOW, "group": [0, -1, 3], "kernel_shape": [[0, 0], [5, 5]]},
        out_type=I32,
    ),
    Operator(
        "DeformConv",
        [(F, [1, 4, 8, 8]), (F, [6, 4, 3, 3]), (F, [1, 18, 6, 6])],
        {"kernel_shape": [3, 3]},
        {
            "strides": [[0, 0]],
            "dilations": [[0, 1]],
            "pads": [[-1, 0, 0, 0], [1, 1]],
            "group": [0, -1],
            "offset_group": [0, -1],
            "kernel_shape": [[0, 0]],
        },
    ),
    Operator("MaxPool", [IMAGE], {"kernel_shape": [3, 3]}, {**POOL, "storage_order": [2]}),
    Operator("AveragePool", [IMAGE], {"kernel_shape": [3, 3]}, {**POOL, "count_include_pad": [3]}),
    Operator("LpPool", [IMAGE], {"kernel_shape": [3, 3]}, {**POOL, "p": [0, -2]}),
    Operator(
        "MaxUnpool",
        [(F, [1, 1, 2, 2]), (I64, [1, 1, 2, 2])],
        {"kernel_shape": [2, 2], "strides": [2, 2]},
        {"kernel_shape": [[0, 0], [-1, 2]], "strides": [[0, 0], [-2, 2]], "pads": [[-1, 0, 0, 0], [0]]},
    ),
    Operator("GlobalLpPool", [IMAGE], {"p": 2}, {"p": [0, -1]}),
    Operator("LRN", [IMAGE], {"size": 3}, {"size": [0, -1, HUGE], "alpha": [NAN], "beta": [INF], "bias": [NAN]}),
    Operator("LpNormalization", [SIGNAL], {"axis": 1}, {"axis": [3, -4, HUGE], "p": [0, 3, -1]}),
    Operator(
        "BatchNormalization",
        [IMAGE] + [(F, [4])] * 4,
        {"epsilon": 1e-5},
        {"epsilon": [-1.0, NAN, INF], "momentum": [NAN], "training_mode": [2, -1]},
    ),
    Operator("InstanceNormalization", [IMAGE, (F, [4]), (F, [4])], {"epsilon": 1e-5}, {"epsilon": [-1.0, NAN, INF]}),
    Operator(
        "GroupNormalization",
        [IMAGE, (F, [4]), (F, [4])],
        {"num_groups": 2},
        {"num_groups": [0, -1, 3, HUGE], "epsilon": [-1.0, NAN]},
    ),
    Operator(
        "LayerNormalization", [SIGNAL, (F, [4])], {"axis": -1}, {"epsilon": [-1.0, NAN, INF], "axis": [3, -4, HUGE, -HUGE]}
    ),
    Operator("RMSNormalization", [SIGNAL, (F, [4])], {"axis": -1}, {"epsilon": [-1.0, NAN], "axis": [3, -4, HUGE]}, opset=23),
    Operator("MeanVarianceNormalization", [IMAGE], {"axes": [0, 2, 3]}, {"axes": [[0, 0], [4], [-5], [HUGE]]}),
    Operator(
        "Resize",
        [IMAGE, None, [1.0, 1.0, 2.0, 2.0]],
        {"mode": "nearest"},
        {
            "mode": ["bilinear", "", "NEAREST"],
            "coordinate_transformation_mode": ["half", ""],
            "nearest_mode": ["round", ""],
            "cubic_coeff_a": [NAN, INF],
            "antialias": [2, -1],
            "exclude_outside": [2],
            "keep_aspect_ratio_policy": ["larger", ""],
            "extrapolation_value": [NAN],
            None: [{"axes": [2, 2, 3, 3]}, {"axes": [0, 1, 2, 7]}, {"axes": [0, 1]}],
        },
    ),
    Operator("Upsample", [IMAGE, [1.0, 1.0, 2.0, 2.0]], {"mode": "nearest"}, {"mode": ["fast", ""]}, opset=9),
    Operator(
        "Upsample",
        [IMAGE],
        {"mode": "nearest", "scales": [1.0, 1.0, 2.0, 2.0]},
        {
            "mode": ["fast"],
            "scales": [[1.0, 1.0, 0.0, 1.0], [1.0, 1.0, -2.0, 1.0], [1.0, 1.0, NAN, 1.0], [2.0], [1.0, 1.0, INF, 1.0]],
        },
        opset=7,
    ),
    Operator("DepthToSpace", [IMAGE], {"blocksize": 2}, {"blocksize": [0, -2, 3, HUGE, 2**32], "mode": ["RDC", ""]}),
    Operator("SpaceToDepth", [IMAGE], {"blocksize": 2}, {"blocksize": [0, -2, 3, HUGE, 2**32]}),
    recurrent("RNN", 1),
    recurrent("GRU", 3),
    recurrent("LSTM", 4),
    Operator(
        "Split",
        [(F, [6, 2])],
        {"num_outputs": 3},
        {"num_outputs": [0, -1, 2, 4, HUGE], "axis": [2, -3, HUGE]},
        outputs=3,
        opset=18,
    ),
    Operator(
        "Split",
        [(F, [6, 2])],
        {"split": [2, 2, 2]},
        {"split": [[2, 2], [7, -1, 0], [3, 3, 3], [HUGE, HUGE, 6]], "axis": [2, -3]},
        outputs=3,
        opset=11,
    ),
    Operator("TopK", [SIGNAL], {"k": 2}, {"k": [-1, 5, HUGE], "axis": [3, -4, HUGE]}, outputs=2, opset=7),
    Operator("TopK", [SIGNAL, [2]], {}, {"axis": [3, -4, HUGE], "largest": [2], "sorted": [-1]}, outputs=2, opset=11),
    *[
        Operator(name, [SIGNAL], {"axis": 1}, {"axis": [3, -4, HUGE, -(2**63)]}, opset=13)
        for name in ("Softmax", "LogSoftmax", "Hardmax")
    ],
    *[Operator(name, [SIGNAL], {"axis": 1}, {"axis": [4, -4, HUGE]}, opset=11) for name in ("Softmax", "Flatten")],
    *[
        Operator(
            name,
            [SIGNAL],
            {"axis": 1},
            {"axis": [3, -4, HUGE], "keepdims": [2, -1], "select_last_index": [2]},
            opset=13,
            out_type=I64,
        )
        for name in ("ArgMax", "ArgMin")
    ],
    *[
        reduction("Reduce" + name)
        for name in ("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare")
    ],
    Operator("ReduceSum", [SIGNAL, [1]], {}, REDUCED, opset=13),
    Operator(
        "Einsum",
        [(F, [2, 3]), (F, [3, 4])],
        {"equation": "ij,jk->ik"},
        {
            "equation": [
                "",
                "ij->ij",
                "ij,jk,kl->il",
                "ij,jk->iz",
                "ij,jk->ik->i",
                "i1,jk->ik",
                "ij,jk-ik",
                "ijk,jk->ik",
                "ij,jk->ii",
                "ij,j$->i",
                "i..j,jk->ik",
                "ij,ik->jk",
                "ij,jk" * 1000,
            ]
        },
    ),
    Operator(
        "Transpose",
        [SIGNAL],
        {"perm": [2, 0, 1]},
        {"perm": [[0, 0, 1], [0, 1], [0, 1, 3], [-1, 0, 1], [0, 1, 2, 3], [0, 1, HUGE]]},
    ),
    Operator("Concat", [SIGNAL, SIGNAL], {"axis": 1}, {"axis": [3, -4, HUGE, -(2**63)]}),
    Operator(
        "Gemm",
        [(F, [2, 3]), (F, [3, 4]), (F, [4])],
        {"alpha": 1.0},
        {"alpha": [NAN, INF], "beta": [NAN], "transA": [1], "transB": [1]},
    ),
    Operator("OneHot", [(I64, [3]), [5], [0.0, 1.0]], {"axis": 0}, {"axis": [2, -3, HUGE]}),
    Operator("Gather", [SIGNAL, [0, 1]], {"axis": 1}, {"axis": [3, -4, HUGE]}),
    Operator("GatherElements", [SIGNAL, (I64, [2, 3, 4])], {"axis": 1}, {"axis": [3, -4, HUGE]}),
    Operator("GatherND", [SIGNAL, (I64, [2, 1])], {"batch_dims": 1}, {"batch_dims": [-1, 3, HUGE]}),
    Operator(
        "ScatterElements",
        [SIGNAL, (I64, [2, 3, 4]), SIGNAL],
        {"axis": 1},
        {"axis": [3, -4, HUGE], "reduction": ["sum", "", "ADD"]},
    ),
    Operator("ScatterND", [SIGNAL, (I64, [1, 1]), (F, [1, 3, 4])], {"reduction": "add"}, {"reduction": ["sum", ""]}),
    Operator(
        "QuantizeLinear",
        [(F, [4, 8]), (F, [4, 2])],
        {"axis": 1, "block_size": 4},
        {"block_size": [-1, HUGE, 3], "axis": [2, -3, HUGE], "saturate": [2]},
        out_type=U8,
    ),
    Operator(
        "DequantizeLinear",
        [(U8, [4, 8]), (F, [4, 2])],
        {"axis": 1, "block_size": 4},
        {"block_size": [-1, HUGE, 3], "axis": [2, -3, HUGE]},
    ),
    Operator("DFT", [(F, [1, 8, 1])], {"axis": 1}, {"axis": [3, -4, HUGE], "inverse": [2], "onesided": [-1]}, opset=17),
    Operator("DFT", [(F, [1, 8, 1])], {"inverse": 0}, {"inverse": [2, -1], "onesided": [2]}, opset=20),
    Operator("STFT", [(F, [1, 128, 1]), [8], (F, [16])], {"onesided": 1}, {"onesided": [2, -1]}),
    Operator(
        "RoiAlign",
        [IMAGE, (F, [2, 4]), (I64, [2])],
        {"output_height": 2, "output_width": 2},
        {
            "output_height": [0, -1, HUGE],
            "output_width": [0, -1, HUGE],
            "sampling_ratio": [-1],
            "mode": ["min", ""],
            "spatial_scale": [0.0, -1.0, NAN, INF],
            "coordinate_transformation_mode": ["half", ""],
        },
    ),
    Operator(
        "MaxRoiPool",
        [IMAGE, (F, [2, 5])],
        {"pooled_shape": [2, 2]},
        {"pooled_shape": [[0, 0], [-1, 2], [2], [2, 2, 2]], "spatial_scale": [0.0, -1.0, NAN]},
    ),
    Operator(
        "GridSample",
        [IMAGE, (F, [1, 5, 5, 2])],
        {"mode": "linear"},
        {"mode": ["area", ""], "padding_mode": ["wrap", ""], "align_corners": [2, -1]},
    ),
    Operator("AffineGrid", [(F, [1, 2, 3]), [1, 1, 4, 4]], {"align_corners": 0}, {"align_corners": [2, -1]}),
    Operator("Pad", [SIGNAL, [0, 0, 1, 0, 0, 1]], {"mode": "constant"}, {"mode": ["mirror", "", "CONSTANT"]}),
    Operator(
        "Pad",
        [SIGNAL],
        {"pads": [0, 0, 1, 0, 0, 1]},
        {
            "pads": [[0, 0], [0, 0, 1, 0, 0], [-2, 0, 0, -2, 0, 0], [0, 0, -9, 0, 0, 0], [0, 0, 0, 0, 0, HUGE]],
            "mode": ["mirror"],
        },
        opset=10,
    ),
    Operator("CenterCropPad", [SIGNAL, [4, 4]], {"axes": [1, 2]}, {"axes": [[1, 1], [1, 3], [0, -3], [1, HUGE]]}),
    Operator("Squeeze", [(F, [1, 3, 1])], {"axes": [0]}, {"axes": [[0, 0], [1], [3], [-4], [HUGE], [0, -3]]}, opset=11),
    Operator("Unsqueeze", [(F, [3])], {"axes": [0]}, {"axes": [[0, 0], [3], [-4], [HUGE], [0, -3]]}, opset=11),
    Operator(
        "Slice",
        [SIGNAL],
        {"starts": [0], "ends": [2], "axes": [1]},
        {"starts": [[0, 0]], "ends": [[1, 1]], "axes": [[0, 1], [3], [-4], [HUGE]]},
        opset=9,
    ),
    Operator("Cast", [SIGNAL], {"to": F}, {"to": [0, -1, 99, 2**32 + 1], "saturate": [2]}),
    Operator("BitShift", [(U8, [4]), (U8, [4])], {"direction": "LEFT"}, {"direction": ["UP", "", "left"]}, out_type=U8),
    Operator(
        "NonMaxSuppression",
        [(F, [1, 6, 4]), (F, [1, 1, 6]), [3]],
        {"center_point_box": 0},
        {"center_point_box": [2, -1]},
        out_type=I64,
    ),
    Operator("Mod", [SIGNAL, SIGNAL], {"fmod": 1}, {"fmod": [2, -1]}),
    Operator("NegativeLogLikelihoodLoss", [(F, [3, 5]), (I64, [3])], {"reduction": "mean"}, {"reduction": ["max", ""]}),
    Operator("SoftmaxCrossEntropyLoss", [(F, [3, 5]), (I64, [3])], {"reduction": "mean"}, {"reduction": ["max", ""]}),
    generator("RandomNormal", {"mean": 0.0}, {"scale": [-1.0, NAN], "mean": [NAN]}),
    generator("RandomUniform", {}, {"high": [-1.0, NAN], "low": [2.0, INF]}),
    Operator("RandomNormalLike", [SIGNAL], {}, {"scale": [-1.0], "mean": [INF]}),
    Operator("Multinomial", [(F, [2, 5])], {"sample_size": 3}, {"sample_size": [0, -1, HUGE]}, out_type=I32),
    Operator("Dropout", [SIGNAL], {"ratio": 0.5}, {"ratio": [-0.5, 1.5, NAN]}, opset=10),
    Operator("Gelu", [SIGNAL], {"approximate": "tanh"}, {"approximate": ["erf", ""]}),
    Operator(
        "StringNormalizer",
        [(STR, [3])],
        {"case_change_action": "LOWER"},
        {"case_change_action": ["lower", ""], "is_case_sensitive": [2]},
        out_type=STR,
    ),
    Operator(
        "TfIdfVectorizer",
        [(I64, [6])],
        {
            "mode": "TF",
            "min_gram_length": 1,
            "max_gram_length": 1,
            "max_skip_count": 0,
            "ngram_counts": [0],
            "ngram_indexes": [0, 1],
            "pool_int64s": [2, 3],
        },
        {
            "mode": ["tf", ""],
            "min_gram_length": [0, -1, 2, HUGE],
            "max_gram_length": [0, -1],
            "max_skip_count": [-1],
            "ngram_indexes": [[0, -1], [0]],
            "ngram_counts": [[], [-1], [3], [1, 0]],
        },
    ),
    Operator("Unique", [SIGNAL], {"axis": 1}, {"axis": [3, -4, HUGE], "sorted": [2, -1]}),
    Operator(
        "Col2Im",
        [(F, [1, 5, 5]), [5, 5], [1, 5]],
        {"strides": [1, 1]},
        {"strides": [[0, 0], [-1, 1], [1]], "dilations": [[0, 0]], "pads": [[-1, 0, 0, 0], [0]]},
    ),
    Operator("Compress", [SIGNAL, (BOOL, [3])], {"axis": 1}, {"axis": [3, -4, HUGE]}),
    Operator("CumSum", [SIGNAL, 1], {"reverse": 0}, {"reverse": [2, -1], "exclusive": [2, -1]}),
    Operator("EyeLike", [(F, [3, 3])], {"dtype": F}, {"dtype": [0, 99]}),
    Operator("HannWindow", [16], {"periodic": 1}, {"periodic": [2, -1]}),
    Operator(
        "ReverseSequence",
        [(F, [4, 4]), (I64, [4])],
        {"batch_axis": 1, "time_axis": 0},
        {"batch_axis": [0, 2, HUGE], "time_axis": [1, 2, -1]},
    ),
    Operator("Trilu", [SIGNAL], {"upper": 1}, {"upper": [2, -1]}),
    Operator("Normalizer", [(F, [2, 3])], {"norm": "L2"}, {"norm": ["L3", "", "l2"]}, domain="ai.onnx.ml"),
    Operator(
        "TreeEnsembleRegressor",
        [(F, [2, 3])],
        {
            "n_targets": 1,
            "nodes_treeids": [0, 0, 0],
            "nodes_nodeids": [0, 1, 2],
            "nodes_featureids": [0, 0, 0],
            "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
            "nodes_values": [0.5, 0.0, 0.0],
            "nodes_truenodeids": [1, 0, 0],
            "nodes_falsenodeids": [2, 0, 0],
            "target_treeids": [0, 0],
            "target_nodeids": [1, 2],
            "target_ids": [0, 0],
            "target_weights": [1.0, 2.0],
        },
        {
            "nodes_nodeids": [[0, 1]],
            "nodes_modes": [["BRANCH", "LEAF", "LEAF"], ["LEAF"]],
            "nodes_values": [[0.5]],
            "nodes_truenodeids": [[1, 0]],
            "nodes_featureids": [[0], [-1, 0, 0]],
            "post_transform": ["SOFT", ""],
            "aggregate_function": ["MEAN"],
            "target_weights": [[1.0]],
            "target_ids": [[0], [-1, 0]],
            "n_targets": [0, -1],
        },
        domain="ai.onnx.ml",
    ),
    Operator(
        "SVMRegressor",
        [(F, [2, 2])],
        {
            "coefficients": [1.0, 1.0],
            "support_vectors": [0.0, 1.0, 1.0, 0.0],
            "n_supports": 2,
            "rho": [0.0],
            "kernel_params": [0.5, 0.0, 3.0],
            "kernel_type": "LINEAR",
        },
        {"kernel_type": ["GAUSS", ""], "n_supports": [-1], "post_transform": ["SOFT"], "one_class": [2]},
        domain="ai.onnx.ml",
    ),
    Operator(
        "Attention",
        [(F, [1, 3, 8]), (F, [1, 3, 8]), (F, [1, 3, 8])],
        {"q_num_heads": 2, "kv_num_heads": 2},
        {
            "q_num_heads": [0, -1, 3, HUGE],
            "kv_num_heads": [0, -1, 3],
            "is_causal": [2],
            "qk_matmul_output_mode": [4, -1],
            "softcap": [-1.0, NAN],
        },
        opset=23,
    ),
    Operator(
        "RotaryEmbedding",
        [(F, [1, 2, 3, 8]), (F, [16, 4]), (F, [16, 4]), (I64, [1, 3])],
        {"interleaved": 0},
        {"interleaved": [2], "num_heads": [-1], "rotary_embedding_dim": [-2]},
        opset=23,
    ),
]

# Operands that are constants: operator, its inputs, the operand's position, values that break its rule.
OPERANDS = [
    ("Range", [0, 10, 1], 2, [0], I64, 22),
    ("Range", [0.0, 10.0, 1.0], 2, [0.0, NAN, 1e-30], F, 22),
    ("Range", [0, 10, 1], 1, [2**62, 2**63 - 1, 2**41], I64, 22),
    ("Range", [0.0, 10.0, 1.0], 1, [INF, NAN, 1e30], F, 22),
    (
        "Pad",
        [SIGNAL, [0] * 6],
        1,
        [[0, 0], [0] * 8, [-2, 0, 0, -2, 0, 0], [0, 0, -5, 0, 0, 0], [0] * 5 + [HUGE], [0] * 5 + [-HUGE]],
        F,
        22,
    ),
    ("Pad", [SIGNAL, [0, 0, 0, 0], None, [1, 2]], 3, [[1, 1], [0, -3], [1, 3], [1, -4], [HUGE, 0]], F, 22),
    (
        "Resize",
        [IMAGE, None, [1.0, 1.0, 2.0, 2.0]],
        2,
        [
            [1.0, 1.0, 0.0, 1.0],
            [1.0, 1.0, -1.0, 1.0],
            [1.0, 1.0, NAN, 1.0],
            [1.0, 1.0, INF, 1.0],
            [2.0, 2.0],
            [1.0, 1.0, 1e30, 1e30],
        ],
        F,
        22,
    ),
    ("Resize", [IMAGE, None, None, [1, 4, 16, 16]], 3, [[1, 4, -1, 16], [1, 4, HUGE, HUGE], [16, 16]], F, 22),
    ("Resize", [IMAGE, [1.0, 1.0, 2.0, 2.0]], 1, [[1.0, 1.0, 0.0, 1.0], [1.0, 1.0, -1.0, 1.0], [2.0]], F, 10),
    ("Tile", [SIGNAL, [1, 2, 3]], 1, [[-1, 1, 1], [1, 1], [1, 1, 1, 1], [HUGE, HUGE, 1], [2**40, 1, 1]], F, 22),
    ("Expand", [(F, [1, 3]), [2, 3]], 1, [[-1, 3], [2, 4], [HUGE, 3], [HUGE, HUGE, 3]], F, 22),
    ("ConstantOfShape", [[2, 3]], 0, [[-1, 3], [HUGE, HUGE], [2**41], [2**32, 2**32]], F, 22),
    ("Slice", [SIGNAL, [0], [2], [1], [1]], 4, [[0], [1, 1]], F, 22),
    ("Slice", [SIGNAL, [0, 0], [2, 2], [0, 1], [1, 1]], 3, [[1, 1], [0, 3], [0, -4], [1, -2], [0]], F, 22),
    ("Slice", [SIGNAL, [0], [2], [1], [1]], 1, [[0, 0]], F, 22),
    ("Split", [(F, [6, 2]), [6]], 1, [[5], [-1], [7], [HUGE], [3, 3]], F, 13),
    ("TopK", [SIGNAL, [2]], 1, [[-1], [5], [HUGE], [1, 1]], F, 11),
    ("OneHot", [(I64, [3]), [5], [0.0, 1.0]], 1, [[0], [-1], [2**41], [HUGE]], F, 22),
    ("OneHot", [(I64, [3]), [5], [0.0, 1.0]], 2, [[1.0], [0.0, 1.0, 2.0]], F, 22),
    ("ReduceSum", [SIGNAL, [1]], 1, [[1, 1], [0, -3], [3], [-4], [HUGE]], F, 13),
    ("ReduceMax", [SIGNAL, [1]], 1, [[1, 1], [0, -3], [3], [-4], [HUGE]], F, 18),
    ("ReduceMean", [SIGNAL, [1]], 1, [[1, 1], [0, -3], [3]], F, 18),
    ("Squeeze", [(F, [1, 3, 1]), [0]], 1, [[0, 0], [1], [3], [-4], [0, -3]], F, 13),
    ("Unsqueeze", [(F, [3]), [0]], 1, [[0, 0], [3], [-4], [0, -3], [HUGE]], F, 13),
    ("Reshape", [SIGNAL, [6, 4]], 1, [[-1, -1], [5, 5], [-2, 12], [HUGE, 4], [0, 0, 0, 0], [2**32, 2**32]], F, 22),
    ("CenterCropPad", [SIGNAL, [4, 4, 4]], 1, [[-1, 4, 4], [4, 4], [HUGE, HUGE, 1]], F, 22),
    ("CumSum", [SIGNAL, 1], 1, [3, -4, 2**62], F, 22),
    ("DFT", [(F, [1, 8, 1]), 8, 1], 1, [0, -1, 2**62], F, 20),
    ("DFT", [(F, [1, 8, 1]), 8, 1], 2, [3, -4, 2**62], F, 20),
    ("STFT", [(F, [1, 128, 1]), 8, (F, [16])], 1, [0, -1], F, 22),
    ("STFT", [(F, [1, 128, 1]), 8, None, 16], 3, [0, -1, 129, 2**62], F, 22),
    ("HannWindow", [16], 0, [-1, 2**62], F, 22),
    ("HammingWindow", [16], 0, [-1, 2**41], F, 22),
    ("BlackmanWindow", [16], 0, [-1, 2**41], F, 22),
    ("MelWeightMatrix", [8, 16, 8000, 0.0, 4000.0], 0, [-1, 2**62], F, 22),
    ("MelWeightMatrix", [8, 16, 8000, 0.0, 4000.0], 1, [-1, 2**62], F, 22),
    ("Upsample", [IMAGE, [1.0, 1.0, 2.0, 2.0]], 1, [[1.0, 1.0, 0.0, 2.0], [1.0, 1.0, -1.0, 2.0], [2.0]], F, 9),
    ("Gather", [SIGNAL, [0, 1]], 1, [[2], [-3], [HUGE]], F, 22),
    ("Col2Im", [(F, [1, 5, 5]), [5, 5], [1, 5]], 1, [[-5, 5], [0, 5]], F, 22),
    ("Col2Im", [(F, [1, 5, 5]), [5, 5], [1, 5]], 2, [[0, 5], [-1, 5], [1, HUGE]], F, 22),
    ("AffineGrid", [(F, [1, 2, 3]), [1, 1, 4, 4]], 1, [[1, 1, -4, 4], [1, 1, 4], [1, 1, HUGE, HUGE]], F, 22),
]
