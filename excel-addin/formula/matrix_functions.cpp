#include <algorithm>
#include <cmath>
#include <utility>

#include "excel-addin/formula/arguments.h"
#include "excel-addin/formula/families.h"

namespace glmhost::formula {
namespace {

// A dense matrix, row by row.
struct Matrix {
  std::size_t rows = 0, columns = 0;
  std::vector<double> cells;
  double& operator()(std::size_t row, std::size_t column) { return cells[row * columns + column]; }
  double operator()(std::size_t row, std::size_t column) const { return cells[row * columns + column]; }
};

constexpr std::size_t kMostSide = 2000;  // the work grows with the third power

// Cells that are no numbers are #VALUE!.
Matrix matrix_of(Arguments& a, const Value& value) {
  Matrix matrix{rows_of(value), columns_of(value), {}};
  if (matrix.rows > kMostSide || matrix.columns > kMostSide) {
    a.fail(ErrorCode::value);
    return {};
  }
  for (const Value& cell : cells_of(value)) {
    a.check(cell);
    if (!cell.is_error() && !cell.is_number()) a.fail(ErrorCode::value);
    matrix.cells.push_back(cell.is_number() ? cell.number() : 0);
  }
  return matrix;
}

Value array_of(const Matrix& matrix) {
  Array array(matrix.rows, matrix.columns);
  for (std::size_t i = 0; i < array.size(); ++i) array[i] = finite(matrix.cells[i]);
  return Value(std::move(array));
}

// Makes the left part of `matrix` upper triangular by rows with the largest pivot first; gives the determinant.
double eliminate(Matrix& matrix) {
  double determinant = 1;
  for (std::size_t step = 0; step < matrix.rows; ++step) {
    std::size_t pivot = step;
    for (std::size_t row = step + 1; row < matrix.rows; ++row) {
      if (std::abs(matrix(row, step)) > std::abs(matrix(pivot, step))) pivot = row;
    }
    if (matrix(pivot, step) == 0) return 0;
    if (pivot != step) {
      for (std::size_t column = 0; column < matrix.columns; ++column)
        std::swap(matrix(step, column), matrix(pivot, column));
      determinant = -determinant;
    }
    determinant *= matrix(step, step);
    for (std::size_t row = step + 1; row < matrix.rows; ++row) {
      const double factor = matrix(row, step) / matrix(step, step);
      if (factor == 0) continue;
      for (std::size_t column = step; column < matrix.columns; ++column)
        matrix(row, column) -= factor * matrix(step, column);
    }
  }
  return determinant;
}

Value mdeterm(Arguments& a) {
  Matrix matrix = matrix_of(a, a[0]);
  if (matrix.rows != matrix.columns) a.fail(ErrorCode::value);
  return a.error() ? Value(*a.error()) : finite(eliminate(matrix));
}

Value minverse(Arguments& a) {
  const Matrix matrix = matrix_of(a, a[0]);
  if (matrix.rows != matrix.columns) a.fail(ErrorCode::value);
  if (a.error()) return *a.error();
  const std::size_t size = matrix.rows;
  Matrix wide{size, 2 * size, std::vector<double>(2 * size * size)};
  for (std::size_t row = 0; row < size; ++row) {
    for (std::size_t column = 0; column < size; ++column) wide(row, column) = matrix(row, column);
    wide(row, size + row) = 1;
  }
  if (eliminate(wide) == 0) return ErrorCode::number;
  Matrix inverse{size, size, std::vector<double>(size * size)};
  for (std::size_t row = size; row-- > 0;) {
    for (std::size_t column = 0; column < size; ++column) {
      double rest = wide(row, size + column);
      for (std::size_t k = row + 1; k < size; ++k) rest -= wide(row, k) * inverse(k, column);
      inverse(row, column) = rest / wide(row, row);
    }
  }
  return array_of(inverse);
}

Value mmult(Arguments& a) {
  const Matrix left = matrix_of(a, a[0]), right = matrix_of(a, a[1]);
  if (left.columns != right.rows) a.fail(ErrorCode::value);
  if (a.error()) return *a.error();
  Matrix product{left.rows, right.columns, std::vector<double>(left.rows * right.columns)};
  for (std::size_t row = 0; row < left.rows; ++row) {
    for (std::size_t column = 0; column < right.columns; ++column) {
      CompensatedSum sum;
      for (std::size_t k = 0; k < left.columns; ++k) sum.add(left(row, k) * right(k, column));
      product(row, column) = sum.value();
    }
  }
  return array_of(product);
}

Value munit(Arguments& a) {
  const double size = a.whole(0);
  if (size < 1 || size > static_cast<double>(kMostSide)) return ErrorCode::value;
  const auto n = static_cast<std::size_t>(size);
  if (n * n > a.context().most_cells) return ErrorCode::value;
  Array unit(n, n);
  for (std::size_t i = 0; i < unit.size(); ++i) unit[i] = Value(i / n == i % n ? 1.0 : 0.0);
  return Value(std::move(unit));
}

// How many numbers lie in each bin: up to the first bound, up to the next, ..., above the last.
Value frequency(Arguments& a) {
  const auto numbers = numbers_in(a, a[0]);
  auto bounds = numbers_in(a, a[1]);
  if (a.error()) return *a.error();
  const std::vector<double> written = bounds;
  std::ranges::sort(bounds);
  std::vector<Value> counts(written.size() + 1, Value(0.0));
  const auto count = [&](std::size_t at) { counts[at] = Value(counts[at].number() + 1); };
  for (const double x : numbers) {
    const auto bound = std::ranges::lower_bound(bounds, x);
    // Bounds may stand in any order; each bin stands where its bound was written.
    count(bound == bounds.end() ? written.size()
                                : static_cast<std::size_t>(std::ranges::find(written, *bound) - written.begin()));
  }
  const std::size_t size = counts.size();
  return Value(Array(size, 1, std::move(counts)));
}

// (values, probabilities, lower, [upper])
Value prob(Arguments& a) {
  const double lower = a.number(2), upper = a.has(3) ? a.number(3) : lower;
  const auto values = cells_of(a[0]), probabilities = cells_of(a[1]);
  for (const Value& cell : values) a.check(cell);
  for (const Value& cell : probabilities) a.check(cell);
  if (a.error()) return *a.error();
  if (values.size() != probabilities.size()) return ErrorCode::not_available;
  CompensatedSum inside, all;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i].is_number() || !probabilities[i].is_number()) continue;
    const double p = probabilities[i].number(), x = values[i].number();
    if (p <= 0 || p > 1) return ErrorCode::number;
    all.add(p);
    if (x >= lower && x <= upper) inside.add(p);
  }
  if (std::abs(all.value() - 1) > 1e-7) return ErrorCode::number;
  return finite(inside.value());
}

constexpr Function kFunctions[] = {
    {"MDETERM", "*matrix", "The determinant.", mdeterm},
    {"MINVERSE", "*matrix", "The inverse matrix.", minverse},
    {"MMULT", "*left, *right", "The product of two matrices.", mmult},
    {"MUNIT", "size", "The unit matrix.", munit},
    {"FREQUENCY", "*numbers, *bounds", "How many numbers lie between bounds.", frequency},
    {"PROB", "*values, *probabilities, lower, [upper]", "The probability of a range of values.", prob},
};

}  // namespace

std::span<const Function> matrix_functions() {
  return kFunctions;
}

}  // namespace glmhost::formula
