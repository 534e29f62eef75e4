#include "vscode-bridge/server/session/server.h"

#include <algorithm>
#include <utility>

#include "host/platform/paths.h"
#include "host/platform/process.h"
#include "vscode-bridge/server/lsp/sync.h"
#include "vscode-bridge/server/session/cursor_place.h"
#include "vscode-bridge/server/workspace/uri.h"

namespace glmhost::session {
namespace {

using namespace std::chrono_literals;
using lsp::ErrorCode;
using lsp::InvalidParams;
using lsp::Json;

constexpr auto kEditorCheck = 2s;

completion::CompleterOptions completer_options(const EditorSettings& settings) {
  completion::CompleterOptions options;
  options.least_logprob = settings.least_logprob;
  options.ahead = settings.ahead;
  options.alternatives = settings.alternatives;
  return options;
}

}  // namespace

Server::Server(std::shared_ptr<EventQueue> queue, Write write)
    : queue_(std::move(queue)),
      write_(std::move(write)),
      daemon_(queue_),
      neighbours_(queue_),
      completer_(daemon_, [this](const completion::Answer& answer) { answered(answer); }) {}

Server::~Server() = default;

int Server::run() {
  Clock::time_point editor_check = Clock::now() + kEditorCheck;
  while (!exit_code_) {
    Clock::time_point until = editor_check;
    if (const auto next = completer_.next_wake()) until = std::min(until, *next);
    if (auto event = queue_->take(until)) handle(*std::move(event));
    const Clock::time_point now = Clock::now();
    completer_.wake(now);
    if (now < editor_check) continue;
    editor_check = now + kEditorCheck;
    if (editor_is_gone()) return 1;
  }
  return *exit_code_;
}

bool Server::editor_is_gone() const {
  return editor_pid_ != 0 && !platform::process_is_alive(editor_pid_);
}

void Server::handle(Event event) {
  if (const auto* frame = std::get_if<lsp::Frame>(&event)) {
    handle(*frame);
  } else if (std::holds_alternative<InputEnded>(event)) {
    exit_code_ = phase_ == Phase::shut_down ? 0 : 1;
  } else if (const auto* text = std::get_if<StreamText>(&event)) {
    completer_.text(text->id, text->text, text->tokens, Clock::now());
  } else if (auto* done = std::get_if<StreamDone>(&event)) {
    daemon_.forget(done->id);
    if (done->failure) {
      daemon_.want_model();  // the daemon may be gone, or have put the model away
    } else {
      prompt_tokens_ += done->prompt_tokens;
      cached_tokens_ += done->cached_tokens;
      generated_tokens_ += done->generated_tokens;
      ++ended_streams_;
      if (done->generated_tokens > 1 && done->decode_ms > 0) {
        tokens_per_second_ = 1000.0 * (done->generated_tokens - 1) / done->decode_ms;
      }
    }
    completer_.done(done->id, done->failure, Clock::now());
  } else if (const auto* state = std::get_if<DaemonState>(&event)) {
    state_ = *state;
    tell_status();
  } else if (auto* read = std::get_if<NeighboursRead>(&event)) {
    for (completion::Piece& piece : read->pieces) ring_.add(std::move(piece));
  }
}

void Server::handle(const lsp::Frame& frame) {
  if (const auto* error = std::get_if<lsp::FrameError>(&frame)) {
    return write_(lsp::error_text(nullptr, ErrorCode::parse_error, error->sentence));
  }
  const lsp::Message message = lsp::parse(std::get<std::string>(frame));
  if (const auto* request = std::get_if<lsp::Request>(&message)) {
    handle(*request);
  } else if (const auto* notification = std::get_if<lsp::Notification>(&message)) {
    handle(*notification);
  } else if (const auto* malformed = std::get_if<lsp::Malformed>(&message)) {
    write_(lsp::error_text(malformed->id, malformed->code, malformed->sentence));
  }
  // Responses: nothing of ours waits for one.
}

void Server::handle(const lsp::Request& request) {
  try {
    if (phase_ == Phase::shut_down) {
      return write_(lsp::error_text(request.id, ErrorCode::invalid_request, "The server was told to shut down."));
    }
    if (request.method == "initialize") {
      if (phase_ != Phase::created) {
        return write_(lsp::error_text(request.id, ErrorCode::invalid_request, "The server is initialized already."));
      }
      return write_(lsp::result_text(request.id, initialize(request.params)));
    }
    if (phase_ == Phase::created) {
      return write_(
          lsp::error_text(request.id, ErrorCode::server_not_initialized, "The first request must be \"initialize\"."));
    }
    answer_request(request);
  } catch (const InvalidParams& error) {
    write_(lsp::error_text(request.id, ErrorCode::invalid_params, error.what()));
  } catch (const std::exception& error) {
    write_(lsp::error_text(request.id, ErrorCode::internal_error, error.what()));
  }
}

void Server::answer_request(const lsp::Request& request) {
  const std::string& method = request.method;
  if (method == "textDocument/inlineCompletion") return complete(request, true);
  if (method == "textDocument/completion") return complete(request, false);
  if (method == "shutdown") {
    phase_ = Phase::shut_down;
    return write_(lsp::result_text(request.id, nullptr));
  }
  if (method == "workspace/executeCommand" || method == "glm/retry") {
    if (method == "glm/retry") daemon_.want_model();
    return write_(lsp::result_text(request.id, nullptr));
  }
  if (method == "glm/startDaemon") {
    daemon_.start_daemon();
    return write_(lsp::result_text(request.id, nullptr));
  }
  if (method == "glm/pause") {
    const bool pause = lsp::flag_or(request.params, "paused", true);
    const std::string uri = lsp::text_or(request.params, "uri", "");
    if (uri.empty()) {
      paused_everywhere_ = pause;
    } else {
      paused_[uri] = pause;
    }
    tell_status();
    return write_(lsp::result_text(request.id, nullptr));
  }
  if (method == "glm/why") {
    const std::string uri = lsp::text_or(request.params, "uri", "");
    const documents::Document* const document = store_.find(uri);
    const auto reason = document != nullptr ? why_not(*document) : std::nullopt;
    return write_(
        lsp::result_text(request.id, {{"reason", reason.value_or(last_reason_)}, {"code", last_reason_code_}}));
  }
  if (method == "glm/statistics") return write_(lsp::result_text(request.id, statistics()));
  write_(lsp::error_text(request.id, ErrorCode::method_not_found, "The method " + method + " is not known."));
}

void Server::handle(const lsp::Notification& notification) {
  if (notification.method == "exit") {
    exit_code_ = phase_ == Phase::shut_down ? 0 : 1;
    return;
  }
  if (phase_ != Phase::initialized) return;
  try {
    notified(notification.method, notification.params);
  } catch (const std::exception& error) {
    // Nobody can be answered; the editor's log is where a person would look.
    write_(lsp::notification_text("window/logMessage",
                                  {{"type", 2}, {"message", notification.method + ": " + error.what()}}));
  }
}

void Server::notified(const std::string& method, const Json& params) {
  if (method == "textDocument/didChange") return change(params);
  if (method == "$/cancelRequest") return cancel(params);
  if (method == "textDocument/didOpen") return open(params);
  if (method == "textDocument/didClose") return close(params);
  if (method == "notebookDocument/didOpen") return open_notebook(params);
  if (method == "notebookDocument/didChange") return change_notebook(params);
  if (method == "notebookDocument/didClose") {
    store_.close_notebook(lsp::text_field(lsp::object_field(params, "notebookDocument"), "uri"));
    for (const Json& cell : lsp::array_field(params, "cellTextDocuments")) close({{"textDocument", cell}});
    return;
  }
  if (method == "workspace/didChangeConfiguration") {
    const Json* const all = lsp::find_object(params, "settings");
    if (all == nullptr) return;
    const Json* const own = lsp::find_object(*all, "glm");
    return configure(own != nullptr ? *own : *all);
  }
  if (method == "workspace/didChangeWorkspaceFolders") {
    const Json& event = lsp::object_field(params, "event");
    for (const Json& folder : lsp::array_field(event, "removed")) {
      if (const auto path = workspace::path_of(lsp::text_field(folder, "uri"))) std::erase(roots_, *path);
    }
    for (const Json& folder : lsp::array_field(event, "added")) {
      if (const auto path = workspace::path_of(lsp::text_field(folder, "uri"))) roots_.push_back(*path);
    }
    exclusion_.set_roots(roots_);
    neighbours_.configure(roots_, settings_.exclude);
    focus_.clear();
  }
}

Json Server::initialize(const Json& params) {
  if (!params.is_object()) throw InvalidParams("The params of initialize must be an object.");
  phase_ = Phase::initialized;
  editor_pid_ =
      static_cast<std::uint32_t>(std::clamp<std::int64_t>(lsp::number_or(params, "processId", 0), 0, UINT32_MAX));
  const Json capabilities = params.value("capabilities", Json::object());
  const Json* const general = lsp::find_object(capabilities, "general");
  if (general != nullptr && general->contains("positionEncodings") && (*general)["positionEncodings"].is_array()) {
    for (const Json& one : (*general)["positionEncodings"]) {
      if (one == "utf-8") encoding_ = documents::PositionEncoding::utf8;
    }
  }
  if (const auto folders = params.find("workspaceFolders"); folders != params.end() && folders->is_array()) {
    for (const Json& folder : *folders) {
      if (const auto path = workspace::path_of(lsp::text_or(folder, "uri", ""))) roots_.push_back(*path);
    }
  }
  if (roots_.empty()) {
    if (const auto path = workspace::path_of(lsp::text_or(params, "rootUri", ""))) roots_.push_back(*path);
  }
  exclusion_.set_roots(roots_);
  configure(params.value("initializationOptions", Json::object()));
  daemon_.watch();

  const Json* const text_document = lsp::find_object(capabilities, "textDocument");
  const bool knows_inline = text_document != nullptr && text_document->contains("inlineCompletion");
  Json server = {
      {"positionEncoding", name(encoding_)},
      {"textDocumentSync", {{"openClose", true}, {"change", 2}, {"save", false}}},
      {"notebookDocumentSync", {{"notebookSelector", {{{"notebook", "*"}, {"cells", {{{"language", "*"}}}}}}}}},
      {"inlineCompletionProvider", true},
      {"executeCommandProvider", {{"commands", {"glm.accepted"}}}},
      {"workspace", {{"workspaceFolders", {{"supported", true}, {"changeNotifications", true}}}}},
  };
  // An editor that shows ghost text would otherwise show the same text in its list too.
  if (!knows_inline) server["completionProvider"] = Json::object();
  return {{"capabilities", std::move(server)},
          {"serverInfo", {{"name", "glm-language-server"}, {"version", GLMHOST_VERSION}}}};
}

void Server::configure(const Json& settings) {
  settings_ = read_settings(settings);
  completer_.set_options(completer_options(settings_));
  exclusion_.set_patterns(settings_.exclude);
  neighbours_.configure(roots_, settings_.exclude);
  focus_.clear();
  DaemonLinkOptions options;
  options.model = settings_.model;
  options.may_start = settings_.start_daemon;
  if (!settings_.glm_path.empty()) options.glm = platform::path_from_utf8(settings_.glm_path);
  daemon_.set_options(std::move(options));
  tell_status();
}

std::string Server::shown_path(const std::string& uri) const {
  const auto path = workspace::path_of(uri);
  if (!path) return {};
  for (const auto& root : roots_) {
    const std::filesystem::path inside = path->lexically_relative(root);
    if (!inside.empty() && *inside.begin() != "..") return lsp::valid_text(platform::to_utf8(inside));
  }
  return lsp::valid_text(platform::to_utf8(path->filename()));
}

// --- context of other files

void Server::visit(documents::Document& document, std::size_t offset) {
  const std::size_t line = document.text.position(offset, documents::PositionEncoding::utf8).line;
  const bool is_same_place =
      place_uri_ == document.uri && place_line_ / completion::kBlockLines == line / completion::kBlockLines;
  if (!is_same_place) {
    documents::Document* const left = store_.find(place_uri_);
    if (left != nullptr && !why_not(*left)) ring_.visit(piece_at(*left, place_line_, shown_path(left->uri)));
    if (place_uri_ != document.uri) focus_[document.uri].chosen = {};
  }
  place_uri_ = document.uri;
  place_line_ = line;
}

const std::vector<completion::Piece>& Server::context_for(const documents::Document& document,
                                                          const completion::Situation& situation) {
  constexpr auto kChoiceLasts = 60s;
  constexpr std::size_t kContextBytes = 2400;
  constexpr std::size_t kNearBytes = 1500;
  Focus& focus = focus_[document.uri];
  const Clock::time_point now = Clock::now();
  if (!settings_.other_files) {
    focus.context.clear();
  } else if (focus.chosen == Clock::time_point{} || now - focus.chosen > kChoiceLasts) {
    const std::string& prefix = situation.prefix;
    const std::string near =
        prefix.substr(prefix.size() - std::min(prefix.size(), kNearBytes)) + situation.suffix.substr(0, kNearBytes / 2);
    focus.context = ring_.choose(document.uri, near, kContextBytes);
    focus.chosen = now;
  }
  return focus.context;
}

// --- completions

std::optional<std::string> Server::why_not(const documents::Document& document) {
  constexpr auto kVerdictLasts = 2s;
  if (!settings_.enabled) return "Completions are turned off by the setting glm.enabled.";
  if (paused_everywhere_) return "Completions are paused.";
  if (const auto paused = paused_.find(document.uri); paused != paused_.end() && paused->second) {
    return "Completions are paused in this file.";
  }
  const auto& off = settings_.languages_off;
  if (std::find(off.begin(), off.end(), document.language) != off.end()) {
    return "Completions are turned off for the language " + document.language +
           " by the setting glm.disabledLanguages.";
  }
  Focus& focus = focus_[document.uri];
  const Clock::time_point now = Clock::now();
  if (focus.exclusion_checked == Clock::time_point{} || now - focus.exclusion_checked > kVerdictLasts) {
    const auto path = workspace::path_of(document.uri);
    focus.exclusion = path ? exclusion_.reason(*path) : std::nullopt;
    focus.exclusion_checked = now;
  }
  return focus.exclusion;
}

void Server::nothing(const Json& id, const std::string& uri, completion::Verdict verdict, std::string detail) {
  last_reason_ = detail.empty() ? std::string(sentence(verdict)) : std::move(detail);
  last_reason_code_ = name(verdict);
  write_(lsp::result_text(id, nullptr));
  if (verdict != completion::Verdict::superseded) {
    write_(
        lsp::notification_text("glm/nothing", {{"uri", uri}, {"code", last_reason_code_}, {"reason", last_reason_}}));
  }
}

void Server::complete(const lsp::Request& request, bool inline_completion) {
  const Json& params = request.params;
  const std::string uri = lsp::text_field(lsp::object_field(params, "textDocument"), "uri");
  const documents::Position position = lsp::read_position(lsp::object_field(params, "position"));
  const Json* const context = lsp::find_object(params, "context");
  // A plain completion is asked for by a key or a trigger; ghost text says which.
  const bool is_explicit = inline_completion && context != nullptr && lsp::number_or(*context, "triggerKind", 2) == 1;
  documents::Document* const document = store_.find(uri);
  if (document == nullptr) {
    return nothing(request.id, uri, completion::Verdict::unavailable, "The document is not open.");
  }
  if (auto reason = why_not(*document)) {
    return nothing(request.id, uri, completion::Verdict::unavailable, *std::move(reason));
  }
  const std::size_t offset = document->text.offset(position, encoding_);
  visit(*document, offset);
  completion::Question question;
  question.situation = situation_at(store_, *document, offset, shown_path(uri));
  if (is_binary(question.situation)) {
    return nothing(request.id, uri, completion::Verdict::unavailable, "The file is not a text.");
  }
  if (state_.kind != DaemonState::Kind::ready) daemon_.want_model();
  const bool can_ask = state_.kind == DaemonState::Kind::ready || state_.kind == DaemonState::Kind::unknown ||
                       state_.kind == DaemonState::Kind::idle;
  if (!can_ask) {
    return nothing(request.id, uri, completion::Verdict::unavailable,
                   state_.kind == DaemonState::Kind::loading ? "The model is being loaded." : state_.message);
  }
  question.context = context_for(*document, question.situation);
  question.is_explicit = is_explicit;
  question.id = ++last_question_;
  const Clock::time_point now = Clock::now();
  pending_[question.id] = {request.id, uri, inline_completion, document->version, now};
  completer_.ask(std::move(question), now);
}

void Server::cancel(const Json& params) {
  const auto id = params.is_object() ? params.find("id") : params.end();
  if (!params.is_object() || id == params.end()) return;
  for (const auto& [question, pending] : pending_) {
    if (pending.id != *id) continue;
    const completion::QuestionId cancelled = question;
    write_(lsp::error_text(*id, ErrorCode::request_cancelled, "The request was cancelled."));
    pending_.erase(cancelled);
    completer_.cancel(cancelled, Clock::now());
    return;
  }
}

void Server::answered(const completion::Answer& answer) {
  const auto found = pending_.find(answer.id);
  if (found == pending_.end()) return;
  const Pending pending = std::move(found->second);
  pending_.erase(found);
  documents::Document* const document = store_.find(pending.uri);
  if (answer.items.empty() || document == nullptr) {
    return nothing(pending.id, pending.uri, answer.verdict, answer.detail);
  }
  // Its ranges are those of a text that is no more.
  if (document->version != pending.version) {
    return nothing(pending.id, pending.uri, completion::Verdict::superseded, {});
  }
  last_reason_ = sentence(completion::Verdict::shown);
  last_reason_code_ = name(completion::Verdict::shown);
  const Json items = pending.inline_completion ? inline_items(*document, answer.cursor, answer)
                                               : completion_items(*document, answer.cursor, answer);
  write_(lsp::result_text(pending.id, items));
}

Json Server::inline_items(const documents::Document& document, std::size_t offset,
                          const completion::Answer& answer) const {
  const std::string line_end = line_end_of(document);
  const documents::Position start = document.text.position(offset, encoding_);
  Json items = Json::array();
  for (const completion::Placed& placed : answer.items) {
    const documents::Position end = document.text.position(offset + placed.replaced, encoding_);
    items.push_back({{"insertText", with_line_ends(placed.insert, line_end)},
                     {"range", lsp::write_range(start, end)},
                     {"command", {{"title", "GLM"}, {"command", "glm.accepted"}, {"arguments", {document.uri}}}}});
  }
  return {{"items", std::move(items)}};
}

Json Server::completion_items(const documents::Document& document, std::size_t offset,
                              const completion::Answer& answer) const {
  const std::string line_end = line_end_of(document);
  const std::size_t line = document.text.line_begin(document.text.position(offset, encoding_).line);
  const std::string before = document.text.text(line, offset);
  std::size_t word = before.size();
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  while (word > 0 && is_word(before[word - 1])) --word;
  Json items = Json::array();
  for (const completion::Placed& placed : answer.items) {
    const std::string text = with_line_ends(before.substr(word) + placed.insert, line_end);
    std::string label = text.substr(0, text.find_first_of("\r\n"));
    if (label.size() < text.size()) label += " ...";
    const documents::Position start = document.text.position(line + word, encoding_);
    const documents::Position end = document.text.position(offset + placed.replaced, encoding_);
    items.push_back({{"label", label},
                     {"kind", 1},
                     {"detail", "GLM"},
                     {"filterText", text},
                     {"textEdit", {{"range", lsp::write_range(start, end)}, {"newText", text}}}});
  }
  return {{"isIncomplete", true}, {"items", std::move(items)}};
}

// --- what the user is told

void Server::tell_status(bool always) {
  if (phase_ != Phase::initialized) return;
  std::string state;
  switch (state_.kind) {
    case DaemonState::Kind::unknown:
      state = "starting";
      break;
    case DaemonState::Kind::no_daemon:
      state = "noDaemon";
      break;
    case DaemonState::Kind::idle:
      state = "idle";
      break;
    case DaemonState::Kind::loading:
      state = "loading";
      break;
    case DaemonState::Kind::ready:
      state = "ready";
      break;
    case DaemonState::Kind::failed:
      state = "failed";
      break;
  }
  if (!settings_.enabled) state = "off";
  if (paused_everywhere_) state = "paused";
  Json status = {{"state", state},
                 {"message", state_.message},
                 {"model", state_.model},
                 {"loadPercent", static_cast<int>(state_.load_fraction * 100)},
                 {"tokensPerSecond", static_cast<int>(tokens_per_second_)},
                 {"queue", {{"waiting", state_.waiting}, {"running", state_.running}}}};
  if (!always && status == told_) return;
  told_ = status;
  write_(lsp::notification_text("glm/status", status));
}

Json Server::statistics() const {
  const completion::CompleterCounters& c = completer_.counters();
  return {{"questions", c.questions},
          {"typedAlong", c.typed_along},
          {"fromStream", c.from_stream},
          {"fromCache", c.from_cache},
          {"fromModel", c.from_model},
          {"nothing", c.nothing},
          {"superseded", c.superseded},
          {"started", c.started},
          {"startedAhead", c.started_ahead},
          {"cancelled", c.cancelled},
          {"running", completer_.running()},
          {"endedStreams", ended_streams_},
          {"promptTokens", prompt_tokens_},
          {"cachedTokens", cached_tokens_},
          {"generatedTokens", generated_tokens_},
          {"tokensPerSecond", tokens_per_second_},
          {"memoryBytes", platform::resident_memory()},
          {"documents", store_.all().size()}};
}

}  // namespace glmhost::session
