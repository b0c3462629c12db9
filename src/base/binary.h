// Values as bytes, for a reader that is always of the same build as the writer: an exported library reads what
// `collage export` has put into it. Files use JSON, which other versions read.
// In:  a value made of numbers, enumerations, strings, standard containers, and structures. A structure has a function
//      members() in its namespace, which gives references to its members:
//          inline auto members(Workspace& of) { return std::tie(of.offset, of.bytes); }
// Out: bytes; and from these an equal value. A std::string_view that is read refers to these bytes.
// How: numbers as they lie in memory; a count of 32 bits before strings and containers, an index before a variant.
// Cost: one pass, without a tree between bytes and value.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"

namespace collage {

template <class T>
concept PlainNumber = std::is_arithmetic_v<T> || std::is_enum_v<T>;

/// Appends values to bytes. Arguments are not changed; they are no constants because members() serves both directions.
class BinaryWriter {
 public:
  template <class T>
  void write(T& value) {
    if constexpr (PlainNumber<T>)
      bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    else
      std::apply([this](auto&... parts) { (write(parts), ...); }, members(value));
  }
  void write(std::string& text) { write_text(text); }
  void write(std::string_view& text) { write_text(text); }
  template <class T>
  void write(std::vector<T>& list) {
    write_count(list.size());
    for (T& item : list) write(item);
  }
  template <class T>
  void write(std::optional<T>& maybe) {
    write_count(maybe ? 1 : 0);
    if (maybe) write(*maybe);
  }
  template <class T>
  void write(std::set<T>& all) {
    write_count(all.size());
    for (T item : all) write(item);
  }
  template <class Key, class T, class Less>
  void write(std::map<Key, T, Less>& map) {
    write_count(map.size());
    for (auto& [key, value] : map) {
      Key copy = key;
      write(copy);
      write(value);
    }
  }
  template <class... T>
  void write(std::variant<T...>& one) {
    write_count(one.index());
    std::visit([this](auto& value) { write(value); }, one);
  }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  void write_count(std::size_t count) {
    COLLAGE_CHECK(std::in_range<std::uint32_t>(count), "a container of so many values");
    auto number = static_cast<std::uint32_t>(count);
    write(number);
  }
  void write_text(std::string_view text) {
    write_count(text.size());
    bytes_ += text;
  }

  std::string bytes_;
};

/// Takes values from bytes, in the order of writing. Past the end values stay as they are, and is_good() is false.
class BinaryReader {
 public:
  explicit BinaryReader(std::string_view bytes) : left_(bytes) {}

  template <class T>
  void read(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      // Another byte than these two is no bool.
      const std::string_view bytes = next(1);
      if (bytes.size() == 1) value = bytes[0] == 1;
      is_good_ &= bytes.size() == 1 && (bytes[0] == 0 || bytes[0] == 1);
    } else if constexpr (PlainNumber<T>) {
      const std::string_view bytes = next(sizeof value);
      if (bytes.size() == sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
    } else {
      std::apply([this](auto&... parts) { (read(parts), ...); }, members(value));
    }
  }
  void read(std::string& text) { text = next(read_count()); }
  void read(std::string_view& text) { text = next(read_count()); }
  template <class T>
  void read(std::vector<T>& list) {
    list.resize(read_length());
    for (T& item : list) read(item);
  }
  template <class T>
  void read(std::optional<T>& maybe) {
    if (read_count() == 0) return maybe.reset();
    read(maybe.emplace());
  }
  template <class T>
  void read(std::set<T>& all) {
    all.clear();
    for (std::size_t left = read_length(); left > 0; --left) {
      T item;
      read(item);
      all.insert(all.end(), std::move(item));
    }
  }
  template <class Key, class T, class Less>
  void read(std::map<Key, T, Less>& map) {
    map.clear();
    for (std::size_t left = read_length(); left > 0; --left) {
      std::pair<Key, T> entry;
      read(entry.first);
      read(entry.second);
      map.insert(map.end(), std::move(entry));
    }
  }
  template <class... T>
  void read(std::variant<T...>& one) {
    read_alternative(one, read_count(), std::index_sequence_for<T...>());
  }

  /// So far all values were there.
  [[nodiscard]] bool has_all() const { return is_good_; }
  /// All values were there, and nothing is left.
  [[nodiscard]] bool is_good() const { return is_good_ && left_.empty(); }

 private:
  std::string_view next(std::size_t bytes) {
    is_good_ &= bytes <= left_.size();
    const std::string_view taken = left_.substr(0, is_good_ ? bytes : 0);
    left_.remove_prefix(taken.size());
    return taken;
  }
  std::size_t read_count() {
    std::uint32_t count = 0;
    read(count);
    return count;
  }
  /// Of a container, each of whose values takes a byte at least.
  std::size_t read_length() {
    const std::size_t length = read_count();
    is_good_ &= length <= left_.size();
    return is_good_ ? length : 0;
  }
  template <class Variant, std::size_t... I>
  void read_alternative(Variant& one, std::size_t index, std::index_sequence<I...>) {
    const bool is_known = ((index == I && (read(one.template emplace<I>()), true)) || ...);
    is_good_ &= is_known;
  }

  std::string_view left_;
  bool is_good_ = true;
};

template <class T>
[[nodiscard]] std::string to_binary(T value) {
  BinaryWriter writer;
  writer.write(value);
  return writer.take();
}

/// Nothing where the bytes are not those of one value of this type.
template <class T>
[[nodiscard]] std::optional<T> from_binary(std::string_view bytes) {
  T value;
  BinaryReader reader(bytes);
  reader.read(value);
  if (!reader.is_good()) return std::nullopt;
  return value;
}

}  // namespace collage
