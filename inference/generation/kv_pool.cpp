#include "inference/generation/kv_pool.h"

#include <algorithm>
#include <new>
#include <string>

#include "inference/error.h"

namespace glmhost::generation {

namespace {

constexpr std::align_val_t kAlignment{64};
// Pages that were given back are kept warm up to this much; more goes back to the system.
constexpr std::size_t kKeptBytes = std::size_t{256} << 20;

}  // namespace

struct KvPool::State {
  std::size_t page_bytes;
  std::int64_t page_count;
  std::int64_t taken = 0;
  std::vector<std::byte*> kept;  // allocated, nobody's; the last one given back is the first to be taken again
};

KvPool::KvPool(std::size_t page_bytes, std::int64_t page_count)
    : state_(std::make_unique<State>(State{page_bytes, page_count, 0, {}})) {
  const auto refuse = [&] {
    throw Error(ErrorKind::out_of_memory, "The cache of " + std::to_string(page_count) + " pages of " +
                                              std::to_string(page_bytes) +
                                              " bytes is more than this machine can address: set a smaller kv_bytes.");
  };
  if (page_bytes == 0 || page_count < 1) refuse();
  if (static_cast<std::uint64_t>(page_count) > (std::uint64_t{1} << 47) / page_bytes) refuse();
}

KvPool::~KvPool() {
  for (std::byte* page : state_->kept) ::operator delete(page, kAlignment);
}

std::byte* KvPool::take() {
  State& s = *state_;
  if (s.taken == s.page_count) return nullptr;
  std::byte* page = nullptr;
  if (!s.kept.empty()) {
    page = s.kept.back();
    s.kept.pop_back();
  } else {
    page = static_cast<std::byte*>(::operator new(s.page_bytes, kAlignment, std::nothrow));
    if (page == nullptr) return nullptr;
  }
  ++s.taken;
  return page;
}

void KvPool::give_back(std::byte* page) {
  State& s = *state_;
  --s.taken;
  if ((s.kept.size() + 1) * s.page_bytes <= kKeptBytes) {
    s.kept.push_back(page);
  } else {
    ::operator delete(page, kAlignment);
  }
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
