#include "tests/onnx/mutator.h"

#include <google/protobuf/message.h>

#include <array>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace collage::testing {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::array<std::int64_t, 26> kInts = {
    0,          1,           -1,         2,         3,         -2,     4,      7,           8,
    16,         31,          64,         127,       255,       1000,   65'536, 1 << 30,     2'147'483'647,
    2147483648, -2147483648, 4294967296, 1LL << 40, 1LL << 62, kLeast, kMost,  -(1LL << 62)};
constexpr std::array<float, 9> kFloats = {0.F,
                                          1.F,
                                          -1.F,
                                          0.5F,
                                          1e30F,
                                          -1e-30F,
                                          std::numeric_limits<float>::infinity(),
                                          -std::numeric_limits<float>::infinity(),
                                          std::numeric_limits<float>::quiet_NaN()};
constexpr std::array<const char*, 40> kWords = {"Relu",
                                                "Add",
                                                "Conv",
                                                "MatMul",
                                                "Reshape",
                                                "Concat",
                                                "If",
                                                "Loop",
                                                "Scan",
                                                "Split",
                                                "Resize",
                                                "Einsum",
                                                "TopK",
                                                "GRU",
                                                "LSTM",
                                                "MaxPool",
                                                "Gather",
                                                "Slice",
                                                "Pad",
                                                "Cast",
                                                "axis",
                                                "perm",
                                                "pads",
                                                "strides",
                                                "kernel_shape",
                                                "group",
                                                "to",
                                                "SAME_UPPER",
                                                "constant",
                                                "linear",
                                                "",
                                                "x",
                                                "ai.onnx",
                                                "ai.onnx.ml",
                                                "com.microsoft",
                                                "Constant",
                                                "ConstantOfShape",
                                                "Range",
                                                "Expand",
                                                "Identity"};

/// A field of a message that is set, or a list with entries.
struct Place {
  Message* message = nullptr;
  const FieldDescriptor* field = nullptr;
};

class Mutation {
 public:
  Mutation(::onnx::ModelProto& model, std::uint64_t seed) : model_(model), random_(seed) {}

  void run() {
    const std::size_t edits = 1 + pick(3);
    for (std::size_t i = 0; i < edits; ++i) {
      places_.clear();
      names_.clear();
      collect(model_);
      if (places_.empty()) return;
      change(places_[pick(places_.size())]);
    }
  }

 private:
  std::size_t pick(std::size_t count) { return static_cast<std::size_t>(random_() % count); }

  void collect(Message& message) {
    const Reflection& reflection = *message.GetReflection();
    std::vector<const FieldDescriptor*> fields;
    reflection.ListFields(message, &fields);
    for (const FieldDescriptor* field : fields) {
      if (field->name() == "doc_string") continue;
      places_.push_back({&message, field});
      const bool is_message = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
      if (field->type() == FieldDescriptor::TYPE_STRING && !field->is_repeated())
        names_.push_back(reflection.GetString(message, field));
      if (field->type() == FieldDescriptor::TYPE_STRING && field->is_repeated())
        names_.push_back(reflection.GetRepeatedString(message, field, 0));
      if (!is_message) continue;
      if (!field->is_repeated())
        collect(*reflection.MutableMessage(&message, field));
      else
        for (int i = 0; i < reflection.FieldSize(message, field); ++i)
          collect(*reflection.MutableRepeatedMessage(&message, field, i));
    }
  }

  void change(const Place& place) {
    if (place.field->is_repeated() && pick(3) == 0) return change_list(place);
    switch (place.field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return change_message(place);
      case FieldDescriptor::CPPTYPE_STRING:
        return change_text(place);
      case FieldDescriptor::CPPTYPE_FLOAT:
        return set_number(place, static_cast<double>(kFloats[pick(kFloats.size())]));
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return set_number(place, static_cast<double>(kFloats[pick(kFloats.size())]));
      default:
        return set_integer(place, kInts[pick(kInts.size())]);
    }
  }

  int index_in(const Place& place) {
    return static_cast<int>(
        pick(static_cast<std::size_t>(place.message->GetReflection()->FieldSize(*place.message, place.field))));
  }

  /// Removes, repeats or swaps entries.
  void change_list(const Place& place) {
    const Reflection& reflection = *place.message->GetReflection();
    const int count = reflection.FieldSize(*place.message, place.field);
    switch (pick(3)) {
      case 0:
        return reflection.RemoveLast(place.message, place.field);
      case 1:
        return reflection.SwapElements(place.message, place.field, index_in(place), count - 1);
      default:
        return append(place);
    }
  }

  void append(const Place& place) {
    const Reflection& reflection = *place.message->GetReflection();
    const int from = index_in(place);
    switch (place.field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE: {
        Message* added = reflection.AddMessage(place.message, place.field);
        added->CopyFrom(reflection.GetRepeatedMessage(*place.message, place.field, from));
        return;
      }
      case FieldDescriptor::CPPTYPE_STRING:
        return reflection.AddString(place.message, place.field, names_.empty() ? "x" : names_[pick(names_.size())]);
      case FieldDescriptor::CPPTYPE_INT64:
        return reflection.AddInt64(place.message, place.field, kInts[pick(kInts.size())]);
      case FieldDescriptor::CPPTYPE_INT32:
        return reflection.AddInt32(place.message, place.field, static_cast<std::int32_t>(kInts[pick(kInts.size())]));
      case FieldDescriptor::CPPTYPE_FLOAT:
        return reflection.AddFloat(place.message, place.field, kFloats[pick(kFloats.size())]);
      default:
        return;
    }
  }

  void change_message(const Place& place) {
    const Reflection& reflection = *place.message->GetReflection();
    if (!place.field->is_repeated()) {
      if (place.message != &model_) reflection.ClearField(place.message, place.field);
      return;
    }
    // One entry becomes a copy of another.
    const Message& from = reflection.GetRepeatedMessage(*place.message, place.field, index_in(place));
    Message* to = reflection.MutableRepeatedMessage(place.message, place.field, index_in(place));
    if (to != &from) to->CopyFrom(from);
  }

  std::string changed_bytes(std::string bytes) {
    if (bytes.empty() || pick(4) == 0) return bytes + "x";
    if (pick(3) == 0) return bytes.substr(0, pick(bytes.size()));
    bytes[pick(bytes.size())] = static_cast<char>(random_());
    return bytes;
  }

  std::string other_text(const FieldDescriptor& field, std::string old) {
    if (field.type() == FieldDescriptor::TYPE_BYTES && pick(2) == 0) return changed_bytes(std::move(old));
    if (pick(2) == 0) return kWords[pick(kWords.size())];
    return names_.empty() ? "x" : names_[pick(names_.size())];
  }

  void change_text(const Place& place) {
    const Reflection& reflection = *place.message->GetReflection();
    if (place.field->is_repeated()) {
      const int i = index_in(place);
      reflection.SetRepeatedString(
          place.message, place.field, i,
          other_text(*place.field, reflection.GetRepeatedString(*place.message, place.field, i)));
      return;
    }
    reflection.SetString(place.message, place.field,
                         other_text(*place.field, reflection.GetString(*place.message, place.field)));
  }

  void set_number(const Place& place, double value) {
    const Reflection& reflection = *place.message->GetReflection();
    const bool is_float = place.field->cpp_type() == FieldDescriptor::CPPTYPE_FLOAT;
    if (place.field->is_repeated() && is_float)
      reflection.SetRepeatedFloat(place.message, place.field, index_in(place), static_cast<float>(value));
    else if (place.field->is_repeated())
      reflection.SetRepeatedDouble(place.message, place.field, index_in(place), value);
    else if (is_float)
      reflection.SetFloat(place.message, place.field, static_cast<float>(value));
  }

  void set_integer(const Place& place, std::int64_t value) {
    const Reflection& reflection = *place.message->GetReflection();
    const bool is_list = place.field->is_repeated();
    switch (place.field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT64:
        if (is_list) return reflection.SetRepeatedInt64(place.message, place.field, index_in(place), value);
        return reflection.SetInt64(place.message, place.field, value);
      case FieldDescriptor::CPPTYPE_INT32:
        if (is_list)
          return reflection.SetRepeatedInt32(place.message, place.field, index_in(place),
                                             static_cast<std::int32_t>(value));
        // Types of elements are small numbers.
        return reflection.SetInt32(
            place.message, place.field,
            static_cast<std::int32_t>(pick(2) == 0 ? static_cast<std::int64_t>(pick(28)) : value));
      case FieldDescriptor::CPPTYPE_ENUM:
        if (!is_list) reflection.SetEnumValue(place.message, place.field, static_cast<int>(pick(16)));
        return;
      default:
        return;
    }
  }

  ::onnx::ModelProto& model_;
  std::mt19937_64 random_;
  std::vector<Place> places_;
  std::vector<std::string> names_;
};

}  // namespace

void mutate(::onnx::ModelProto& model, std::uint64_t seed) { Mutation(model, seed).run(); }

}  // namespace collage::testing
