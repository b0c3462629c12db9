// Machine code loaded from memory.
#include "shared_object.h"

#include "native_fixture.h"
#include "program.h"
#include "tests/support/dice.h"

namespace collage::test {
namespace {

using native::RuntimeTable;
using native::SharedObject;

constexpr const char* kSum = "graph(%a: f32[5], %b: f32[5]) -> (%y) { %y: f32[5] = Add(%a, %b) }";
constexpr const char* kProduct = "graph(%a: f32[5], %b: f32[5]) -> (%y) { %y: f32[5] = Mul(%a, %b) }";

/// A small kernel in every form it has.
struct Sample {
  explicit Sample(const std::string& text)
      : graph(graph_of(text)),
        variant(variants_of(compiling(), graph).at(0)),
        artifact(artifact_of(compiling(), graph, variant)) {}
  [[nodiscard]] std::string object() const {
    return std::string(native::program_of(artifact.bytes)->codes.at(0).shared_object);
  }
  [[nodiscard]] std::string symbol() const { return native::program_of(artifact.bytes)->program.symbol; }
  [[nodiscard]] std::unique_ptr<Kernel> load() const {
    auto kernel = loading().load(request_of(graph, variant, artifact));
    COLLAGE_CHECK(kernel.has_value(), kernel ? "" : to_string(kernel.error()));
    return *std::move(kernel);
  }
  [[nodiscard]] float first_of(const Kernel& kernel) const {
    return run_kernel(kernel, graph, variant, artifact.workspace_bytes)[0].data.as<float>()[0];
  }

  Graph graph;
  Variant variant;
  Artifact artifact;
};

const Sample& sum() {
  static const Sample sample(kSum);
  return sample;
}
const Sample& product() {
  static const Sample sample(kProduct);
  return sample;
}

/// The first element of each.
std::pair<float, float> expected() {
  const std::vector<Tensor> inputs = inputs_of(sum().graph);
  const float a = inputs[0].data.as<float>()[0];
  const float b = inputs[1].data.as<float>()[0];
  return {a + b, a * b};
}

TEST(SharedObject, NeverAnswersForAnotherLoadedAfterIt) {
  const auto [wanted_sum, wanted_product] = expected();
  ASSERT_NE(wanted_sum, wanted_product);
  for (int turn = 0; turn < 20; ++turn) {
    EXPECT_EQ(sum().first_of(*sum().load()), wanted_sum) << "turn " << turn;
    EXPECT_EQ(product().first_of(*product().load()), wanted_product) << "turn " << turn;
  }
}

TEST(SharedObject, NeverAnswersForAnotherLoadedBesideIt) {
  const auto [wanted_sum, wanted_product] = expected();
  Dice dice(3);
  std::vector<std::pair<bool, std::unique_ptr<Kernel>>> loaded;
  for (int step = 0; step < 60; ++step) {
    if (loaded.size() > 6 || (!loaded.empty() && dice.one_in(3))) {
      loaded.erase(loaded.begin() + static_cast<std::ptrdiff_t>(dice.below(loaded.size())));
    } else {
      const bool is_sum = dice.one_in(2);
      loaded.emplace_back(is_sum, is_sum ? sum().load() : product().load());
    }
    for (const auto& [is_sum, kernel] : loaded)
      ASSERT_EQ((is_sum ? sum() : product()).first_of(*kernel), is_sum ? wanted_sum : wanted_product)
          << "step " << step;
  }
}

TEST(SharedObject, IsItsOwnEachTimeItIsLoaded) {
  const std::string bytes = sum().object();
  const auto one = SharedObject::load(bytes, RuntimeTable{});
  const auto other = SharedObject::load(bytes, RuntimeTable{});
  ASSERT_TRUE(one && other);
  const std::string kernel = sum().symbol() + "_argv";
  EXPECT_NE((*one)->symbol(kernel.c_str()), nullptr);
  EXPECT_NE((*one)->symbol(kernel.c_str()), (*other)->symbol(kernel.c_str()));
  EXPECT_EQ((*one)->symbol("no_kernel"), nullptr);
}

TEST(SharedObject, NeedsNothingOfTheProcess) {
  // An attach() and the kernel are all that leaves it; a C library is all that it may want.
  const std::string bytes = sum().object();
  for (const char* foreign : {"libHalide", "libstdc++", "libgomp", "LLVM"})
    EXPECT_EQ(bytes.find(foreign), std::string::npos) << foreign;
}

std::string error_of(std::string_view bytes) {
  const auto loaded = SharedObject::load(bytes, RuntimeTable{});
  return loaded ? "" : loaded.error().code;
}

TEST(SharedObject, IsAnErrorWhenTheBytesAreGarbage) {
  EXPECT_EQ(error_of(""), "backend/bad-artifact");
  EXPECT_EQ(error_of("not machine code"), "backend/bad-artifact");
  EXPECT_EQ(error_of(std::string(100000, '\0')), "backend/bad-artifact");
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Dice dice(seed);
    std::string bytes(1 + dice.below(5000), '\0');
    for (char& byte : bytes) byte = static_cast<char>(dice.next());
    EXPECT_EQ(error_of(bytes), "backend/bad-artifact") << "seed " << seed;
  }
}

TEST(SharedObject, IsAnErrorWhenOnlyItsHeadIsThere) {
  const std::string bytes = sum().object();
  for (const std::size_t length : {std::size_t{4}, std::size_t{16}, std::size_t{63}})
    EXPECT_EQ(error_of(std::string_view(bytes).substr(0, length)), "backend/bad-artifact") << length;
}

TEST(SharedObject, IsAnErrorWithoutTheDoorToOurRuntime) {
  std::string bytes = sum().object();
  const std::string symbol = native::kAttachSymbol;
  for (std::size_t at = bytes.find(symbol); at != std::string::npos; at = bytes.find(symbol, at + 1)) bytes[at] = 'C';
  EXPECT_EQ(error_of(bytes), "backend/bad-artifact");
}

}  // namespace
}  // namespace collage::test
