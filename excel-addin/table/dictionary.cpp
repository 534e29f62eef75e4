#include "excel-addin/table/dictionary.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "excel-addin/formula/text_units.h"
#include "excel-addin/table/table_error.h"

namespace glmhost::table {
namespace {

constexpr std::size_t kFirstSlots = 64;
constexpr std::uint64_t kUpperHalf = 0xFFFFFFFF00000000u;

std::uint64_t hash_of(std::string_view text) {
  return XXH3_64bits(text.data(), text.size());
}

}  // namespace

DictionaryBuilder::DictionaryBuilder()
    : dictionary_(std::make_shared<Dictionary>()), slots_(kFirstSlots), mask_(kFirstSlots - 1) {}

std::uint32_t DictionaryBuilder::code(std::string_view text) {
  const std::uint64_t hash = hash_of(text);
  std::uint64_t at = hash & mask_;
  while (slots_[at] != 0) {
    const auto code = static_cast<std::uint32_t>(slots_[at]) - 1;
    if ((slots_[at] & kUpperHalf) == (hash & kUpperHalf) && dictionary_->text(code) == text) return code;
    at = (at + 1) & mask_;
  }
  const std::size_t size = dictionary_->size();
  if (size >= 0xFFFFFFFEu) throw TableError("A column holds more than 4,294,967,294 different texts.");
  dictionary_->bytes_.append(text);
  dictionary_->offsets_.push_back(dictionary_->bytes_.size());
  slots_[at] = (hash & kUpperHalf) | (size + 1);
  if ((size + 1) * 2 > slots_.size()) grow();
  return static_cast<std::uint32_t>(size);
}

void DictionaryBuilder::grow() {
  std::vector<std::uint64_t> slots(slots_.size() * 2);
  mask_ = slots.size() - 1;
  for (std::size_t code = 0; code < dictionary_->size(); ++code) {
    const std::uint64_t hash = hash_of(dictionary_->text(code));
    std::uint64_t at = hash & mask_;
    while (slots[at] != 0) at = (at + 1) & mask_;
    slots[at] = (hash & kUpperHalf) | (code + 1);
  }
  slots_ = std::move(slots);
}

std::shared_ptr<const Dictionary> DictionaryBuilder::finish() {
  std::shared_ptr<const Dictionary> done = std::move(dictionary_);
  *this = DictionaryBuilder();
  return done;
}

const std::vector<std::uint32_t>* Dictionary::folded_codes() const {
  std::call_once(folded_once_, [&] {
    std::vector<std::uint32_t> folded(size());
    DictionaryBuilder builder;
    std::vector<std::uint32_t> first;
    for (std::size_t code = 0; code < size(); ++code) {
      const std::uint32_t of_folded = builder.code(formula::folded(text(code)));
      if (of_folded == first.size()) first.push_back(static_cast<std::uint32_t>(code));
      folded[code] = first[of_folded];
    }
    if (first.size() < size()) folded_ = std::move(folded);
  });
  return folded_.empty() ? nullptr : &folded_;
}

const std::vector<std::uint32_t>& Dictionary::ranks() const {
  std::call_once(ranked_once_, [&] {
    std::vector<std::string> keys(size());
    for (std::size_t code = 0; code < size(); ++code) keys[code] = formula::collation_key(text(code));
    std::vector<std::uint32_t> order(size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; });
    ranks_.resize(size());
    std::uint32_t rank = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i > 0 && keys[order[i]] != keys[order[i - 1]]) ++rank;
      ranks_[order[i]] = rank;
    }
  });
  return ranks_;
}

}  // namespace glmhost::table
