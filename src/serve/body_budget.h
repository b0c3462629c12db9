// How many bytes of bodies are in memory at once, of all requests.
// In:  a count that all share. Out: whether so many more are allowed.
// Threads: any; one budget is used by one thread.
#pragma once

#include <atomic>
#include <cstddef>

namespace collage {

/// The share of one request; its end gives it back.
class BodyBudget {
 public:
  explicit BodyBudget(std::atomic<std::size_t>& used) : used_(used) {}
  BodyBudget(const BodyBudget&) = delete;
  BodyBudget& operator=(const BodyBudget&) = delete;
  ~BodyBudget() { used_.fetch_sub(taken_); }
  /// False when so many more would be above the limit; nothing is taken then.
  [[nodiscard]] bool take(std::size_t bytes, std::size_t limit) {
    if (used_.fetch_add(bytes) + bytes > limit) {
      used_.fetch_sub(bytes);
      return false;
    }
    taken_ += bytes;
    return true;
  }
  void give_back(std::size_t bytes) {
    taken_ -= bytes;
    used_.fetch_sub(bytes);
  }

 private:
  std::atomic<std::size_t>& used_;
  std::size_t taken_ = 0;
};

}  // namespace collage
