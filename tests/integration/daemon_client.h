// A client process that a test can kill in the middle of an answer.
#pragma once

namespace glmhost::integration {

// Asks the daemon below GLM_HOST_HOME for a very long answer to `prompt` and reads it until it is killed.
int ask_until_killed(const char* prompt);

}  // namespace glmhost::integration
