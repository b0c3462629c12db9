#include "serve/request_queue.h"

#include <algorithm>

#include <fmt/format.h>

namespace collage {
namespace {

/// Until when those taken wait for others: a delay from the first of them, and no request past its own deadline.
ServeClock::time_point joining_ends(const std::vector<PendingRequest*>& taken, std::chrono::microseconds delay) {
  ServeClock::time_point until = taken.front()->arrived + delay;
  for (const PendingRequest* pending : taken) until = std::min(until, pending->deadline);
  return until;
}

}  // namespace

Result<void> RequestQueue::submit(PendingRequest& pending) {
  const std::scoped_lock lock(mutex_);
  if (is_closed_) return fail(ExitCode::kLimit, "serve/closing", "model", "a request while it ends", "another server");
  if (waiting_.size() >= limit_)
    return fail(ExitCode::kLimit, "serve/queue-full", "queue", fmt::format("{} requests that wait", waiting_.size()),
                fmt::format("at most {}; try again later", limit_));
  pending.state = PendingRequest::State::kQueued;
  waiting_.push_back(&pending);
  // A worker that waits for requests to join may be woken in place of an idle one.
  arrived_.notify_all();
  return {};
}

void RequestQueue::wait(PendingRequest& pending) {
  std::unique_lock lock(mutex_);
  const auto is_done = [&pending] { return pending.state == PendingRequest::State::kDone; };
  if (pending.deadline == ServeClock::time_point::max()) return pending.done.wait(lock, is_done);
  if (pending.done.wait_until(lock, pending.deadline, is_done)) return;
  if (pending.state == PendingRequest::State::kTaken) return pending.done.wait(lock, is_done);
  std::erase(waiting_, &pending);
  pending.state = PendingRequest::State::kDone;
  const auto waited = std::chrono::duration_cast<std::chrono::microseconds>(ServeClock::now() - pending.arrived);
  pending.error = fail(ExitCode::kLimit, "serve/deadline", "queue", fmt::format("{} us of waiting", waited.count()),
                       "less than the request's timeout")
                      .error();
}

void RequestQueue::join_more(const JoinPolicy& policy, std::vector<PendingRequest*>& taken) {
  for (auto next = waiting_.begin(); next != waiting_.end() && !policy.is_full(taken);) {
    if (!policy.joins(taken, **next)) {
      ++next;
      continue;
    }
    (*next)->state = PendingRequest::State::kTaken;
    taken.push_back(*next);
    next = waiting_.erase(next);
  }
}

std::vector<PendingRequest*> RequestQueue::take(const JoinPolicy& policy) {
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [this] { return is_closed_ || !waiting_.empty(); });
  std::vector<PendingRequest*> taken;
  if (waiting_.empty()) return taken;
  taken.push_back(waiting_.front());
  waiting_.pop_front();
  taken.front()->state = PendingRequest::State::kTaken;
  if (!policy.joins || taken.front()->rows == 0) return taken;
  join_more(policy, taken);
  while (!policy.is_full(taken) && !is_closed_ &&
         arrived_.wait_until(lock, joining_ends(taken, policy.delay)) == std::cv_status::no_timeout)
    join_more(policy, taken);
  return taken;
}

void RequestQueue::finish(PendingRequest& pending) {
  const std::scoped_lock lock(mutex_);
  pending.state = PendingRequest::State::kDone;
  // Under the lock: the request may be gone as soon as its thread sees the state.
  pending.done.notify_one();
}

void RequestQueue::close() {
  const std::scoped_lock lock(mutex_);
  is_closed_ = true;
  arrived_.notify_all();
}

std::size_t RequestQueue::size() const {
  const std::scoped_lock lock(mutex_);
  return waiting_.size();
}

}  // namespace collage
