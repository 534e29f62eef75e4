// Finished completions by the text before the cursor, in a radix tree: going back to an earlier place, or on along a
// completion seen there, finds it again without asking the model.
//
// Keys are a scope (what else must be equal) and a prefix. The longest keys that a text begins with are the places
// from which its last bytes were typed.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vscode-bridge/server/completion/finish.h"

namespace glmhost::completion {

// Not thread-safe. The least recently used entries make room.
class RadixCache {
 public:
  explicit RadixCache(std::size_t most_entries) : most_(most_entries), root_(std::make_unique<Node>()) {}

  void put(std::string_view key, Finished value);

  struct Found {
    std::size_t length = 0;  // of the key
    Finished value;
  };
  // Every entry whose key TEXT begins with, the longest key first. They count as used.
  std::vector<Found> find(std::string_view text);

  std::size_t size() const { return entries_.size(); }

 private:
  struct Node;
  struct Entry {
    std::string key;
    Finished value;
  };
  using Entries = std::list<Entry>;  // the one used last in front
  struct Node {
    std::string edge;  // from the parent
    std::map<char, std::unique_ptr<Node>> children;
    Entries::iterator entry;
    bool has_entry = false;
  };
  Node& insert(std::string_view key);
  void erase(std::string_view key);
  static void join_only_child(Node& node);

  std::size_t most_;
  std::unique_ptr<Node> root_;
  Entries entries_;
};

}  // namespace glmhost::completion
