#include "numbers/record.h"

#include <fstream>

#include "tests/measure/measure_fixture.h"
#include "tests/support/record_names.h"

namespace collage {
namespace {

class RecordFile : public ::testing::Test {
 protected:
  void write() {
    auto writer = RecordWriter::create(path);
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->add("b", make_tensor<std::int64_t>(ElementType::kInt64, {2}, {5, -6})));
    ASSERT_TRUE(writer->add("a", test::numbers({3, 5}, 1)));
    ASSERT_TRUE(writer->add("scalar", make_tensor<float>(ElementType::kFloat32, {}, {2.5F})));
    ASSERT_TRUE(writer->add("empty", make_tensor<float>(ElementType::kFloat32, {0, 4}, {})));
    ASSERT_TRUE(writer->finish());
  }

  test::ScratchFolder folder;
  std::string path = folder.file("record");
};

TEST_F(RecordFile, GivesBackEveryValueAligned) {
  write();
  const auto record = Record::open(path);
  ASSERT_TRUE(record);
  EXPECT_EQ(test::record_names(path), (std::vector<std::string>{"a", "b", "empty", "scalar"}));
  EXPECT_EQ(*record->tensor("a"), test::numbers({3, 5}, 1));
  EXPECT_EQ(*record->tensor("b"), make_tensor<std::int64_t>(ElementType::kInt64, {2}, {5, -6}));
  EXPECT_EQ(record->tensor("scalar")->extents, Extents{});
  EXPECT_EQ(record->tensor("empty")->size(), 0);
  for (const char* name : {"a", "b", "scalar"})
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(record->tensor(name)->data.data()) % 64, 0U) << name;
  EXPECT_TRUE(record->contains("a"));
  EXPECT_EQ(record->tensor("nothing").error().code, "record/no-such-value");
}

TEST_F(RecordFile, KeepsTheSlackOfOutputs) {
  auto writer = RecordWriter::create(path);
  ASSERT_TRUE(writer->add("rounded", test::numbers({3}, 1)));
  ASSERT_TRUE(writer->add("exact", test::numbers({3}, 1)));
  writer->set_slack("rounded", 0.25);
  ASSERT_TRUE(writer->finish());
  const auto record = Record::open(path);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->slack("rounded"), 0.25);
  EXPECT_EQ(record->slack("exact"), 0);
  EXPECT_EQ(record->slack("nothing"), 0);
}

TEST_F(RecordFile, TensorsOutliveTheRecord) {
  write();
  Tensor tensor;
  {
    const auto record = Record::open(path);
    tensor = *record->tensor("a");
  }
  EXPECT_EQ(tensor, test::numbers({3, 5}, 1));
}

TEST_F(RecordFile, UnfinishedRecordCannotBeOpened) {
  write();
  const auto old = Record::open(path);
  ASSERT_TRUE(old);
  auto writer = RecordWriter::create(path);
  ASSERT_TRUE(writer);
  EXPECT_EQ(Record::open(path).error().code, "record/cannot-read");
  EXPECT_EQ(*old->tensor("a"), test::numbers({3, 5}, 1));
}

TEST_F(RecordFile, KeepsStringsAndSequences) {
  const Tensor words{.type = ElementType::kString, .extents = {2}, .data = {}, .strings = {"x", ""}};
  const Tensor parts = make_container(*parse_value_type("seq(f32[?])"), {test::numbers({3}, 1), test::numbers({2}, 2)});
  auto writer = RecordWriter::create(path);
  ASSERT_TRUE(writer->add("words", words));
  ASSERT_TRUE(writer->add("parts", parts));
  ASSERT_TRUE(writer->add("a", test::numbers({3, 5}, 1)));
  ASSERT_TRUE(writer->finish());
  const auto record = Record::open(path);
  ASSERT_TRUE(record) << to_string(record.error());
  EXPECT_EQ(*record->tensor("words"), words);
  EXPECT_EQ(*record->tensor("parts"), parts);
  EXPECT_EQ(*record->tensor("a"), test::numbers({3, 5}, 1));
}

TEST_F(RecordFile, DuplicatesAndUnknownTypesAreRefused) {
  auto writer = RecordWriter::create(path);
  ASSERT_TRUE(writer->add("a", test::numbers({1}, 1)));
  EXPECT_EQ(writer->add("a", test::numbers({1}, 1)).error().code, "record/duplicate");
  EXPECT_EQ(writer->add("s", Tensor{}).error().code, "record/unsupported-type");
  EXPECT_EQ(RecordWriter::create("/nonexistent/folder/x").error().code, "record/cannot-write");
}

TEST_F(RecordFile, TruncatedDataAndBrokenIndexAreMalformed) {
  write();
  std::ifstream index_file(path + ".json");
  const std::string index{std::istreambuf_iterator<char>(index_file), {}};
  const auto with_index = [&](const std::string& text) {
    std::ofstream(path + ".json") << text;
    return Record::open(path);
  };
  EXPECT_EQ(with_index(index.substr(0, index.size() / 2)).error().code, "record/malformed");
  EXPECT_EQ(with_index("{}").error().code, "record/malformed");
  std::string moved = index;
  moved.replace(moved.find("\"offset\":64"), 11, "\"offset\":99999999");
  EXPECT_EQ(with_index(moved).error().code, "record/malformed");
  ASSERT_TRUE(with_index(index));
  std::filesystem::resize_file(path, 64);
  EXPECT_EQ(Record::open(path).error().code, "record/malformed");
}

}  // namespace
}  // namespace collage
