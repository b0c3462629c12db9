#include "onnx/wire/survey.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "base/utf8.h"
#include "ir/onnx_wire.h"
#include "onnx/proto.h"

namespace collage {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

/// What the allocator adds to each piece, and a repeated field to each element while it grows.
constexpr std::uint64_t kPerPiece = 16;
constexpr std::uint64_t kPerElement = 16;
constexpr std::uint64_t kPerUnknownField = 32;

/// Texts that nothing is named by.
bool is_remark(const FieldDescriptor& field) {
  const std::string& name = field.name();
  return name == "doc_string" || name == "producer_name" || name == "producer_version" ||
         field.containing_type() == pb::StringStringEntryProto::descriptor();
}

WireType wire_type_of(const FieldDescriptor& field) {
  switch (field.type()) {
    case FieldDescriptor::TYPE_FLOAT:
      return WireType::kFixed32;
    case FieldDescriptor::TYPE_DOUBLE:
      return WireType::kFixed64;
    case FieldDescriptor::TYPE_STRING:
    case FieldDescriptor::TYPE_BYTES:
    case FieldDescriptor::TYPE_MESSAGE:
      return WireType::kDelimited;
    default:
      return WireType::kVarint;
  }
}

std::uint64_t element_size(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_INT64 || field.cpp_type() == FieldDescriptor::CPPTYPE_UINT64 ||
                 field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE
             ? 8
             : 4;
}

/// Elements of a packed list; each number ends with a byte below 128.
std::uint64_t packed_count(const FieldDescriptor& field, std::string_view contents) {
  if (wire_type_of(field) == WireType::kFixed32) return contents.size() / 4;
  if (wire_type_of(field) == WireType::kFixed64) return contents.size() / 8;
  return static_cast<std::uint64_t>(
      std::ranges::count_if(contents, [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
}

/// A message that is being read.
struct OpenMessage {
  const Descriptor* type = nullptr;
  std::size_t end = 0;
  std::uint64_t dimensions = 0;
};

class SurveyWalk {
 public:
  SurveyWalk(std::string_view bytes, const ImportLimits& limits, const std::string& where)
      : bytes_(bytes), limits_(limits), where_(where) {
    stack_.reserve(static_cast<std::size_t>(message_depth(limits)));
  }

  Result<void> run() {
    stack_.push_back({.type = pb::ModelProto::descriptor(), .end = bytes_.size()});
    while (!stack_.empty()) {
      if (at_ == stack_.back().end) {
        bodies_ -= stack_.back().type == pb::GraphProto::descriptor() ? 1U : 0U;
        stack_.pop_back();
        continue;
      }
      COLLAGE_TRY_VOID(step());
    }
    const std::uint64_t seen = all_bodies_ * (values_ + tensors_);
    if (seen <= limits_.body_names) return {};
    return over_limit(limits_, &ImportLimits::body_names, where_,
                      std::to_string(all_bodies_) + " bodies and " + std::to_string(values_ + tensors_) + " values");
  }

 private:
  [[nodiscard]] std::string place() const { return where_ + " byte " + std::to_string(start_); }

  std::unexpected<Error> malformed(std::string saw, std::string allowed) const {
    return fail(ExitCode::kBadInput, "import/not-onnx", place(), std::move(saw), std::move(allowed));
  }

  Result<void> step() {
    start_ = at_;
    const std::string_view message = bytes_.substr(0, stack_.back().end);
    WireField field;
    const WireFault fault = read_field(message, at_, field);
    if (fault == WireFault::kCutOff && message.size() == bytes_.size())
      return fail(ExitCode::kBadInput, "import/truncated", place(),
                  "a field that runs past the end of the " + std::to_string(bytes_.size()) + " bytes",
                  "a complete ONNX model");
    if (fault == WireFault::kCutOff)
      return malformed("a field that runs past the end of its message", "fields inside their messages");
    if (fault == WireFault::kMalformed) return malformed("bytes that are no field", "an ONNX model");
    if (field.type == WireType::kGroupStart || field.type == WireType::kGroupEnd)
      return malformed("a group", "fields as ONNX has them, none of which is a group");
    const FieldDescriptor* known = stack_.back().type->FindFieldByNumber(static_cast<int>(field.number));
    return known ? take(*known, field) : take_unknown(field);
  }

  Result<void> take_unknown(const WireField& field) {
    // Kept by the parser, as newer versions of ONNX may add some.
    return spend(kPerUnknownField + (field.type == WireType::kDelimited ? 2 * kPerPiece + kPerElement : 0));
  }

  Result<void> take(const FieldDescriptor& known, const WireField& field) {
    const bool is_packed = known.is_packable() && field.type == WireType::kDelimited;
    if (!is_packed && field.type != wire_type_of(known)) return take_unknown(field);
    if (known.type() == FieldDescriptor::TYPE_MESSAGE) return enter(known, field);
    if (wire_type_of(known) == WireType::kDelimited) return take_text(known, field.contents);
    const std::uint64_t count = is_packed ? packed_count(known, field.contents) : 1;
    if (known.is_repeated()) COLLAGE_TRY_VOID(count_dimensions(known, count));
    // A growing list holds up to twice what it needs; what its numbers need in the file does not count.
    const std::uint64_t need = 2 * count * element_size(known);
    return known.is_repeated() ? spend(need - std::min<std::uint64_t>(need, field.contents.size())) : Result<void>{};
  }

  Result<void> take_text(const FieldDescriptor& known, std::string_view text) {
    COLLAGE_TRY_VOID(spend(sizeof(std::string) + kPerPiece + (known.is_repeated() ? kPerElement : 0)));
    if (known.type() != FieldDescriptor::TYPE_STRING || is_remark(known)) return {};
    if (known.containing_type() == pb::NodeProto::descriptor() && known.number() == pb::NodeProto::kOutputFieldNumber)
      COLLAGE_TRY_VOID(count(values_, &ImportLimits::values, "values"));
    const auto full_name = [&] { return known.containing_type()->name() + "." + known.name(); };
    if (text.size() > limits_.name)
      return over_limit(limits_, &ImportLimits::name, place(),
                        full_name() + " of " + std::to_string(text.size()) + " bytes");
    if (is_utf8(text)) return {};
    return fail(ExitCode::kBadInput, "import/invalid-model", place(), "bytes in " + full_name() + " that are not text",
                "names in UTF-8");
  }

  Result<void> enter(const FieldDescriptor& known, const WireField& field) {
    const Descriptor* type = known.message_type();
    COLLAGE_TRY_VOID(count_message(*type));
    if (type == pb::TensorShapeProto_Dimension::descriptor()) COLLAGE_TRY_VOID(count_dimensions(known, 1));
    COLLAGE_TRY_VOID(spend(size_of(*type) + kPerPiece + (known.is_repeated() ? kPerElement : 0)));
    const bool is_body = type == pb::GraphProto::descriptor();
    // The graph of the model is no body.
    all_bodies_ += known.containing_type() == pb::AttributeProto::descriptor() && is_body ? 1U : 0U;
    if (is_body && ++bodies_ > limits_.depth + 1)
      return over_limit(limits_, &ImportLimits::depth, place(), "a body inside " + std::to_string(bodies_ - 2));
    if (stack_.size() >= static_cast<std::size_t>(message_depth(limits_)))
      return over_limit(limits_, &ImportLimits::depth, place(),
                        "a message inside " + std::to_string(stack_.size()) + " others");
    at_ -= field.contents.size();
    stack_.push_back({.type = type, .end = at_ + field.contents.size()});
    return {};
  }

  Result<void> count(std::uint64_t& seen, std::uint64_t ImportLimits::*limit, const char* what) const {
    if (++seen <= limits_.*limit) return {};
    return over_limit(limits_, limit, place(), "more than " + std::to_string(limits_.*limit) + " " + what);
  }

  Result<void> count_message(const Descriptor& type) {
    if (&type == pb::NodeProto::descriptor()) return count(nodes_, &ImportLimits::nodes, "nodes");
    if (&type == pb::AttributeProto::descriptor()) return count(attributes_, &ImportLimits::attributes, "attributes");
    if (&type == pb::ValueInfoProto::descriptor()) return count(values_, &ImportLimits::values, "values");
    if (&type == pb::TensorProto::descriptor()) return count(tensors_, &ImportLimits::tensors, "tensors");
    if (&type == pb::FunctionProto::descriptor()) return count(functions_, &ImportLimits::functions, "functions");
    return {};
  }

  Result<void> count_dimensions(const FieldDescriptor& field, std::uint64_t count) {
    if (field.name() != "dims" && field.name() != "dim") return {};
    std::uint64_t& seen = stack_.back().dimensions;
    seen += count;
    if (seen <= limits_.rank) return {};
    return over_limit(limits_, &ImportLimits::rank, place(),
                      "a tensor of " + std::to_string(seen) + " or more dimensions");
  }

  Result<void> spend(std::uint64_t bytes) {
    memory_ += bytes;
    if (memory_ <= limits_.parse_memory) return {};
    return over_limit(limits_, &ImportLimits::parse_memory, place(),
                      "a message that needs more than " + std::to_string(limits_.parse_memory) + " bytes");
  }

  /// Of an empty message of this type.
  std::uint64_t size_of(const Descriptor& type) {
    const auto [known, is_new] = sizes_.try_emplace(&type);
    if (is_new)
      known->second = google::protobuf::MessageFactory::generated_factory()->GetPrototype(&type)->SpaceUsedLong();
    return known->second;
  }

  std::string_view bytes_;
  const ImportLimits& limits_;
  const std::string& where_;
  std::size_t at_ = 0;
  std::size_t start_ = 0;  ///< of the field that is being read
  std::vector<OpenMessage> stack_;
  std::unordered_map<const Descriptor*, std::uint64_t> sizes_;  ///< as many as ONNX has types
  std::uint64_t memory_ = 0;
  std::uint64_t bodies_ = 0;  ///< that are being read, the graph of the model included
  std::uint64_t all_bodies_ = 0;
  std::uint64_t nodes_ = 0;
  std::uint64_t attributes_ = 0;
  std::uint64_t values_ = 0;
  std::uint64_t tensors_ = 0;
  std::uint64_t functions_ = 0;
};

}  // namespace

Result<void> survey_message(std::string_view bytes, const ImportLimits& limits, const std::string& where) {
  return SurveyWalk(bytes, limits, where).run();
}

}  // namespace collage
