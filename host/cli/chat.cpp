#include <cstdio>
#include <cstdlib>

#include "host/cli/answer.h"
#include "host/cli/command.h"
#include "host/cli/console.h"
#include "host/cli/daemon_access.h"
#include "host/cli/generation_flags.h"
#include "host/cli/json_text.h"
#include "host/cli/line_editor.h"
#include "host/cli/verbs.h"
#include "host/platform/terminal.h"
#include "host/protocol/utf8.h"

namespace glmhost::cli {
namespace {

constexpr CommandText kText = {
    .verb = "chat",
    .words = "",
    .summary = "Have a conversation",
    .details =
        "One line is one message; a backslash at its end continues it on the next line. Ctrl-C cancels an answer, "
        "and ends the conversation between answers; so do Ctrl-D and /exit. /clear forgets what was said, /help "
        "lists the commands; a message that begins with a slash is written with two. On a terminal the keys of a shell "
        "edit "
        "the line: arrows, Home, End, Ctrl-W, Ctrl-R; Up brings earlier lines of this conversation back. Lines that "
        "come through a pipe "
        "are answered one after the other.",
    .examples =
        "  glm chat\n"
        "  glm chat -m glm-4-9b-0414 --system \"Answer in one sentence.\"",
};

constexpr std::string_view kHelp =
    "/clear  forget what was said\n/exit   end (or /quit or Ctrl-D)\n/help   this list\n//...   say what begins with a "
    "slash\n";

// "/Exit " -> "exit"; nothing for a message to the model.
std::optional<std::string> command_in(const std::string& message) {
  const std::size_t begin = message.find_first_not_of(" \t");
  if (begin == std::string::npos || message[begin] != '/' || message.substr(begin).starts_with("//")) {
    return std::nullopt;
  }
  const std::size_t end = message.find_last_not_of(" \t\r\n");
  std::string name = message.substr(begin + 1, end - begin);
  for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return name;
}

// The next message; nothing at the end of the input.
std::optional<std::string> read_message(LineEditor& editor) {
  std::string message;
  while (auto line = editor.read(message.empty() ? "> " : "... ")) {
    if (line->ends_with('\r')) line->pop_back();
    editor.remember(*line);
    const bool continues = line->ends_with('\\');
    if (continues) line->back() = '\n';
    message += *line;
    if (!continues) return message;
  }
  if (message.empty()) return std::nullopt;
  return message;
}

class Conversation {
 public:
  explicit Conversation(const GenerationFlags& flags) : flags_(flags) { clear(); }

  void clear() { messages_ = conversation(flags_.system()); }

  // One turn. An error is told and the message forgotten, so that the person can go on.
  void answer(protocol::Client& client, const std::string& message, Interrupt& interrupt) {
    protocol::Request request = flags_.request();
    messages_.push_back({{"role", "user"}, {"content", message}});
    request.messages = messages_;
    const auto outcome =
        stream_answer(client, request, {.print = true, .show_thinking = flags_.show_thinking()}, interrupt);
    if (const auto* error = std::get_if<protocol::ErrorMessage>(&outcome)) {
      messages_.erase(messages_.size() - 1);
      code_ = exit_code(error->code);
      print_error(error->sentence +
                  (error->code == protocol::ErrorCode::too_large ? " /clear begins a new conversation." : ""));
      return;
    }
    const auto& result = std::get<protocol::Result>(outcome);
    messages_.push_back({{"role", "assistant"}, {"content", result.content}});
    note_early_end(result, request.max_tokens);
  }

  ExitCode last_error() const { return code_; }

 private:
  const GenerationFlags& flags_;
  Json messages_;
  ExitCode code_ = ExitCode::success;
};

ExitCode chat(VerbArguments arguments) {
  Command command(kText);
  GenerationFlags generation;
  generation.add_to(command);
  command.parse(arguments);
  require_utf8(generation.system(), "The text of --system");

  const bool terminal = platform::is_terminal(platform::Stream::in);
  LineEditor editor(terminal && platform::is_terminal(platform::Stream::error));
  Interrupt interrupt;
  const auto client = connect(WithoutDaemon::start);
  Conversation talk(generation);
  if (terminal) print_error("one line is one message; /help lists the commands.");
  while (true) {
    // Reading a line cannot be interrupted everywhere, and nothing is open that needs an orderly end.
    interrupt.on_signal([&editor] {
      editor.restore_terminal();
      std::fputs("\n", stderr);
      std::_Exit(static_cast<int>(ExitCode::cancelled));
    });
    const auto message = read_message(editor);
    interrupt.on_signal({});
    if (!message) break;
    if (message->find_first_not_of(" \t\r\n") == std::string::npos) continue;
    if (const auto name = command_in(*message)) {
      if (*name == "exit" || *name == "quit") break;
      if (*name == "clear") {
        talk.clear();
      } else if (*name == "help") {
        print_error("commands:\n" + std::string(kHelp));
      } else {
        print_error("there is no command /" + *name + "; /help lists them. To say this to the model, begin with //.");
      }
    } else if (!protocol::is_utf8(*message)) {
      print_error("this line is not UTF-8 text and was left out.");
    } else {
      talk.answer(*client, message->starts_with("//") ? message->substr(1) : *message, interrupt);
    }
  }
  if (terminal) std::fputs("\n", stderr);
  // A person has seen the errors; a script needs the code.
  return terminal ? ExitCode::success : talk.last_error();
}

}  // namespace

const Verb kChat = {kText.verb, kText.summary, chat};

}  // namespace glmhost::cli
