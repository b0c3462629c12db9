#include "primitives/realise.h"

#include <omp.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "backend/backend.h"
#include "base/pages.h"
#include "check_program.h"

namespace collage::onednn {
namespace {

/// Of an operation, in bytes: more than memory has, and little enough to be added to that of temporaries.
constexpr std::size_t kMostScratch = std::size_t{1} << 48;

/// Exceptions of the library are failures; that it has no suitable implementation is a refusal.
std::expected<BuiltOp, Refusal> try_build(const Program& program, const Op& op, const dnnl::engine& engine) {
  auto built = guard([&] { return build(program, op, engine); });
  if (!built) return std::unexpected(Refusal{RefusalReason::kCompile, built.error()});
  if (!*built) return std::unexpected(Refusal{RefusalReason::kMissing, "no fast kernel here (" + built->error() + ")"});
  return std::move(**built);
}

bool can_follow(const PostOp& post) { return post.kind != PostOp::Kind::kSum && post.kind != PostOp::Kind::kDepthwise; }

/// oneDNN 2.6.3 leaves activations after a binary operation out of the last block when channels do not fill it.
bool is_miscomputed(const Program& program, const Op& op) {
  const TensorInfo& output = program.tensors[static_cast<std::size_t>(op.output)];
  return op.kind == OpKind::kBinary && !op.post.empty() && output.layout == Layout::kBlocked &&
         output.strides.empty() && output.extents[1] % native_block() != 0;
}

/// oneDNN 2.6.3 generates one piece of code for each kind of activation in an operation, with the numbers of the first:
/// a second Clip would limit to the bounds of the first one. Its product-based convolutions of f32 alone are right.
bool mixes_parameters(const Program& program, const Op& op, const std::string& implementation) {
  const ElementType source = program.tensors[static_cast<std::size_t>(op.inputs[0])].type;
  const bool is_product = op.kind == OpKind::kConvolution && family_of(implementation) == "gemm";
  if (is_product && source == ElementType::kFloat32) return false;
  std::map<std::string, std::pair<float, float>> seen;
  for (const PostOp& post : op.post) {
    if (post.kind == PostOp::Kind::kDepthwise) seen.clear();
    if (post.kind != PostOp::Kind::kEltwise) continue;
    const std::pair numbers{post.alpha, post.beta};
    if (seen.emplace(post.algorithm, numbers).first->second != numbers) return true;
  }
  return false;
}

/// Resampling and pooling without generated code take any post-op, one element after another: a hundred times slower
/// than the same as another operation.
bool is_slow(const Op& op, const std::string& implementation) {
  return !op.post.empty() && family_of(implementation).starts_with("simple");
}

/// Splits `op` after as many post-ops as some wanted implementation takes. The rest comes back as an operation.
std::expected<std::optional<Op>, Refusal> realise_op(const Program& program, Op& op, const dnnl::engine& engine) {
  const std::vector<PostOp> posts = op.post;
  std::optional<Refusal> why;
  for (std::size_t fused = posts.size() + 1; fused-- > 0;) {
    if (fused < posts.size() && !can_follow(posts[fused])) break;
    // What is rounded to bytes cannot be computed with any more.
    if (fused < posts.size() && op.scaling.result >= 0) break;
    op.post.assign(posts.begin(), posts.begin() + static_cast<std::ptrdiff_t>(fused));
    if (is_miscomputed(program, op)) continue;
    const auto built = try_build(program, op, engine);
    if (!built) {
      if (!why) why = built.error();
      continue;
    }
    if (mixes_parameters(program, op, built->implementation) || is_slow(op, built->implementation)) continue;
    op.implementation = built->implementation;
    if (fused == posts.size()) return std::nullopt;
    const std::vector<PostOp> rest(posts.begin() + static_cast<std::ptrdiff_t>(fused), posts.end());
    return operation_of(rest, op.output, op.output);
  }
  if (!why) why = Refusal{RefusalReason::kMissing, "no kernel here that gives the right numbers fast"};
  if (!op.family.empty()) why->detail = op.family + ": " + why->detail;
  return std::unexpected(*std::move(why));
}

}  // namespace

std::expected<Program, Refusal> realise(Program program, const dnnl::engine& engine) {
  std::vector<Op> realised;
  for (const Op& original : program.ops) {
    std::optional<Op> next = original;
    while (next) {
      Op op = std::move(*next);
      auto rest = realise_op(program, op, engine);
      if (!rest) return std::unexpected(rest.error());
      realised.push_back(std::move(op));
      next = std::move(*rest);
    }
  }
  program.ops = std::move(realised);
  return program;
}

std::expected<std::vector<BuiltOp>, std::string> build_all(const Program& program, const dnnl::engine& engine) {
  std::vector<BuiltOp> ops;
  for (const Op& op : program.ops) {
    auto built = try_build(program, op, engine);
    if (!built) return std::unexpected(op.implementation + ": " + built.error().detail);
    ops.push_back(std::move(*built));
  }
  return ops;
}

WorkspaceMap map_workspace(const Program& program, const std::vector<BuiltOp>& ops) {
  WorkspaceMap map;
  std::vector<std::size_t> sizes;
  for (const TensorInfo& tensor : program.tensors) {
    if (tensor.role != Role::kTemporary) continue;
    if (sizes.size() <= tensor.index) sizes.resize(tensor.index + 1);
    sizes[tensor.index] = std::max(sizes[tensor.index], bytes_with_offset(tensor));
  }
  for (const std::size_t bytes : sizes) {
    map.temporaries.push_back(map.bytes);
    map.bytes += aligned_up(bytes);
  }
  map.scratch = map.bytes;
  std::size_t largest = 0;
  for (const BuiltOp& op : ops) largest = std::max(largest, op.scratch_bytes);
  if (largest > kMostScratch) throw std::runtime_error("scratch of " + std::to_string(largest) + " bytes");
  map.bytes += aligned_up(largest);
  return map;
}

void use_threads(int threads) {
  if (omp_get_max_threads() != threads) omp_set_num_threads(threads);
}

}  // namespace collage::onednn
