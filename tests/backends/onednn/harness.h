// Small graphs, and running every variant that the oneDNN backend offers for them against plain loops.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "backend/extensions/constants_extension.h"
#include "backend/extensions/format_extension.h"
#include "backend/registry.h"
#include "tests/support/variant_runner.h"

namespace collage::test {

struct WindowAttributes {
  std::int64_t stride = 1;
  std::int64_t pad = 0;
  std::int64_t dilation = 1;
  std::int64_t group = 1;
  bool bias = true;
};

/// Builds a graph of f32 values; constants are drawn from a fixed sequence.
class Net {
 public:
  Net();
  ValueId input(Extents extents);
  /// A constant in [-1, 1], or [low, high].
  ValueId constant(const Extents& extents, float low = -1.F, float high = 1.F);
  ValueId scalar(float number);
  ValueId integers(const std::vector<std::int64_t>& numbers);
  ValueId op(const std::string& type, std::vector<ValueId> inputs, const Extents& out,
             std::vector<Attribute> attributes = {});
  /// An operator whose result has the shape of its first input.
  ValueId same(const std::string& type, std::vector<ValueId> inputs, std::vector<Attribute> attributes = {});
  ValueId conv(ValueId x, std::int64_t channels, std::int64_t kernel, const WindowAttributes& window = {});
  ValueId pool(const std::string& type, ValueId x, std::int64_t kernel, const WindowAttributes& window = {},
               std::vector<Attribute> more = {});
  void output(ValueId value) { graph.outputs.push_back(value); }
  [[nodiscard]] Extents extents(ValueId id) const { return graph.value(id).type.extents(); }

  Graph graph;

 private:
  float draw();
  std::uint64_t state_ = 12345;
};

/// What became of each variant: "" when its numbers were right, else the refusal.
using Outcomes = std::map<std::string, std::string>;

/// Runs the whole graph in every variant and compares; failures are reported to GoogleTest under the variant's name.
Outcomes run_every_variant(const Net& net, Accuracy accuracy = Accuracy::kStandard, int threads = 1);

/// The same with variants of split floats (kSplitFloats) alone, compiled in class standard, as a tune does, and judged
/// by the bound of other variants in f32.
Outcomes run_split_variants(const Net& net, int threads = 1);

/// The variants that ran.
std::set<std::string> passed(const Outcomes& outcomes);
/// Without those of AVX-512 where the processor does not have it.
[[nodiscard]] std::set<std::string> here(std::set<std::string> names);

/// The backend under test.
Backend& onednn();
Backend& other_onednn();

/// support() of the whole graph, expected to refuse; the reason.
Refusal refusal_of(const Net& net);

/// Row-major numbers as bytes in a format, and back; the padding of blocks is zero, and checked to be zero.
std::vector<float> to_format(const std::vector<float>& numbers, const Extents& extents, const Format& format);
std::vector<float> from_format(const std::vector<float>& stored, const Extents& extents, const Format& format);

/// Bytes aligned as the plan aligns them.
class AlignedBytes {
 public:
  explicit AlignedBytes(std::size_t bytes, unsigned char fill = 0);
  [[nodiscard]] void* data() const { return const_cast<std::byte*>(buffer_.data()); }

 private:
  Buffer buffer_;
};

}  // namespace collage::test
