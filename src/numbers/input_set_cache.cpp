#include "numbers/input_set_cache.h"

#include <algorithm>

namespace collage {
namespace {

std::size_t bytes_of(const std::vector<InputSet>& sets) {
  std::size_t bytes = 0;
  for (const InputSet& set : sets) {
    for (const auto* tensors : {&set.inputs, &set.expected, &set.sizes})
      for (const Tensor& tensor : *tensors) bytes += tensor.data.size();
    for (const std::optional<Choice>& choice : set.choices) bytes += choice ? choice->data.data.size() : 0;
  }
  return bytes;
}

}  // namespace

SharedInputSets InputSetCache::find(const std::string& key) {
  const auto found = std::ranges::find(entries_, key, &Entry::key);
  if (found == entries_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found);
  return found->sets;
}

void InputSetCache::add(std::string key, SharedInputSets sets) {
  const std::size_t bytes = bytes_of(*sets);
  entries_.push_front({.key = std::move(key), .sets = std::move(sets), .bytes = bytes});
  bytes_ += bytes;
  while (bytes_ > most_bytes_) {
    bytes_ -= entries_.back().bytes;
    entries_.pop_back();
  }
}

void InputSetCache::clear() {
  entries_.clear();
  bytes_ = 0;
}

}  // namespace collage
