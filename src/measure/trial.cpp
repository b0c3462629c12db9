#include "measure/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "backend/extensions/device_extension.h"
#include "backend/open_kernel.h"
#include "base/hash.h"
#include "numbers/compare.h"
#include "numbers/narrow_output.h"
#include "timing/sampling.h"

namespace collage {
namespace {

TrialFailure failure(RefusalReason reason, std::string detail, bool harmful = false) {
  return {.refusal = {.reason = reason, .detail = std::move(detail)}, .harmful = harmful};
}

std::string text_of(const Error& error) { return fmt::format("{}: {}", error.code, error.saw); }

/// Of an error of the backend or its device.
TrialFailure failure(const char* what, const Error& error) {
  const bool is_lost = error.code == kDeviceLost;
  return {
      .refusal = {.reason = error.code == "backend/out-of-memory" ? RefusalReason::kResources : RefusalReason::kCompile,
                  .detail = fmt::format("{}: {}", what, text_of(error))},
      .harmful = is_lost,
      .device_lost = is_lost};
}

/// What lies behind each buffer at a device.
constexpr std::size_t kGuardBytes = 256;
std::array<std::byte, kGuardBytes> guard_pattern() {
  std::array<std::byte, kGuardBytes> pattern{};
  for (std::size_t i = 0; i < pattern.size(); ++i) pattern[i] = static_cast<std::byte>(0xA5 ^ (i * 31));
  return pattern;
}

Comparison compare_exactly(const Tensor& seen, const Tensor& expected) {
  Comparison result;
  result.ok = seen == expected;
  if (!result.ok) result.mismatch = "bytes differ";
  return result;
}

}  // namespace

std::expected<Trial, TrialFailure> Trial::create(TrialSpec spec, FormatConverter& converter) {
  Trial trial(std::move(spec));
  if (auto failed = trial.prepare(converter)) return std::unexpected(*std::move(failed));
  auto loaded = guard([&] { return trial.load_and_bind(); });
  if (!loaded) return std::unexpected(failure(RefusalReason::kCompile, "threw while loading: " + loaded.error(), true));
  if (*loaded) return std::unexpected(**std::move(loaded));
  trial.spec_.artifact.reset();
  return trial;
}

std::optional<TrialFailure> Trial::prepare(FormatConverter& converter) {
  for (TrialPort& port : spec_.inputs) {
    if (port.port.type.is_held()) {
      Slot slot{.port = std::move(port), .type = {}, .bytes = {}};
      slot.type = slot.port.port.type;
      slot.held = std::make_unique<const PlainValue>(slot.port.recorded);
      slot.hash = hash_bytes(nullptr, 0);
      inputs_.push_back(std::move(slot));
      continue;
    }
    const ValueType type = port.port.type.is_open() ? port.recorded.value_type() : port.port.type;
    const auto size = converter.bytes_of(type, port.port.place.format);
    if (!size) return failure(RefusalReason::kFormat, text_of(size.error()));
    Slot slot{.port = std::move(port), .type = type, .bytes = GuardedBytes(*size, inputs_.size())};
    const TrialPort& made = slot.port;
    const auto filled = converter.convert(type, plain(), made.recorded.data.bytes(), made.port.place.format,
                                          slot.bytes.bytes(), spec_.threads);
    if (!filled) return failure(RefusalReason::kFormat, text_of(filled.error()));
    slot.hash = hash_bytes(slot.bytes.data(), slot.bytes.size());
    inputs_.push_back(std::move(slot));
  }
  for (TrialPort& port : spec_.outputs) {
    Slot slot{.port = std::move(port), .type = {}, .bytes = {}};
    slot.type = slot.port.port.type;
    if (slot.port.port.type.is_static()) {
      const auto size = converter.bytes_of(slot.port.port.type, slot.port.port.place.format);
      if (!size) return failure(RefusalReason::kFormat, text_of(size.error()));
      slot.bytes = GuardedBytes(*size, inputs_.size() + outputs_.size());
    }
    outputs_.push_back(std::move(slot));
  }
  workspace_ = GuardedBytes(spec_.artifact ? spec_.artifact->workspace_bytes : 0, inputs_.size() + outputs_.size());
  return std::nullopt;
}

Result<void> Trial::place_slots() {
  std::size_t bytes = kGuardBytes;
  for (std::vector<Slot>* slots : {&inputs_, &outputs_})
    for (Slot& slot : *slots) {
      slot.address = slot.bytes.data();
      if (slot.port.port.place.location != kHome) bytes += aligned_up(slot.bytes.size() + kGuardBytes);
    }
  const bool has_slots = bytes > kGuardBytes;
  const bool is_home = spec_.backend->info().location == kHome;
  if (is_home && !has_slots) return {};
  Device* const device = device_of(*spec_.backend);
  if (device == nullptr)
    return fail(ExitCode::kUnsupported, "measure/no-device", spec_.backend->info().name, "no device",
                "one at the location that its kernels name");
  device_ = std::make_unique<AtDevice>();
  COLLAGE_TRY(device_->place, make_device_place(*device, bytes + aligned_up(workspace_.size())));
  std::byte* next = device_->place.arena->data();
  for (std::vector<Slot>* slots : {&inputs_, &outputs_})
    for (Slot& slot : *slots) {
      if (slot.port.port.place.location == kHome) continue;
      slot.address = next;
      device_->guards.push_back(next + slot.bytes.size());
      next += aligned_up(slot.bytes.size() + kGuardBytes);
    }
  device_->workspace = next;
  device_->guards.push_back(next + workspace_.size());
  return set_guards();
}

Result<void> Trial::set_guards() {
  const auto pattern = guard_pattern();
  for (std::byte* const guard : device_->guards)
    COLLAGE_TRY_VOID(device_->place.queue->copy_in(guard, pattern.data(), pattern.size()));
  return {};
}

Result<bool> Trial::device_guards_hold() {
  if (!device_) return true;
  for (const std::byte* const guard : device_->guards) {
    std::array<std::byte, kGuardBytes> seen{};
    COLLAGE_TRY_VOID(device_->place.queue->copy_out(seen.data(), guard, seen.size()));
    if (seen != guard_pattern()) return false;
  }
  return true;
}

std::unique_ptr<Call> Trial::make_transfer() {
  const Slot& from = inputs_.front();
  const Direction direction = from.port.port.place.location == kHome ? Direction::kIn : Direction::kOut;
  return transfer_call(*device_->place.queue, direction, outputs_.front().address, from.address, from.bytes.size());
}

std::optional<TrialFailure> Trial::load_and_bind() {
  if (auto placed = place_slots(); !placed) return failure("device", placed.error());
  if (!spec_.artifact) {
    call_ = make_transfer();
    constants_ = ConstantBytes();
    return std::nullopt;
  }
  LoadRequest request{.artifact = *spec_.artifact, .constants = spec_.constants, .threads = spec_.threads};
  for (const Slot& slot : inputs_) request.inputs.push_back(slot.port.port);
  for (const Slot& slot : outputs_) request.outputs.push_back(slot.port.port);
  auto kernel = spec_.backend->load(request);
  if (!kernel) return failure("load", kernel.error());
  kernel_ = std::move(*kernel);
  constants_ = kernel_->packed_constants();
  if (constants_)
    for (const Tensor& constant : spec_.constants) constants_->push_back(constant.data.bytes());
  return bind();
}

const void* Trial::address_of(const Slot& input) {
  return input.held ? static_cast<const void*>(input.held.get()) : input.address;
}

std::optional<TrialFailure> Trial::bind() {
  Buffers buffers{.workspace = device_ ? device_->workspace : workspace_.data()};
  if (device_) buffers.queue = device_->place.queue.get();
  std::vector<Extents> extents;
  bool is_open = false;
  for (const Slot& slot : inputs_) {
    buffers.inputs.push_back(address_of(slot));
    extents.push_back(slot.type.extents());
    is_open |= slot.port.port.type.is_open();
  }
  for (const Slot& slot : outputs_) buffers.outputs.push_back(slot.address);
  const OpenKernel* const open = kernel_->as_open();
  if (is_open && open == nullptr)
    return failure(RefusalReason::kShape, "bind: a kernel of fixed shapes for inputs of open shape");
  auto call = is_open ? open->bind_at(buffers, extents) : kernel_->bind(buffers);
  if (!call) return failure("bind", call.error());
  call_ = std::move(*call);
  return std::nullopt;
}

std::optional<TrialFailure> Trial::move_inputs() {
  std::vector<const void*> addresses;
  std::vector<Extents> extents;
  for (const Slot& slot : inputs_) {
    addresses.push_back(address_of(slot));
    extents.push_back(slot.type.extents());
  }
  const auto moved = call_->move_inputs(addresses, extents);
  if (!moved) return failure("move inputs", moved.error());
  return *moved ? std::nullopt : bind();
}

Result<void> Trial::copy_ports(Direction direction) {
  if (!device_) return {};
  DeviceQueue& queue = *device_->place.queue;
  for (const std::vector<Slot>* slots : {&inputs_, &outputs_})
    for (const Slot& slot : *slots) {
      if (slot.port.port.place.location == kHome) continue;
      COLLAGE_TRY_VOID(direction == Direction::kIn
                           ? queue.copy_in(slot.address, slot.bytes.data(), slot.bytes.size())
                           : queue.copy_out(slot.bytes.data(), slot.address, slot.bytes.size()));
    }
  return {};
}

void Trial::displace(Displacer& displacer) const {
  if (constants_)
    displacer.run_for(*constants_);
  else
    displacer.run();
}

void Trial::touch() const {
  for (const std::vector<Slot>* slots : {&outputs_, &inputs_})
    for (const Slot& slot : *slots)
      if (slot.port.port.place.location == kHome) read_through(slot.bytes.bytes());
}

std::optional<TrialFailure> Trial::load_inputs(const InputSet* set, FormatConverter& converter) {
  if (set == loaded_) return std::nullopt;
  loaded_ = set;
  bool moved = false;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    Slot& slot = inputs_[i];
    if (slot.held) continue;  // regions with such inputs have no sets
    const Tensor& tensor = set == nullptr ? slot.port.recorded : set->inputs[i];
    if (slot.port.port.type.is_open() && tensor.extents != slot.type.extents()) {
      slot.type = tensor.value_type();
      slot.bytes = GuardedBytes(byte_count(tensor.type, tensor.extents), i);
      slot.address = slot.bytes.data();
      moved = true;
    }
    const auto filled = converter.convert(slot.type, plain(), tensor.data.bytes(), slot.port.port.place.format,
                                          slot.bytes.bytes(), spec_.threads);
    if (!filled) return failure(RefusalReason::kFormat, text_of(filled.error()));
    slot.hash = hash_bytes(slot.bytes.data(), slot.bytes.size());
  }
  return moved ? move_inputs() : std::nullopt;
}

std::optional<TrialFailure> Trial::send() {
  if (auto sent = copy_ports(Direction::kIn); !sent) return failure("device", sent.error());
  return std::nullopt;
}

void Trial::widen(const std::vector<double>& slacks) {
  for (std::size_t i = 0; i < std::min(slacks.size(), outputs_.size()); ++i)
    outputs_[i].port.slack = std::max(outputs_[i].port.slack, slacks[i]);
}

std::optional<TrialFailure> Trial::restore(FormatConverter& converter) {
  if (auto failed = load_inputs(nullptr, converter)) return failed;
  return send();
}

std::optional<TrialFailure> Trial::check(FormatConverter& converter, const InputSet* set) {
  if (auto failed = load_inputs(set, converter)) return failed;
  for (Slot& slot : outputs_) slot.bytes.poison(slot.port.port.type.element);
  if (auto failed = send()) return failed;
  const std::int64_t begin = monotonic_ns();
  const auto ran = guard([&] { return run(); });
  checked_ns_ = monotonic_ns() - begin;
  if (!ran) return failure(RefusalReason::kCompile, "threw while running: " + ran.error(), true);
  if (!*ran) return failure("run", ran->error());
  if (auto seen = copy_ports(Direction::kOut); !seen) return failure("device", seen.error());
  if (auto failed = judge_memory()) return failed;
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    if (auto failed = judge_output(i, converter)) return failed;
  return std::nullopt;
}

std::optional<TrialFailure> Trial::judge_memory() {
  for (const Slot& slot : inputs_) {
    if (!slot.bytes.guards_hold() || hash_bytes(slot.bytes.data(), slot.bytes.size()) != slot.hash)
      return failure(RefusalReason::kWrongResult, "wrote to its input " + slot.port.port.name, true);
  }
  for (const Slot& slot : outputs_)
    if (!slot.bytes.guards_hold())
      return failure(RefusalReason::kWrongResult, "wrote outside its output " + slot.port.port.name, true);
  if (!workspace_.guards_hold()) return failure(RefusalReason::kWrongResult, "wrote outside its workspace", true);
  const auto held = device_guards_hold();
  if (!held) return failure("device", held.error());
  if (!*held) return failure(RefusalReason::kWrongResult, "wrote outside its buffers on the device", true);
  return std::nullopt;
}

Result<Tensor> Trial::seen_output(std::size_t index, FormatConverter& converter) const {
  const Slot& slot = outputs_[index];
  const Port& port = slot.port.port;
  if (!port.type.is_static()) {
    COLLAGE_TRY(const DynamicOutput made, call_->dynamic_output(index));
    return view_of(made);
  }
  const Extents extents = port.type.extents();
  if (port.place.format.is_plain()) return tensor_over(port.type.element, extents, slot.bytes.data());
  Result<void> converted;
  const std::size_t size = byte_count(port.type.element, extents);
  const Buffer bytes = Buffer::make(size, [&](std::span<std::byte> out) {
    converted = converter.convert(port.type, port.place.format, slot.bytes.bytes(), plain(), out, spec_.threads);
  });
  if (!converted) return std::unexpected(converted.error());
  return Tensor{.type = port.type.element, .extents = extents, .data = bytes};
}

std::optional<TrialFailure> Trial::judge_output(std::size_t index, FormatConverter& converter) const {
  const TrialPort& port = outputs_[index].port;
  const auto seen = guard([&] { return seen_output(index, converter); });
  if (!seen) return failure(RefusalReason::kCompile, "threw while giving its output: " + seen.error(), true);
  if (!*seen) return failure("output", seen->error());
  const Comparison comparison = compared(index, **seen);
  if (comparison.ok) return std::nullopt;
  const std::string inputs = loaded_ == nullptr ? "" : " of " + loaded_->name + " inputs";
  return failure(RefusalReason::kWrongResult, "output " + port.port.name + inputs + ": " + to_string(comparison));
}

Comparison Trial::compared(std::size_t index, const Tensor& seen) const {
  const TrialPort& port = outputs_[index].port;
  if (spec_.exact) return compare_exactly(seen, port.recorded);
  const Tensor& expected = loaded_ == nullptr ? port.recorded : loaded_->expected[index];
  const bool narrow = is_16bit_float(expected.type);
  const std::optional<Choice>& choice = loaded_ == nullptr ? port.choice : loaded_->choices[index];
  if (choice) return compare_choice(seen, expected, *choice, spec_.accuracy, narrow);
  if (loaded_ != nullptr && !loaded_->sizes.empty() && is_float(expected.type))
    return compare_sized(seen, expected, loaded_->sizes[index], spec_.accuracy, narrow);
  Comparison comparison = compare(seen, expected, spec_.accuracy, narrow, port.slack);
  if (comparison.ok && spec_.accuracy != Accuracy::kFast && has_narrow_elements(seen, expected)) {
    comparison.ok = false;
    comparison.mismatch = "elements of 16 bits in class " + std::string(name_of(spec_.accuracy));
  }
  return comparison;
}

}  // namespace collage
