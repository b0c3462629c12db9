#include "backends/common/cuda/gpu_instance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/number_text.h"

namespace collage::cuda {
namespace {

/// What is wrong with the options; empty when nothing.
std::string fault_of(const BackendOptions& options, std::span<const std::string_view> more) {
  std::vector<std::string_view> known = {"device", "driver"};
  known.insert(known.end(), more.begin(), more.end());
  for (const auto& [name, value] : options)
    if (std::ranges::find(known, name) == known.end())
      return fmt::format("unknown option {}; allowed {}", name, fmt::join(known, ", "));
  if (options.contains("device") && !number_in<std::uint16_t>(options.at("device")))
    return "device=" + options.at("device") + "; allowed the number of a GPU";
  return {};
}

}  // namespace

std::string option_of(const BackendOptions& options, const std::string& name) {
  const auto found = options.find(name);
  return found != options.end() ? found->second : "";
}

std::expected<std::unique_ptr<CudaDevice>, std::string> open_gpu(const BackendOptions& options,
                                                                 std::span<const std::string_view> more,
                                                                 BackendInfo& info) {
  if (const std::string fault = fault_of(options, more); !fault.empty()) return std::unexpected(fault);
  const auto driver = open_driver(option_of(options, "driver"));
  if (!driver) return std::unexpected(driver.error());
  const int ordinal = number_in<int>(option_of(options, "device")).value_or(0);
  const auto facts = facts_of(**driver, ordinal);
  if (!facts) return std::unexpected(facts.error());
  info.location = ordinal == 0 ? "cuda" : fmt::format("cuda{}", ordinal);
  info.devices = {info.location};
  info.location_bytes = facts->bytes;
  return std::make_unique<CudaDevice>(**driver, *facts);
}

std::string fault_of_version(const std::string& library, std::size_t major, const GpuFacts& facts) {
  const auto runs = static_cast<std::size_t>(facts.driver_version / 1000);
  if (major <= runs) return {};
  return fmt::format("{0} of CUDA {1} needs a driver of CUDA {1}; this one runs CUDA {2}", library, major, runs);
}

}  // namespace collage::cuda
