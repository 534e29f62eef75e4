// Messages with every field filled at random, for round trips.
#pragma once

#include <random>

#include "host/protocol/messages.h"

namespace glmhost::test {

using Random = std::mt19937_64;

protocol::ClientMessage random_client_message(Random& random, std::size_t kind);  // kind: an index of the variant
protocol::DaemonMessage random_daemon_message(Random& random, std::size_t kind);

}  // namespace glmhost::test
