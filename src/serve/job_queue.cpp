#include "serve/job_queue.h"

#include <algorithm>

#include <fmt/format.h>

namespace collage {

Result<void> JobQueue::submit(Job& job) {
  const std::scoped_lock lock(mutex_);
  if (is_closed_) return fail(ExitCode::kLimit, "serve/closing", "model", "a request while it ends", "another server");
  if (waiting_.size() >= limit_)
    return fail(ExitCode::kLimit, "serve/queue-full", "queue", fmt::format("{} requests that wait", waiting_.size()),
                fmt::format("at most {}; try again later", limit_));
  job.state = Job::State::kQueued;
  waiting_.push_back(&job);
  // A worker that waits for jobs to join may be woken in place of an idle one.
  arrived_.notify_all();
  return {};
}

void JobQueue::wait(Job& job) {
  std::unique_lock lock(mutex_);
  const auto is_done = [&job] { return job.state == Job::State::kDone; };
  if (job.deadline == ServeClock::time_point::max()) return job.done.wait(lock, is_done);
  if (job.done.wait_until(lock, job.deadline, is_done)) return;
  if (job.state == Job::State::kTaken) return job.done.wait(lock, is_done);
  std::erase(waiting_, &job);
  job.state = Job::State::kDone;
  const auto waited = std::chrono::duration_cast<std::chrono::microseconds>(ServeClock::now() - job.arrived);
  job.error = fail(ExitCode::kLimit, "serve/deadline", "queue", fmt::format("{} us of waiting", waited.count()),
                   "less than the request's timeout")
                  .error();
}

void JobQueue::join_more(const JoinPolicy& policy, std::vector<Job*>& taken) {
  for (auto next = waiting_.begin(); next != waiting_.end() && !policy.is_full(taken);) {
    if (!policy.joins(taken, **next)) {
      ++next;
      continue;
    }
    (*next)->state = Job::State::kTaken;
    taken.push_back(*next);
    next = waiting_.erase(next);
  }
}

std::vector<Job*> JobQueue::take(const JoinPolicy& policy) {
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [this] { return is_closed_ || !waiting_.empty(); });
  std::vector<Job*> taken;
  if (waiting_.empty()) return taken;
  taken.push_back(waiting_.front());
  waiting_.pop_front();
  taken.front()->state = Job::State::kTaken;
  if (!policy.joins || taken.front()->rows == 0) return taken;
  const ServeClock::time_point until = taken.front()->arrived + policy.delay;
  join_more(policy, taken);
  while (!policy.is_full(taken) && !is_closed_ && arrived_.wait_until(lock, until) == std::cv_status::no_timeout)
    join_more(policy, taken);
  return taken;
}

void JobQueue::finish(Job& job) {
  const std::scoped_lock lock(mutex_);
  job.state = Job::State::kDone;
  // Under the lock: the job may be gone as soon as its thread sees the state.
  job.done.notify_one();
}

void JobQueue::close() {
  const std::scoped_lock lock(mutex_);
  is_closed_ = true;
  arrived_.notify_all();
}

std::size_t JobQueue::size() const {
  const std::scoped_lock lock(mutex_);
  return waiting_.size();
}

}  // namespace collage
