// The messages between clients and the daemon, as typed structs, and their MessagePack form.
//
// A message is a run of ZeroMQ frames: [version and kind: 2 bytes][request id: 8 bytes, little-endian][MessagePack
// body] [raw frames ...]. The request id is the client's choice and unique among its own open requests. decode() is the
// edge: it checks sizes, kinds, ranges and UTF-8 once and nothing behind it sees unchecked data.
//
//   client -> daemon   hello, request, table, cancel, credit, status, control, ping
//   daemon -> client   hello, accepted, delta*, then exactly one of result | error; status; ping
//
// Streaming is paced by credits: a request brings `credits` deltas with it, and each credit message adds more. Without
// credit the daemon joins further text into the next delta instead of queueing messages.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace glmhost::protocol {

inline constexpr std::uint8_t kProtocolVersion = 1;
inline constexpr std::size_t kMaxBodyBytes = 64u << 20;  // of one message
inline constexpr std::int64_t kMaxNesting = 64;          // of arrays and maps in a body
inline constexpr std::uint32_t kMaxCredits = 65'536;     // of one request or credit message; a daemon keeps no more

enum class Kind : std::uint8_t {
  hello = 1,
  request = 2,
  accepted = 3,
  delta = 4,
  result = 5,
  error = 6,
  cancel = 7,
  status = 8,
  ping = 9,
  credit = 10,
  control = 11,
  table = 12,
};

// Stable codes: programs act on them.
enum class ErrorCode {
  no_model,
  model_load_failed,
  bad_request,
  too_large,
  cancelled,
  deadline,
  busy,
  backend_failed,
  internal,
};
std::string_view name(ErrorCode code);
std::optional<ErrorCode> find_error_code(std::string_view name);

enum class Priority : std::uint8_t { interactive = 0, batch = 1 };

// First message each way. A daemon answers a client of another protocol version with an error that names both versions.
struct Hello {
  std::uint32_t protocol_version = kProtocolVersion;
  std::string program;  // "glm", "glm-language-server", ...
  std::string version;  // of the program
  std::uint32_t pid = 0;

  bool operator==(const Hello&) const = default;
};

// A piece of another file that helps to fill a gap.
struct InfillContext {
  std::string path;
  std::string text;

  bool operator==(const InfillContext&) const = default;
};

// A gap in a text, to be filled in whatever form the model was trained for. What does not fit into the model's context
// is left out: first pieces of other files, the last one first, then the far ends of suffix and prefix.
struct Infill {
  std::string prefix;                  // before the gap
  std::string suffix;                  // behind it
  std::string language;                // an editor's name for it: "python", "cpp"; may be empty
  std::string path;                    // may be empty
  bool one_line = false;               // the answer is meant to end with its first line; some models want to be told
  std::vector<InfillContext> context;  // at most 256; the same order from request to request keeps a common prefix

  bool operator==(const Infill&) const = default;
};

// The form that an answer must have. A reasoning model thinks freely before it.
struct OutputForm {
  enum class Kind {
    json_schema,  // text: the schema, as JSON
    regex,        // text: a regular expression; the whole answer matches
    grammar,      // text: a grammar in GBNF notation
    choice,       // the answer is one of `choices`
    type,         // text: number, date, boolean, list or grid
  };
  Kind kind = Kind::json_schema;
  std::string text;
  std::vector<std::string> choices;  // at most 1,000,000

  bool operator==(const OutputForm&) const = default;
};
std::string_view name(OutputForm::Kind kind);
std::optional<OutputForm::Kind> find_form_kind(std::string_view name);

// A generation. Exactly one of `messages`, `prompt` and `infill` is given.
struct Request {
  std::string model;                          // name or path; empty: the configured default
  nlohmann::ordered_json messages = nullptr;  // a conversation, rendered by the model's chat template
  std::optional<std::string> prompt;          // raw text, continued as it stands; markers in it stay plain text
  std::optional<Infill> infill;
  nlohmann::ordered_json tools = nullptr;  // a list of tools that the model may call; with messages only
  std::optional<OutputForm> form;          // with a form: no `stop`, no `tools`
  std::optional<bool> enable_thinking;
  std::int32_t max_tokens = 512;  // the budget, 1 .. 1,048,576
  float temperature = 0;          // 0 .. 10
  std::int32_t top_k = 0;         // 0 .. 1,000,000
  float top_p = 1;                // (0, 1]
  float min_p = 0;                // [0, 1)
  float repetition_penalty = 1;   // (0, 10]
  std::uint64_t seed = 0;
  std::int32_t logprobs = 0;      // 0 .. 20
  std::vector<std::string> stop;  // at most 16, 1 .. 256 bytes each
  Priority priority = Priority::interactive;
  std::uint32_t deadline_ms = 600'000;  // from arrival; 1 .. 86,400,000
  std::uint32_t credits = 64;           // deltas that may be sent at once; 0: only the result
  bool memo = true;                     // may be answered from, and kept in, the memo store

  bool operator==(const Request&) const = default;
};

// A table that lies in a range segment (host/ranges), under the name that a pipeline knows it by.
struct TableInput {
  std::string name;
  std::string segment;

  bool operator==(const TableInput&) const = default;
};

// A pipeline of the table language. Its result is written into the segment `result`, which the client has made; the
// answer is then a result whose content is {"rows": n, "columns": n, "notes": [sentence, ...]}. A mistake in the
// pipeline is bad_request, with line, column and a caret in its sentence.
struct TableRequest {
  std::string pipeline;
  std::vector<TableInput> tables;  // 1 to 256; the first is what the first stage gets
  std::string result;
  std::uint32_t deadline_ms = 600'000;  // from arrival; 1 .. 86,400,000

  bool operator==(const TableRequest&) const = default;
};

struct Accepted {
  std::string model;
  std::uint32_t queue_position = 0;  // requests ahead of this one

  bool operator==(const Accepted&) const = default;
};

struct TokenProbability {
  std::string text;  // bytes of the token, U+FFFD where they are no character
  float logprob = 0;
  std::optional<float> constrained_logprob;  // with a form: among the tokens that it allows; none for all others

  bool operator==(const TokenProbability&) const = default;
};

// A call that the model made of one of the request's tools.
struct ToolCall {
  std::string id;  // "call_0", "call_1", ...: in the order of the answer
  std::string name;
  std::string arguments;  // a JSON object, with the types of the tool's schema
  std::string status;     // open (more may come), complete, cut_off, unknown_tool, bad_arguments, malformed
  std::string problem;    // a sentence; empty when all is well
  std::string source;     // as the model wrote it; empty while open

  bool operator==(const ToolCall&) const = default;
};

struct Delta {
  std::string content;
  std::string reasoning;
  std::vector<std::vector<TokenProbability>> logprobs;  // per token; chosen first
  std::vector<ToolCall> tool_calls;                     // that are new or have changed, as they now are

  bool operator==(const Delta&) const = default;
};

struct Usage {
  std::uint32_t prompt_tokens = 0;
  std::uint32_t generated_tokens = 0;
  std::uint32_t cached_prompt_tokens = 0;  // taken from a prefix already computed
  double queue_ms = 0;
  double prompt_ms = 0;
  double decode_ms = 0;

  bool operator==(const Usage&) const = default;
};

// The whole answer, also when deltas were sent before.
struct Result {
  std::string content;
  std::string reasoning;
  std::vector<ToolCall> tool_calls;
  std::string finish_reason;  // stop, length, context, tool_calls
  std::string model;
  bool from_memo = false;
  Usage usage;

  bool operator==(const Result&) const = default;
};

struct ErrorMessage {
  ErrorCode code = ErrorCode::internal;
  std::string sentence;

  bool operator==(const ErrorMessage&) const = default;
};

// Of the request with this id; unknown ids are ignored.
struct Cancel {
  bool operator==(const Cancel&) const = default;
};

struct Credit {
  std::uint32_t deltas = 1;

  bool operator==(const Credit&) const = default;
};

struct Ping {
  bool operator==(const Ping&) const = default;
};

struct StatusRequest {
  bool operator==(const StatusRequest&) const = default;
};

struct ModelStatus {
  std::string name;
  std::string path;
  std::string state;  // available, loading, loaded, failed
  double load_fraction = 0;
  std::string architecture;
  std::string chat_template;  // which is used: "model file"; "glm-4.6 (built in)", and behind a ; why
  std::uint64_t file_bytes = 0;
  std::uint64_t memory_bytes = 0;  // when loaded
  std::uint64_t context_tokens = 0;
  std::int64_t unload_in_s = -1;  // keep-alive left; -1: not counting
  std::string note;               // why it failed, defects noticed at load

  bool operator==(const ModelStatus&) const = default;
};

struct QueueStatus {
  std::uint32_t waiting = 0;
  std::uint32_t running = 0;
  std::uint64_t answered = 0;
  std::uint64_t from_memo = 0;
  std::uint64_t coalesced = 0;
  std::uint64_t refused = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t failed = 0;

  bool operator==(const QueueStatus&) const = default;
};

struct Status {
  std::uint32_t pid = 0;
  std::string version;
  std::uint32_t protocol_version = kProtocolVersion;
  std::string endpoint;
  double uptime_s = 0;
  std::uint64_t memory_bytes = 0;  // resident
  std::string kernels;             // instruction set in use
  std::uint32_t threads = 0;
  std::vector<ModelStatus> models;
  QueueStatus queue;

  bool operator==(const Status&) const = default;
};

// Answered by a result (empty content) or an error.
struct Control {
  enum class Action : std::uint8_t { stop_daemon = 0, load_model = 1, unload_model = 2 };
  Action action = Action::stop_daemon;
  std::string model;

  bool operator==(const Control&) const = default;
};

using ClientMessage = std::variant<Hello, Request, Cancel, Credit, StatusRequest, Control, Ping, TableRequest>;
using DaemonMessage = std::variant<Hello, Accepted, Delta, Result, ErrorMessage, Status, Ping>;

template <class Message>
struct Envelope {
  std::uint64_t id = 0;
  Message message;

  bool operator==(const Envelope&) const = default;
};

// The frames of a message, without the ROUTER's routing frame.
using Frames = std::vector<std::string>;

Frames encode(const Envelope<ClientMessage>& envelope);
Frames encode(const Envelope<DaemonMessage>& envelope);

// A message that breaks a rule. `id` is the sender's request id where it could be read, so that it can be answered.
struct DecodeError {
  std::uint64_t id = 0;
  ErrorMessage error;
};

// Never throws on any input.
std::variant<Envelope<ClientMessage>, DecodeError> decode_client(std::span<const std::string_view> frames);
std::variant<Envelope<DaemonMessage>, DecodeError> decode_daemon(std::span<const std::string_view> frames);

// The JSON form of a status for `glm status --json`.
nlohmann::ordered_json to_json(const Status& status);

}  // namespace glmhost::protocol
