// A daemon in this process, with its own folders and tiny models, and clients over the real protocol.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "host/daemon/daemon.h"
#include "host/protocol/client.h"
#include "tests/unit/host/daemon/temporary_folder.h"

namespace glmhost::daemon {

using protocol::Client;
using protocol::ErrorCode;
using protocol::ErrorMessage;
using protocol::Outcome;
using protocol::Request;
using protocol::Result;

inline constexpr std::chrono::minutes kPatience{2};  // for what takes milliseconds; slow machines and sanitizers too

// A model with random weights: llama-a (context 2048, 512 tokens, no chat template) or another one of its kind.
// Nothing where neither copy is there.
inline std::optional<std::filesystem::path> tiny_model(const std::string& name = "llama-a") {
  for (const char* folder : {GLMHOST_TEST_DATA "/models", GLMHOST_SHARED_DATA "/vectors/models"}) {
    const std::filesystem::path file = std::filesystem::path(folder) / (name + ".gguf");
    if (std::filesystem::exists(file)) return file;
  }
  return std::nullopt;
}

class RunningDaemon {
 public:
  RunningDaemon() {
    std::filesystem::create_directories(models());
    settings.models_folder = models();
    settings.default_model = "tiny";
    settings.threads = 2;
    settings.kv_bytes = 4u << 20;
    settings.log_level = settings::LogLevel::debug;
    add_model("tiny");
  }

  std::filesystem::path models() const { return folder.path() / "models"; }
  std::filesystem::path runtime() const { return folder.path() / "run"; }
  std::filesystem::path log_file() const { return folder.path() / "state" / "daemon.log"; }

  void add_model(const std::string& name, const std::string& tiny = "llama-a") const {
    const auto source = tiny_model(tiny);
    REQUIRE_MESSAGE(source.has_value(), "no tiny model in tests/data/models");
    std::filesystem::copy_file(*source, models() / (name + ".gguf"), std::filesystem::copy_options::overwrite_existing);
  }

  DaemonOptions options() const {
    DaemonOptions out;
    out.settings = settings;
    out.runtime_folder = runtime();
    out.data_folder = folder.path() / "data";
    out.state_folder = folder.path() / "state";
    return out;
  }

  Daemon& start() {
    daemon.reset();
    daemon = std::make_unique<Daemon>(options());
    return *daemon;
  }

  std::unique_ptr<Client> client(const std::string& program = "test") const {
    protocol::ClientOptions out;
    out.program = program;
    out.runtime_folder = runtime();
    return std::make_unique<Client>(out);
  }

  TemporaryFolder folder;
  settings::Settings settings;
  std::unique_ptr<Daemon> daemon;
};

inline Request raw(const std::string& prompt, std::int32_t max_tokens = 16) {
  Request request;
  request.prompt = prompt;
  request.max_tokens = max_tokens;
  return request;
}

inline Outcome ask(Client& client, const Request& request) {
  auto outcome = client.start(request).wait_for(kPatience);
  REQUIRE(outcome.has_value());
  return *outcome;
}

inline Result result_of(const Outcome& outcome) {
  if (const auto* error = std::get_if<ErrorMessage>(&outcome)) FAIL(error->sentence);
  return std::get<Result>(outcome);
}

inline ErrorMessage error_of(const Outcome& outcome) {
  REQUIRE(std::holds_alternative<ErrorMessage>(outcome));
  return std::get<ErrorMessage>(outcome);
}

inline protocol::Status status_of(Client& client) {
  auto status = client.status(kPatience);
  if (const auto* error = std::get_if<ErrorMessage>(&status)) FAIL(error->sentence);
  return std::get<protocol::Status>(status);
}

inline protocol::ModelStatus model_status(Client& client, const std::string& name) {
  for (const protocol::ModelStatus& model : status_of(client).models) {
    if (model.name == name) return model;
  }
  return {};
}

inline bool mentions(const std::string& text, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) {
    if (text.find(part) == std::string::npos) {
      MESSAGE("missing '" << std::string(part) << "' in: " << text);
      return false;
    }
  }
  return true;
}

}  // namespace glmhost::daemon
