// Named columns of equal length. Copies share the columns.
//
// Picking rows costs nothing at first: a column is gathered when it is first read, and never when it is not (late
// materialisation). One thread at a time may use a table and its copies.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "excel-addin/table/column.h"
#include "excel-addin/table/workers.h"

namespace glmhost::table {

using SharedRows = std::shared_ptr<const Rows>;

class LazyColumn {
 public:
  explicit LazyColumn(Column column) : state_(std::make_shared<State>(State{std::move(column), nullptr})) {}
  LazyColumn(Column source, SharedRows rows)
      : state_(std::make_shared<State>(State{std::move(source), std::move(rows)})) {}

  const Column& get(Workers& workers) const;
  const SharedRows& rows() const { return state_->rows; }  // null: as they are
  const Column& source() const { return state_->column; }

 private:
  struct State {
    Column column;
    SharedRows rows;
  };
  std::shared_ptr<State> state_;
};

struct Field {
  std::string name;
  LazyColumn column;
};

class Table {
 public:
  Table() = default;
  explicit Table(std::size_t rows) : rows_(rows) {}

  std::size_t rows() const { return rows_; }
  std::size_t width() const { return fields_.size(); }
  const std::vector<Field>& fields() const { return fields_; }
  const std::string& name(std::size_t i) const { return fields_[i].name; }
  const Column& column(std::size_t i, Workers& workers) const { return fields_[i].column.get(workers); }

  // The column with the name; case does not count, but one that matches in case too goes before one that does not.
  std::optional<std::size_t> find(std::string_view name) const;

  void add(std::string name, Column column);
  void add(std::string name, LazyColumn column) { fields_.push_back({std::move(name), std::move(column)}); }
  // In the place of the column with the same name, or at the end.
  void set(std::string name, Column column);
  void rename(std::size_t i, std::string name) { fields_[i].name = std::move(name); }

  // These rows in their order; kNoRow is a row of empty cells.
  Table take(Rows rows, Workers& workers) const;
  Table slice(std::size_t first, std::size_t count, Workers& workers) const;
  Table select(const std::vector<std::size_t>& columns) const;

 private:
  std::size_t rows_ = 0;
  std::vector<Field> fields_;
};

// A name that none of the table's columns has: NAME, NAME_2, ...
std::string free_name(const Table& table, std::string name);

}  // namespace glmhost::table
