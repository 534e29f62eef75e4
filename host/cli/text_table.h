// Columns of text, each as wide as its widest cell.
#pragma once

#include <string>
#include <vector>

namespace glmhost::cli {

class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }  // as many cells as the header
  bool empty() const { return rows_.size() == 1; }
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// Columns that a terminal uses for the text (wide East Asian characters take two).
std::size_t display_width(std::string_view text);

}  // namespace glmhost::cli
