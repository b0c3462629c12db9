#include "onnx/relocate.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <optional>

#include "base/number_text.h"
#include "onnx/proto.h"

namespace collage {
namespace {

constexpr const char* kWhere = "an annotated graph";

/// Equal messages have equal bytes.
std::string bytes_of(const pb::ModelProto& model) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    COLLAGE_CHECK(model.SerializeToCodedStream(&coded), "a model over 2 GiB: large constants belong outside");
  }
  return bytes;
}

}  // namespace

Result<std::string> relocate_external_data(std::string_view model, const std::map<std::size_t, std::size_t>& moved) {
  pb::ModelProto message;
  if (!message.ParseFromArray(model.data(), static_cast<int>(model.size())))
    return fail(ExitCode::kBadInput, "import/malformed", kWhere, "bytes that are no model", "a ModelProto");
  std::string unknown;
  for_each_tensor(*message.mutable_graph(), [&](pb::TensorProto& tensor) {
    for (auto& entry : *tensor.mutable_external_data()) {
      if (entry.key() != "offset") continue;
      const auto offset = number_in<std::size_t>(entry.value());
      const auto found = offset ? moved.find(*offset) : moved.end();
      if (found == moved.end())
        unknown = tensor.name() + " at " + entry.value();
      else
        entry.set_value(std::to_string(found->second));
    }
  });
  if (!unknown.empty())
    return fail(ExitCode::kBadInput, "import/external-data", kWhere, unknown, "an offset of a constant");
  return bytes_of(message);
}

}  // namespace collage
