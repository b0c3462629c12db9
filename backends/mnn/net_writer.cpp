#include "backends/mnn/net_writer.h"

#include <algorithm>

namespace collage::mnn {
namespace {

constexpr std::array kOrders = {Order::kBlocks, Order::kRows, Order::kPixels};

MNN::MNN_DATA_FORMAT format_of(Order order) {
  switch (order) {
    case Order::kBlocks:
      return MNN::MNN_DATA_FORMAT_NC4HW4;
    case Order::kPixels:
      return MNN::MNN_DATA_FORMAT_NHWC;
    default:
      return MNN::MNN_DATA_FORMAT_NCHW;
  }
}

Order order_of(const Format& format) { return format.is_channels_last() ? Order::kPixels : Order::kRows; }

std::vector<int> dims_of(const Extents& extents) { return {extents.begin(), extents.end()}; }

Extents extents_of(const Graph& graph, ValueId id) { return graph.value(id).type.extents(); }

std::size_t index_of(Order order) { return static_cast<std::size_t>(order); }

}  // namespace

NetWriter::NetWriter(const Graph& graph, const Region& region, const Variant& ports)
    : graph_(graph), region_(region), ports_(ports) {
  net_.sourceType = MNN::NetSource_ONNX;
  for (std::size_t i = 0; i < region.inputs.size(); ++i) {
    auto input = std::make_unique<MNN::InputT>();
    const Order order = order_of(ports.input_formats[i]);
    input->dims = dims_of(stored_extents(graph.value(region.inputs[i]).type, ports.input_formats[i]));
    input->dformat = format_of(order);
    const int made = add(MNN::OpType_Input, {}, MNN::OpParameter_Input, std::move(input));
    net_.tensorName[static_cast<std::size_t>(made)] = net_.oplists.back()->name = input_name(i);
    define(region.inputs[i], made, order);
  }
}

int NetWriter::new_tensor(std::string name) {
  net_.tensorName.push_back(std::move(name));
  return static_cast<int>(net_.tensorName.size()) - 1;
}

int NetWriter::add(MNN::OpType type, std::vector<int> inputs, MNN::OpParameter parameter, void* owned) {
  auto op = std::make_unique<MNN::OpT>();
  op->type = type;
  op->main.type = parameter;
  op->main.value = owned;
  op->inputIndexes = std::move(inputs);
  op->name = "t" + std::to_string(net_.tensorName.size());
  op->defaultDimentionFormat = MNN::MNN_DATA_FORMAT_NCHW;
  const int made = new_tensor(op->name);
  op->outputIndexes = {made};
  if (parameter == MNN::OpParameter_Convolution2D) convolutions_[made] = net_.oplists.size();
  net_.oplists.push_back(std::move(op));
  return made;
}

void NetWriter::define(ValueId value, int tensor, Order order) {
  const auto [entry, is_new] = tensors_.try_emplace(value, std::array<int, 3>{-1, -1, -1});
  entry->second[index_of(order)] = tensor;
}

bool NetWriter::has(ValueId value, Order order) const {
  const auto found = tensors_.find(value);
  return found != tensors_.end() && found->second[index_of(order)] >= 0;
}

std::int64_t NetWriter::number_of(ValueId constant) {
  const auto found = std::ranges::find(constants_, constant);
  if (found != constants_.end()) return found - constants_.begin();
  constants_.push_back(constant);
  return static_cast<std::int64_t>(constants_.size()) - 1;
}

int NetWriter::tensor(ValueId value, Order order) {
  if (has(value, order)) return tensors_.at(value)[index_of(order)];
  const auto* const found = std::ranges::find_if(kOrders, [&](Order other) { return has(value, other); });
  if (found == kOrders.end()) {
    auto blob = std::make_unique<MNN::BlobT>();
    blob->dims = dims_of(extents_of(graph_, value));
    blob->external = {number_of(value)};
    define(value, add(MNN::OpType_Const, {}, MNN::OpParameter_Blob, std::move(blob)), Order::kRows);
    return tensor(value, order);
  }
  const int made = convert(tensors_.at(value)[index_of(*found)], *found, order);
  define(value, made, order);
  return made;
}

int NetWriter::scalar(float number) {
  auto blob = std::make_unique<MNN::BlobT>();
  blob->dims = {1};
  blob->float32s = {number};
  return add(MNN::OpType_Const, {}, MNN::OpParameter_Blob, std::move(blob));
}

int NetWriter::convert(int tensor, Order from, Order to) {
  auto info = std::make_unique<MNN::TensorConvertInfoT>();
  info->source = format_of(from);
  info->dest = format_of(to);
  return carry(tensor, add(MNN::OpType_ConvertTensor, {tensor}, MNN::OpParameter_TensorConvertInfo, std::move(info)));
}

int NetWriter::carry(int from, int to) {
  if (const auto found = convolutions_.find(from); found != convolutions_.end()) convolutions_[to] = found->second;
  return to;
}

int NetWriter::reshape(int rows, const Extents& extents) {
  auto shape = std::make_unique<MNN::ReshapeT>();
  shape->dims = dims_of(extents);
  shape->dimType = MNN::MNN_DATA_FORMAT_NCHW;
  return add(MNN::OpType_Reshape, {rows}, MNN::OpParameter_Reshape, std::move(shape));
}

MNN::Convolution2DCommonT* NetWriter::fusible(ValueId value) {
  const Order order = has(value, Order::kBlocks) ? Order::kBlocks : Order::kRows;
  const auto found = convolutions_.find(tensor(value, order));
  if (found == convolutions_.end()) return nullptr;
  MNN::Convolution2DCommonT& common = *net_.oplists[found->second]->main.AsConvolution2D()->common;
  return common.relu || common.relu6 ? nullptr : &common;
}

void NetWriter::finish() {
  for (std::size_t i = 0; i < region_.outputs.size(); ++i) {
    const int made = tensor(region_.outputs[i], order_of(ports_.output_formats[i]));
    net_.tensorName[static_cast<std::size_t>(made)] = output_name(i);
    net_.outputName.push_back(output_name(i));
  }
  net_.tensorNumber = static_cast<int>(net_.tensorName.size());
}

std::string NetWriter::bytes() const {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(MNN::Net::Pack(builder, &net_));
  return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
}

Extents stored_extents(const ValueType& type, const Format& format) {
  Extents extents = type.extents();
  if (format.is_channels_last()) std::rotate(extents.begin() + 1, extents.begin() + 2, extents.end());
  return extents;
}

std::string input_name(std::size_t port) { return "input" + std::to_string(port); }
std::string output_name(std::size_t port) { return "output" + std::to_string(port); }

}  // namespace collage::mnn
