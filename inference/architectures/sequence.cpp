#include "inference/architectures/sequence.h"

#include <cstring>

namespace glmhost::architectures {

namespace {
std::int64_t pages_for(std::int64_t tokens) {
  return (tokens + kernels::kPageTokens - 1) / kernels::kPageTokens;
}
}  // namespace

void Sequence::own_pages(std::int64_t count) {
  const std::size_t page_bytes = model_->page_bytes();
  memory_ = kernels::PageMemory(static_cast<std::size_t>(count) * page_bytes);
  for (std::int64_t i = 0; i < count; ++i) pages_.push_back(memory_.data() + static_cast<std::size_t>(i) * page_bytes);
}

Sequence::Sequence(const Model& model, std::int64_t max_tokens) : model_(&model) {
  own_pages(pages_for(max_tokens));
}

Sequence::Sequence(const Sequence& prefix, std::int64_t max_tokens) : model_(prefix.model_), length_(prefix.length_) {
  const std::int64_t whole = prefix.length_ / kernels::kPageTokens;
  pages_.assign(prefix.pages_.begin(), prefix.pages_.begin() + whole);
  own_pages(pages_for(max_tokens) - whole);
  if (prefix.length_ % kernels::kPageTokens != 0) {
    const auto index = static_cast<std::size_t>(whole);
    std::memcpy(pages_[index], prefix.pages_[index], model_->page_bytes());
  }
}

void Sequence::feed(std::span<const std::int32_t> tokens, Logits wanted, float* logits, Model::Workspace& workspace,
                    kernels::ThreadPool& pool, const LayerObserver* observer, std::int64_t prompt_tokens) {
  rows_.clear();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool last = i + 1 == tokens.size();
    rows_.push_back(row(tokens[i], length_ + static_cast<std::int64_t>(i),
                        wanted == Logits::all || (wanted == Logits::last && last)));
    rows_.back().bulk = is_bulk(rows_.back().position, prompt_tokens);
  }
  model_->forward(rows_, logits, workspace, pool, nullptr, observer);
  length_ += static_cast<std::int64_t>(tokens.size());
}

}  // namespace glmhost::architectures
