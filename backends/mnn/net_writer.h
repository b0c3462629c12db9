// Writes a net of MNN, operator by operator, while a region is lowered.
// In:  values of the graph, in the order in which nodes compute them. Out: the net, without the contents of constants.
// How: a value is a tensor in rows (NCHW), in blocks of channels (NC4HW4), in pixels (NHWC: ports in channels_last), or
//       in several of them: a second one is made by a conversion when an operator asks for it. An operator that takes a
//       constant keeps its number in the field `external`, which the library reads for other purposes only when a net
//       lies in two files; load() puts the contents there (artifact.h).
// Not here: which operators a node becomes (lower.h).
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "MNN_generated.h"
#include "ir/graph.h"
#include "region/region.h"
#include "region/variant.h"

namespace collage::mnn {

/// How the elements of a tensor lie in memory. The size of a block is the library's own choice for the processor.
enum class Order : std::uint8_t { kRows, kBlocks, kPixels };

/// How load() makes the weights of a convolution from a constant.
enum class Filling : std::int64_t {
  kAsStored,   ///< [out, in, rows, columns]
  kTransposed  ///< a matrix [in, out]
};

class NetWriter {
 public:
  /// Declares the region's inputs, in the formats of a variant's ports: plain or channels_last.
  NetWriter(const Graph& graph, const Region& region, const Variant& ports);

  /// The tensor of a value that is known or constant, in this order; adds a conversion where needed. Values of other
  /// ranks than 4 have rows only.
  int tensor(ValueId value, Order order = Order::kRows);
  /// Whether the value is there in this order without a conversion.
  [[nodiscard]] bool has(ValueId value, Order order) const;
  /// Says which tensor holds a value.
  void define(ValueId value, int tensor, Order order);

  /// A constant's number among constants().
  std::int64_t number_of(ValueId constant);
  /// A constant whose few elements are known now: a scalar.
  int scalar(float number);

  /// Adds an operator with one result; gives its tensor.
  int add(MNN::OpType type, std::vector<int> inputs, MNN::OpParameter parameter = MNN::OpParameter_NONE,
          void* owned = nullptr);
  template <class Parameter>
  int add(MNN::OpType type, std::vector<int> inputs, MNN::OpParameter parameter, std::unique_ptr<Parameter> owned) {
    return add(type, std::move(inputs), parameter, static_cast<void*>(owned.release()));
  }
  /// The tensor in rows with other extents and the same elements.
  int reshape(int rows, const Extents& extents);
  /// A tensor of rank 4 in another order.
  int convert(int tensor, Order from, Order to);

  /// Says that a tensor has the elements of another one that nothing else reads; gives it.
  int carry(int from, int to);
  /// The convolution that computes the value, when nothing is fused into it yet: an activation can be. The caller knows
  /// that nothing else reads the value.
  [[nodiscard]] MNN::Convolution2DCommonT* fusible(ValueId value);
  /// Says that a value is another one, changed where that is computed.
  void rename(ValueId from, ValueId to) { tensors_[to] = tensors_.at(from); }

  /// Ends the net: its outputs are those of the region, in the formats of the variant's ports.
  void finish();
  [[nodiscard]] std::string bytes() const;
  [[nodiscard]] std::vector<ValueId> take_constants() { return std::move(constants_); }

 private:
  int new_tensor(std::string name);

  const Graph& graph_;
  const Region& region_;
  const Variant& ports_;
  MNN::NetT net_;
  std::map<ValueId, std::array<int, 3>> tensors_;  ///< by order; -1 = not there
  std::map<int, std::size_t> convolutions_;        ///< by tensor: the operator that computes its elements
  std::vector<ValueId> constants_;
};

/// The extents of a port as they lie in memory.
[[nodiscard]] Extents stored_extents(const ValueType& type, const Format& format);
/// Names of a net's inputs and outputs, by port.
[[nodiscard]] std::string input_name(std::size_t port);
[[nodiscard]] std::string output_name(std::size_t port);

}  // namespace collage::mnn
