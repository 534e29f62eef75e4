// Joins by inequality, as-of and by alike texts.
#include <algorithm>
#include <atomic>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "excel-addin/table/csv_writer.h"
#include "excel-addin/table/joining.h"
#include "excel-addin/table/sorting.h"
#include "excel-addin/table/text_similarity.h"

namespace glmhost::table {
namespace {

bool is_ordered(Compare compare) {
  return compare != Compare::equal && compare != Compare::unequal;
}

// Cells of one class compare with each other: numbers, texts, booleans.
int class_of(Tag tag) {
  if (is_number(tag)) return 1;
  if (tag == Tag::text) return 2;
  return tag == Tag::boolean ? 3 : 0;
}

// A rule's cells as numbers that compare as the cells do.
struct RuleKeys {
  Compare compare = Compare::equal;
  std::vector<std::uint64_t> left, right;
  std::vector<std::uint8_t> left_class, right_class;

  bool holds(std::size_t l, std::size_t r) const {
    if (left_class[l] == 0 || left_class[l] != right_class[r]) return false;  // 0: an empty cell or an error
    switch (compare) {
      case Compare::equal:
        return left[l] == right[r];
      case Compare::unequal:
        return left[l] != right[r];
      case Compare::less:
        return left[l] < right[r];
      case Compare::less_or_equal:
        return left[l] <= right[r];
      case Compare::greater:
        return left[l] > right[r];
      default:
        return left[l] >= right[r];
    }
  }
};

RuleKeys keys_of(const PairRule& rule, Workers& workers) {
  const Column both[] = {rule.left, rule.right};
  const Column all = concatenated(both);
  RuleKeys result;
  result.compare = rule.compare;
  const std::vector<std::uint64_t> keys = sort_keys({all, false}, workers);
  const auto middle = keys.begin() + static_cast<std::ptrdiff_t>(rule.left.rows());
  result.left.assign(keys.begin(), middle);
  result.right.assign(middle, keys.end());
  for (std::size_t i = 0; i < rule.left.rows(); ++i)
    result.left_class.push_back(static_cast<std::uint8_t>(class_of(rule.left.tag(i))));
  for (std::size_t i = 0; i < rule.right.rows(); ++i)
    result.right_class.push_back(static_cast<std::uint8_t>(class_of(rule.right.tag(i))));
  return result;
}

// Partners of the left rows, a run of right rows for each.
struct Partners {
  std::vector<std::uint64_t> offsets;
  Rows rows;
};

JoinedRows assembled(JoinKind kind, const Partners& partners, std::size_t left_rows, std::size_t right_rows,
                     std::size_t most_rows) {
  const bool keeps_left = kind == JoinKind::left || kind == JoinKind::full;
  const bool alone = kind == JoinKind::semi || kind == JoinKind::anti;
  JoinedRows result;
  for (std::size_t row = 0; row < left_rows; ++row) {
    const std::uint64_t begin = partners.offsets[row], end = partners.offsets[row + 1];
    if (alone) {
      if ((end > begin) == (kind == JoinKind::semi)) result.left.push_back(static_cast<std::uint32_t>(row));
      continue;
    }
    for (std::uint64_t i = begin; i < end; ++i) {
      result.left.push_back(static_cast<std::uint32_t>(row));
      result.right.push_back(partners.rows[i]);
    }
    if (begin == end && keeps_left) {
      result.left.push_back(static_cast<std::uint32_t>(row));
      result.right.push_back(kNoRow);
    }
  }
  if (kind == JoinKind::right || kind == JoinKind::full) {
    std::vector<bool> met(right_rows);
    for (const std::uint32_t row : partners.rows) met[row] = true;
    for (std::size_t row = 0; row < right_rows; ++row) {
      if (met[row]) continue;
      result.left.push_back(kNoRow);
      result.right.push_back(static_cast<std::uint32_t>(row));
    }
  }
  check_join_size(static_cast<double>(result.left.size()), most_rows);
  return result;
}

SharedIds ids_of(std::span<const Column> left_keys, std::span<const Column> right_keys, std::size_t left_rows,
                 std::size_t right_rows, Workers& workers) {
  if (!left_keys.empty()) return shared_ids(left_keys, right_keys, left_rows, right_rows, workers);
  SharedIds result;
  result.left = Buffer<std::uint32_t>(left_rows);
  result.right = Buffer<std::uint32_t>(right_rows);
  std::ranges::fill(result.left.span(), 1u);
  std::ranges::fill(result.right.span(), 1u);
  result.space = 2;
  return result;
}

// The right rows of each id, sorted by a key; equal ones in their order.
class SortedRight {
 public:
  SortedRight(const SharedIds& ids, const RuleKeys& rule) : rule_(rule), begins_(ids.space + 1) {
    for (std::size_t row = 0; row < ids.right.size(); ++row) {
      if (counts(ids, row)) ++begins_[ids.right[row] + 1];
    }
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    rows_.resize(begins_.back());
    std::vector<std::uint32_t> next(begins_.begin(), begins_.end() - 1);
    for (std::size_t row = 0; row < ids.right.size(); ++row) {
      if (counts(ids, row)) rows_[next[ids.right[row]]++] = static_cast<std::uint32_t>(row);
    }
    for (std::size_t id = 0; id < ids.space; ++id)
      std::stable_sort(at(begins_[id]), at(begins_[id + 1]), [&](std::uint32_t a, std::uint32_t b) {
        return std::pair(rule.right_class[a], rule.right[a]) < std::pair(rule.right_class[b], rule.right[b]);
      });
  }

  // The rows of the id for which the rule, when it has an order, holds.
  std::span<const std::uint32_t> candidates(std::uint32_t id, std::size_t left_row) const {
    const auto begin = rows_.begin() + begins_[id], end = rows_.begin() + begins_[id + 1];
    const auto own = std::pair(rule_.left_class[left_row], rule_.left[left_row]);
    const auto key = [&](std::uint32_t row) { return std::pair(rule_.right_class[row], rule_.right[row]); };
    const auto class_below = [&](std::uint32_t row, int wanted) { return rule_.right_class[row] < wanted; };
    auto from = std::lower_bound(begin, end, int{own.first}, class_below);
    auto to = std::lower_bound(from, end, own.first + 1, class_below);
    const auto below = [&](std::uint32_t row, const auto& value) { return key(row) < value; };
    const auto above = [&](const auto& value, std::uint32_t row) { return value < key(row); };
    switch (rule_.compare) {
      case Compare::less:
        from = std::upper_bound(from, to, own, above);
        break;
      case Compare::less_or_equal:
        from = std::lower_bound(from, to, own, below);
        break;
      case Compare::greater:
        to = std::lower_bound(from, to, own, below);
        break;
      case Compare::greater_or_equal:
        to = std::upper_bound(from, to, own, above);
        break;
      default:
        break;
    }
    return {rows_.data() + (from - rows_.begin()), static_cast<std::size_t>(to - from)};
  }

 private:
  bool counts(const SharedIds& ids, std::size_t row) const {
    return ids.right[row] != kMatchesNothing && rule_.right_class[row] != 0;
  }
  Rows::iterator at(std::uint32_t place) { return rows_.begin() + place; }

  const RuleKeys& rule_;
  std::vector<std::uint32_t> begins_;
  Rows rows_;
};

}  // namespace

JoinedRows join_rows_where(JoinKind kind, bool nearest, std::span<const Column> left_keys,
                           std::span<const Column> right_keys, std::span<const PairRule> rules, std::size_t left_rows,
                           std::size_t right_rows, std::size_t most_rows, Workers& workers) {
  const SharedIds ids = ids_of(left_keys, right_keys, left_rows, right_rows, workers);
  std::vector<RuleKeys> all;
  for (const PairRule& rule : rules) all.push_back(keys_of(rule, workers));
  // The first rule with an order goes first: it narrows the candidates.
  std::stable_partition(all.begin(), all.end(), [](const RuleKeys& rule) { return is_ordered(rule.compare); });
  const SortedRight right(ids, all[0]);
  const bool checks = all.size() > 1 || all[0].compare == Compare::unequal;
  const auto candidates = [&](std::size_t row) -> std::span<const std::uint32_t> {
    const bool counts = ids.left[row] != kMatchesNothing && all[0].left_class[row] != 0;
    return counts ? right.candidates(ids.left[row], row) : std::span<const std::uint32_t>();
  };

  const std::size_t blocks = (left_rows + Workers::kBlockRows - 1) / Workers::kBlockRows;
  std::vector<std::uint64_t> counts(left_rows + 1);
  const bool alone = kind == JoinKind::semi || kind == JoinKind::anti;
  if (!nearest && !alone && !checks) {
    double total = 0;
    for (std::size_t row = 0; row < left_rows; ++row) total += static_cast<double>(candidates(row).size());
    check_join_size(total, most_rows);
  }
  std::vector<Rows> found(blocks);
  std::atomic<std::size_t> total = 0;
  workers.for_blocks(left_rows, [&](std::size_t begin, std::size_t end) {
    Rows& own = found[begin / Workers::kBlockRows];
    for (std::size_t row = begin; row < end; ++row) {
      workers.check_cancelled();
      const std::size_t before = own.size();
      const auto given = candidates(row);
      if (nearest && !given.empty()) {
        const bool from_below = all[0].compare == Compare::greater || all[0].compare == Compare::greater_or_equal;
        own.push_back(from_below ? given.back() : given.front());
      } else if (!nearest) {
        constexpr std::size_t kCheckEvery = 1 << 16;
        for (std::size_t i = 0; i < given.size(); ++i) {
          if (i % kCheckEvery == kCheckEvery - 1) workers.check_cancelled();
          const auto holds = [&](const RuleKeys& rule) { return rule.holds(row, given[i]); };
          if (checks && !std::ranges::all_of(all, holds)) continue;
          own.push_back(given[i]);
          if (alone) break;
        }
        std::sort(own.begin() + static_cast<std::ptrdiff_t>(before), own.end());
      }
      counts[row + 1] = own.size() - before;
      if (total.fetch_add(own.size() - before) > most_rows) check_join_size(static_cast<double>(total), most_rows);
    }
  });
  Partners partners;
  std::partial_sum(counts.begin(), counts.end(), counts.begin());
  partners.offsets = std::move(counts);
  for (Rows& rows : found) {
    partners.rows.insert(partners.rows.end(), rows.begin(), rows.end());
    rows = {};
  }
  return assembled(kind, partners, left_rows, right_rows, most_rows);
}

namespace {

constexpr std::uint32_t kNoText = 0xFFFFFFFFu;

// Each different text once, in the order of its first row.
struct FoldedTexts {
  std::vector<std::uint32_t> of_row;
  std::vector<std::u32string> texts;
};

FoldedTexts folded_texts(const Column& column) {
  FoldedTexts result;
  std::unordered_map<std::u32string, std::uint32_t> known;
  std::vector<std::uint32_t> of_code(column.type() == ColumnType::text ? column.dictionary()->size() : 0, kNoText);
  for (std::size_t row = 0; row < column.rows(); ++row) {
    if (class_of(column.tag(row)) == 0) {
      result.of_row.push_back(kNoText);
      continue;
    }
    std::uint32_t* const by_code = of_code.empty() ? nullptr : &of_code[column.codes()[row]];
    if (by_code == nullptr || *by_code == kNoText) {
      std::u32string text = folded_for_similarity(shown_text(column.value(row)));
      const auto place = static_cast<std::uint32_t>(result.texts.size());
      const auto [entry, is_new] = known.emplace(text, place);
      if (is_new) result.texts.push_back(std::move(text));
      result.of_row.push_back(entry->second);
      if (by_code != nullptr) *by_code = entry->second;
    } else {
      result.of_row.push_back(*by_code);
    }
  }
  return result;
}

struct Best {
  std::uint32_t row = kNoRow;
  double score = 0;
};

}  // namespace

FuzzyRows join_rows_alike(JoinKind kind, double least_score, const Column& left_text, const Column& right_text,
                          std::span<const Column> left_keys, std::span<const Column> right_keys, std::size_t left_rows,
                          std::size_t right_rows, std::size_t most_rows, Workers& workers) {
  const SharedIds ids = ids_of(left_keys, right_keys, left_rows, right_rows, workers);
  const FoldedTexts left = folded_texts(left_text), right = folded_texts(right_text);
  // Of each id, its different right texts with their first rows; and the different questions (text and id) asked.
  const auto pair_key = [](std::uint32_t id, std::uint32_t text) { return std::uint64_t{id} << 32 | text; };
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> by_id(ids.space);
  std::unordered_map<std::uint64_t, std::uint32_t> first_row;
  for (std::size_t row = 0; row < right_rows; ++row) {
    if (ids.right[row] == kMatchesNothing || right.of_row[row] == kNoText) continue;
    const auto number = static_cast<std::uint32_t>(row);
    if (first_row.emplace(pair_key(ids.right[row], right.of_row[row]), number).second)
      by_id[ids.right[row]].emplace_back(right.of_row[row], number);
  }
  std::unordered_map<std::uint64_t, std::uint32_t> place_of;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> questions;
  std::vector<std::uint32_t> question_of(left_rows, kNoText);
  for (std::size_t row = 0; row < left_rows; ++row) {
    if (ids.left[row] == kMatchesNothing || left.of_row[row] == kNoText) continue;
    const auto place = static_cast<std::uint32_t>(questions.size());
    const auto [entry, is_new] = place_of.emplace(pair_key(ids.left[row], left.of_row[row]), place);
    if (is_new) questions.emplace_back(ids.left[row], left.of_row[row]);
    question_of[row] = entry->second;
  }
  std::vector<Best> answers(questions.size());
  workers.run(questions.size(), [&](std::size_t i) {
    const Similarity similarity(left.texts[questions[i].second]);
    Best best;
    std::size_t compared = 0;
    for (const auto& [text, row] : by_id[questions[i].first]) {
      constexpr std::size_t kCheckEvery = 4096;
      if (++compared % kCheckEvery == 0) workers.check_cancelled();
      const double score = similarity.to(right.texts[text], std::max(least_score, best.score));
      if (score > best.score || (best.row == kNoRow && score >= least_score)) best = {row, score};
    }
    answers[i] = best;
  });
  Partners partners;
  partners.offsets.push_back(0);
  std::vector<double> score_of(left_rows);
  for (std::size_t row = 0; row < left_rows; ++row) {
    if (question_of[row] != kNoText && answers[question_of[row]].row != kNoRow) {
      partners.rows.push_back(answers[question_of[row]].row);
      score_of[row] = answers[question_of[row]].score;
    }
    partners.offsets.push_back(partners.rows.size());
  }
  FuzzyRows result;
  result.rows = assembled(kind, partners, left_rows, right_rows, most_rows);
  for (const std::uint32_t row : result.rows.left) result.scores.push_back(row == kNoRow ? 0 : score_of[row]);
  return result;
}

}  // namespace glmhost::table
