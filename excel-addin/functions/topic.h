// What a call asks, as a short name: the hash of function, options and the content of all arguments.
//
// Equal questions have equal topics, in whatever cell they stand and wherever their ranges lie: a row that is inserted
// above asks nothing anew. (An answer that quotes addresses quotes those of the moment it was asked.)
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace glmhost::functions {

struct Topic {
  std::uint64_t low = 0, high = 0;

  bool operator==(const Topic&) const = default;
  std::string text() const;  // 32 hexadecimal digits: the one RTD topic string
  static std::optional<Topic> parse(std::string_view text);
};

struct TopicHash {
  std::size_t operator()(const Topic& topic) const { return static_cast<std::size_t>(topic.low); }
};

}  // namespace glmhost::functions
