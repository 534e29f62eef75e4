// A run of cells of one type that is written once; its memory is not cleared before.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace glmhost::table {

template <class T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t size) : cells_(std::make_unique_for_overwrite<T[]>(size)), size_(size) {}

  T* data() { return cells_.get(); }
  const T* data() const { return cells_.get(); }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return cells_[i]; }
  const T& operator[](std::size_t i) const { return cells_[i]; }
  std::span<T> span() { return {cells_.get(), size_}; }
  std::span<const T> span() const { return {cells_.get(), size_}; }

 private:
  std::unique_ptr<T[]> cells_;
  std::size_t size_ = 0;
};

}  // namespace glmhost::table
