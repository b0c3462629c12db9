// Graphs as bytes: what is written is read, and what nobody wrote is refused.
#include "ir/graph_binary.h"

#include <gtest/gtest.h>

#include "tests/support/random_graph.h"

namespace collage {
namespace {

/// Contents of tensors, one behind the other.
struct Kept {
  std::string bytes;

  Result<BytePlace> keep(const Buffer& added) {
    const BytePlace place{.file = 0, .offset = bytes.size(), .bytes = added.size()};
    bytes += added.text();
    return place;
  }
  [[nodiscard]] Result<Buffer> find(const BytePlace& place) const {
    if (place.file != 0 || place.offset > bytes.size() || place.bytes > bytes.size() - place.offset)
      return fail(ExitCode::kBug, "test/no-bytes", "place", "no bytes");
    return Buffer::copy_of(std::as_bytes(std::span(bytes)).subspan(place.offset, place.bytes));
  }
};

std::string written(const Graph& graph, Kept& kept) {
  return graph_to_binary(graph, [&](const Buffer& bytes) { return kept.keep(bytes); }).value();
}

Result<Graph> read(std::string_view bytes, const Kept& kept) {
  return graph_from_binary(bytes, [&](const BytePlace& place) { return kept.find(place); });
}

TEST(GraphBinary, ReadsBackWhatItWrites) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Graph graph = RandomGraphs(seed, {}).graph();
    Kept kept;
    const auto back = read(written(graph, kept), kept);
    ASSERT_TRUE(back) << seed << ": " << to_string(back.error());
    EXPECT_EQ(*back, graph) << seed;
  }
}

TEST(GraphBinary, CutAnywhereIsRefused) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Kept kept;
    const std::string bytes = written(RandomGraphs(seed, {}).graph(), kept);
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_FALSE(read(std::string_view(bytes).substr(0, size), kept)) << seed << " at " << size;
    EXPECT_FALSE(read(bytes + "x", kept));
  }
}

TEST(GraphBinary, WithAnyBytesIsAGraphOrRefused) {
  std::size_t refused = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Kept kept;
    const std::string bytes = written(RandomGraphs(seed, {}).graph(), kept);
    for (std::size_t at = 0; at < bytes.size(); ++at)
      for (const int bits : {1, 0x80, 0xff}) {
        std::string changed = bytes;
        changed[at] = static_cast<char>(changed[at] ^ bits);
        const auto back = read(changed, kept);
        if (back) {
          EXPECT_TRUE(verify(*back));
        }
        refused += back ? 0 : 1;
      }
  }
  EXPECT_GT(refused, 1000U);
}

TEST(GraphBinary, WithTypesInsideOfEachOtherWithoutEndIsRefused) {
  // A value whose type is a sequence of a sequence of ...
  BinaryWriter out;
  std::string text;
  std::map<std::string, std::int64_t> opsets;
  std::uint32_t one = 1;
  out.write(text);
  out.write(opsets);
  out.write(one);
  out.write(text);
  for (int level = 0; level < 100'000; ++level) {
    ValueKind kind = ValueKind::kSequence;
    ElementType element = ElementType::kUndefined;
    bool has_shape = false;
    out.write(kind);
    out.write(element);
    out.write(has_shape);
    out.write(one);
  }
  const auto back = read(out.take(), {});
  ASSERT_FALSE(back);
  EXPECT_EQ(back.error().code, "ir/not-a-graph");
}

}  // namespace
}  // namespace collage
