// The language server: LSP's lifecycle and documents, questions to the completer, and what the user is told.
//
// One thread runs it. It never waits for the daemon or the disk (but for a look at ignore files): events come from the
// queue, answers go out through `write`.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vscode-bridge/server/completion/completer.h"
#include "vscode-bridge/server/completion/context_ring.h"
#include "vscode-bridge/server/documents/document_store.h"
#include "vscode-bridge/server/lsp/message.h"
#include "vscode-bridge/server/session/daemon_link.h"
#include "vscode-bridge/server/session/events.h"
#include "vscode-bridge/server/session/neighbours.h"
#include "vscode-bridge/server/session/settings.h"
#include "vscode-bridge/server/workspace/exclusion.h"

namespace glmhost::session {

class Server {
 public:
  using Write = std::function<void(const std::string& body)>;
  Server(std::shared_ptr<EventQueue> queue, Write write);
  ~Server();

  // Works until the editor says exit, closes its end, or is gone. Returns the process's exit code.
  int run();

 private:
  using Json = lsp::Json;
  struct Pending {  // a question of the editor
    Json id;
    std::string uri;
    bool inline_completion = true;
    std::int64_t version = 0;
    Clock::time_point asked{};
  };
  struct Focus {  // what a document's prompts have in common for a while
    std::vector<completion::Piece> context;
    Clock::time_point chosen{};
    std::optional<std::string> exclusion;
    Clock::time_point exclusion_checked{};
  };

  void handle(Event event);
  void handle(const lsp::Frame& frame);
  void handle(const lsp::Request& request);
  void handle(const lsp::Notification& notification);
  void answer_request(const lsp::Request& request);
  void notified(const std::string& method, const Json& params);

  Json initialize(const Json& params);
  void configure(const Json& settings);
  void open(const Json& params);
  void change(const Json& params);
  void change_text(documents::Document& document, const Json& changes);
  void close(const Json& params);
  void open_notebook(const Json& params);
  void change_notebook(const Json& params);
  void cancel(const Json& params);
  void complete(const lsp::Request& request, bool inline_completion);
  void nothing(const Json& id, const std::string& uri, completion::Verdict verdict, std::string detail);
  void answered(const completion::Answer& answer);
  Json inline_items(const documents::Document& document, std::size_t offset, const completion::Answer& answer) const;
  Json completion_items(const documents::Document& document, std::size_t offset,
                        const completion::Answer& answer) const;

  std::optional<std::string> why_not(const documents::Document& document);  // a sentence
  std::string shown_path(const std::string& uri) const;
  void visit(documents::Document& document, std::size_t offset);
  const std::vector<completion::Piece>& context_for(const documents::Document& document,
                                                    const completion::Situation& situation);
  void tell_status(bool always = false);
  Json statistics() const;
  bool editor_is_gone() const;

  std::shared_ptr<EventQueue> queue_;
  Write write_;
  DaemonLink daemon_;
  NeighbourReader neighbours_;
  completion::Completer completer_;
  completion::ContextRing ring_;
  documents::DocumentStore store_;
  workspace::Exclusion exclusion_;
  EditorSettings settings_;
  DaemonState state_;
  documents::PositionEncoding encoding_ = documents::PositionEncoding::utf16;
  std::vector<std::filesystem::path> roots_;

  enum class Phase { created, initialized, shut_down };
  Phase phase_ = Phase::created;
  std::optional<int> exit_code_;
  std::uint32_t editor_pid_ = 0;

  completion::QuestionId last_question_ = 0;
  std::map<completion::QuestionId, Pending> pending_;
  std::map<std::string, Focus> focus_;
  std::string place_uri_;  // where the user is
  std::size_t place_line_ = 0;
  std::map<std::string, bool> paused_;  // documents
  bool paused_everywhere_ = false;
  std::string last_reason_;  // why nothing was shown
  std::string last_reason_code_;
  Json told_;                        // the status last sent
  std::uint64_t prompt_tokens_ = 0;  // of answers that the model has ended
  std::uint64_t cached_tokens_ = 0;
  std::uint64_t generated_tokens_ = 0;
  std::uint64_t ended_streams_ = 0;
  double tokens_per_second_ = 0;
};

}  // namespace glmhost::session
