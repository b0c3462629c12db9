// What a user would write to time an engine: warm up, run for a while, take the median. Knows nothing of Collage, so
// that `collage bench` can be checked against it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace rival_loop {

struct Arguments {
  const char* model = nullptr;
  int threads = 1;
  double seconds = 5;
};

/// `PROGRAM MODEL [THREADS [SECONDS]]`; ends the process with 2 when there is no model.
inline Arguments parse(int count, char** values) {
  if (count < 2) {
    std::fprintf(stderr, "usage: %s MODEL [THREADS [SECONDS]]\n", values[0]);
    std::exit(2);
  }
  Arguments arguments{.model = values[1]};
  if (count > 2) arguments.threads = std::atoi(values[2]);
  if (count > 3) arguments.seconds = std::atof(values[3]);
  return arguments;
}

/// Floats from N(0, 1).
inline void fill(float* data, std::size_t count) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::generate_n(data, count, [&] { return normal(random); });
}

/// Median time of one call in microseconds; a fifth of the time goes into warming up.
template <class Run>
double median_us(double seconds, const Run& run) {
  using Clock = std::chrono::steady_clock;
  const auto us_since = [](Clock::time_point start) {
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
  };
  for (const auto start = Clock::now(); us_since(start) < seconds * 2e5;) run();
  std::vector<double> samples;
  for (const auto start = Clock::now(); us_since(start) < seconds * 8e5 || samples.size() < 5;) {
    const auto begin = Clock::now();
    run();
    samples.push_back(us_since(begin));
  }
  std::nth_element(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2), samples.end());
  return samples[samples.size() / 2];
}

}  // namespace rival_loop
