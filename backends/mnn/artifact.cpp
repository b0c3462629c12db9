#include "backends/mnn/artifact.h"

#include <algorithm>
#include <stdexcept>

#include "backend/backend.h"
#include "backends/common/engine/engine_artifact.h"
#include "backends/mnn/net_writer.h"
#include "base/number_text.h"

namespace collage::mnn {
namespace {

std::unexpected<Error> bad_artifact(std::string saw) {
  return fail(ExitCode::kBadInput, "backend/bad-artifact", "mnn", std::move(saw), "a net of this backend");
}

std::optional<int> number_in(const EngineArtifact& artifact, const std::string& name) {
  const std::string text = field_or_empty(artifact, name);
  std::string_view rest = text;
  const auto number = take_number<int>(rest);
  return rest.empty() ? number : std::nullopt;
}

/// Every index of a tensor is one of the net's.
bool has_whole_operators(const MNN::Net& net) {
  const auto are_tensors = [&](const flatbuffers::Vector<std::int32_t>* indices) {
    return indices == nullptr || std::all_of(indices->begin(), indices->end(), [&](std::int32_t index) {
             return index >= 0 && static_cast<flatbuffers::uoffset_t>(index) < net.tensorName()->size();
           });
  };
  if (net.oplists() == nullptr || net.tensorName() == nullptr || net.outputName() == nullptr) return false;
  for (const MNN::Op* op : *net.oplists())
    if (op == nullptr || !are_tensors(op->inputIndexes()) || !are_tensors(op->outputIndexes())) return false;
  return true;
}

bool is_net(const std::string& bytes) {
  flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  return MNN::VerifyNetBuffer(verifier) && has_whole_operators(*MNN::GetNet(bytes.data()));
}

/// Puts constants where the operators of a net want them. Throws when they do not fit.
class Filler {
 public:
  explicit Filler(std::span<const Tensor> constants) : constants_(constants) {}

  void fill(MNN::OpT& op) const {
    if (op.main.type == MNN::OpParameter_Convolution2D) fill(*op.main.AsConvolution2D());
    if (op.main.type == MNN::OpParameter_Blob) fill(*op.main.AsBlob());
  }

 private:
  [[nodiscard]] std::span<const float> floats(std::int64_t number) const {
    if (number < 0 || static_cast<std::size_t>(number) >= constants_.size())
      throw std::runtime_error("a constant that is not there");
    const Tensor& tensor = constants_[static_cast<std::size_t>(number)];
    if (tensor.type != ElementType::kFloat32) throw std::runtime_error("a constant that is not f32");
    return tensor.data.as<float>();
  }

  void fill(MNN::BlobT& blob) const {
    if (blob.external.empty()) return;
    const std::span<const float> numbers = floats(blob.external[0]);
    std::size_t wanted = 1;
    for (const std::int32_t extent : blob.dims) wanted *= static_cast<std::size_t>(extent);
    if (numbers.size() != wanted) throw std::runtime_error("a constant of another size");
    blob.float32s.assign(numbers.begin(), numbers.end());
    blob.external.clear();
  }

  void fill(MNN::Convolution2DT& convolution) const {
    if (convolution.external.size() != 3 || !convolution.common)
      throw std::runtime_error("a convolution of other form");
    const MNN::Convolution2DCommonT& common = *convolution.common;
    const std::span<const float> weights = floats(convolution.external[0]);
    if (common.group < 1 || common.outputCount < 1 || common.inputCount < 1)
      throw std::runtime_error("a convolution without channels");
    const auto wanted = std::int64_t{common.inputCount} * common.outputCount * common.kernelX * common.kernelY;
    if (static_cast<std::int64_t>(weights.size()) * common.group != wanted)
      throw std::runtime_error("weights of another size");
    convolution.weight.assign(weights.begin(), weights.end());
    const auto out = static_cast<std::size_t>(common.outputCount);
    if (static_cast<Filling>(convolution.external[2]) == Filling::kTransposed) {
      const std::size_t in = weights.size() / out;
      for (std::size_t i = 0; i < in; ++i)
        for (std::size_t o = 0; o < out; ++o) convolution.weight[o * in + i] = weights[i * out + o];
    }
    convolution.bias.assign(out, 0.F);
    if (convolution.external[1] >= 0) {
      const std::span<const float> bias = floats(convolution.external[1]);
      if (bias.size() != out) throw std::runtime_error("a bias of another size");
      convolution.bias.assign(bias.begin(), bias.end());
    }
    convolution.external.clear();
  }

  std::span<const Tensor> constants_;
};

}  // namespace

std::string to_bytes(const StoredNet& stored) {
  return pack_artifact({.fields = {{"direct", stored.method.is_direct ? "1" : "0"},
                                   {"threads", std::to_string(stored.threads)},
                                   {"winograd", std::to_string(stored.method.winograd)}},
                        .payload = stored.net});
}

Result<StoredNet> parse_net(std::string_view bytes) {
  COLLAGE_TRY(const EngineArtifact artifact, unpack_artifact(bytes, "mnn"));
  const auto direct = number_in(artifact, "direct");
  const auto threads = number_in(artifact, "threads");
  const auto winograd = number_in(artifact, "winograd");
  if (!direct || !threads || !winograd || *winograd < 0 || *winograd > 3 || *threads < 1)
    return bad_artifact("a head of other form");
  StoredNet stored{.net = std::string(artifact.payload),
                   .method = {.is_direct = *direct != 0, .winograd = *winograd},
                   .threads = *threads};
  if (!is_net(stored.net)) return bad_artifact("bytes that are no net");
  return stored;
}

std::expected<std::string, std::string> filled(const std::string& net, std::span<const Tensor> constants) {
  return guard([&] {
    const std::unique_ptr<MNN::NetT> parts(MNN::GetNet(net.data())->UnPack());
    const Filler filler(constants);
    for (const auto& op : parts->oplists) filler.fill(*op);
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(MNN::Net::Pack(builder, parts.get()));
    return std::string(reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize());
  });
}

}  // namespace collage::mnn
