#include "tests/integration/daemon_client.h"

#include "host/protocol/client.h"

namespace glmhost::integration {

int ask_until_killed(const char* prompt) {
  protocol::Client client;
  protocol::Request request;
  request.prompt = prompt;
  request.max_tokens = 1'000'000;
  request.memo = false;
  client.start(request).wait();
  return 0;
}

}  // namespace glmhost::integration
