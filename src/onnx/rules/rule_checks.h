// The checks that rows of the table of rules name. Each returns what is allowed when its value is not.
#pragma once

#include "onnx/rules/attribute_rules.h"

namespace collage::rules {

// rule_numbers.cpp: numbers and words on their own.
std::string positive(const RuleQuestion& question);
std::string non_negative(const RuleQuestion& question);
std::string flag(const RuleQuestion& question);
std::string up_to_three(const RuleQuestion& question);
std::string one_or_two(const RuleQuestion& question);
std::string finite(const RuleQuestion& question);
std::string finite_positive(const RuleQuestion& question);
std::string finite_non_negative(const RuleQuestion& question);
std::string fraction(const RuleQuestion& question);
std::string at_least_one(const RuleQuestion& question);
std::string one_of(const RuleQuestion& question);
std::string element_type(const RuleQuestion& question);
std::string two_entries(const RuleQuestion& question);
std::string extents_that_fit(const RuleQuestion& question);
std::string high_above_low(const RuleQuestion& question);

// rule_axes.cpp: axes of operand 0, or of what is made of it.
std::string axis(const RuleQuestion& question);
std::string axis_or_end(const RuleQuestion& question);
std::string axis_of_new(const RuleQuestion& question);
std::string distinct_axes(const RuleQuestion& question);
std::string distinct_new_axes(const RuleQuestion& question);
std::string axes_of_extent_one(const RuleQuestion& question);
std::string permutation(const RuleQuestion& question);
std::string zero_or_one_and_other(const RuleQuestion& question);
std::string scan_axes(const RuleQuestion& question);

// rule_windows.cpp: convolutions and pools.
std::string group(const RuleQuestion& question);
std::string kernel(const RuleQuestion& question);
std::string strides(const RuleQuestion& question);
std::string window_pads(const RuleQuestion& question);
std::string pool_pads(const RuleQuestion& question);
std::string auto_pad(const RuleQuestion& question);
std::string quantised_axis(const RuleQuestion& question);
std::string output_padding(const RuleQuestion& question);
std::string channel_groups(const RuleQuestion& question);
std::string depth_block(const RuleQuestion& question);
std::string space_block(const RuleQuestion& question);

// rule_operators.cpp: rules of one operator.
std::string activations(const RuleQuestion& question);
std::string split_count(const RuleQuestion& question);
std::string split_sizes(const RuleQuestion& question);
std::string equation(const RuleQuestion& question);
std::string head_count(const RuleQuestion& question);
std::string key_head_count(const RuleQuestion& question);
std::string quantised_block(const RuleQuestion& question);
std::string gram_length(const RuleQuestion& question);
std::string gram_starts(const RuleQuestion& question);
std::string gram_columns(const RuleQuestion& question);
std::string tree_modes(const RuleQuestion& question);
std::string as_long_as_nodes(const RuleQuestion& question);
std::string as_long_as_targets(const RuleQuestion& question);

// rule_operands.cpp: constants that say sizes.
std::string paddings(const RuleQuestion& question);
std::string pad_axes(const RuleQuestion& question);
std::string split_lengths(const RuleQuestion& question);
std::string scales(const RuleQuestion& question);
std::string sizes(const RuleQuestion& question);
std::string repeats(const RuleQuestion& question);
std::string tiled_extents(const RuleQuestion& question);
std::string reshaped_extents(const RuleQuestion& question);
std::string range_end(const RuleQuestion& question);
std::string range_step(const RuleQuestion& question);
std::string slice_steps(const RuleQuestion& question);
std::string as_long_as_starts(const RuleQuestion& question);
std::string top_count(const RuleQuestion& question);
std::string depth(const RuleQuestion& question);
std::string off_and_on(const RuleQuestion& question);
std::string window_length(const RuleQuestion& question);
std::string frame_length(const RuleQuestion& question);
std::string positive_extents(const RuleQuestion& question);
std::string cropped_extents(const RuleQuestion& question);
std::string grid_extents(const RuleQuestion& question);

}  // namespace collage::rules
