// The record: all values of one run of the graph, in `plain` format, in one mapped file with a JSON index beside it.
// Shapes, realistic inputs and expected outputs of every region come from it. The inputs of a run are stored in the
// same form.
// Layout: PATH holds the bytes, each tensor at a multiple of 64; PATH.json is the index
//     {"schema": "collage.record/1", "bytes": N, "values": [{"name", "type": "f32[2,3]", "offset"}, ...]}
// Strings, sequences, optionals and maps are packed (ir/packed_value.h); their entries also have "bytes". Outputs whose
// numbers depend on rounding inside of the model have "slack" (rounding_slack.h).
// The index is written last, so a record without an index is incomplete.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "ir/tensor.h"

namespace collage {

/// Writes a record value by value; nothing is kept in memory but the index.
class RecordWriter {
 public:
  /// Error record/cannot-write. An older record of this name becomes unreadable immediately.
  [[nodiscard]] static Result<RecordWriter> create(const std::string& path);
  RecordWriter(RecordWriter&& other) noexcept;
  RecordWriter& operator=(RecordWriter&&) = delete;
  ~RecordWriter();

  /// Appends one value. Error record/cannot-write, record/duplicate, record/unsupported-type for what is neither
  /// a tensor of known elements nor made of such.
  Result<void> add(const std::string& name, const Tensor& tensor);
  /// What a value that was added may differ by besides the bound of an accuracy class.
  void set_slack(const std::string& name, double slack) { values_.at(name).slack = slack; }
  /// Writes the index; from now on the record can be opened.
  Result<void> finish();

 private:
  explicit RecordWriter(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

  std::string path_;
  struct Entry {
    std::string type;
    std::size_t offset = 0;
    std::optional<std::size_t> packed_bytes;
    double slack = 0;
  };

  int descriptor_ = -1;
  std::size_t size_ = 0;
  std::map<std::string, Entry> values_;  ///< by name
};

/// Shared read-only view of a finished record. Copying shares the mapping; thread-safe.
class Record {
 public:
  /// Error record/cannot-read, record/malformed (also when the index does not fit the file).
  [[nodiscard]] static Result<Record> open(const std::string& path);

  /// The value, a tensor's bytes being the mapped file. Error record/no-such-value.
  [[nodiscard]] Result<Tensor> tensor(const std::string& name) const;
  [[nodiscard]] bool contains(const std::string& name) const { return tensors_.contains(name); }
  /// 0 for most values, and for those that are not there.
  [[nodiscard]] double slack(const std::string& name) const;

 private:
  std::string path_;
  std::map<std::string, Tensor> tensors_;
  std::map<std::string, double> slacks_;  ///< those that are not 0
};

}  // namespace collage
