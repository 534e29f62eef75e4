#include "inference/architectures/sequence.h"

#include <cstring>
#include <new>
#include <string>

#include "inference/error.h"

namespace glmhost::architectures {

namespace {
constexpr std::align_val_t kPageAlignment{64};

std::int64_t pages_for(std::int64_t tokens) {
  return (tokens + kernels::kPageTokens - 1) / kernels::kPageTokens;
}
}  // namespace

void Sequence::FreePage::operator()(std::byte* page) const {
  ::operator delete(page, kPageAlignment);
}

std::byte* Sequence::add_page(std::int64_t max_tokens) {
  auto* page = static_cast<std::byte*>(::operator new(model_->page_bytes(), kPageAlignment, std::nothrow));
  if (page == nullptr) {
    throw Error(ErrorKind::out_of_memory,
                "The cache for " + std::to_string(max_tokens) + " tokens (" +
                    std::to_string(static_cast<std::uint64_t>(pages_for(max_tokens)) * model_->page_bytes() >> 20) +
                    " MiB) does not fit into memory: ask for fewer tokens or close other programs.");
  }
  memory_.emplace_back(page);
  pages_.push_back(page);
  return page;
}

Sequence::Sequence(const Model& model, std::int64_t max_tokens) : model_(&model) {
  for (std::int64_t i = 0; i < pages_for(max_tokens); ++i) add_page(max_tokens);
}

Sequence::Sequence(const Sequence& prefix, std::int64_t max_tokens) : model_(prefix.model_), length_(prefix.length_) {
  const std::int64_t whole = prefix.length_ / kernels::kPageTokens;
  pages_.assign(prefix.pages_.begin(), prefix.pages_.begin() + whole);
  for (std::int64_t i = whole; i < pages_for(max_tokens); ++i) {
    std::byte* page = add_page(max_tokens);
    if (i == whole && prefix.length_ % kernels::kPageTokens != 0) {
      std::memcpy(page, prefix.pages_[static_cast<std::size_t>(whole)], model_->page_bytes());
    }
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
  model_->forward(rows_, logits, workspace, pool, nullptr, observer);
  length_ += static_cast<std::int64_t>(tokens.size());
}

}  // namespace glmhost::architectures
