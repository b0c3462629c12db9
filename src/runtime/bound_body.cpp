#include "runtime/bound_body.h"

#include <utility>

#include "backend/cancel.h"

namespace collage {

BoundBody::BoundBody(const LoadedBody& body, BodyMemory memory, std::vector<OpenSource> open_inputs)
    : body_(body), memory_(std::move(memory)), open_inputs_(std::move(open_inputs)) {
  memory_.calls = &calls_;
  memory_.open_inputs = &open_inputs_;
}

Result<std::unique_ptr<BoundBody>> BoundBody::bind(const LoadedBody& body, BodyMemory memory,
                                                   std::vector<OpenSource> open_inputs) {
  std::unique_ptr<BoundBody> bound(new BoundBody(body, std::move(memory), std::move(open_inputs)));
  for (std::size_t i = 0; i < body.plan->steps.size(); ++i) {
    COLLAGE_TRY(std::unique_ptr<Call> call, bind_step(body, bound->memory_, i));
    if (call) bound->steps_.push_back(i);
    bound->calls_.push_back(std::move(call));
  }
  return bound;
}

Result<void> BoundBody::run() {
  for (const std::size_t step : steps_) {
    if (is_cancelled()) return failed(step, run_cancelled().error());
    if (auto done = calls_[step]->run(); !done) return failed(step, std::move(done).error());
  }
  return {};
}

bool BoundBody::is_cancelled() const { return collage::is_cancelled(memory_.cancel); }

OpenSource BoundBody::output(std::size_t i) { return tensor_source(body_, memory_, body_.plan->outputs[i], known_); }

std::unexpected<Error> BoundBody::failed(std::size_t step, Error error) const {
  error = in_step(std::move(error), step, body_.plan->steps[step]);
  error.where = body_.plan->name + ": " + error.where;
  return std::unexpected(std::move(error));
}

}  // namespace collage
