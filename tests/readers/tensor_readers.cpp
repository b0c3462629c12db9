// Files of arrays, as `collage run --input NAME=FILE` reads them: .npy and .pb.
#include <fstream>

#include "api/tune/gather_inputs.h"
#include "base/hash.h"
#include "onnx/files/tensor_file.h"
#include "tests/readers/reader.h"
#include "tests/support/mutate/mutate_bytes.h"
#include "tests/support/mutate/mutate_text.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/whole_file.h"

namespace collage::test {
namespace {

std::vector<Tensor> sample_tensors() {
  Tensor words{.type = ElementType::kString, .extents = {2, 2}, .data = {}, .strings = {"a", "bc", "", "d\xc3\xa9"}};
  return {make_tensor<float>(ElementType::kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6}),
          make_tensor<std::int64_t>(ElementType::kInt64, {}, {7}),
          make_tensor<std::uint8_t>(ElementType::kUint8, {1, 4, 1}, {1, 2, 3, 4}),
          make_tensor<float>(ElementType::kFloat32, {0, 5}, {}), std::move(words)};
}

using Write = Result<void> (*)(const std::string&, const Tensor&);

std::vector<std::string> written(const std::string& name, Write write) {
  const ScratchFolder folder;
  std::vector<std::string> files;
  for (const Tensor& tensor : sample_tensors()) {
    COLLAGE_CHECK(write(folder.file(name), tensor).has_value());
    files.push_back(read_all(folder.file(name)));
  }
  return files;
}

/// In Fortran's order, and of the later versions of the form.
std::vector<std::string> npy_samples() {
  std::vector<std::string> files = written("x.npy", write_npy);
  std::string fortran = files.front();
  if (const std::size_t at = fortran.find("False"); at != std::string::npos) fortran.replace(at, 5, "True ");
  files.push_back(std::move(fortran));
  std::string second = files.front();
  second[6] = 2;
  second.insert(10, 2, '\0');
  files.push_back(std::move(second));
  return files;
}

/// The header as text, with its length in the first ten bytes; or bytes.
std::string mutated_npy(const std::string& sample, const std::string& other, Dice& dice) {
  const std::size_t end = sample.find('\n');
  if (dice.one_in(3) || sample.size() < 10 || sample[6] != 1 || end == std::string::npos)
    return mutated_bytes(sample, other, dice);
  const std::size_t other_end = std::min(other.find('\n'), other.size());
  const std::string header =
      mutated_text(sample.substr(10, end - 10), other.substr(std::min<std::size_t>(10, other_end), other_end), dice) +
      "\n";
  std::string made = sample.substr(0, 8);
  made += static_cast<char>(header.size() & 0xff);
  made += static_cast<char>(header.size() >> 8 & 0xff);
  return made + header + sample.substr(end + 1);
}

Answer read(const std::string& bytes, const std::string& path) {
  write_bytes(path, bytes);
  Answer answer = answer_of([&]() -> Result<std::string> {
    COLLAGE_TRY(const Tensor tensor, read_array(path));
    std::string text = to_string(tensor.value_type()) + hash_hex(tensor.data.text());
    for (const std::string& word : tensor.strings) text += word;
    return text;
  });
  std::filesystem::remove(path);
  return answer;
}

}  // namespace

void add_tensor_readers(std::vector<Reader>& all) {
  all.push_back({.name = "npy",
                 .samples = npy_samples,
                 .mutate = mutated_npy,
                 .read = [](const std::string& bytes,
                            const std::filesystem::path& folder) { return read(bytes, folder / "x.npy"); },
                 .names = "x.npy"});
  all.push_back({.name = "tensor_pb",
                 .samples = [] { return written("x.pb", write_tensor_pb); },
                 .mutate = mutated_bytes,
                 .read = [](const std::string& bytes,
                            const std::filesystem::path& folder) { return read(bytes, folder / "x.pb"); },
                 .names = "x.pb"});
}

}  // namespace collage::test
