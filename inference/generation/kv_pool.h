// The bounded pool of cache pages of one model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace glmhost::generation {

// Pages are taken and given back one by one. Memory is asked for in slabs of several pages (huge pages where the system
// gives them), touched on first use only, and its total never grows past the bound; pages given back are kept for the
// next taker until the pool goes. Not thread-safe: owned by the scheduler's thread.
class KvPool {
 public:
  // page_count pages of page_bytes. Throws Error(out_of_memory) with both numbers when address space is refused.
  KvPool(std::size_t page_bytes, std::int64_t page_count);
  ~KvPool();
  KvPool(const KvPool&) = delete;
  KvPool& operator=(const KvPool&) = delete;

  std::byte* take();  // null when none is free
  void give_back(std::byte* page);

  std::int64_t pages() const;
  std::int64_t free_pages() const;
  std::size_t page_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace glmhost::generation
