#include "inference/constraints/memory.h"

#include <algorithm>

namespace glmhost::constraints {
namespace {

constexpr std::uint32_t kBehindAll = 0xFFFFFFFE;  // kPosition once a name came that is not declared

bool seen(const std::vector<std::uint32_t>& data, std::uint32_t label) {
  return (data[Memory::kSeen + label / 32] >> (label % 32) & 1) != 0;
}

// Which properties must still come: the required ones and what those that have come require.
class Missing {
 public:
  Missing(const ObjectForm& form, const std::vector<std::uint32_t>& data) : form_(form), data_(data) {
    missing_.assign(form.properties.size(), false);
    for (std::uint32_t label = 0; label < missing_.size(); ++label) {
      if (form.properties[label].required) require(label);
      if (seen(data, label)) require_dependents(label);
    }
  }

  std::uint32_t count() const { return count_; }
  bool operator[](std::uint32_t label) const { return missing_[label]; }

  // How many more would be missing once LABEL has come.
  std::uint32_t added_by(std::uint32_t label) const {
    if (form_.properties[label].dependents.empty()) return 0;
    Missing after = *this;
    after.require_dependents(label);
    return after.count_ - count_;
  }

 private:
  void require(std::uint32_t label) {
    if (missing_[label] || seen(data_, label)) return;
    missing_[label] = true;
    ++count_;
    require_dependents(label);
  }

  void require_dependents(std::uint32_t label) {
    for (const std::uint32_t dependent : form_.properties[label].dependents) require(dependent);
  }

  const ObjectForm& form_;
  const std::vector<std::uint32_t>& data_;
  std::vector<bool> missing_;
  std::uint32_t count_ = 0;
};

}  // namespace

bool Memory::any_available(std::uint32_t first, std::uint32_t last) const {
  if (first >= last) return false;
  const std::uint32_t first_word = first / 64, last_word = (last - 1) / 64;
  for (std::uint32_t word = first_word; word <= last_word; ++word) {
    std::uint64_t bits = available[word];
    if (word == first_word) bits &= ~0ull << (first % 64);
    if (word == last_word) bits &= ~0ull >> (63 - (last - 1) % 64);
    if (bits != 0) return true;
  }
  return false;
}

bool Memory::any_available() const {
  return std::ranges::any_of(available, [](std::uint64_t bits) { return bits != 0; });
}

std::vector<std::uint32_t> initial_object_data(const ObjectForm& form) {
  return std::vector<std::uint32_t>(Memory::kSeen + (form.properties.size() + 31) / 32, 0);
}

std::vector<std::uint32_t> object_data_with_key(const ObjectForm& form, const Memory& before, std::uint32_t label) {
  std::vector<std::uint32_t> data = before.data;
  // Without an upper bound only the first `least` items count.
  if (form.most != kNone || data[Memory::kItems] < form.least) ++data[Memory::kItems];
  data[Memory::kLabel] = label + 1;
  const bool declared = label < form.properties.size();
  if (declared) data[Memory::kSeen + label / 32] |= 1u << (label % 32);
  if (form.order == ObjectForm::Order::declared) {
    data[Memory::kPosition] = declared ? form.properties[label].position + 1 : kBehindAll;
  }
  return data;
}

void derive(const ObjectForm& form, Memory& memory) {
  const auto& data = memory.data;
  const auto labels = static_cast<std::uint32_t>(form.properties.size());
  memory.available.assign((labels + 63) / 64, 0);
  const Missing missing(form, data);
  memory.can_close = missing.count() == 0 && data[Memory::kItems] >= form.least;
  const bool full = form.most != kNone && data[Memory::kItems] >= form.most;
  if (full) return;
  const bool only_missing = form.most != kNone && data[Memory::kItems] + missing.count() >= form.most;
  const bool ordered = form.order == ObjectForm::Order::declared;
  const bool any_others = std::ranges::any_of(form.others, [](RuleId rule) { return rule != kNone; });

  // With declared order: the first that must come, and how many may come from a position on.
  std::uint32_t first_missing = kNone;
  std::vector<std::uint32_t> rest;
  if (ordered) {
    std::vector<std::uint32_t> at(labels + 1, 0);
    for (std::uint32_t label = 0; label < labels; ++label) {
      const auto& property = form.properties[label];
      if (missing[label]) first_missing = std::min(first_missing, property.position);
      if (property.rule != kNone) at[std::min(property.position, labels)] = 1;
    }
    rest.assign(labels + 2, 0);
    for (std::uint32_t position = labels + 1; position-- > 0;) rest[position] = rest[position + 1] + at[position];
  }

  for (std::uint32_t label = 0; label < labels; ++label) {
    const auto& property = form.properties[label];
    if (property.rule == kNone || seen(data, label)) continue;
    if (only_missing && !missing[label]) continue;
    if (form.most != kNone && !property.dependents.empty()) {
      const std::uint32_t still = missing.count() - (missing[label] ? 1 : 0) + missing.added_by(label);
      if (data[Memory::kItems] + 1 + still > form.most) continue;
    }
    if (ordered) {
      if (property.position < data[Memory::kPosition] || property.position > first_missing) continue;
      const bool too_late = std::ranges::any_of(property.dependents, [&](std::uint32_t dependent) {
        return !seen(data, dependent) && form.properties[dependent].position < property.position;
      });
      if (too_late) continue;
      if (!any_others && data[Memory::kItems] + rest[std::min(property.position, labels)] < form.least) continue;
    }
    memory.available[label / 64] |= std::uint64_t{1} << (label % 64);
  }
  memory.others_available = any_others && !only_missing && !(ordered && missing.count() != 0);
}

}  // namespace glmhost::constraints
