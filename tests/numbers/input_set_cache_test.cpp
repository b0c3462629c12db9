#include "numbers/input_set_cache.h"

#include <gtest/gtest.h>

#include "base/buffer.h"

namespace collage {
namespace {

/// Sets of one input of so many bytes.
SharedInputSets sets_of(std::size_t bytes) {
  Tensor tensor{.type = ElementType::kUint8, .extents = {static_cast<std::int64_t>(bytes)}};
  tensor.data = Buffer::make(bytes, [](std::span<std::byte>) {});
  std::vector<InputSet> sets(1);
  sets[0].name = "seeded";
  sets[0].inputs.push_back(std::move(tensor));
  return std::make_shared<const std::vector<InputSet>>(std::move(sets));
}

TEST(InputSetCache, GivesWhatWasAdded) {
  InputSetCache cache(100);
  EXPECT_EQ(cache.find("a"), nullptr);
  const SharedInputSets sets = sets_of(10);
  cache.add("a", sets);
  EXPECT_EQ(cache.find("a"), sets);
  EXPECT_EQ(cache.find("b"), nullptr);
}

TEST(InputSetCache, LetsGoOfWhatWasUsedLongestAgo) {
  InputSetCache cache(100);
  cache.add("a", sets_of(40));
  cache.add("b", sets_of(40));
  EXPECT_NE(cache.find("a"), nullptr);
  cache.add("c", sets_of(40));
  EXPECT_EQ(cache.find("b"), nullptr);
  EXPECT_NE(cache.find("a"), nullptr);
  EXPECT_NE(cache.find("c"), nullptr);
}

TEST(InputSetCache, DoesNotKeepWhatIsLargerThanItsLimit) {
  InputSetCache cache(100);
  cache.add("a", sets_of(40));
  cache.add("large", sets_of(101));
  EXPECT_EQ(cache.find("large"), nullptr);
  cache.add("b", sets_of(100));
  EXPECT_NE(cache.find("b"), nullptr);
}

TEST(InputSetCache, KeepsThatThereAreNone) {
  InputSetCache cache(100);
  cache.add("a", std::make_shared<const std::vector<InputSet>>());
  ASSERT_NE(cache.find("a"), nullptr);
  EXPECT_TRUE(cache.find("a")->empty());
}

TEST(InputSetCache, IsEmptyOnceCleared) {
  InputSetCache cache(100);
  cache.add("a", sets_of(60));
  cache.clear();
  EXPECT_EQ(cache.find("a"), nullptr);
  cache.add("b", sets_of(60));
  EXPECT_NE(cache.find("b"), nullptr);
}

}  // namespace
}  // namespace collage
