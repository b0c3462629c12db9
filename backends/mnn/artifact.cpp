#include "backends/mnn/artifact.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "backend/backend.h"
#include "backends/common/engine/engine_artifact.h"
#include "backends/mnn/check_net.h"
#include "backends/mnn/compact_net.h"
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

bool is_net(const std::string& bytes) {
  flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (!MNN::VerifyNetBuffer(verifier)) return false;
  const MNN::Net& net = *MNN::GetNet(bytes.data());
  return net.oplists() != nullptr && net.tensorName() != nullptr && net.outputName() != nullptr && is_compact(net);
}

/// Puts constants where the operators of a net that was checked want them. Throws when they do not fit.
class Filler {
 public:
  explicit Filler(std::span<const Tensor> constants) : constants_(constants) {}

  void fill(MNN::OpT& op) {
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

  /// Constants are copied into the net, which has less than 2^31 bytes.
  void copy(std::span<const float> from, std::vector<float>& to) {
    if (from.size() > left_) throw std::runtime_error("constants beyond the size of a net");
    left_ -= from.size();
    to.assign(from.begin(), from.end());
  }

  void fill(MNN::BlobT& blob) {
    if (blob.external.empty()) return;
    const std::span<const float> numbers = floats(blob.external[0]);
    const std::int64_t wanted = element_count({blob.dims.begin(), blob.dims.end()});
    if (!std::cmp_equal(numbers.size(), wanted)) throw std::runtime_error("a constant of another size");
    copy(numbers, blob.float32s);
    blob.external.clear();
  }

  void fill(MNN::Convolution2DT& convolution) {
    if (convolution.external.size() != 3) throw std::runtime_error("a convolution of other form");
    const MNN::Convolution2DCommonT& common = *convolution.common;
    const std::span<const float> weights = floats(convolution.external[0]);
    const std::int64_t wanted =
        element_count({common.inputCount / common.group, common.outputCount, common.kernelY, common.kernelX});
    if (!std::cmp_equal(weights.size(), wanted)) throw std::runtime_error("weights of another size");
    copy(weights, convolution.weight);
    const auto out = static_cast<std::size_t>(common.outputCount);
    if (static_cast<Filling>(convolution.external[2]) == Filling::kTransposed) {
      const std::size_t in = weights.size() / out;
      for (std::size_t i = 0; i < in; ++i)
        for (std::size_t o = 0; o < out; ++o) convolution.weight[o * in + i] = weights[i * out + o];
    }
    if (convolution.external[1] < 0) {
      copy(std::vector(out, 0.F), convolution.bias);
    } else {
      const std::span<const float> bias = floats(convolution.external[1]);
      if (bias.size() != out) throw std::runtime_error("a bias of another size");
      copy(bias, convolution.bias);
    }
    convolution.external.clear();
  }

  std::span<const Tensor> constants_;
  std::size_t left_ = std::size_t{500} << 20;  ///< elements that may still be copied; the rest is for operators
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

std::expected<std::string, std::string> filled(const std::string& net, PortCounts ports,
                                               std::span<const Tensor> constants) {
  return guard([&] {
    const std::unique_ptr<MNN::NetT> parts(MNN::GetNet(net.data())->UnPack());
    check_net(*parts, ports);
    Filler filler(constants);
    for (const auto& op : parts->oplists) filler.fill(*op);
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(MNN::Net::Pack(builder, parts.get()));
    return std::string(reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize());
  });
}

}  // namespace collage::mnn
