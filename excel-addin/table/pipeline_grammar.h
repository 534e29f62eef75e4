// The part of the table language that a model may answer a question in, as a GBNF grammar: every text that it allows
// parses, its only names are the table's columns and those of results that the pipeline has made by then, and sums are
// of numbers, years of dates.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace glmhost::table {

// How a pipeline writes the column: amount, [Order Date], or #3 where no name will do. `place` counts from 0.
std::string column_spelling(std::string_view name, std::size_t place);

enum class AskedType { number, date, text, boolean, other };
struct AskedColumn {
  std::string spelling;
  AskedType type = AskedType::other;
};

// Of at least one column.
std::string pipeline_grammar(std::span<const AskedColumn> columns);

// What a model needs to be told of that part of the language; its examples parse under the grammar of their columns.
std::string_view pipeline_primer();

}  // namespace glmhost::table
