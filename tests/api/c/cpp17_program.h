// What the program in C++17 offers the tests that run it.
#pragma once

#include <string>
#include <vector>

/// The values of the output y of a plan with one input x, f32 both, or the code of the error.
struct Cpp17Answer {
  std::vector<float> values;
  std::string error;
};

Cpp17Answer cpp17_run(const std::string& path, const std::vector<float>& in);
