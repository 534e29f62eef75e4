#include "inference/architectures/sequence.h"

#include <new>
#include <string>

#include "inference/error.h"

namespace glmhost::architectures {

namespace {
constexpr std::align_val_t kPageAlignment{64};
}

void Sequence::FreePage::operator()(std::byte* page) const {
  ::operator delete(page, kPageAlignment);
}

Sequence::Sequence(const Model& model, std::int64_t max_tokens) : model_(model) {
  const std::int64_t pages = (max_tokens + kernels::kPageTokens - 1) / kernels::kPageTokens;
  for (std::int64_t i = 0; i < pages; ++i) {
    auto* page = static_cast<std::byte*>(::operator new(model.page_bytes(), kPageAlignment, std::nothrow));
    if (page == nullptr) {
      throw Error(ErrorKind::out_of_memory,
                  "The cache for " + std::to_string(max_tokens) + " tokens (" +
                      std::to_string(static_cast<std::uint64_t>(pages) * model.page_bytes() >> 20) +
                      " MiB) does not fit into memory: ask for fewer tokens or close other programs.");
    }
    memory_.emplace_back(page);
    pages_.push_back(page);
  }
}

void Sequence::feed(std::span<const std::int32_t> tokens, Logits wanted, float* logits, Model::Workspace& workspace,
                    kernels::ThreadPool& pool, const LayerObserver* observer) {
  rows_.clear();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool last = i + 1 == tokens.size();
    rows_.push_back(row(tokens[i], length_ + static_cast<std::int64_t>(i),
                        wanted == Logits::all || (wanted == Logits::last && last)));
  }
  model_.forward(rows_, logits, workspace, pool, nullptr, observer);
  length_ += static_cast<std::int64_t>(tokens.size());
}

}  // namespace glmhost::architectures
