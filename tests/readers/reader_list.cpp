#include <fstream>

#include "tests/readers/reader.h"

namespace collage::test {

const std::vector<Reader>& readers() {
  static const std::vector<Reader> all = [] {
    std::vector<Reader> list;
    add_model_readers(list);
    add_plan_readers(list);
    add_artifact_readers(list);
    add_store_readers(list);
    add_tensor_readers(list);
    add_text_readers(list);
    add_serve_readers(list);
    add_worker_readers(list);
    return list;
  }();
  return all;
}

void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace collage::test
