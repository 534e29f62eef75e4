#include "inference/tokenizer/tokenizer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <utility>

#include "inference/error.h"
#include "inference/model_files/error_text.h"
#include "inference/tokenizer/byte_pair_encoder.h"
#include "inference/tokenizer/marker_trie.h"
#include "inference/tokenizer/pre_tokenizer.h"
#include "inference/tokenizer/sentence_piece_encoder.h"
#include "inference/tokenizer/vocabulary.h"

namespace glmhost::tokenizer {
namespace {

using model_files::GgufFile;
using model_files::quoted_path;
using model_files::quoted_text;

[[noreturn]] void throw_unknown_pre_tokenizer(const GgufFile& file, const std::string& name) {
  std::string known;
  for (const PreTokenizer& each : known_pre_tokenizers()) known += (known.empty() ? "" : ", ") + std::string(each.name);
  const std::string has = name.empty() ? " does not say how its text is split into words (tokenizer.ggml.pre)"
                                       : " splits text by the rules " + quoted_text(name) + " (tokenizer.ggml.pre)";
  throw Error(ErrorKind::unsupported, quoted_path(file.path()) + has + ". This version knows " + known +
                                          ": take another model, convert this one again, or take a newer version.");
}

const PreTokenizer& pre_tokenizer_of(const GgufFile& file, const Vocabulary& vocabulary) {
  const PreTokenizer* found = find_pre_tokenizer(vocabulary.pre_tokenizer());
  if (!found) throw_unknown_pre_tokenizer(file, vocabulary.pre_tokenizer());
  return *found;
}

const std::vector<std::string>& texts_of(const GgufFile& file) {
  return *file.get_strings("tokenizer.ggml.tokens");
}

std::unique_ptr<const TextEncoder> make_encoder(const GgufFile& file, const Vocabulary& vocabulary) {
  if (vocabulary.family() == Family::byte_pair) {
    const PreTokenizer& pre_tokenizer = pre_tokenizer_of(file, vocabulary);
    const std::vector<std::string>* merges = file.get_strings("tokenizer.ggml.merges");
    if (!merges) {
      throw Error(ErrorKind::bad_file, quoted_path(file.path()) +
                                           " has a byte-pair tokenizer without its list of merges "
                                           "(tokenizer.ggml.merges): get the file again, or convert the model again.");
    }
    return std::make_unique<BytePairEncoder>(vocabulary, pre_tokenizer, *merges);
  }
  const auto scores = file.get_floats("tokenizer.ggml.scores");
  const auto tokens = static_cast<std::size_t>(vocabulary.size());
  const bool usable = scores && scores->size() == tokens &&
                      std::none_of(scores->begin(), scores->end(), [](float score) { return std::isnan(score); });
  if (!usable) {
    throw Error(ErrorKind::bad_file, quoted_path(file.path()) +
                                         " has a SentencePiece tokenizer without a score for each of its " +
                                         model_files::grouped(tokens) +
                                         " tokens (tokenizer.ggml.scores): get the file again, or convert the model "
                                         "again.");
  }
  const bool space_prefix = file.get_bool("tokenizer.ggml.add_space_prefix").value_or(true);
  return std::make_unique<SentencePieceEncoder>(vocabulary, texts_of(file), *scores, space_prefix);
}

// Bounds the time that one position of a text can cost with a file made to be slow. Real markers are below 100 bytes.
constexpr std::size_t kLongestMarker = 1024;

// The markers that are looked for by the text that the file has for them: those that mark something, or those that are
// a part of plain text (Vocabulary::marker_level gives Markers::none).
MarkerTrie make_markers(const Vocabulary& vocabulary, const std::vector<std::string>& texts, bool plain) {
  std::vector<Marker> markers;
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    const std::string& text = texts[static_cast<std::size_t>(id)];
    if (!vocabulary.is_marker(id) || text.empty() || text.size() > kLongestMarker) continue;
    const Markers level = vocabulary.marker_level(id);
    if ((level == Markers::none) == plain) markers.push_back({text, id, level});
  }
  return MarkerTrie(std::move(markers));
}

bool wants_bos(const GgufFile& file, const Vocabulary& vocabulary) {
  const bool usual = vocabulary.family() == Family::sentence_piece || pre_tokenizer_of(file, vocabulary).add_bos;
  return vocabulary.bos() && file.get_bool("tokenizer.ggml.add_bos_token").value_or(usual);
}

}  // namespace

struct Tokenizer::State {
  explicit State(const GgufFile& file)
      : vocabulary(file),
        encoder(make_encoder(file, vocabulary)),
        markers(make_markers(vocabulary, texts_of(file), false)),
        plain_markers(make_markers(vocabulary, texts_of(file), true)),
        kind(vocabulary.family() == Family::sentence_piece ? "spm" : vocabulary.pre_tokenizer()),
        add_bos(wants_bos(file, vocabulary)) {}

  // Appends the ids of what stands between two markers.
  void encode_plain(std::string_view text, std::vector<TokenId>& ids) const;

  Vocabulary vocabulary;
  std::unique_ptr<const TextEncoder> encoder;
  MarkerTrie markers;
  MarkerTrie plain_markers;
  std::string kind;
  bool add_bos;

  mutable std::once_flag unreachable_once;
  mutable std::int32_t unreachable = 0;
};

void Tokenizer::State::encode_plain(std::string_view text, std::vector<TokenId>& ids) const {
  // Symbols count bytes in 32 bits, and escaping makes three of a space.
  if (text.size() > std::numeric_limits<std::uint32_t>::max() / 4) {
    throw Error(ErrorKind::bad_argument, "The text is " + model_files::byte_count(text.size()) +
                                             " long; at most 1 GiB can be turned into tokens at once.");
  }
  std::size_t position = 0;
  const auto encode_to = [&](std::size_t end) {
    if (end > position) encoder->encode(text.substr(position, end - position), ids);
  };
  while (const auto found = plain_markers.find(text, position, Markers::none)) {
    encode_to(found->begin);
    ids.push_back(found->id);
    position = found->begin + found->length;
  }
  encode_to(text.size());
}

Tokenizer::Tokenizer(const GgufFile& file) : state_(std::make_unique<State>(file)) {}
Tokenizer::~Tokenizer() = default;
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;

std::vector<TokenId> Tokenizer::encode(std::string_view text, Markers markers) const {
  const TextPart part{std::string(text), markers};
  return encode(std::span(&part, 1));
}

std::vector<TokenId> Tokenizer::encode(std::span<const TextPart> parts) const {
  std::vector<TokenId> ids;
  std::string plain;  // since the last marker
  for (const TextPart& part : parts) {
    const std::string_view text = part.text;
    std::size_t position = 0;
    while (const auto found = state_->markers.find(text, position, part.markers)) {
      plain.append(text.substr(position, found->begin - position));
      state_->encode_plain(plain, ids);
      plain.clear();
      ids.push_back(found->id);
      position = found->begin + found->length;
    }
    plain.append(text.substr(position));
  }
  state_->encode_plain(plain, ids);
  return ids;
}

std::string_view Tokenizer::bytes(TokenId id, bool special) const {
  const Vocabulary& vocabulary = state_->vocabulary;
  if (!vocabulary.contains(id)) return {};
  if (!special && (vocabulary.is_control(id) || vocabulary.type(id) == TokenType::unused)) return {};
  return vocabulary.bytes(id);
}

std::string Tokenizer::decode(std::span<const TokenId> ids, bool special) const {
  std::string out;
  for (const TokenId id : ids) out.append(bytes(id, special));
  return out;
}

std::int32_t Tokenizer::vocabulary_size() const {
  return state_->vocabulary.size();
}

std::string_view Tokenizer::kind() const {
  return state_->kind;
}

std::optional<TokenId> Tokenizer::find(std::string_view token_text) const {
  for (const MarkerTrie* markers : {&state_->markers, &state_->plain_markers}) {
    if (const auto id = markers->exact(token_text)) return id;
  }
  return state_->encoder->find(token_text);
}

bool Tokenizer::is_control(TokenId id) const {
  return state_->vocabulary.contains(id) && state_->vocabulary.is_control(id);
}

bool Tokenizer::is_end_of_generation(TokenId id) const {
  const auto ids = end_of_generation();
  return std::binary_search(ids.begin(), ids.end(), id);
}

std::span<const TokenId> Tokenizer::end_of_generation() const {
  return state_->vocabulary.end_of_generation();
}

std::optional<TokenId> Tokenizer::bos() const {
  return state_->vocabulary.bos();
}

std::optional<TokenId> Tokenizer::eos() const {
  return state_->vocabulary.eos();
}

bool Tokenizer::add_bos() const {
  return state_->add_bos;
}

std::int32_t Tokenizer::unreachable_tokens() const {
  std::call_once(state_->unreachable_once, [this] { state_->unreachable = state_->encoder->unreachable_tokens(); });
  return state_->unreachable;
}

}  // namespace glmhost::tokenizer
