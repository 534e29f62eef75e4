#include <optional>

#include "host/cli/command.h"
#include "host/cli/console.h"
#include "host/cli/json_lines.h"
#include "host/cli/json_text.h"
#include "host/cli/model_access.h"
#include "host/cli/verbs.h"
#include "host/platform/terminal.h"
#include "inference/tokenizer/tokenizer.h"

namespace glmhost::cli {
namespace {

constexpr CommandText kText = {
    .verb = "tokenize",
    .words = "[TEXT...]",
    .summary = "Turn text into token ids",
    .details =
        "The text is the words, or a file, or what comes through a pipe. It is taken as bytes, valid UTF-8 or not; no "
        "beginning-of-text token is added. Without --json it prints one id a line with the token's text. --batch takes "
        "one JSON value a line, a string or {\"hex\": \"...\"} for bytes, and prints one JSON array of ids a line; a "
        "line "
        "that is neither becomes {\"error\": \"...\"} there, and the exit code is 2. Empty lines are passed over. A "
        "vocabulary-only file is enough.",
    .examples =
        "  glm tokenize \"Hello world\"\n"
        "  glm tokenize -m glm-4-9b-0414 --text-file notes.txt --json\n"
        "  glm tokenize --markers all \"<|im_start|>user\"\n"
        "  cat notes.txt | glm tokenize --json\n"
        "  echo '{\"hex\": \"ff00\"}' | glm tokenize --batch -",
};

tokenizer::Markers markers_named(const std::string& name) {
  if (name == "all") return tokenizer::Markers::all;
  if (name == "user-defined") return tokenizer::Markers::user_defined;
  return tokenizer::Markers::none;
}

std::optional<int> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

std::optional<std::string> from_hex(std::string_view hex) {
  if (hex.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const auto high = hex_digit(hex[i]);
    const auto low = hex_digit(hex[i + 1]);
    if (!high || !low) return std::nullopt;
    bytes += static_cast<char>(*high * 16 + *low);
  }
  return bytes;
}

// One line of --batch.
std::string parse_line(std::size_t number, std::string_view line) {
  const Json value = Json::parse(line, nullptr, false);
  if (value.is_string()) return value.get<std::string>();
  if (value.is_object() && value.size() == 1 && value.contains("hex") && value["hex"].is_string()) {
    if (const auto bytes = from_hex(value["hex"].get<std::string>())) return *bytes;
  }
  throw Failure(ExitCode::usage, "Line " + std::to_string(number) +
                                     " of the batch is neither a JSON string nor {\"hex\": \"...\"} with pairs of "
                                     "hexadecimal digits.");
}

class Encoder {
 public:
  Encoder(const tokenizer::Tokenizer& tokenizer, tokenizer::Markers markers, bool bos)
      : tokenizer_(tokenizer), markers_(markers), bos_(bos) {}

  std::vector<tokenizer::TokenId> ids(std::string_view text) const {
    auto ids = tokenizer_.encode(text, markers_);
    if (bos_ && tokenizer_.add_bos() && tokenizer_.bos()) ids.insert(ids.begin(), *tokenizer_.bos());
    return ids;
  }

  void print_lines(std::string_view text) const {
    for (const tokenizer::TokenId id : ids(text)) {
      const Json piece = std::string(tokenizer_.bytes(id, true));
      print(std::to_string(id) + "\t" + piece.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
    }
  }

 private:
  const tokenizer::Tokenizer& tokenizer_;
  tokenizer::Markers markers_;
  bool bos_;
};

ExitCode tokenize(VerbArguments arguments) {
  Command command(kText);
  std::string model, markers = "none", file, batch;
  bool json = false, bos = false;
  command.text("-m,--model", model, "MODEL", "A name from `glm models`, or a path to a .gguf file");
  command.choice("--markers", markers, {"none", "user-defined", "all"},
                 "Which markers in the text become their token instead of plain text (none)");
  command.text("--text-file", file, "FILE", "Take the text from a file; - for stdin");
  command.text("--batch", batch, "FILE", "Take one JSON value a line from a file; - for stdin");
  command.flag("--bos", bos, "Put the beginning-of-text token first where the model wants one");
  command.flag("--json", json, "Print {\"ids\": [...]}");
  command.parse(arguments);
  const int sources = static_cast<int>(!command.words().empty()) + (command.given("--text-file") ? 1 : 0) +
                      (command.given("--batch") ? 1 : 0);
  // An empty stdin is what scripts and services have who never meant to give one; --text-file - takes it for a text.
  std::string text;
  if (sources == 0 && !platform::is_terminal(platform::Stream::in)) text = read_standard_input(kMostInput);
  const bool piped = !text.empty();
  if (sources != 1 && !piped) {
    throw Failure(ExitCode::usage,
                  "Give the text in one way: as words, with --text-file, through a pipe, or with --batch.");
  }

  const auto gguf = open_model_file(model);
  const tokenizer::Tokenizer tokenizer(gguf);
  const Encoder encoder(tokenizer, markers_named(markers), bos);
  if (command.given("--batch")) {
    return answer_each_line(read_file_or_input(batch, kMostInput), [&](std::size_t number, std::string_view line) {
      return Json(encoder.ids(parse_line(number, line))).dump();
    });
  }
  if (command.given("--text-file")) {
    text = read_file_or_input(file, kMostInput);
  } else if (!piped) {
    for (const std::string& word : command.words()) text += (text.empty() ? "" : " ") + word;
  }
  if (json) {
    print(Json{{"ids", encoder.ids(text)}}.dump() + "\n");
  } else {
    encoder.print_lines(text);
  }
  return ExitCode::success;
}

}  // namespace

const Verb kTokenize = {kText.verb, kText.summary, tokenize};

}  // namespace glmhost::cli
