#include "inference/generation/kv_pool.h"

#include <algorithm>
#include <string>

#include "inference/error.h"
#include "inference/kernels/page_memory.h"

namespace glmhost::generation {

namespace {

// Pages come in slabs of at least this size, so that the system can give huge pages.
constexpr std::size_t kSlabBytes = std::size_t{8} << 20;

}  // namespace

struct KvPool::State {
  std::size_t page_bytes = 0;
  std::int64_t page_count = 0;
  std::int64_t taken = 0;
  std::int64_t made = 0;  // pages that lie in slabs
  std::vector<kernels::PageMemory> slabs;
  std::vector<std::byte*> free;  // pages of slabs; the last one given back is the first to be taken again

  bool add_slab();
};

bool KvPool::State::add_slab() {
  const auto pages = std::min<std::int64_t>(
      page_count - made, static_cast<std::int64_t>(std::max<std::size_t>(1, kSlabBytes / page_bytes)));
  try {
    slabs.emplace_back(static_cast<std::size_t>(pages) * page_bytes);
  } catch (const Error&) {
    return false;
  }
  made += pages;
  for (std::int64_t i = pages; i-- > 0;) free.push_back(slabs.back().data() + static_cast<std::size_t>(i) * page_bytes);
  return true;
}

KvPool::KvPool(std::size_t page_bytes, std::int64_t page_count) : state_(std::make_unique<State>()) {
  state_->page_bytes = page_bytes;
  state_->page_count = page_count;
  const auto refuse = [&] {
    throw Error(ErrorKind::out_of_memory, "The cache of " + std::to_string(page_count) + " pages of " +
                                              std::to_string(page_bytes) +
                                              " bytes is more than this machine can address: set a smaller kv_bytes.");
  };
  if (page_bytes == 0 || page_count < 1) refuse();
  if (static_cast<std::uint64_t>(page_count) > (std::uint64_t{1} << 47) / page_bytes) refuse();
}

KvPool::~KvPool() = default;

std::byte* KvPool::take() {
  State& s = *state_;
  if (s.taken == s.page_count) return nullptr;
  if (s.free.empty() && !s.add_slab()) return nullptr;
  std::byte* page = s.free.back();
  s.free.pop_back();
  ++s.taken;
  return page;
}

void KvPool::give_back(std::byte* page) {
  --state_->taken;
  state_->free.push_back(page);
}

std::int64_t KvPool::pages() const {
  return state_->page_count;
}
std::int64_t KvPool::free_pages() const {
  return state_->page_count - state_->taken;
}
std::size_t KvPool::page_bytes() const {
  return state_->page_bytes;
}

}  // namespace glmhost::generation
