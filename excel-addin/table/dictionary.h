// The distinct texts of a column. A cell holds the place of its text: its code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace glmhost::table {

// Immutable; may be read by many threads.
class Dictionary {
 public:
  std::size_t size() const { return offsets_.size() - 1; }
  std::string_view text(std::size_t code) const {
    return std::string_view(bytes_).substr(offsets_[code], offsets_[code + 1] - offsets_[code]);
  }

  // For each code, the first code whose text is equal without case. Null when every code is its own: no two texts
  // differ only in case.
  const std::vector<std::uint32_t>* folded_codes() const;

  // For each code, its place in the order of texts (formula::compare_text); equal texts share one.
  const std::vector<std::uint32_t>& ranks() const;

 private:
  friend class DictionaryBuilder;
  std::string bytes_;
  std::vector<std::uint64_t> offsets_ = {0};
  mutable std::once_flag folded_once_, ranked_once_;
  mutable std::vector<std::uint32_t> folded_, ranks_;
};

// Gives each new text the next code.
class DictionaryBuilder {
 public:
  DictionaryBuilder();
  // Throws TableError beyond 2^32 - 2 texts.
  std::uint32_t code(std::string_view text);
  std::size_t size() const { return dictionary_->size(); }
  std::string_view text(std::size_t code) const { return dictionary_->text(code); }

  // The builder is empty afterwards.
  std::shared_ptr<const Dictionary> finish();

 private:
  void grow();

  std::shared_ptr<Dictionary> dictionary_;
  std::vector<std::uint64_t> slots_;  // upper half of the hash | code + 1; 0: free
  std::uint64_t mask_;
};

}  // namespace glmhost::table
