#include "program.h"

#include <algorithm>
#include <limits>

#include "backend/float_ports.h"
#include "base/json.h"
#include "base/json_numbers.h"

namespace collage::blas {
namespace {

using nlohmann::json;

json json_of(const Operand& operand) {
  return {{"source", operand.source}, {"row", operand.row}, {"column", operand.column}, {"batch", operand.batch}};
}

Operand operand_of(const json& text) {
  return {.source = text.at("source").get<std::uint32_t>(),
          .row = text.at("row").get<std::int64_t>(),
          .column = text.at("column").get<std::int64_t>(),
          .batch = text.at("batch").get<Extents>()};
}

Program program_of(const json& text) {
  Program program;
  const auto method = text.at("method").get<std::string>();
  if (method != name_of(Method::kGemm) && method != name_of(Method::kGemv))
    throw std::runtime_error("method " + method);
  program.method = method == name_of(Method::kGemv) ? Method::kGemv : Method::kGemm;
  Product& product = program.product;
  product.batch = text.at("batch").get<Extents>();
  product.m = text.at("m").get<std::int64_t>();
  product.n = text.at("n").get<std::int64_t>();
  product.k = text.at("k").get<std::int64_t>();
  product.a = operand_of(text.at("a"));
  product.b = operand_of(text.at("b"));
  product.out = operand_of(text.at("out"));
  product.alpha = text.at("alpha").get<float>();
  for (const json& addend : text.at("addends"))
    product.addends.push_back({operand_of(addend), addend.at("scale").get<float>()});
  product.relu = text.at("relu").get<bool>();
  product.accumulates = text.at("accumulates").get<bool>();
  return program;
}

/// Whatever element of the product is meant, both have it in the same place.
bool lies_as(const Product& product, const Operand& one, const Operand& other) {
  const auto is_same = [](std::int64_t extent, std::int64_t a, std::int64_t b) { return extent <= 1 || a == b; };
  for (std::size_t axis = 0; axis < product.batch.size(); ++axis)
    if (!is_same(product.batch[axis], one.batch[axis], other.batch[axis])) return false;
  return is_same(product.m, one.row, other.row) && is_same(product.n, one.column, other.column);
}

bool are_counts(const Extents& numbers) {
  return std::ranges::all_of(numbers,
                             [](std::int64_t n) { return n >= 0 && n <= std::numeric_limits<std::int32_t>::max(); });
}

/// The product as it stands is one that the routine takes.
bool can_run(const Product& product, Method method) {
  const auto a = leading_of(product.a, product.m, product.k);
  const auto b = leading_of(product.b, product.k, product.n);
  const auto out = leading_of(product.out, product.m, product.n);
  if (!a || !b || !out || !are_counts({product.m, product.n, product.k, a->step, b->step, out->step})) return false;
  return method == Method::kGemv ? product.n == 1 && product.k > 0 : !out->transposed;
}

bool is_inside(const Program& program, const LoadRequest& request) {
  const Product& product = program.product;
  if (!are_counts(product.batch) || !can_run(product, program.method)) return false;
  const auto reads = [&](const Operand& operand, std::int64_t rows, std::int64_t columns) {
    return is_inside(product, operand, rows, columns, floats_in(request, operand.source));
  };
  if (!reads(product.a, product.m, product.k) || !reads(product.b, product.k, product.n)) return false;
  for (const Addend& addend : product.addends)
    if (!reads(addend.operand, product.m, product.n)) return false;
  if (request.outputs.size() != 1) return false;
  const std::int64_t elements = floats_in(request.outputs[0]);
  if (!is_inside(product, product.out, product.m, product.n, elements)) return false;
  if (product.accumulates &&
      (product.addends.empty() || product.k == 0 || !lies_as(product, product.addends[0].operand, product.out)))
    return false;
  auto computed = static_cast<long double>(product.m) * static_cast<long double>(product.n);
  for (const std::int64_t extent : product.batch) computed *= static_cast<long double>(extent);
  return computed == static_cast<long double>(elements);
}

}  // namespace

std::string_view name_of(Method method) { return method == Method::kGemv ? "gemv" : "gemm"; }

std::optional<Product> turned_for(Product product, Method method) {
  if (method == Method::kGemv && product.n != 1) transpose(product);
  if (!can_run(product, method)) return std::nullopt;
  return product;
}

std::string to_json(const Program& program) {
  const Product& product = program.product;
  json addends = json::array();
  for (const Addend& addend : product.addends) {
    addends.push_back(json_of(addend.operand));
    addends.back()["scale"] = addend.scale;
  }
  return json{{"method", name_of(program.method)},
              {"batch", product.batch},
              {"m", product.m},
              {"n", product.n},
              {"k", product.k},
              {"a", json_of(product.a)},
              {"b", json_of(product.b)},
              {"out", json_of(product.out)},
              {"alpha", product.alpha},
              {"addends", std::move(addends)},
              {"relu", product.relu},
              {"accumulates", product.accumulates}}
      .dump();
}

Result<Program> read_program(const LoadRequest& request) {
  const auto bad = [](std::string saw) {
    return fail(ExitCode::kBadInput, "backend/bad-artifact", "blas", std::move(saw), "a program of this backend");
  };
  auto program = guard([&] { return program_of(parsed_json(request.artifact.bytes)); });
  if (!program) return bad(program.error());
  if (!is_inside(*program, request)) return bad("a product outside its ports");
  return std::move(*program);
}

}  // namespace collage::blas
