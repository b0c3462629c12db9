#include <array>

#include "onnx/rules/rule_checks.h"

namespace collage {
namespace {

using Row = AttributeRule;

constexpr std::string_view kPadding = "NOTSET SAME_UPPER SAME_LOWER VALID";
constexpr std::string_view kConvolutions = "Conv ConvTranspose ConvInteger QLinearConv DeformConv";
constexpr std::string_view kPools = "MaxPool AveragePool LpPool";
constexpr std::string_view kRecurrent = "RNN GRU LSTM";
constexpr std::string_view kReductions =
    "ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp "
    "ReduceSumSquare";
constexpr std::string_view kArguments = "ArgMax ArgMin";
constexpr std::string_view kTrees = "ai.onnx.ml::TreeEnsembleRegressor ai.onnx.ml::TreeEnsembleClassifier";
constexpr std::string_view kTreePosts =
    "ai.onnx.ml::TreeEnsembleRegressor ai.onnx.ml::TreeEnsembleClassifier ai.onnx.ml::SVMRegressor "
    "ai.onnx.ml::SVMClassifier ai.onnx.ml::LinearRegressor ai.onnx.ml::LinearClassifier";
constexpr std::string_view kVectors = "ai.onnx.ml::SVMRegressor ai.onnx.ml::SVMClassifier";

constexpr std::array kTable = {
    // Convolutions and pools.
    Row{kConvolutions, "kernel_shape", rules::kernel},
    Row{kConvolutions, "strides", rules::strides},
    Row{kConvolutions, "dilations", rules::strides},
    Row{kConvolutions, "pads", rules::window_pads},
    Row{kConvolutions, "auto_pad", rules::one_of, kPadding},
    Row{kConvolutions, "group", rules::group},
    Row{"DeformConv", "offset_group", rules::channel_groups},
    Row{"ConvTranspose", "output_padding", rules::output_padding},
    Row{"ConvTranspose", "output_shape", rules::positive_extents},
    Row{kPools, "kernel_shape", rules::kernel},
    Row{kPools, "strides", rules::strides},
    Row{kPools, "dilations", rules::strides},
    Row{kPools, "pads", rules::pool_pads},
    Row{kPools, "auto_pad", rules::one_of, kPadding},
    Row{kPools, "ceil_mode", rules::flag},
    Row{"MaxPool", "storage_order", rules::flag},
    Row{"AveragePool", "count_include_pad", rules::flag},
    Row{"LpPool GlobalLpPool", "p", rules::positive},
    Row{"MaxUnpool", "kernel_shape", rules::kernel},
    Row{"MaxUnpool", "strides", rules::strides},
    Row{"MaxUnpool", "pads", rules::window_pads},
    Row{"Col2Im", "strides", rules::positive},
    Row{"Col2Im", "dilations", rules::positive},
    Row{"Col2Im", "pads", rules::non_negative},
    Row{"Col2Im", "image_shape", rules::positive_extents, {}, 1},
    Row{"Col2Im", "block_shape", rules::positive_extents, {}, 2},
    Row{"MaxRoiPool", "pooled_shape", rules::two_entries},
    Row{"MaxRoiPool RoiAlign", "spatial_scale", rules::finite_positive},
    Row{"RoiAlign", "output_height", rules::positive},
    Row{"RoiAlign", "output_width", rules::positive},
    Row{"RoiAlign", "sampling_ratio", rules::non_negative},
    Row{"RoiAlign", "mode", rules::one_of, "avg max"},
    Row{"RoiAlign", "coordinate_transformation_mode", rules::one_of, "half_pixel output_half_pixel"},

    // Norms.
    Row{"LRN", "size", rules::positive},
    Row{"LRN", "alpha", rules::finite},
    Row{"LRN", "beta", rules::finite},
    Row{"LRN", "bias", rules::finite},
    Row{"LpNormalization", "p", rules::one_or_two},
    Row{"BatchNormalization InstanceNormalization GroupNormalization LayerNormalization RMSNormalization", "epsilon",
        rules::finite_non_negative},
    Row{"BatchNormalization", "momentum", rules::finite},
    Row{"BatchNormalization", "training_mode", rules::flag},
    Row{"GroupNormalization", "num_groups", rules::channel_groups},
    Row{"MeanVarianceNormalization", "axes", rules::distinct_axes},
    Row{"Dropout", "ratio", rules::fraction},

    // Sizes of images.
    Row{"Resize Upsample", "mode", rules::one_of, "nearest linear cubic"},
    Row{"Resize", "coordinate_transformation_mode", rules::one_of,
        "half_pixel half_pixel_symmetric pytorch_half_pixel align_corners asymmetric tf_crop_and_resize "
        "tf_half_pixel_for_nn"},
    Row{"Resize", "nearest_mode", rules::one_of, "round_prefer_floor round_prefer_ceil floor ceil"},
    Row{"Resize", "keep_aspect_ratio_policy", rules::one_of, "stretch not_larger not_smaller"},
    Row{"Resize", "cubic_coeff_a", rules::finite},
    Row{"Resize", "extrapolation_value", rules::finite},
    Row{"Resize", "antialias", rules::flag},
    Row{"Resize", "exclude_outside", rules::flag},
    Row{"Resize", "axes", rules::distinct_axes},
    Row{"Resize", "scales", rules::scales, {}, 1, 10, 10},
    Row{"Resize", "scales", rules::scales, {}, 2, 11},
    Row{"Resize", "sizes", rules::sizes, {}, 3, 11},
    Row{"Upsample", "scales", rules::at_least_one},
    Row{"Upsample", "scales", rules::scales, {}, 1, 9},
    Row{"DepthToSpace", "blocksize", rules::depth_block},
    Row{"DepthToSpace", "mode", rules::one_of, "DCR CRD"},
    Row{"SpaceToDepth", "blocksize", rules::space_block},
    Row{"GridSample", "mode", rules::one_of, "linear nearest cubic bilinear bicubic"},
    Row{"GridSample", "padding_mode", rules::one_of, "zeros border reflection"},
    Row{"GridSample AffineGrid", "align_corners", rules::flag},
    Row{"AffineGrid", "size", rules::grid_extents, {}, 1},
    Row{"CenterCropPad", "axes", rules::distinct_axes},
    Row{"CenterCropPad", "shape", rules::cropped_extents, {}, 1},

    // Recurrent networks, attention.
    Row{kRecurrent, "hidden_size", rules::positive},
    Row{kRecurrent, "direction", rules::one_of, "forward reverse bidirectional"},
    Row{kRecurrent, "layout", rules::flag},
    Row{kRecurrent, "clip", rules::finite},
    Row{kRecurrent, "activations", rules::activations},
    Row{"GRU", "linear_before_reset", rules::flag},
    Row{"LSTM", "input_forget", rules::flag},
    Row{"Attention", "q_num_heads", rules::head_count},
    Row{"Attention", "kv_num_heads", rules::key_head_count},
    Row{"Attention", "is_causal", rules::flag},
    Row{"Attention", "qk_matmul_output_mode", rules::up_to_three},
    Row{"Attention", "softcap", rules::finite_non_negative},
    Row{"RotaryEmbedding", "interleaved", rules::flag},
    Row{"RotaryEmbedding", "num_heads", rules::non_negative},
    Row{"RotaryEmbedding", "rotary_embedding_dim", rules::non_negative},
    Row{"TensorScatter", "mode", rules::one_of, "linear circular"},

    // Axes.
    Row{"Softmax LogSoftmax Hardmax ArgMax ArgMin Gather GatherElements ScatterElements Scatter Concat Compress "
        "LpNormalization LayerNormalization RMSNormalization TopK Split Unique SplitToSequence DFT",
        "axis", rules::axis},
    Row{"QuantizeLinear DequantizeLinear", "axis", rules::quantised_axis},
    Row{"Flatten", "axis", rules::axis_or_end},
    Row{"OneHot ConcatFromSequence", "axis", rules::axis_of_new},
    Row{kReductions, "axes", rules::distinct_axes},
    Row{"ReduceSum", "axes", rules::distinct_axes, {}, 1, 13},
    Row{kReductions, "axes", rules::distinct_axes, {}, 1, 18},
    Row{kReductions, "keepdims", rules::flag},
    Row{kReductions, "noop_with_empty_axes", rules::flag},
    Row{kArguments, "keepdims", rules::flag},
    Row{kArguments, "select_last_index", rules::flag},
    Row{"TopK", "largest", rules::flag},
    Row{"TopK", "sorted", rules::flag},
    Row{"TopK", "k", rules::top_count},
    Row{"TopK", "k", rules::top_count, {}, 1, 10},
    Row{"Squeeze", "axes", rules::axes_of_extent_one},
    Row{"Squeeze", "axes", rules::axes_of_extent_one, {}, 1, 13},
    Row{"Unsqueeze", "axes", rules::distinct_new_axes},
    Row{"Unsqueeze", "axes", rules::distinct_new_axes, {}, 1, 13},
    Row{"Transpose", "perm", rules::permutation},
    Row{"GatherND", "batch_dims", rules::non_negative},
    Row{"ReverseSequence", "batch_axis", rules::zero_or_one_and_other},
    Row{"ReverseSequence", "time_axis", rules::zero_or_one_and_other},
    Row{"CumSum CumProd", "exclusive", rules::flag},
    Row{"CumSum CumProd", "reverse", rules::flag},
    Row{"Unique", "sorted", rules::flag},
    Row{"Trilu", "upper", rules::flag},
    Row{"Scan", "scan_input_axes", rules::scan_axes},
    Row{"Scan", "scan_output_axes", rules::scan_axes},
    Row{"Scan", "scan_input_directions", rules::flag},
    Row{"Scan", "scan_output_directions", rules::flag},
    Row{"Scan", "num_scan_inputs", rules::positive},

    // Parts and shapes.
    Row{"Split", "num_outputs", rules::split_count},
    Row{"Split", "split", rules::split_sizes},
    Row{"Split", "split", rules::split_sizes, {}, 1, 13},
    Row{"SplitToSequence", "split", rules::split_lengths, {}, 1},
    Row{"SplitToSequence", "keepdims", rules::flag},
    Row{"Slice", "axes", rules::distinct_axes},
    Row{"Slice", "axes", rules::as_long_as_starts},
    Row{"Slice", "ends", rules::as_long_as_starts},
    Row{"Slice", "ends", rules::as_long_as_starts, {}, 2, 10},
    Row{"Slice", "axes", rules::distinct_axes, {}, 3, 10},
    Row{"Slice", "axes", rules::as_long_as_starts, {}, 3, 10},
    Row{"Slice", "steps", rules::slice_steps, {}, 4, 10},
    Row{"Pad", "mode", rules::one_of, "constant reflect edge wrap"},
    Row{"Pad", "pads", rules::paddings},
    Row{"Pad", "pads", rules::paddings, {}, 1, 11},
    Row{"Pad", "axes", rules::pad_axes, {}, 3, 18},
    Row{"Tile", "repeats", rules::repeats, {}, 1},
    Row{"Expand", "shape", rules::tiled_extents, {}, 1},
    Row{"Reshape", "shape", rules::reshaped_extents, {}, 1},
    Row{"ConstantOfShape", "shape", rules::extents_that_fit, {}, 0},
    Row{"Range", "delta", rules::range_step, {}, 2},
    Row{"Range", "limit", rules::range_end, {}, 1},
    Row{"Range", "start", rules::finite, {}, 0},
    Row{"OneHot", "depth", rules::depth, {}, 1},
    Row{"OneHot", "values", rules::off_and_on, {}, 2},
    Row{"Einsum", "equation", rules::equation},
    Row{"Gemm", "alpha", rules::finite},
    Row{"Gemm", "beta", rules::finite},

    // Types and quantised numbers.
    Row{"Cast", "to", rules::element_type},
    Row{"EyeLike RandomNormal RandomUniform RandomNormalLike RandomUniformLike Multinomial Bernoulli", "dtype",
        rules::element_type},
    Row{"Cast CastLike QuantizeLinear", "saturate", rules::flag},
    Row{"QuantizeLinear DequantizeLinear", "block_size", rules::quantised_block},
    Row{"BitShift", "direction", rules::one_of, "LEFT RIGHT"},
    Row{"Mod", "fmod", rules::flag},

    // Signals.
    Row{"DFT", "inverse", rules::flag},
    Row{"DFT STFT", "onesided", rules::flag},
    Row{"DFT", "dft_length", rules::frame_length, {}, 1},
    Row{"STFT", "frame_step", rules::frame_length, {}, 1},
    Row{"STFT", "frame_length", rules::frame_length, {}, 3},
    Row{"HannWindow HammingWindow BlackmanWindow", "periodic", rules::flag},
    Row{"HannWindow HammingWindow BlackmanWindow", "size", rules::window_length, {}, 0},
    Row{"MelWeightMatrix", "num_mel_bins", rules::window_length, {}, 0},
    Row{"MelWeightMatrix", "dft_length", rules::window_length, {}, 1},

    // Random numbers.
    Row{"RandomNormal RandomUniform", "shape", rules::extents_that_fit},
    Row{"RandomNormal RandomNormalLike", "mean", rules::finite},
    Row{"RandomNormal RandomNormalLike", "scale", rules::finite_non_negative},
    Row{"RandomUniform RandomUniformLike", "low", rules::high_above_low},
    Row{"RandomUniform RandomUniformLike", "high", rules::high_above_low},
    Row{"Multinomial", "sample_size", rules::positive},

    // Words of other operators.
    Row{"ScatterElements ScatterND", "reduction", rules::one_of, "none add mul max min"},
    Row{"NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss", "reduction", rules::one_of, "none mean sum"},
    Row{"Gelu", "approximate", rules::one_of, "none tanh"},
    Row{"NonMaxSuppression", "center_point_box", rules::flag},
    Row{"StringNormalizer", "case_change_action", rules::one_of, "NONE LOWER UPPER"},
    Row{"StringNormalizer", "is_case_sensitive", rules::flag},
    Row{"TfIdfVectorizer", "mode", rules::one_of, "TF IDF TFIDF"},
    Row{"TfIdfVectorizer", "min_gram_length", rules::gram_length},
    Row{"TfIdfVectorizer", "max_gram_length", rules::gram_length},
    Row{"TfIdfVectorizer", "max_skip_count", rules::non_negative},
    Row{"TfIdfVectorizer", "ngram_counts", rules::gram_starts},
    Row{"TfIdfVectorizer", "ngram_indexes", rules::gram_columns},

    // ai.onnx.ml.
    Row{"ai.onnx.ml::Normalizer", "norm", rules::one_of, "MAX L1 L2"},
    Row{"ai.onnx.ml::OneHotEncoder", "zeros", rules::flag},
    Row{kTreePosts, "post_transform", rules::one_of, "NONE SOFTMAX LOGISTIC SOFTMAX_ZERO PROBIT"},
    Row{kTrees, "aggregate_function", rules::one_of, "AVERAGE SUM MIN MAX"},
    Row{kTrees, "nodes_modes", rules::tree_modes,
        "BRANCH_LEQ BRANCH_LT BRANCH_GTE BRANCH_GT BRANCH_EQ BRANCH_NEQ BRANCH_MEMBER LEAF"},
    Row{kTrees, "nodes_treeids", rules::as_long_as_nodes},
    Row{kTrees, "nodes_featureids", rules::as_long_as_nodes},
    Row{kTrees, "nodes_values", rules::as_long_as_nodes},
    Row{kTrees, "nodes_truenodeids", rules::as_long_as_nodes},
    Row{kTrees, "nodes_falsenodeids", rules::as_long_as_nodes},
    Row{kTrees, "target_nodeids", rules::as_long_as_targets},
    Row{kTrees, "target_ids", rules::as_long_as_targets},
    Row{kTrees, "target_weights", rules::as_long_as_targets},
    Row{kTrees, "class_nodeids", rules::as_long_as_targets},
    Row{kTrees, "class_ids", rules::as_long_as_targets},
    Row{kTrees, "class_weights", rules::as_long_as_targets},
    Row{kTrees, "n_targets", rules::positive},
    Row{kVectors, "kernel_type", rules::one_of, "LINEAR POLY RBF SIGMOID"},
    Row{"ai.onnx.ml::SVMRegressor", "n_supports", rules::non_negative},
    Row{"ai.onnx.ml::SVMRegressor", "one_class", rules::flag},
};

}  // namespace

std::span<const AttributeRule> attribute_rules() { return kTable; }

}  // namespace collage
