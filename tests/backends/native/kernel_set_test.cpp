// Sets of kernels as data: which one a shape gets, and what no set may say.
#include "kernel_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json_numbers.h"
#include "kernel_set_json.h"
#include "tests/support/dice.h"

namespace collage::native {
namespace {

/// A convolution over [batch, 8, size]: batch 1..16, size 3..64; windows of 3, a stride of 2.
KernelSet sample() {
  const Term batch{.factor = 1, .sizes = {0}};
  const Term in{.factor = 1, .sizes = {1}};
  const Term out{.factor = 1, .sizes = {2}};
  const OpenView view{.extents = {batch, out, {.factor = 8}}, .strides = {Term{.factor = 8} * out, {.factor = 8}, {}}};
  const TensorArgument argument{.kind = ArgumentKind::kOutput};
  return {.symbols = {{.name = "batch", .input = 0, .axis = 0, .low = 1, .high = 16},
                      {.name = "size", .input = 0, .axis = 2, .low = 3, .high = 64}},
          .sizes = {{.symbol = 0}, {.symbol = 1}, {.symbol = 1, .add = -3, .divide = 2, .plus = 1}},
          .inputs = {{batch, {.factor = 8}, in}},
          .outputs = {{batch, {.factor = 8}, out}},
          .members = {{.symbol = "kernel0", .variant = "any", .arguments = {argument}, .views = {view}},
                      {.symbol = "kernel1",
                       .variant = "wide",
                       .arguments = {argument},
                       .views = {view},
                       .guards = {{.term = batch * out, .least = 14}}}},
          .cases = {{.low = {1, 10}, .high = {8, 40}, .member = 1}, {.low = {1, 3}, .high = {16, 64}, .member = 0}}};
}

TEST(KernelSet, FindsExtentsAndStrides) {
  const KernelSet set = sample();
  const Extents sizes = sizes_at(set, Extents{5, 12});
  EXPECT_THAT(sizes, testing::ElementsAre(5, 12, 5));
  EXPECT_THAT(values_of(set.members[0].views[0].strides, sizes), testing::ElementsAre(40, 8, 1));
  EXPECT_EQ(*symbols_at(set, std::vector<Extents>{{5, 8, 12}}), (Extents{5, 12}));
}

TEST(KernelSet, RoundsWindowsDown) {
  const Size window{.symbol = 0, .add = -3, .divide = 2, .plus = 1};
  EXPECT_EQ(window.at(3), 1);
  EXPECT_EQ(window.at(4), 1);
  EXPECT_EQ(window.at(5), 2);
  EXPECT_EQ(window.at(2), 0);
  EXPECT_EQ(window.at(1), 0);
  EXPECT_EQ(window.at(0), -1);
}

TEST(Dispatcher, TakesTheFirstCaseThatHoldsAtEveryShape) {
  const KernelSet set = sample();
  const Dispatcher dispatcher(set);
  for (std::int64_t batch = 1; batch <= 16; ++batch)
    for (std::int64_t size = 3; size <= 64; ++size) {
      const bool is_wide = batch <= 8 && size >= 10 && size <= 40 && batch * ((size - 3) / 2 + 1) >= 14;
      EXPECT_EQ(dispatcher.find(Extents{batch, size}), is_wide ? 1U : 0U) << batch << ' ' << size;
    }
}

TEST(Dispatcher, FindsNothingForInputsThatDoNotFit) {
  const KernelSet set = sample();
  const Dispatcher dispatcher(set);
  EXPECT_EQ(dispatcher.find(set, std::vector<Extents>{{4, 8, 12}}), 1U);
  EXPECT_EQ(dispatcher.find(set, std::vector<Extents>{{16, 8, 12}}), 0U);
  for (const std::vector<Extents>& inputs :
       {std::vector<Extents>{}, {{4, 8}}, {{4, 7, 12}}, {{17, 8, 12}}, {{4, 8, 2}}, {{4, 8, 12}, {1}}}) {
    EXPECT_EQ(dispatcher.find(set, inputs), std::nullopt);
    EXPECT_FALSE(symbols_at(set, inputs));
  }
}

/// As fault_of says, after one change.
template <class Change>
std::string fault_after(Change&& change) {
  KernelSet set = sample();
  change(set);
  return fault_of(set);
}

TEST(KernelSet, IsNoneWhenANumberNamesNothing) {
  EXPECT_EQ(fault_of(sample()), "");
  EXPECT_NE(fault_after([](KernelSet& set) { set.symbols.clear(); }), "");
  EXPECT_NE(fault_after([](KernelSet& set) { set.symbols.resize(9, set.symbols[0]); }), "");
  EXPECT_NE(fault_after([](KernelSet& set) { set.sizes.resize(33, set.sizes[0]); }), "");
  EXPECT_NE(fault_after([](KernelSet& set) { set.symbols[0].input = 1; }), "");
  EXPECT_NE(fault_after([](KernelSet& set) { set.symbols[0].axis = 3; }), "");
  EXPECT_NE(fault_after([](KernelSet& set) { set.symbols[0].low = 0; }), "");
  EXPECT_NE(fault_after([](KernelSet& set) { set.symbols[0].high = 0; }), "");
  EXPECT_NE(fault_after([](KernelSet& set) { set.sizes[2].symbol = 2; }), "");
  EXPECT_NE(fault_after([](KernelSet& set) { set.sizes[2].divide = 0; }), "");
  EXPECT_NE(fault_after([](KernelSet& set) { set.sizes[2].add = -4; }), "") << "an extent of nothing";
  EXPECT_NE(fault_after([](KernelSet& set) { set.inputs[0][0].sizes = {3}; }), "");
  EXPECT_NE(fault_after([](KernelSet& set) { set.outputs[0][0].factor = -1; }), "");
  EXPECT_NE(fault_after([](KernelSet& set) { set.members[0].views.clear(); }), "");
  EXPECT_NE(fault_after([](KernelSet& set) { set.members[0].views[0].strides.pop_back(); }), "");
  EXPECT_NE(fault_after([](KernelSet& set) { set.members[0].views[0].extents[0].sizes = {9}; }), "");
  EXPECT_NE(fault_after([](KernelSet& set) { set.members[0].arguments[0].index = 1; }), "");
  EXPECT_NE(fault_after([](KernelSet& set) { set.members[1].guards[0].term.sizes = {7}; }), "");
}

TEST(KernelSet, IsNoneWhenItsCasesLeaveAShapeOut) {
  EXPECT_NE(fault_after([](KernelSet& set) { set.cases.clear(); }), "");
  EXPECT_NE(fault_after([](KernelSet& set) { set.cases.pop_back(); }), "");
  EXPECT_NE(fault_after([](KernelSet& set) { std::swap(set.cases[0], set.cases[1]); }), "");
  EXPECT_NE(fault_after([](KernelSet& set) { set.cases[0].member = 2; }), "");
  EXPECT_NE(fault_after([](KernelSet& set) { set.cases[0].low = {9, 10}; }), "");
  EXPECT_NE(fault_after([](KernelSet& set) { set.cases[0].high = {8, 65}; }), "");
  EXPECT_NE(fault_after([](KernelSet& set) { set.cases[0].low = {1}; }), "");
  EXPECT_NE(fault_after([](KernelSet& set) { set.cases.back().member = 1; }), "") << "a guard in the last one";
  EXPECT_NE(fault_after([](KernelSet& set) { set.cases.back().low = {1, 4}; }), "");
}

TEST(KernelSet, ReadsBackWhatItWrote) {
  EXPECT_EQ(kernel_set_of(to_json(sample())), sample());
  EXPECT_EQ(kernel_set_of(nlohmann::json::parse(to_json(sample()).dump())), sample());
}

// Damage is an exception of the reader or a fault, or leaves a set that can be asked.
TEST(KernelSet, SurvivesAnyDamageToItsText) {
  const std::string text = to_json(sample()).dump();
  Dice dice(11);
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = text;
    const std::size_t place = dice.next() % damaged.size();
    damaged[place] = "0123456789-,[]"[dice.next() % 14];
    const auto json = nlohmann::json::parse(damaged, nullptr, false);
    if (json.is_discarded()) continue;
    try {
      const KernelSet set = kernel_set_of(json);
      if (!fault_of(set).empty()) continue;
      Extents lows;
      for (const Symbol& symbol : set.symbols) lows.push_back(symbol.low);
      EXPECT_LT(Dispatcher(set).find(lows), set.members.size());
      EXPECT_GE(sizes_at(set, lows).front(), 1);
    } catch (const std::exception&) {
    }
  }
}

}  // namespace
}  // namespace collage::native
