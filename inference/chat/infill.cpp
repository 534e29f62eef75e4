#include "inference/chat/infill.h"

#include <algorithm>
#include <array>
#include <optional>

#include "inference/chat/prompt_writer.h"

namespace glmhost::chat {
namespace {

constexpr std::string_view kCodePrefix = "<|code_prefix|>";
constexpr std::string_view kCodeSuffix = "<|code_suffix|>";
constexpr std::string_view kCodeMiddle = "<|code_middle|>";
constexpr std::string_view kGlmBegin = "[gMASK]<sop>";

constexpr int kTries = 4;           // encoding the joined text may give a few tokens more than its parts have
constexpr std::int64_t kSteps = 4;  // in which the beginning of a prefix moves: a quarter of it at a time

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

// The text of the token that the file names by one of KEYS (llama.cpp's, then their older names).
std::string marker(const model_files::GgufFile& file, const tokenizer::Tokenizer& tokenizer,
                   std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    const auto id = file.get_unsigned(key);
    if (!id || *id >= static_cast<std::uint64_t>(tokenizer.vocabulary_size())) continue;
    return std::string(tokenizer.bytes(static_cast<tokenizer::TokenId>(*id), true));
  }
  return {};
}

std::int64_t count(const tokenizer::Tokenizer& tokenizer, std::string_view text) {
  return static_cast<std::int64_t>(tokenizer.encode(text, tokenizer::Markers::none).size());
}

// Where the character begins that holds the byte at POSITION.
std::size_t character_begin(std::string_view text, std::size_t position) {
  while (position > 0 && position < text.size() && (static_cast<unsigned char>(text[position]) & 0xC0) == 0x80) {
    --position;
  }
  return position;
}

// Where token number TOKENS of TEXT begins, in bytes.
std::size_t byte_position(const tokenizer::Tokenizer& tokenizer, std::string_view text, std::int64_t tokens) {
  const std::vector<tokenizer::TokenId> ids = tokenizer.encode(text, tokenizer::Markers::none);
  const auto end = std::min(ids.size(), static_cast<std::size_t>(std::max<std::int64_t>(0, tokens)));
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < end; ++i) bytes += tokenizer.bytes(ids[i], true).size();
  return character_begin(text, std::min(bytes, text.size()));
}

// The last MOST tokens or fewer, from the beginning of a line where there is one near.
std::string keep_end(const tokenizer::Tokenizer& tokenizer, const std::string& text, std::int64_t most) {
  const std::int64_t tokens = count(tokenizer, text);
  if (tokens <= most) return text;
  const std::int64_t step = std::max<std::int64_t>(1, most / kSteps);
  const std::int64_t cut = (tokens - most + step - 1) / step * step;
  const std::size_t begin = byte_position(tokenizer, text, std::min(cut, tokens - 1));
  const std::size_t line = text.find('\n', begin);
  const bool is_near = line != std::string::npos && line + 1 < text.size() && (line - begin) * 2 < text.size() - begin;
  return text.substr(is_near ? line + 1 : begin);
}

std::string keep_begin(const tokenizer::Tokenizer& tokenizer, const std::string& text, std::int64_t most) {
  if (most <= 0) return {};
  if (count(tokenizer, text) <= most) return text;
  const std::size_t end = byte_position(tokenizer, text, most);
  const std::size_t line = end == 0 ? std::string::npos : text.rfind('\n', end - 1);
  return text.substr(0, line != std::string::npos && line * 2 > end ? line + 1 : end);
}

std::string with_line_end(std::string_view text) {
  return std::string(text) + (text.empty() || text.back() == '\n' ? "" : "\n");
}

// Paths and languages stand in one line of a form.
std::string in_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

}  // namespace

std::string_view comment_leader(std::string_view language) {
  constexpr std::array<std::string_view, 20> kHash = {
      "python", "ruby",  "shellscript",  "yaml",       "toml",  "r",   "perl", "perl6",      "makefile", "dockerfile",
      "elixir", "julia", "coffeescript", "powershell", "cmake", "tcl", "nim",  "properties", "ignore",   "awk"};
  constexpr std::array<std::string_view, 5> kDash = {"sql", "lua", "haskell", "ada", "elm"};
  constexpr std::array<std::string_view, 4> kPercent = {"latex", "tex", "erlang", "matlab"};
  constexpr std::array<std::string_view, 4> kSemicolon = {"lisp", "clojure", "scheme", "ini"};
  const auto is_in = [&](const auto& names) { return std::find(names.begin(), names.end(), language) != names.end(); };
  if (is_in(kHash)) return "#";
  if (is_in(kDash)) return "--";
  if (is_in(kPercent)) return "%";
  if (is_in(kSemicolon)) return ";";
  return "//";
}

std::string_view name(InfillForm form) {
  switch (form) {
    case InfillForm::codegeex_4:
      return "codegeex-4";
    case InfillForm::glm:
      return "glm";
    case InfillForm::markers:
      return "markers";
    case InfillForm::prefix_only:
      return "prefix only";
  }
  return "prefix only";
}

InfillTemplate InfillTemplate::of(const model_files::GgufFile& file, const tokenizer::Tokenizer& tokenizer) {
  InfillTemplate result;
  const auto knows = [&](std::string_view text) { return tokenizer.find(text).has_value(); };
  if (knows(kCodePrefix) && knows(kCodeSuffix) && knows(kCodeMiddle)) {
    // Of the models of this architecture only CodeGeeX4 has these markers.
    const bool is_codegeex = file.architecture() == "chatglm" ||
                             lower(file.get_string("general.name").value_or("")).find("codegeex") != std::string::npos;
    result.form_ = is_codegeex ? InfillForm::codegeex_4 : InfillForm::glm;
    result.prefix_ = kCodePrefix;
    result.suffix_ = kCodeSuffix;
    result.middle_ = kCodeMiddle;
    if (knows("[gMASK]") && knows("<sop>")) result.begin_ = kGlmBegin;
    return result;
  }
  result.prefix_ = marker(file, tokenizer, {"tokenizer.ggml.fim_pre_token_id", "tokenizer.ggml.prefix_token_id"});
  result.suffix_ = marker(file, tokenizer, {"tokenizer.ggml.fim_suf_token_id", "tokenizer.ggml.suffix_token_id"});
  result.middle_ = marker(file, tokenizer, {"tokenizer.ggml.fim_mid_token_id", "tokenizer.ggml.middle_token_id"});
  if (!result.prefix_.empty() && !result.suffix_.empty() && !result.middle_.empty()) {
    result.form_ = InfillForm::markers;
  }
  return result;
}

InfillRequest InfillTemplate::cut(InfillRequest request, const tokenizer::Tokenizer& tokenizer,
                                  std::int64_t room) const {
  const auto tokens_of = [&](const InfillRequest& one) {
    return static_cast<std::int64_t>(tokenizer.encode(write(one).parts).size());
  };
  InfillRequest frame = request;  // markers, path and language alone
  frame.prefix = "x";
  frame.suffix.clear();
  frame.context.clear();
  const std::int64_t overhead = tokens_of(frame) + 1;  // and BOS
  const std::int64_t prefix = count(tokenizer, request.prefix);
  const std::int64_t suffix = count(tokenizer, request.suffix);
  std::int64_t left = room - overhead - prefix - suffix;
  std::size_t kept = 0;
  for (; kept < request.context.size(); ++kept) {
    frame.context = {request.context[kept]};
    const std::int64_t cost = tokens_of(frame) - overhead + 1;
    if (cost > left) break;
    left -= cost;
  }
  request.context.resize(kept);
  if (left >= 0) return request;
  room = std::max<std::int64_t>(1, room - overhead);
  // The suffix has a quarter at least: what follows the gap says where to stop.
  request.suffix = keep_begin(tokenizer, request.suffix, std::max(room / 4, room - prefix));
  const std::int64_t most = room - count(tokenizer, request.suffix);
  request.prefix = keep_end(tokenizer, request.prefix, std::max<std::int64_t>(1, most));
  return request;
}

Prompt InfillTemplate::render(const InfillRequest& request, const tokenizer::Tokenizer& tokenizer,
                              std::int64_t budget) const {
  InfillRequest wanted = request;
  if (form_ == InfillForm::prefix_only) wanted.suffix.clear();
  wanted.path = in_one_line(std::move(wanted.path));
  wanted.language = in_one_line(std::move(wanted.language));
  for (InfillPiece& piece : wanted.context) piece.path = in_one_line(std::move(piece.path));
  Prompt prompt;
  std::int64_t room = budget;
  for (int i = 0; i < kTries; ++i) {
    prompt = write(cut(wanted, tokenizer, room));
    const auto tokens = static_cast<std::int64_t>(tokenizer.encode(prompt.parts).size()) + 1;
    if (tokens <= budget || room <= 1) break;
    room -= tokens - budget;
  }
  return prompt;
}

Prompt InfillTemplate::write(const InfillRequest& request) const {
  PromptWriter out;
  out.own(begin_);
  if (form_ == InfillForm::codegeex_4) {
    out.own("<|user|>\n");
    for (const InfillPiece& piece : request.context) {
      out.own("###REFERENCE:\n###PATH:").given(piece.path).own("\n").given(with_line_end(piece.text));
    }
    out.own("###PATH:").given(request.path).own("\n###LANGUAGE:").given(request.language);
    out.own(request.one_line ? "\n###MODE:LINE\n" : "\n###MODE:BLOCK\n");
    out.own(suffix_).given(request.suffix).own(prefix_).given(request.prefix).own(middle_).own("<|assistant|>\n");
    return out.finish();
  }
  const bool has_markers = form_ != InfillForm::prefix_only;
  if (has_markers) out.own(prefix_);
  const std::string leader = std::string(comment_leader(request.language)) + " ";
  for (const InfillPiece& piece : request.context) {
    out.given(leader + piece.path + "\n" + with_line_end(piece.text) + "\n");
  }
  if (!request.path.empty() && (request.prefix.empty() || !request.context.empty())) {
    out.given(leader + request.path + "\n");
  }
  out.given(request.prefix);
  if (has_markers) out.own(suffix_).given(request.suffix).own(middle_);
  return out.finish();
}

}  // namespace glmhost::chat
