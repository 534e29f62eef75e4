#include "inference/generation/output_form.h"

#include <algorithm>
#include <utility>

namespace glmhost::generation {
namespace {

constexpr std::string_view kOpen = "<think>";
constexpr std::string_view kClose = "</think>";
constexpr std::size_t kMostForced = 256;  // bytes written in one jump
constexpr std::size_t kMostOpening = 64;
constexpr std::size_t kMostBeginning = 4096;

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

}  // namespace

FormFollower::FormFollower(const OutputForm& form, const tokenizer::Tokenizer& tokenizer)
    : tokenizer_(tokenizer),
      form_(form),
      markers_(form.has_markers ? tokenizer::Markers::user_defined : tokenizer::Markers::none),
      state_(form.constraint) {
  if (form.opening) phase_ = Phase::free;
  if (form.reasoning == OutputForm::Reasoning::begun) begin_reasoning();
  // A model that thinks has a token for it. One that has none would have to be led through the marker's letters, away
  // from an answer that begins with the same ones.
  const auto open = tokenizer.find(kOpen);
  if (form.reasoning == OutputForm::Reasoning::may_come && open) {
    phase_ = Phase::start;
    opening_.push_back(*open);
    for (const std::string_view blank : {"\n", "\n\n"}) {
      if (const auto token = tokenizer.find(blank)) opening_.push_back(*token);
    }
  }
}

void FormFollower::begin_reasoning() {
  phase_ = Phase::reasoning;
  own_mask_.assign(state_.mask().size(), ~constraints::MaskWord{0});
  for (const tokenizer::TokenId end : tokenizer_.end_of_generation()) {
    own_mask_[static_cast<std::size_t>(end) / 64] &= ~(constraints::MaskWord{1} << (end % 64));
  }
}

std::span<const constraints::MaskWord> FormFollower::mask() {
  if (phase_ == Phase::reasoning) return own_mask_;
  if (phase_ == Phase::free || (phase_ == Phase::start && form_.opening)) {
    if (own_mask_.empty()) own_mask_.assign(state_.mask().size(), ~constraints::MaskWord{0});
    return own_mask_;
  }
  const auto form = state_.mask();
  if (phase_ == Phase::form) return form;
  own_mask_.assign(form.begin(), form.end());
  for (const tokenizer::TokenId token : opening_) constraints::set_bit(own_mask_, token);
  return own_mask_;
}

bool FormFollower::accept(tokenizer::TokenId token) {
  if (phase_ == Phase::reasoning) return accept_in_reasoning(token);
  if (phase_ == Phase::start && std::find(opening_.begin(), opening_.end(), token) != opening_.end()) {
    if (token == opening_.front()) {
      begin_reasoning();
    } else {
      opening_.resize(1);  // blanks come once, and <think> behind them
    }
    return true;
  }
  if (phase_ == Phase::free || (phase_ == Phase::start && form_.opening)) {
    if (!accept_free(token)) return false;
    if (phase_ == Phase::start) phase_ = Phase::free;
    return true;
  }
  if (!state_.accept(token)) return false;
  phase_ = Phase::form;
  leave_form();
  return true;
}

bool FormFollower::accept_in_reasoning(tokenizer::TokenId token) {
  if (tokenizer_.is_end_of_generation(token)) return false;
  std::string text = tail_;
  text += tokenizer_.bytes(token, true);
  const std::size_t close = text.find(kClose);
  if (close == std::string::npos) {
    text.erase(0, text.size() - std::min(text.size(), kClose.size() - 1));
    tail_ = std::move(text);
    return true;
  }
  const std::string_view behind = std::string_view(text).substr(close + kClose.size());
  if (form_.opening) {
    const std::string before = std::exchange(tail_, {});
    phase_ = Phase::free;
    if (take_free(behind)) {
      if (phase_ == Phase::free) own_mask_.clear();
      return true;
    }
    phase_ = Phase::reasoning;
    tail_ = before;
    return false;
  }
  if (!is_blank(behind)) {
    constraints::ConstraintState trial = state_;
    if (trial.accept_text(behind) != behind.size()) return false;
    state_ = trial;
  }
  phase_ = Phase::form;
  return true;
}

bool FormFollower::accept_free(tokenizer::TokenId token) {
  if (tokenizer_.is_end_of_generation(token)) return true;
  return take_free(tokenizer_.bytes(token));
}

// False, and no change, when it opens the form and does not go on with it.
bool FormFollower::take_free(std::string_view text) {
  std::string written = tail_;
  written += text;
  if (const std::optional<OutputForm::Opened> opened = form_.opening(written)) {
    const std::string beginning = opened->form + written.substr(opened->end);
    constraints::ConstraintState trial(form_.constraint);
    if (trial.accept_text(beginning) != beginning.size()) return false;
    state_ = trial;
    tail_.clear();
    phase_ = Phase::form;
    leave_form();
    return true;
  }
  if (form_.anywhere) written.erase(0, written.size() - std::min(written.size(), kMostOpening - 1));
  // At the beginning of an answer: from here on it is no longer the beginning.
  if (!form_.anywhere && tail_.size() >= kMostBeginning) return true;
  tail_ = std::move(written);
  return true;
}

void FormFollower::leave_form() {
  if (!form_.anywhere || phase_ != Phase::form || !state_.is_complete()) return;
  phase_ = Phase::free;
  own_mask_.clear();
  tail_.clear();
}

void FormFollower::take_form(std::string_view text) {
  state_.accept_text(text);
  leave_form();
}

bool FormFollower::complete() const {
  return phase_ == Phase::form && state_.is_complete();
}

std::string FormFollower::forced_text() const {
  return phase_ == Phase::form && !state_.ended() ? state_.forced_text(kMostForced) : std::string();
}

std::vector<tokenizer::TokenId> FormFollower::settled_tokens(const std::string& text) const {
  std::vector<tokenizer::TokenId> tokens = tokenizer_.encode(text, markers_);
  // A vocabulary may have no tokens for some bytes.
  if (tokens.empty() || tokenizer_.decode(tokens) != text) return {};
  // A marker is a token of its own whatever follows.
  const std::string_view last = tokenizer_.bytes(tokens.back());
  const bool is_marker =
      form_.has_markers && tokenizer_.encode(last, tokenizer::Markers::none) != std::vector{tokens.back()};
  if (!is_marker) tokens.pop_back();
  return tokens;
}

std::vector<tokenizer::TokenId> FormFollower::opening(std::size_t most) {
  std::vector<tokenizer::TokenId> tokens = settled_tokens(forced_text());
  if (tokens.size() > most) return {};
  take_form(tokenizer_.decode(tokens));
  return tokens;
}

std::vector<tokenizer::TokenId> FormFollower::jump_ahead(tokenizer::TokenId token, std::size_t most) {
  const std::string forced = forced_text();
  if (forced.empty()) return {token};  // as a rule: nothing else may cost time here
  const std::string_view own = tokenizer_.bytes(token);
  // A marker, or a token that the text of which would be written otherwise, stays as it is.
  const bool plain = tokenizer_.encode(own, markers_) == std::vector{token};
  const std::string before(plain ? own : std::string_view());
  std::vector<tokenizer::TokenId> tokens = settled_tokens(before + forced);
  const std::string text = tokenizer_.decode(tokens);
  if (text.size() <= before.size()) return {token};
  if (!plain) tokens.insert(tokens.begin(), token);
  if (tokens.size() > most) return {token};
  take_form(std::string_view(text).substr(before.size()));
  return tokens;
}

}  // namespace glmhost::generation
