// Finished answers on disk, so that an equal request is never computed twice, on any day.
//
// A SQLite file in WAL mode with synchronous=FULL: what store() reported as kept is there after a killed process and
// after a power cut. Prompts are not in it, only their hash; answers are, so the file is this user's alone (0600). Its
// size is bounded: the answers not used for longest go first.
//
// Nothing that happens to the file is a user's error. A damaged or foreign file is set aside (".damaged") and begun
// anew; a read-only or full disk means that nothing is kept for a while, which problem() tells; a damaged row is a
// missing row. Every such event is a line in the log.
//
// Thread rules: every member may be called from several threads at once; find() does not wait for store().
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/daemon/log.h"
#include "host/daemon/memo_key.h"
#include "host/daemon/model_file.h"
#include "host/protocol/messages.h"

namespace glmhost::daemon {

struct MemoAnswer {
  std::string content;
  std::string reasoning;
  std::string finish_reason;
  std::uint32_t prompt_tokens = 0;
  std::uint32_t generated_tokens = 0;
  std::vector<std::vector<protocol::TokenProbability>> logprobs;
  std::vector<protocol::ToolCall> tool_calls;
};

// What has to be known about a model to recognise an answer without loading it.
struct ModelIdentity {
  Hash128 content;
  std::string chat_template;  // chat::ModelTemplate::to_text()
};

class MemoStore {
 public:
  struct Options {
    std::filesystem::path file;  // its folder is made when absent
    std::uint64_t limit_bytes = 1u << 30;
    std::chrono::milliseconds retry_after{30'000};  // a disk that refused is left alone for this long
  };

  MemoStore(const Options& options, Log& log);
  ~MemoStore();
  MemoStore(const MemoStore&) = delete;
  MemoStore& operator=(const MemoStore&) = delete;

  std::optional<MemoAnswer> find(const Hash128& key);

  // All of them in one transaction. True when they are on disk; an answer larger than the store's limit is left out.
  bool store(std::span<const std::pair<Hash128, MemoAnswer>> answers);

  // Remembered per path; nothing when the file's stamp is another one.
  std::optional<ModelIdentity> find_identity(const std::filesystem::path& model, const FileStamp& stamp);
  void store_identity(const std::filesystem::path& model, const FileStamp& stamp, const ModelIdentity& identity);

  // Why answers are not kept at the moment, as a sentence; empty when all is well.
  std::string problem() const;

  struct Statistics {
    std::uint64_t answers = 0;
    std::uint64_t bytes = 0;
  };
  Statistics statistics();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace glmhost::daemon
