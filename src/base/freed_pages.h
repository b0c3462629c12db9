// Keeps freed huge pages for the next blocks of about their size. The operating system clears pages before it hands
// them out, slowly in a virtual machine; a worker that tries kernel after kernel would wait for that more than it
// computes. In:  blocks that allocate_pages (pages.h) is done with. Out: the same blocks, for later calls. Cost: the
// memory that is kept; and what writes to a block after it was freed is not stopped by the system any more.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <span>

namespace collage {

/// Any thread.
class FreedPages {
 public:
  /// Of this process. It keeps nothing until keep() is called, which a worker does when it starts.
  [[nodiscard]] static FreedPages& of_process();

  /// From now on up to so many bytes are kept; the oldest blocks go when there are more.
  void keep(std::size_t most_bytes);
  /// The smallest block of at least so many bytes and at most twice as many, with any contents; empty when there is
  /// none.
  [[nodiscard]] std::span<std::byte> take(std::size_t least_bytes);
  /// A block is a mapping of its own. False when it is not kept: it stays the caller's.
  [[nodiscard]] bool put(std::byte* block, std::size_t bytes);

 private:
  /// The oldest go back to the system until at most so many bytes are kept.
  void shrink(std::size_t bytes);

  std::mutex mutex_;
  std::size_t most_bytes_ = 0;
  std::size_t kept_bytes_ = 0;
  std::deque<std::span<std::byte>> blocks_;  ///< the oldest first
};

}  // namespace collage
