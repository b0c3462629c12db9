// A program in C++17, which has no std::expected: linked with one in C++23, both with the types they were compiled for.
#include "tests/api/c/cpp17_program.h"

#include "c/collage.hpp"

namespace {

collage::Expected<std::vector<float>> run(const std::string& path, const std::vector<float>& in) {
  const auto plan = collage::Plan::load(path);
  if (!plan) return collage::Unexpected(plan.error());
  auto session = plan->make_session();
  if (!session) return collage::Unexpected(session.error());
  if (auto done = session->copy_input("x", in.data(), in.size()); !done) return collage::Unexpected(done.error());
  if (auto done = session->run(); !done) return collage::Unexpected(done.error());
  const auto output = session->output<float>(0);
  if (!output) return collage::Unexpected(output.error());
  return std::vector<float>(output->values.begin(), output->values.end());
}

}  // namespace

Cpp17Answer cpp17_run(const std::string& path, const std::vector<float>& in) {
  auto values = run(path, in);
  if (!values) return {{}, values.error().code};
  return {*std::move(values), {}};
}
