// Names of backend instances: "kind", or "kind:key=value,..." for an instance with options.
// In:  names. Out: their kinds; whether one name denotes a given instance.
// Cost: linear in the name.
#pragma once

#include <string_view>

namespace collage {

/// "kind" of "kind:key=value".
[[nodiscard]] inline std::string_view kind_of_instance(std::string_view instance) {
  return instance.substr(0, instance.find(':'));
}

/// Whether `name` means this instance: its own name, or its kind, which means all instances.
[[nodiscard]] inline bool is_instance_of(std::string_view instance, std::string_view name) {
  return instance == name || kind_of_instance(instance) == name;
}

}  // namespace collage
