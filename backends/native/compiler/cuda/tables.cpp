#include "compiler/cuda/tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/cuda/expression_text.h"

namespace collage::native::cuda {
namespace {

/// Indices count from 0, and elements follow each other.
bool is_dense(const Halide::Buffer<>& table) {
  int stride = 1;
  for (int i = 0; i < table.dimensions(); ++i) {
    if (table.dim(i).min() != 0 || table.dim(i).stride() != stride) return false;
    stride *= table.dim(i).extent();
  }
  return true;
}

template <class Number>
std::vector<std::string> numbers_of(const Halide::Buffer<>& table) {
  const auto* const begin = static_cast<const Number*>(table.data());
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < table.number_of_elements(); ++i)
    texts.push_back(number_text(table.type(), static_cast<double>(begin[i])));
  return texts;
}

}  // namespace

const std::string& Tables::name_of(const Halide::Internal::Call& read) {
  if (const auto found = names_.find(read.name); found != names_.end()) return found->second;
  const Halide::Type type = read.image.type();
  const bool is_whole = type == Halide::Int(32);
  if (!is_dense(read.image) || (!is_whole && type != Halide::Float(32))) throw CannotWrite("a table of other numbers");
  const std::string name = fmt::format("table{}", names_.size());
  const auto numbers = is_whole ? numbers_of<std::int32_t>(read.image) : numbers_of<float>(read.image);
  text_ += fmt::format("__device__ const {} {}[] = {{{}}};\n", type_text(type), name, fmt::join(numbers, ", "));
  return names_.emplace(read.name, name).first->second;
}

std::string Tables::element(const Halide::Internal::Call& read, const std::vector<std::string>& at) {
  std::vector<std::string> terms;
  for (std::size_t i = 0; i < at.size(); ++i)
    terms.push_back(fmt::format("{} * {}", at[i], read.image.dim(static_cast<int>(i)).stride()));
  return fmt::format("{}[{}]", name_of(read), fmt::join(terms, " + "));
}

}  // namespace collage::native::cuda
