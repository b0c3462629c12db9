// A value that is no bytes in a buffer: a tensor of strings, a sequence, an optional or a map. It passes between steps
// as an object that whoever made it understands, and is turned into a plain value where somebody else needs it. In: the
// output of a call, or the input of a model. Out: the plain value. How: a reader that knows the object's owner (the
// backend's kind) takes what is inside; any other asks for plain(). Not here: which backends take such values
// (BackendInfo::takes_held).
#pragma once

#include <string_view>

#include "backend/backend.h"

namespace collage {

class HeldValue {
 public:
  virtual ~HeldValue() = default;
  /// The kind of the backend that made it; empty for PlainValue.
  [[nodiscard]] virtual std::string_view owner() const = 0;
  /// A copy in our own form. Thread-safe. Errors backend/*.
  [[nodiscard]] virtual Result<Tensor> plain() const = 0;
};

/// What the program itself puts in.
class PlainValue final : public HeldValue {
 public:
  PlainValue() = default;
  explicit PlainValue(Tensor value) : value_(std::move(value)) {}

  [[nodiscard]] std::string_view owner() const override { return {}; }
  [[nodiscard]] Result<Tensor> plain() const override { return value_; }
  [[nodiscard]] const Tensor& value() const { return value_; }

 private:
  Tensor value_;
};

/// Ports of held types at a backend that does not take them.
[[nodiscard]] std::optional<Refusal> refuse_held_ports(const Backend& backend, const Graph& graph,
                                                       const Region& region);

/// The value behind an output, copied. Errors of HeldValue::plain().
[[nodiscard]] Result<Tensor> copy_of(const DynamicOutput& output);
/// Likewise, but a tensor's bytes are those of the output, which has to stay.
[[nodiscard]] Result<Tensor> view_of(const DynamicOutput& output);

}  // namespace collage
