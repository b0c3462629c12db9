// Reads from the cost store which settings of a backend's kernels were tried, with their times, and the shapes of their
// regions, so that tuning can start from the settings of similar shapes.
// In:  a store, a backend. Out: variants with costs; new results are added.
// How: costs are stored under their usual keys, so every measurement is found; only the shapes have records of their
//       own.
// Cost: one pass over all costs of the backend when it is made; nothing after that.
// Source: tuning logs and transfer tuning of TVM, kept with all other costs.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "store/keys.h"
#include "store/store.h"

namespace collage {

class StoredSettings {
 public:
  /// The store outlives it.
  StoredSettings(Store& store, const BackendInfo& backend, MeasureContext context);

  /// Variants of this way (the variant without its settings, in these formats) with measured or infeasible costs.
  using Known = std::vector<std::pair<std::string, Cost>>;
  [[nodiscard]] const Known& of(const std::string& structure, const Variant& variant) const;

  /// The fastest variants of the same way for other shapes, nearest first, at most `count`.
  [[nodiscard]] std::vector<std::string> near(const std::string& structure, const Variant& variant,
                                              const std::map<std::string, std::int64_t>& shape, std::size_t count);
  /// From now on near() knows of this shape.
  void note_shape(const std::string& structure, const Variant& variant,
                  const std::map<std::string, std::int64_t>& shape);
  /// What was measured just now.
  void note_cost(const std::string& structure, const Variant& variant, const Cost& cost);

 private:
  /// Region, way and formats of a cost key.
  [[nodiscard]] std::string slot_of(const std::string& structure, const Variant& variant) const;
  [[nodiscard]] std::string shape_key(const Variant& variant) const;

  Store& store_;
  BackendInfo backend_;
  MeasureContext context_;
  std::map<std::string, Known> known_;  ///< by slot
};

/// How far shapes are from each other: the sum of the differences of their logarithms.
[[nodiscard]] double shape_distance(const std::map<std::string, std::int64_t>& a,
                                    const std::map<std::string, std::int64_t>& b);

}  // namespace collage
