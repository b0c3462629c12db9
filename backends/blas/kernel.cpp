#include "kernel.h"

#include <algorithm>
#include <limits>

#include "backends/common/openmp/keep_threads.h"
#include "epilogue.h"

namespace collage::blas {
namespace {

/// Multiplications that a thread does in the time it takes to wake another: smaller work stays on one thread.
constexpr std::int64_t kWorthAThread = std::int64_t{1} << 19;
/// What an epilogue finds in the cache: half of a usual second level.
constexpr std::int64_t kPieceBytes = std::int64_t{512} << 10;
/// Fewer rows than this and BLAS spends its time on packing the other factor.
constexpr std::int64_t kLeastCut = 96;

/// The matrices of a batch, each cut along its longer axis.
struct Pieces {
  std::int64_t batch = 1;
  std::int64_t cuts = 1;
  std::int64_t length = 0;  ///< rows or columns of a piece; the last one may have fewer
  bool along_rows = true;
  [[nodiscard]] std::int64_t count() const { return batch * cuts; }
};

Pieces pieces_of(const Product& product, Method method, int threads) {
  Pieces pieces{.batch = batch_count(product), .cuts = 1, .length = 0, .along_rows = product.m >= product.n};
  const std::int64_t extent = std::max(product.m, product.n);
  const std::int64_t other = std::min(product.m, product.n);
  pieces.length = extent;
  if (other == 0) pieces.batch = 0;
  const bool has_epilogue = product.relu || product.addends.size() > (product.accumulates ? 1U : 0U);
  if (!has_epilogue || method == Method::kGemv || pieces.batch == 0) return pieces;
  // Each thread gets pieces of its own, so that it finds what it has multiplied in its own cache.
  const std::int64_t for_threads = pieces.batch >= threads ? 1 : threads;
  const std::int64_t for_cache = extent * other * static_cast<std::int64_t>(sizeof(float)) / kPieceBytes;
  const std::int64_t cuts = std::clamp<std::int64_t>(std::max(for_threads, for_cache), 1, extent / kLeastCut + 1);
  pieces.length = (extent + cuts - 1) / cuts;
  pieces.cuts = (extent + pieces.length - 1) / pieces.length;
  return pieces;
}

/// How the routines are told of the product: the same for every piece.
struct Told {
  Leading a, b, out;
  [[nodiscard]] static Transposed flag(const Leading& leading) {
    return leading.transposed ? Transposed::kYes : Transposed::kNo;
  }
  [[nodiscard]] static int step(const Leading& leading) { return static_cast<int>(leading.step); }
};

/// What all calls of a kernel share.
struct Loaded {
  Library library;
  Program program;
  std::vector<const float*> constants;
  std::vector<Buffer> kept;  ///< keeps the constants alive
  Pieces pieces;
  Told told;
  int threads = 1;
  bool is_one_batch = false;   ///< the library takes the whole batch in one call
  bool shares_pieces = false;  ///< pieces go to threads, each of which multiplies on its own
};

/// MKL takes no batch whose matrices lie between one another's rows, and leaves the output as it was.
bool lie_apart(const Operand& operand, const Leading& leading, std::int64_t rows, std::int64_t columns) {
  const std::int64_t step = operand.batch[0];
  return step <= std::numeric_limits<int>::max() && step >= leading.step * (leading.transposed ? columns : rows);
}

bool fits_one_batch(const Loaded& loaded) {
  const Product& product = loaded.program.product;
  const Told& told = loaded.told;
  if (loaded.library.sgemm_batch == nullptr || loaded.program.method != Method::kGemm) return false;
  if (product.k == 0 || product.batch.size() != 1 || loaded.pieces.batch == 0 || loaded.pieces.cuts != 1) return false;
  return (product.a.batch[0] == 0 || lie_apart(product.a, told.a, product.m, product.k)) &&
         (product.b.batch[0] == 0 || lie_apart(product.b, told.b, product.k, product.n)) &&
         lie_apart(product.out, told.out, product.m, product.n);
}

class ProductCall final : public Call {
 public:
  ProductCall(std::shared_ptr<const Loaded> loaded, const Buffers& buffers)
      : loaded_(std::move(loaded)), product_(loaded_->program.product), out_(static_cast<float*>(buffers.outputs[0])) {
    a_ = start_of(product_.a, buffers);
    b_ = start_of(product_.b, buffers);
    for (const Addend& addend : product_.addends) addends_.push_back(start_of(addend.operand, buffers));
  }

  Result<void> run() override {
    const KeepOpenMpThreads keep;
    const std::int64_t count = loaded_->pieces.count();
    const int threads = loaded_->shares_pieces ? loaded_->threads : 1;
    use_threads(loaded_->library, loaded_->shares_pieces ? 1 : loaded_->threads);
    if (loaded_->is_one_batch) {
      for (std::int64_t i = 0; i < count; ++i) accumulate(piece(i));
      multiply_batch();
      for (std::int64_t i = 0; i < count; ++i) finish(piece(i));
      return {};
    }
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (std::int64_t i = 0; i < count; ++i) run_piece(piece(i));
    return {};
  }

 private:
  struct Piece {
    std::int64_t batch = 0;
    std::int64_t row = 0, column = 0;    ///< where it begins
    std::int64_t rows = 0, columns = 0;  ///< its extents
  };

  const float* start_of(const Operand& operand, const Buffers& buffers) const {
    const std::size_t inputs = buffers.inputs.size();
    return operand.source < inputs ? static_cast<const float*>(buffers.inputs[operand.source])
                                   : loaded_->constants[operand.source - inputs];
  }

  [[nodiscard]] Piece piece(std::int64_t index) const {
    const Pieces& pieces = loaded_->pieces;
    Piece piece{.batch = index / pieces.cuts, .row = 0, .column = 0, .rows = product_.m, .columns = product_.n};
    const std::int64_t begin = index % pieces.cuts * pieces.length;
    (pieces.along_rows ? piece.row : piece.column) = begin;
    std::int64_t& extent = pieces.along_rows ? piece.rows : piece.columns;
    extent = std::min(pieces.length, extent - begin);
    return piece;
  }

  [[nodiscard]] std::int64_t offset(const Operand& operand, const Piece& piece) const {
    return offset_of(product_, operand, piece.batch) + piece.row * operand.row + piece.column * operand.column;
  }

  [[nodiscard]] float* output(const Piece& piece) const { return out_ + offset(product_.out, piece); }
  [[nodiscard]] float beta() const { return product_.accumulates ? product_.addends[0].scale : 0.F; }

  void run_piece(const Piece& piece) const {
    accumulate(piece);
    multiply(piece);
    finish(piece);
  }

  /// Puts what BLAS adds to the product where the product goes.
  void accumulate(const Piece& piece) const {
    if (!product_.accumulates) return;
    const float* from = addends_[0] + offset(product_.addends[0].operand, piece);
    float* to = output(piece);
    if (from == to) return;
    if (product_.out.row == piece.columns || piece.rows == 1) {
      std::copy_n(from, piece.rows * piece.columns, to);
      return;
    }
    for (std::int64_t row = 0; row < piece.rows; ++row, from += product_.out.row, to += product_.out.row)
      std::copy_n(from, piece.columns, to);
  }

  void multiply(const Piece& piece) const {
    const Told& told = loaded_->told;
    const float* a = a_ + offset_of(product_, product_.a, piece.batch) + piece.row * product_.a.row;
    const float* b = b_ + offset_of(product_, product_.b, piece.batch) + piece.column * product_.b.column;
    float* c = output(piece);
    const int m = static_cast<int>(piece.rows);
    const int n = static_cast<int>(piece.columns);
    const int k = static_cast<int>(product_.k);
    if (k == 0) {
      for (std::int64_t row = 0; row < piece.rows; ++row) std::fill_n(c + row * product_.out.row, piece.columns, 0.F);
    } else if (loaded_->program.method == Method::kGemv) {
      const bool turned = told.a.transposed;
      loaded_->library.sgemv(Order::kRowMajor, Told::flag(told.a), turned ? k : m, turned ? m : k, product_.alpha, a,
                             Told::step(told.a), b, static_cast<int>(std::max<std::int64_t>(product_.b.row, 1)), beta(),
                             c, static_cast<int>(std::max<std::int64_t>(product_.out.row, 1)));
    } else {
      loaded_->library.sgemm(Order::kRowMajor, Told::flag(told.a), Told::flag(told.b), m, n, k, product_.alpha, a,
                             Told::step(told.a), b, Told::step(told.b), beta(), c, Told::step(told.out));
    }
  }

  void multiply_batch() const {
    const Told& told = loaded_->told;
    const auto step = [](const Operand& operand) { return static_cast<int>(operand.batch[0]); };
    loaded_->library.sgemm_batch(Order::kRowMajor, Told::flag(told.a), Told::flag(told.b), static_cast<int>(product_.m),
                                 static_cast<int>(product_.n), static_cast<int>(product_.k), product_.alpha, a_,
                                 Told::step(told.a), step(product_.a), b_, Told::step(told.b), step(product_.b), beta(),
                                 out_, Told::step(told.out), step(product_.out),
                                 static_cast<int>(loaded_->pieces.batch));
  }

  /// Adds the remaining addends; the last pass applies the Relu.
  void finish(const Piece& piece) const {
    Epilogue epilogue{.c = output(piece), .rows = piece.rows, .columns = piece.columns, .step = product_.out.row};
    const std::size_t first = product_.accumulates ? 1 : 0;
    for (std::size_t i = first; i < addends_.size(); ++i) {
      const Addend& addend = product_.addends[i];
      epilogue.addend = addends_[i] + offset(addend.operand, piece);
      epilogue.addend_row = addend.operand.row;
      epilogue.addend_column = addend.operand.column;
      epilogue.scale = addend.scale;
      epilogue.relu = product_.relu && i + 1 == addends_.size();
      apply(epilogue);
    }
    epilogue.addend = nullptr;
    epilogue.relu = product_.relu;
    if (product_.relu && addends_.size() == first) apply(epilogue);
  }

  std::shared_ptr<const Loaded> loaded_;
  const Product& product_;
  const float* a_ = nullptr;
  const float* b_ = nullptr;
  float* out_;
  std::vector<const float*> addends_;
};

class ProductKernel final : public Kernel {
 public:
  explicit ProductKernel(std::shared_ptr<const Loaded> loaded) : loaded_(std::move(loaded)) {}
  [[nodiscard]] Result<std::unique_ptr<Call>> bind(const Buffers& buffers) const override {
    return std::make_unique<ProductCall>(loaded_, buffers);
  }
  [[nodiscard]] std::optional<ConstantBytes> packed_constants() const override { return ConstantBytes(); }

 private:
  std::shared_ptr<const Loaded> loaded_;
};

/// Threads that pay off for the whole product.
int threads_for(const Product& product, int threads) {
  const auto work = static_cast<double>(batch_count(product)) * static_cast<double>(product.m) *
                    static_cast<double>(product.n) * static_cast<double>(product.k);
  const double worth = work / static_cast<double>(kWorthAThread);
  return worth >= threads ? std::max(threads, 1) : std::max(static_cast<int>(worth), 1);
}

}  // namespace

std::unique_ptr<Kernel> make_kernel(const Library& library, Program program, const LoadRequest& request) {
  auto loaded = std::make_shared<Loaded>();
  loaded->library = library;
  loaded->program = std::move(program);
  const Product& product = loaded->program.product;
  for (const Tensor& constant : request.constants) {
    loaded->kept.push_back(constant.data);
    loaded->constants.push_back(constant.data.as<float>().data());
  }
  loaded->told = {.a = *leading_of(product.a, product.m, product.k),
                  .b = *leading_of(product.b, product.k, product.n),
                  .out = *leading_of(product.out, product.m, product.n)};
  loaded->threads = threads_for(product, request.threads);
  loaded->pieces = pieces_of(product, loaded->program.method, loaded->threads);
  loaded->is_one_batch = fits_one_batch(*loaded);
  loaded->shares_pieces = !loaded->is_one_batch && loaded->threads > 1 && loaded->pieces.count() >= loaded->threads;
  return std::make_unique<ProductKernel>(std::move(loaded));
}

}  // namespace collage::blas
