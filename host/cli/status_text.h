// A daemon's status for people.
#pragma once

#include <string>

#include "host/protocol/messages.h"

namespace glmhost::cli {

// Throws Failure(no_daemon).
protocol::Status ask_status();

std::string status_text(const protocol::Status& status);
bool in_memory(const protocol::ModelStatus& model);              // or being loaded
std::string loaded_models_text(const protocol::Status& status);  // `glm ps`: only these

// "12 s", "5 min", "3 h", "2 days".
std::string rough_duration(double seconds);

}  // namespace glmhost::cli
