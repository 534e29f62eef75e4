#include "vscode-bridge/server/session/check.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>

#include "host/platform/paths.h"
#include "host/settings/settings.h"
#include "vscode-bridge/server/completion/completer.h"
#include "vscode-bridge/server/lsp/message.h"
#include "vscode-bridge/server/session/cursor_place.h"
#include "vscode-bridge/server/session/daemon_link.h"
#include "vscode-bridge/server/session/neighbours.h"
#include "vscode-bridge/server/workspace/uri.h"

namespace glmhost::session {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = 64u << 20;

struct Place {
  std::string file;
  std::optional<documents::Position> position;
};

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value > 0 ? std::optional(value) : std::nullopt;
}

// "a.py:3:7"; a drive's colon is none of the two.
Place parse(const std::string& place) {
  const std::size_t second = place.rfind(':');
  const std::size_t first =
      second == std::string::npos || second == 0 ? std::string::npos : place.rfind(':', second - 1);
  if (first == std::string::npos) return {place, std::nullopt};
  const auto line = number(std::string_view(place).substr(first + 1, second - first - 1));
  const auto column = number(std::string_view(place).substr(second + 1));
  if (!line || !column) return {place, std::nullopt};
  return {place.substr(0, first), documents::Position{*line - 1, *column - 1}};
}

std::string language_of(const fs::path& file) {
  constexpr std::pair<std::string_view, std::string_view> kLanguages[] = {
      {".py", "python"}, {".js", "javascript"}, {".ts", "typescript"},  {".c", "c"},         {".h", "cpp"},
      {".cpp", "cpp"},   {".cc", "cpp"},        {".hpp", "cpp"},        {".rs", "rust"},     {".go", "go"},
      {".java", "java"}, {".rb", "ruby"},       {".sh", "shellscript"}, {".lua", "lua"},     {".sql", "sql"},
      {".html", "html"}, {".css", "css"},       {".json", "json"},      {".md", "markdown"}, {".cs", "csharp"}};
  const std::string extension = platform::to_utf8(file.extension());
  for (const auto& [known, language] : kLanguages) {
    if (known == extension) return std::string(language);
  }
  return extension.empty() ? "" : extension.substr(1);
}

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void print_block(const std::string& title, const std::string& text) {
  print("--- " + title + " (" + std::to_string(text.size()) + " bytes)\n" + text);
  if (text.empty() || text.back() != '\n') print("\n");
}

int fail(const std::string& sentence) {
  std::fprintf(stderr, "glm-language-server: %s\n", sentence.c_str());
  return 1;
}

std::string milliseconds(Clock::duration duration) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f ms", std::chrono::duration<double, std::milli>(duration).count());
  return text;
}

struct Raw {
  std::string text;
  double logprobs = 0;
  std::size_t tokens = 0;
  std::optional<Clock::time_point> first;
  std::optional<StreamDone> done;
  bool cut = false;
};

// Until the model has ended or enough is there.
Raw ask(const completion::Situation& situation, std::vector<completion::Piece> context, const std::string& model) {
  const auto queue = std::make_shared<EventQueue>();
  DaemonLink daemon(queue);
  DaemonLinkOptions options;
  options.model = model;
  daemon.set_options(std::move(options));
  const completion::Extent extent = completion::choose_extent(situation);
  completion::ModelRequest request;
  request.situation = situation;
  request.context = std::move(context);
  request.one_line = extent == completion::Extent::line;
  request.max_tokens =
      request.one_line ? completion::CompleterOptions().line_tokens : completion::CompleterOptions().block_tokens;
  daemon.start(1, request);
  Raw raw;
  while (!raw.done && !raw.cut) {
    const auto event = queue->take(Clock::now() + 60s);
    if (!event) break;
    if (const auto* text = std::get_if<StreamText>(&*event)) {
      if (!raw.first) raw.first = Clock::now();
      raw.text += text->text;
      for (const completion::Token& token : text->tokens) {
        raw.logprobs += static_cast<double>(token.logprob);
        ++raw.tokens;
      }
      raw.cut = completion::find_end(raw.text, extent, situation).has_value();
    } else if (const auto* done = std::get_if<StreamDone>(&*event)) {
      raw.done = *done;
    }
  }
  return raw;
}

}  // namespace

int check(const std::string& place_text) {
  const Place place = parse(place_text);
  std::error_code failure;
  const fs::path file = fs::absolute(platform::path_from_utf8(place.file), failure).lexically_normal();
  if (!fs::is_regular_file(file, failure)) return fail("There is no file " + place.file + ".");
  if (fs::file_size(file, failure) > kMostBytes) return fail("The file " + place.file + " is larger than 64 MiB.");
  std::ifstream in(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in && bytes.empty() && fs::file_size(file, failure) > 0)
    return fail("The file " + place.file + " cannot be read.");

  workspace::Exclusion exclusion;
  exclusion.set_roots({file.parent_path()});
  if (const auto reason = exclusion.reason(file)) {
    print("Nothing would be shown. " + *reason + "\n");
    return 0;
  }
  documents::DocumentStore store;
  const documents::Document& document =
      store.open(workspace::uri_of(file), language_of(file), 1, lsp::valid_text(bytes));
  const std::size_t offset =
      place.position ? document.text.offset(*place.position, documents::PositionEncoding::utf32) : document.text.size();
  const Clock::time_point begun = Clock::now();
  const completion::Situation situation =
      situation_at(store, document, offset, lsp::valid_text(platform::to_utf8(file.filename())));
  if (is_binary(situation)) {
    print("Nothing would be shown. The file is not a text.\n");
    return 0;
  }
  completion::ContextRing ring;
  for (completion::Piece& piece : read_neighbours(file, document.text.text(0, 8192), exclusion))
    ring.add(std::move(piece));
  const std::vector<completion::Piece> context = ring.choose(document.uri, situation.prefix + situation.suffix, 2400);
  const Clock::time_point prepared = Clock::now();

  print("file      " + platform::to_utf8(file) + "\n");
  const documents::Position at = document.text.position(offset, documents::PositionEncoding::utf32);
  print("cursor    line " + std::to_string(at.line + 1) + ", column " + std::to_string(at.character + 1) + "\n");
  print("language  " + (situation.language.empty() ? "unknown" : situation.language) + "\n");
  const completion::Extent extent = completion::choose_extent(situation);
  print(std::string("extent    ") + (extent == completion::Extent::line ? "one line" : "a block") + "\n");
  for (const completion::Piece& piece : context) print_block("context: " + piece.path, piece.text);
  print_block("prefix", situation.prefix);
  print_block("suffix", situation.suffix);

  const Raw raw = ask(situation, context, "");
  const Clock::time_point answered = Clock::now();
  if (!raw.cut && !raw.done) return fail("The daemon did not answer within a minute.");
  if (raw.done && raw.done->failure) return fail(*raw.done->failure);
  print_block("raw answer", raw.text);
  const completion::Finished finished = completion::finish(raw.text, extent, situation, true);
  const double confidence = raw.tokens > 0 ? raw.logprobs / static_cast<double>(raw.tokens) : 0;
  if (finished.verdict != completion::Verdict::shown) {
    print("--- nothing would be shown\n" + std::string(sentence(finished.verdict)) + "\n");
  } else {
    const completion::Placed placed = completion::place(finished.text, situation);
    print_block("what is inserted", placed.insert);
    if (placed.replaced > 0) print("in the place of " + std::to_string(placed.replaced) + " bytes behind the cursor\n");
    if (confidence < completion::CompleterOptions().least_logprob) {
      print("It would not be shown: " + std::string(sentence(completion::Verdict::low_confidence)) + "\n");
    }
  }
  print("--- timings\n");
  print("context and text  " + milliseconds(prepared - begun) + "\n");
  if (raw.first) print("first token       " + milliseconds(*raw.first - prepared) + "\n");
  print("answer            " + milliseconds(answered - prepared) + (raw.cut ? " (stopped: enough was there)" : "") +
        "\n");
  if (raw.done) {
    print("prompt            " + std::to_string(raw.done->prompt_tokens) + " tokens, " +
          std::to_string(raw.done->cached_tokens) + " of them cached\n");
  }
  char text[64];
  std::snprintf(text, sizeof text, "mean logprob      %.2f over %zu tokens\n", confidence, raw.tokens);
  print(text);
  std::fflush(stdout);
  return 0;
}

}  // namespace glmhost::session
