#include "tune/time_limit.h"

#include <utility>

namespace collage {

TimeLimit::TimeLimit(std::stop_token user)
    : on_user_(std::move(user), [source = source_]() mutable { source.request_stop(); }) {}

void TimeLimit::arm(Clock::time_point until) { timer_.start(source_, until); }

}  // namespace collage
