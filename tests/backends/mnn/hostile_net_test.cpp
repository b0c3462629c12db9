// Nets that somebody else made: the library believes what they say, so that they are refused before it sees them.
#include <functional>

#include "MNN_generated.h"
#include "mnn_fixture.h"

namespace collage::test {
namespace {

/// What stands in front of the net in an artifact ends with an empty line.
std::size_t head_of(const Artifact& artifact) { return artifact.bytes.find("\n\n") + 2; }

/// A net of ours and what becomes of changed ones.
class Changeable {
 public:
  explicit Changeable(const std::string& text) : graph_(graph_of(text)) {
    whole_ = artifact_of(compiling("mnn"), graph_, variants_of(text).at(0));
  }

  [[nodiscard]] std::string code_after(const std::function<void(MNN::NetT&)>& change) const {
    const std::unique_ptr<MNN::NetT> net(MNN::GetNet(whole_.bytes.substr(head_of(whole_)).data())->UnPack());
    change(*net);
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(MNN::Net::Pack(builder, net.get()));
    return code_of({reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()});
  }
  /// Of a change to the first operator of a type.
  [[nodiscard]] std::string code_after(MNN::OpType type, const std::function<void(MNN::OpT&)>& change) const {
    return code_after([&](MNN::NetT& net) {
      const auto op = std::ranges::find_if(net.oplists, [&](const auto& one) { return one->type == type; });
      ASSERT_NE(op, net.oplists.end()) << MNN::EnumNameOpType(type);
      change(**op);
    });
  }

 private:
  [[nodiscard]] std::string code_of(const std::string& net) const {
    Artifact artifact = whole_;
    artifact.bytes.replace(head_of(whole_), std::string::npos, net);
    const auto kernel = loading("mnn").load(request_of(graph_, artifact));
    return kernel ? "" : kernel.error().code;
  }

  Graph graph_;
  Artifact whole_;
};

constexpr const char* kBad = "backend/bad-artifact";
constexpr const char* kConvolution =
    "graph(%x: f32[1,17,9,7], %w: f32[20,17,3,3], %wb: f32[20]) -> (%y) { %c: f32[1,20,9,7] = Conv(%x, %w, %wb) "
    "{pads=[1,1,1,1]} %y: f32[1,20,9,7] = Sigmoid(%c) }";
constexpr const char* kPooling =
    "graph(%x: f32[1,17,9,8]) -> (%y) { %y: f32[1,17,5,4] = MaxPool(%x) {kernel_shape=[3,3], pads=[1,1,1,1], "
    "strides=[2,2]} }";
constexpr const char* kConstant =
    "graph(%a: f32[4,6], %w: f32[6]) -> (%y) { %s: f32[4,6] = Add(%a, %w) %y: f32[4,6] = HardSigmoid(%s) }";

void do_nothing(MNN::NetT&) {}

TEST(MnnHostile, UnchangedNetsAreLoaded) {
  for (const char* text : {kConvolution, kPooling, kConstant}) EXPECT_EQ(Changeable(text).code_after(do_nothing), "");
}

TEST(MnnHostile, OperatorsHaveTheirParameters) {
  for (const auto& [text, type] :
       std::vector<std::pair<const char*, MNN::OpType>>{{kConvolution, MNN::OpType_Convolution},
                                                        {kConvolution, MNN::OpType_ConvertTensor},
                                                        {kConvolution, MNN::OpType_Input},
                                                        {kPooling, MNN::OpType_Pooling},
                                                        {kConstant, MNN::OpType_Const},
                                                        {kConstant, MNN::OpType_BinaryOp},
                                                        {kConstant, MNN::OpType_ReLU6}}) {
    const Changeable one(text);
    EXPECT_EQ(one.code_after(type, [](MNN::OpT& op) { op.main.Reset(); }), kBad) << MNN::EnumNameOpType(type);
    const auto set_other = [](MNN::OpT& op) { op.main.Set(MNN::ELUT()); };
    EXPECT_EQ(one.code_after(type, set_other), kBad) << MNN::EnumNameOpType(type);
  }
}

TEST(MnnHostile, OperatorsAreOnesOfOurs) {
  const Changeable one(kConstant);
  for (const MNN::OpType type :
       {MNN::OpType_Plugin, MNN::OpType_While, MNN::OpType_Raster, MNN::OpType_TrainableParam, MNN::OpType_Gather})
    EXPECT_EQ(one.code_after(MNN::OpType_BinaryOp, [&](MNN::OpT& op) { op.type = type; }), kBad)
        << MNN::EnumNameOpType(type);
  for (const auto& change : std::vector<std::function<void(MNN::OpT&)>>{
           [](MNN::OpT& op) { op.externalPath = "/etc/hostname"; },
           [](MNN::OpT& op) { op.main.AsBinaryOp()->opType = MNN::BinaryOpOperation_MOD; },
           [](MNN::OpT& op) { op.main.AsBinaryOp()->activationType = 1; },
           [](MNN::OpT& op) { op.inputIndexes.pop_back(); }, [](MNN::OpT& op) { op.inputIndexes[0] = 99; },
           [](MNN::OpT& op) { op.inputIndexes[0] = op.outputIndexes[0]; },
           [](MNN::OpT& op) { op.outputIndexes[0] = 0; }, [](MNN::OpT& op) { op.outputIndexes.clear(); },
           [](MNN::OpT& op) { op.name.assign(100000, 'n'); }})
    EXPECT_EQ(one.code_after(MNN::OpType_BinaryOp, change), kBad);
}

TEST(MnnHostile, NetsHaveNothingButOperators) {
  const Changeable one(kConstant);
  for (const auto& change : std::vector<std::function<void(MNN::NetT&)>>{
           [](MNN::NetT& net) { net.usage = MNN::Usage_INFERENCE_STATIC; },
           [](MNN::NetT& net) { net.extraInfo = std::make_unique<MNN::ExtraInfoT>(); },
           [](MNN::NetT& net) { net.subgraphs.push_back(std::make_unique<MNN::SubGraphProtoT>()); },
           [](MNN::NetT& net) { net.extraTensorDescribe.push_back(std::make_unique<MNN::TensorDescribeT>()); },
           [](MNN::NetT& net) { net.tensorName.push_back("more"); }, [](MNN::NetT& net) { net.tensorName.pop_back(); },
           [](MNN::NetT& net) { net.tensorName.back() = net.tensorName.front(); },
           [](MNN::NetT& net) { net.outputName[0] = "input0"; }, [](MNN::NetT& net) { net.outputName.clear(); },
           [](MNN::NetT& net) { net.oplists.clear(); }})
    EXPECT_EQ(one.code_after(change), kBad);
}

TEST(MnnHostile, ConvolutionsHaveNumbersThatTheLibraryCanUse) {
  const Changeable one(kConvolution);
  for (const auto& change : std::vector<std::function<void(MNN::Convolution2DCommonT&)>>{
           [](MNN::Convolution2DCommonT& common) { common.strideX = 0; },
           [](MNN::Convolution2DCommonT& common) { common.strideY = -1; },
           [](MNN::Convolution2DCommonT& common) { common.dilateX = 0; },
           [](MNN::Convolution2DCommonT& common) { common.dilateX = 1 << 30; },
           [](MNN::Convolution2DCommonT& common) { common.kernelX = common.kernelY = -3; },
           [](MNN::Convolution2DCommonT& common) { common.dilateX = 5; },
           [](MNN::Convolution2DCommonT& common) {
             common.pads = {1, 1, 1};
           },
           [](MNN::Convolution2DCommonT& common) { common.pads[2] = -5; },
           [](MNN::Convolution2DCommonT& common) { common.padX = 3; },
           [](MNN::Convolution2DCommonT& common) { common.padMode = MNN::PadMode_SAME; },
           [](MNN::Convolution2DCommonT& common) { common.hasOutputShape = true; },
           [](MNN::Convolution2DCommonT& common) { common.group = 0; },
           [](MNN::Convolution2DCommonT& common) { common.group = 17; },
           [](MNN::Convolution2DCommonT& common) { common.inputCount = 34, common.outputCount = 10; },
           [](MNN::Convolution2DCommonT& common) { common.outputCount = 0; }})
    EXPECT_EQ(
        one.code_after(MNN::OpType_Convolution, [&](MNN::OpT& op) { change(*op.main.AsConvolution2D()->common); }),
        kBad);
  for (const auto& change : std::vector<std::function<void(MNN::Convolution2DT&)>>{
           [](MNN::Convolution2DT& convolution) { convolution.common.reset(); },
           [](MNN::Convolution2DT& convolution) { convolution.external.clear(); },
           [](MNN::Convolution2DT& convolution) { convolution.external[0] = 7; },
           [](MNN::Convolution2DT& convolution) { convolution.weight = {1}; },
           [](MNN::Convolution2DT& convolution) { convolution.quanParameter = std::make_unique<MNN::IDSTQuanT>(); }})
    EXPECT_EQ(one.code_after(MNN::OpType_Convolution, [&](MNN::OpT& op) { change(*op.main.AsConvolution2D()); }), kBad);
  const auto becomes = [&](MNN::OpType type) {
    return one.code_after(MNN::OpType_Convolution, [&](MNN::OpT& op) { op.type = type; });
  };
  EXPECT_EQ(becomes(MNN::OpType_ConvolutionDepthwise), kBad);
  EXPECT_EQ(becomes(MNN::OpType_DeconvolutionDepthwise), kBad);
}

TEST(MnnHostile, PoolingsHaveNumbersThatTheLibraryCanUse) {
  const Changeable one(kPooling);
  for (const auto& change : std::vector<std::function<void(MNN::PoolT&)>>{
           [](MNN::PoolT& pool) { pool.strideX = 0; }, [](MNN::PoolT& pool) { pool.kernelX = 0; },
           [](MNN::PoolT& pool) { pool.kernelX = 40; },
           [](MNN::PoolT& pool) {
             pool.pads = {3, 1, 3, 1}, pool.padY = 3;
           },
           [](MNN::PoolT& pool) { pool.pads.pop_back(); }, [](MNN::PoolT& pool) { pool.padX = -1; },
           [](MNN::PoolT& pool) { pool.ceilModel = true; },
           [](MNN::PoolT& pool) { pool.padType = MNN::PoolPadType_SAME; }})
    EXPECT_EQ(one.code_after(MNN::OpType_Pooling, [&](MNN::OpT& op) { change(*op.main.AsPool()); }), kBad);
}

TEST(MnnHostile, ConstantsHaveTheirElements) {
  const Changeable one(kConstant);
  for (const auto& change : std::vector<std::function<void(MNN::BlobT&)>>{
           [](MNN::BlobT& blob) { blob.dims = {1000000}, blob.external.clear(), blob.float32s = {1}; },
           [](MNN::BlobT& blob) {
             blob.dims = {1 << 16, 1 << 16, 1 << 16, 1 << 16, 6};
           },
           [](MNN::BlobT& blob) { blob.dims.assign(10, 1); }, [](MNN::BlobT& blob) { blob.dims = {-6}; },
           [](MNN::BlobT& blob) { blob.dims = {7}; }, [](MNN::BlobT& blob) { blob.dataType = MNN::DataType_DT_INT8; },
           [](MNN::BlobT& blob) { blob.dataFormat = MNN::MNN_DATA_FORMAT_NC4HW4; },
           [](MNN::BlobT& blob) {
             blob.external = {0, 6, 6};
           }})
    EXPECT_EQ(one.code_after(MNN::OpType_Const, [&](MNN::OpT& op) { change(*op.main.AsBlob()); }), kBad);
}

TEST(MnnHostile, InputsAreThePorts) {
  const Changeable one(kConstant);
  for (const auto& change : std::vector<std::function<void(MNN::InputT&)>>{
           [](MNN::InputT& input) { input.dims.assign(20, 1); },
           [](MNN::InputT& input) {
             input.dims = {4, 5};
           },
           [](MNN::InputT& input) {
             input.dims = {4, 0};
           },
           [](MNN::InputT& input) { input.dtype = MNN::DataType_DT_INT8; },
           [](MNN::InputT& input) { input.dformat = MNN::MNN_DATA_FORMAT_NC4HW4; }})
    EXPECT_EQ(one.code_after(MNN::OpType_Input, [&](MNN::OpT& op) { change(*op.main.AsInput()); }), kBad);
}

TEST(MnnHostile, MovementsKeepAllElements) {
  const Changeable product(
      "graph(%a: f32[2,3,7,16], %w: f32[16,5]) -> (%y) { %t: f32[2,7,3,16] = Transpose(%a) {perm=[0,2,1,3]} %m: "
      "f32[2,7,3,5] = MatMul(%t, %w) %s: f32[2,7,3,5] = Softmax(%m) %y: f32[4,7,3,5] = Concat(%s, %m) {axis=0} }");
  EXPECT_EQ(product.code_after(do_nothing), "");
  EXPECT_EQ(product.code_after(MNN::OpType_Reshape, [](MNN::OpT& op) { op.main.AsReshape()->dims[0] = 43; }), kBad);
  EXPECT_EQ(product.code_after(MNN::OpType_Reshape, [](MNN::OpT& op) { op.main.AsReshape()->dims[0] = -1; }), kBad);
  EXPECT_EQ(product.code_after(MNN::OpType_Permute, [](MNN::OpT& op) { op.main.AsPermute()->dims[0] = 9; }), kBad);
  EXPECT_EQ(product.code_after(MNN::OpType_Permute, [](MNN::OpT& op) { op.main.AsPermute()->dims[0] = 1; }), kBad);
  EXPECT_EQ(product.code_after(MNN::OpType_Softmax, [](MNN::OpT& op) { op.main.AsAxis()->axis = 4; }), kBad);
  EXPECT_EQ(product.code_after(MNN::OpType_Concat, [](MNN::OpT& op) { op.main.AsAxis()->axis = -9; }), kBad);
  EXPECT_EQ(product.code_after(MNN::OpType_Concat, [](MNN::OpT& op) { op.inputIndexes[0] = 0; }), kBad);
  const auto from_pixels = [](MNN::OpT& op) { op.main.AsTensorConvertInfo()->source = MNN::MNN_DATA_FORMAT_NHWC; };
  EXPECT_EQ(product.code_after(MNN::OpType_ConvertTensor, from_pixels), kBad);
  const Changeable computed("graph(%a: f32[7,16], %b: f32[16,5]) -> (%y) { %y: f32[7,5] = MatMul(%a, %b) }");
  EXPECT_EQ(computed.code_after(MNN::OpType_MatMul, [](MNN::OpT& op) { op.main.AsMatMul()->transposeB = true; }), kBad);
}

}  // namespace
}  // namespace collage::test
