// The flags and words of one verb, on top of CLI11.
//
// Free words (a prompt) are kept out of CLI11's own positionals, which would take "[a, b]" apart and read "-x" behind
// "--" as a flag.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace glmhost::cli {

// Not an error: --help was asked for. The text goes to stdout.
struct HelpRequested {
  std::string text;
};

struct CommandText {
  std::string_view verb;
  std::string_view words;     // "[PROMPT...]"; empty: the verb takes no words
  std::string_view summary;   // one line, in `glm --help` too
  std::string_view details;   // paragraphs after it; may be empty
  std::string_view examples;  // lines
};

class Command {
 public:
  explicit Command(const CommandText& text);
  ~Command();

  // Each adds a flag. `names` as CLI11 writes them: "-m,--model". `what` is the help text. Values are UTF-8 text,
  // except where the placeholder is FILE, FOLDER or MODEL: a path may be any bytes.
  void flag(const std::string& names, bool& value, const std::string& what);
  void text(const std::string& names, std::string& value, const std::string& placeholder, const std::string& what);
  void texts(const std::string& names, std::vector<std::string>& values, const std::string& placeholder,
             const std::string& what);
  void number(const std::string& names, std::int32_t& value, std::int32_t least, std::int32_t most,
              const std::string& what);
  void number(const std::string& names, float& value, float least, float most, const std::string& what);
  void number(const std::string& names, std::uint64_t& value, const std::string& what);
  void choice(const std::string& names, std::string& value, const std::vector<std::string>& choices,
              const std::string& what);

  bool given(const std::string& flag) const;  // "--temperature"

  // Throws HelpRequested, or Failure(usage) with a sentence that names a near flag for one that does not exist.
  void parse(std::span<const std::string> arguments);

  const std::vector<std::string>& words() const { return words_; }

 private:
  struct Value {        // what is known of a flag that takes one
    std::string shown;  // "--max-tokens"
    std::string placeholder;
    bool repeats = false;
  };

  CLI::Option& add_value(CLI::Option& option, const std::string& placeholder, bool repeats = false);
  void check_values(std::span<const std::string> arguments) const;
  const CLI::Option* option_named(const std::string& name) const;
  std::string help() const;
  [[noreturn]] void refuse(const std::string& sentence) const;
  void refuse_unknown_flag(const std::string& argument) const;

  CommandText text_;
  std::unique_ptr<CLI::App> app_;
  std::map<const CLI::Option*, Value> values_;
  std::vector<std::string> words_;
};

}  // namespace glmhost::cli
