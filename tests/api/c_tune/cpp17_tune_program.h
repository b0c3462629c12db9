// What the program in C++17 offers the tests that run it.
#pragma once

#include <string>
#include <vector>

/// What a program learns of a model that it tunes, checks and runs; the code of the first error.
struct Cpp17Tuned {
  std::string error;
  bool told_progress = false;
  bool told_candidates = false;  ///< to the cost estimator, which knows nothing
  double measured_us = 0;
  bool is_verified = false;
  std::string explained;
  std::vector<float> values;      ///< of the output y, by the plan
  std::vector<float> unmeasured;  ///< the same by the model without a tune
};

/// Of a model with one input and one output, f32 both.
Cpp17Tuned cpp17_tune(const std::string& model, const std::string& plan, const std::vector<float>& in);
/// The code of the error of a tune of bytes that are no model.
std::string cpp17_tune_nonsense(const std::string& plan);
