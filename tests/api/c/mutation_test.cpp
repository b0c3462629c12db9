// Bytes of a plan changed at random: loading and running them gives an error or the numbers of the whole plan.
#include <cstdio>
#include <cstdlib>
#include <set>

#include "tests/api/c/plan_files.h"
#include "tests/support/long_run.h"
#include "tests/support/whole_file.h"

namespace collage::test {
namespace {

/// Changes, moves, removes or repeats some bytes; most often a few of them.
std::string mutated(std::string bytes, Dice& dice) {
  const std::size_t changes = 1 + dice.below(dice.one_in(4) ? 64 : 4);
  for (std::size_t change = 0; change < changes && !bytes.empty(); ++change) {
    const std::size_t at = dice.below(bytes.size());
    const std::size_t count = std::min(bytes.size() - at, 1 + dice.below(dice.one_in(3) ? 4096 : 8));
    switch (dice.below(8)) {
      case 0:
        bytes.resize(at);
        break;
      case 1:
        bytes.erase(at, count);
        break;
      case 2:
        bytes.insert(at, bytes.substr(dice.below(bytes.size()), count));
        break;
      case 3:
        bytes.replace(at, count, count, static_cast<char>(dice.one_in(2) ? 0xff : 0));
        break;
      default:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << dice.below(8)));
    }
  }
  return bytes;
}

std::uint64_t seed_of_this_run() {
  const char* const given = std::getenv("COLLAGE_TEST_SEED");
  return given == nullptr ? 1 : std::strtoull(given, nullptr, 10);
}

TEST_F(CApi, MutatedPlansInMemoryGiveAnErrorOrTheRightNumbers) {
  const auto mutations = by_length<std::size_t>(150, 2000);
  const std::uint64_t seed = seed_of_this_run();
  std::printf("seed %llu, %zu mutations of each plan\n", static_cast<unsigned long long>(seed), mutations);
  for (const PlanFile& file : plan_files()) {
    const std::string whole = read_all(file.path);
    const PlanHandle plan = loaded(file.path);
    const std::int64_t extent = open_extents_of(plan.get())[0];
    const std::string expected = Runner(plan.get()).outputs(extent, 1);
    Dice dice(seed);
    std::multiset<std::string> codes;
    for (std::size_t i = 0; i < mutations; ++i) {
      const std::string bytes = mutated(whole, dice);
      collage_plan_options options{};
      options.size = sizeof options;
      options.borrow_memory = i % 2 == 0 ? 1 : 0;
      collage_plan* made = nullptr;
      codes.insert(code_of(api_.plan_load_memory(bytes.data(), bytes.size(), &options, &made)));
      const PlanHandle owner(made);
      if (made == nullptr) continue;
      std::string seen;
      // Kernels of a plan of many shapes are loaded when a shape is set.
      if (Runner(made).run(extent, 1, seen).empty()) {
        ASSERT_EQ(seen, expected) << file.name << ", mutation " << i;
      }
    }
    EXPECT_GT(codes.count("zip/damaged") + codes.count("plan/damaged"), mutations / 2) << file.name;
    EXPECT_EQ(codes.count("api/exception"), 0U) << file.name;
  }
}

}  // namespace
}  // namespace collage::test
