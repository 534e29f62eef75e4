#include "excel-addin/table/table.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "excel-addin/formula/text_units.h"

namespace glmhost::table {

const Column& LazyColumn::get(Workers& workers) const {
  if (state_->rows) {
    state_->column = gather(state_->column, *state_->rows, workers);
    state_->rows = nullptr;
  }
  return state_->column;
}

std::optional<std::size_t> Table::find(std::string_view name) const {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (fields_[i].name == name) return i;
    if (!found && formula::equal_without_case(fields_[i].name, name)) found = i;
  }
  return found;
}

void Table::add(std::string name, Column column) {
  if (fields_.empty()) rows_ = column.rows();
  fields_.push_back({std::move(name), LazyColumn(std::move(column))});
}

void Table::set(std::string name, Column column) {
  if (const auto place = find(name)) {
    fields_[*place].column = LazyColumn(std::move(column));
  } else {
    add(std::move(name), std::move(column));
  }
}

Table Table::take(Rows rows, Workers& workers) const {
  Table result(rows.size());
  const auto shared = std::make_shared<const Rows>(std::move(rows));
  std::map<const Rows*, SharedRows> composed;  // columns that wait for the same rows share the new ones
  for (const Field& field : fields_) {
    SharedRows picked = shared;
    if (const SharedRows& waiting = field.column.rows()) {
      SharedRows& known = composed[waiting.get()];
      if (!known) {
        Rows both(shared->size());
        workers.for_blocks(both.size(), [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) {
            both[i] = (*shared)[i] == kNoRow ? kNoRow : (*waiting)[(*shared)[i]];
          }
        });
        known = std::make_shared<const Rows>(std::move(both));
      }
      picked = known;
    }
    result.add(field.name, LazyColumn(field.column.source(), picked));
  }
  return result;
}

Table Table::slice(std::size_t first, std::size_t count, Workers& workers) const {
  first = std::min(first, rows_);
  count = std::min(count, rows_ - first);
  if (first == 0 && count == rows_) return *this;
  Rows rows(count);
  std::iota(rows.begin(), rows.end(), static_cast<std::uint32_t>(first));
  return take(std::move(rows), workers);
}

Table Table::select(const std::vector<std::size_t>& columns) const {
  Table result(rows_);
  for (const std::size_t i : columns) result.fields_.push_back(fields_[i]);
  return result;
}

std::string free_name(const Table& table, std::string name) {
  if (!table.find(name)) return name;
  for (std::size_t n = 2;; ++n) {
    std::string tried = name + "_" + std::to_string(n);
    if (!table.find(tried)) return tried;
  }
}

}  // namespace glmhost::table
