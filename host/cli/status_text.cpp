#include "host/cli/status_text.h"

#include <cmath>

#include "host/cli/daemon_access.h"
#include "host/cli/exit_code.h"
#include "host/cli/text_table.h"
#include "host/model_store/byte_size.h"

namespace glmhost::cli {
namespace {

using model_store::byte_size;

std::string state_of(const protocol::ModelStatus& model) {
  if (model.state != "loading") return model.state;
  return "loading, " + std::to_string(std::lround(model.load_fraction * 100)) + " %";
}

std::string queue_line(const protocol::QueueStatus& queue) {
  return std::to_string(queue.running) + " running, " + std::to_string(queue.waiting) + " waiting; " +
         std::to_string(queue.answered) + " answered (" + std::to_string(queue.from_memo) + " from the memo store, " +
         std::to_string(queue.coalesced) + " joined with an equal one), " + std::to_string(queue.refused) +
         " refused, " + std::to_string(queue.cancelled) + " cancelled, " + std::to_string(queue.failed) + " failed";
}

}  // namespace

protocol::Status ask_status() {
  const auto answer = connect(WithoutDaemon::fail)->status();
  if (const auto* error = std::get_if<protocol::ErrorMessage>(&answer)) {
    throw Failure(ExitCode::no_daemon, error->sentence);
  }
  return std::get<protocol::Status>(answer);
}

std::string rough_duration(double seconds) {
  struct Unit {
    double seconds;
    const char* name;
  };
  for (const Unit unit : {Unit{86400, " days"}, Unit{3600, " h"}, Unit{60, " min"}}) {
    if (seconds >= 2 * unit.seconds) return std::to_string(std::lround(seconds / unit.seconds)) + unit.name;
  }
  return std::to_string(std::lround(seconds)) + " s";
}

bool in_memory(const protocol::ModelStatus& model) {
  return model.state != "available" && model.state != "failed";
}

std::string loaded_models_text(const protocol::Status& status) {
  Table table({"MODEL", "STATE", "MEMORY UP TO", "CONTEXT", "UNLOADED IN"});
  for (const protocol::ModelStatus& model : status.models) {
    if (!in_memory(model)) continue;
    table.add({model.name, state_of(model), model.memory_bytes > 0 ? byte_size(model.memory_bytes) : "",
               model.context_tokens > 0 ? std::to_string(model.context_tokens) : "",
               model.unload_in_s < 0 ? "" : rough_duration(static_cast<double>(model.unload_in_s))});
  }
  return table.empty() ? "No model is loaded; the first request loads one.\n" : table.text();
}

std::string status_text(const protocol::Status& status) {
  std::string text = "Daemon      process " + std::to_string(status.pid) + ", version " + status.version + ", up for " +
                     rough_duration(status.uptime_s) + "\nEndpoint    " + status.endpoint + "\nMemory      " +
                     byte_size(status.memory_bytes) + "\nKernels     " + status.kernels + ", " +
                     std::to_string(status.threads) + (status.threads == 1 ? " thread" : " threads") +
                     "\nRequests    " + queue_line(status.queue) + "\n\n";
  Table table({"MODEL", "STATE", "SIZE", "ARCHITECTURE", "CHAT TEMPLATE"});
  for (const protocol::ModelStatus& model : status.models) {
    table.add({model.name, state_of(model), byte_size(model.file_bytes), model.architecture,
               model.chat_template.substr(0, model.chat_template.find(';'))});
  }
  if (!status.problem.empty()) text += status.problem + "\n";
  text += table.empty() && status.problem.empty() ? "No models yet: `glm pull smollm2-135m` brings a small one.\n"
                                                  : table.text();
  for (const protocol::ModelStatus& model : status.models) {
    const std::size_t reason = model.chat_template.find("; ");
    if (reason != std::string::npos) text += model.name + ": " + model.chat_template.substr(reason + 2) + "\n";
    if (!model.note.empty()) text += model.name + ": " + model.note + "\n";
  }
  return text;
}

}  // namespace glmhost::cli
