#include "backends/mnn/compact_net.h"

#include <algorithm>

namespace collage::mnn {
namespace {

constexpr flatbuffers::uoffset_t kMostLetters = 64;
constexpr flatbuffers::uoffset_t kMostNumbers = 8;
constexpr flatbuffers::uoffset_t kMostParts = 1024;

bool has_short(const flatbuffers::String* text) { return text == nullptr || text->size() <= kMostLetters; }

bool has_short_names(const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>* names) {
  return names == nullptr || std::all_of(names->begin(), names->end(), has_short);
}

template <class Number>
bool has_few(const flatbuffers::Vector<Number>* numbers, flatbuffers::uoffset_t most = kMostNumbers) {
  return numbers == nullptr || numbers->size() <= most;
}

bool is_compact_parameter(const MNN::Convolution2D& convolution) {
  const MNN::Convolution2DCommon* common = convolution.common();
  return (common == nullptr || (has_few(common->pads()) && has_few(common->outPads()))) &&
         convolution.weight() == nullptr && convolution.bias() == nullptr && convolution.quanParameter() == nullptr &&
         convolution.symmetricQuan() == nullptr && convolution.sparseParameter() == nullptr &&
         has_few(convolution.external());
}

bool is_compact_parameter(const MNN::Blob& blob) {
  return has_few(blob.dims()) && has_few(blob.float32s()) && has_few(blob.external()) && blob.uint8s() == nullptr &&
         blob.int8s() == nullptr && blob.int32s() == nullptr && blob.int64s() == nullptr && blob.strings() == nullptr;
}

/// Whether its parameter has no long lists; those of other types than ours are refused.
bool has_compact_parameter(const MNN::Op& op) {
  switch (op.main_type()) {
    case MNN::OpParameter_Convolution2D:
      return is_compact_parameter(*op.main_as_Convolution2D());
    case MNN::OpParameter_Blob:
      return is_compact_parameter(*op.main_as_Blob());
    case MNN::OpParameter_Input:
      return has_few(op.main_as_Input()->dims());
    case MNN::OpParameter_Reshape:
      return has_few(op.main_as_Reshape()->dims());
    case MNN::OpParameter_Permute:
      return has_few(op.main_as_Permute()->dims());
    case MNN::OpParameter_Pool:
      return has_few(op.main_as_Pool()->pads());
    case MNN::OpParameter_UnaryOp:
      return op.main_as_UnaryOp()->tableInt8() == nullptr;
    case MNN::OpParameter_MatMul:
      return op.main_as_MatMul()->weight() == nullptr && op.main_as_MatMul()->bias() == nullptr;
    case MNN::OpParameter_TensorConvertInfo:
    case MNN::OpParameter_Axis:
    case MNN::OpParameter_BinaryOp:
    case MNN::OpParameter_Relu:
    case MNN::OpParameter_Relu6:
    case MNN::OpParameter_ELU:
      return true;
    default:
      return false;
  }
}

bool is_compact_operator(const MNN::Op* op) {
  return op != nullptr && op->main() != nullptr && has_short(op->name()) && has_short(op->externalPath()) &&
         has_few(op->inputIndexes(), kMostParts) && has_few(op->outputIndexes()) && has_compact_parameter(*op);
}

}  // namespace

bool is_compact(const MNN::Net& net) {
  return has_short(net.bizCode()) && has_short(net.mnn_uuid()) && has_short_names(net.tensorName()) &&
         has_short_names(net.outputName()) && net.extraTensorDescribe() == nullptr && net.extraInfo() == nullptr &&
         net.subgraphs() == nullptr && std::all_of(net.oplists()->begin(), net.oplists()->end(), is_compact_operator);
}

}  // namespace collage::mnn
