#include "plan/file/zip.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "tests/plan/plan_fixture.h"
#include "tests/support/dice.h"
#include "tests/support/whole_file.h"

namespace collage {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

void write_archive(const std::string& path, const std::vector<ZipSource>& members) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0666);
  ASSERT_GE(descriptor, 0);
  const auto written = write_zip(descriptor, members, path);
  ASSERT_TRUE(written) << to_string(written.error());
  ::close(descriptor);
}

const std::string kFirst = "first member";
const std::string kPart1(5000, 'p');
const std::string kPart2 = "q";

std::vector<ZipSource> sample() {
  return {{.name = "plan.json", .parts = {bytes_of(kFirst)}, .alignment = 64},
          {.name = "weights.bin", .parts = {bytes_of(kPart1), bytes_of(kPart2)}, .alignment = 4096},
          {.name = "artifacts/\xc3\xa4", .parts = {}, .alignment = 4096}};
}

TEST(Zip, HandsOutMappedMembersAtTheirAlignment) {
  const Folder folder;
  write_archive(folder.file("a.zip"), sample());
  const auto file = Buffer::map_file(folder.file("a.zip"));
  ASSERT_TRUE(file);
  const auto members = read_zip(*file, "a.zip");
  ASSERT_TRUE(members) << to_string(members.error());
  ASSERT_EQ(members->size(), 3U);
  EXPECT_EQ((*members)[0].name, "plan.json");
  EXPECT_EQ((*members)[0].data.text(), kFirst);
  EXPECT_EQ((*members)[1].data.text(), kPart1 + kPart2);
  EXPECT_EQ((*members)[2].data.size(), 0U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>((*members)[0].data.data()) % 64, 0U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>((*members)[1].data.data()) % 4096, 0U);
  for (const ZipMember& member : *members) EXPECT_TRUE(has_right_crc(member)) << member.name;
}

TEST(Zip, IsReadByOtherTools) {
  const Folder folder;
  const std::string path = folder.file("a.zip");
  write_archive(path, sample());
  const auto run = [](const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()); };
  if (run("command -v unzip") == 0) {
    EXPECT_EQ(run("unzip -t " + path), 0);
  }
  if (run("command -v python3") == 0) {
    const std::string script =
        "import zipfile,sys; z=zipfile.ZipFile('" + path +
        "'); assert z.testzip() is None; assert z.namelist()[0]=='plan.json'; "
        "assert len(z.read('weights.bin'))==5001; assert z.infolist()[2].filename=='artifacts/\xc3\xa4'";
    EXPECT_EQ(run("python3 -c \"" + script + "\""), 0);
  }
}

TEST(Zip, IsTheSameForTheSameContents) {
  const Folder folder;
  write_archive(folder.file("a.zip"), sample());
  write_archive(folder.file("b.zip"), sample());
  EXPECT_EQ(test::read_all(folder.file("a.zip")), test::read_all(folder.file("b.zip")));
}

TEST(Zip, RefusesEveryPrefix) {
  const Folder folder;
  write_archive(folder.file("a.zip"), sample());
  const std::string whole = test::read_all(folder.file("a.zip"));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto members = read_zip(Buffer::copy_of(bytes_of(whole).first(size)), "cut");
    ASSERT_FALSE(members) << size;
    ASSERT_EQ(members.error().code, "zip/damaged");
  }
}

TEST(Zip, NeverLeavesTheFileWhateverByteIsFlipped) {
  const Folder folder;
  write_archive(folder.file("a.zip"), sample());
  const std::string whole = test::read_all(folder.file("a.zip"));
  const auto is_inside = [](const Buffer& file, const ZipMember& member) {
    return member.data.data() >= file.data() && member.data.data() + member.data.size() <= file.data() + file.size();
  };
  std::size_t refused = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      const Buffer file = Buffer::copy_of(bytes_of(changed));
      const auto members = read_zip(file, "flipped");
      if (!members) {
        ++refused;
        continue;
      }
      for (const ZipMember& member : *members) ASSERT_TRUE(is_inside(file, member)) << at;
    }
  }
  EXPECT_GT(refused, 300U);
}

TEST(Zip, SeesChangedContents) {
  const Folder folder;
  write_archive(folder.file("a.zip"), sample());
  std::string whole = test::read_all(folder.file("a.zip"));
  whole[whole.find(kFirst)] = 'F';
  const auto members = read_zip(Buffer::copy_of(bytes_of(whole)), "changed");
  ASSERT_TRUE(members);
  EXPECT_FALSE(has_right_crc((*members)[0]));
  EXPECT_TRUE(has_right_crc((*members)[1]));
}

}  // namespace
}  // namespace collage
