#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>

#include "host/platform/paths.h"
#include "host/platform/private_file.h"
#include "host/protocol/address.h"
#include "host/protocol/client.h"
#include "host/protocol/fields.h"

namespace glmhost::protocol {
namespace {

constexpr std::size_t kMaxFileBytes = 16384;
constexpr std::size_t kMaxTextBytes = 4096;

std::filesystem::path endpoint_file(const std::filesystem::path& runtime_folder) {
  return runtime_folder / "host.json";
}

}  // namespace

std::optional<Endpoint> read_endpoint(const std::filesystem::path& runtime_folder) {
  const std::filesystem::path file = endpoint_file(runtime_folder);
  const std::optional<std::string> bytes = platform::read_private_file(file, kMaxFileBytes);
  if (!bytes) return std::nullopt;
  const auto damaged = [&](const std::string& what) {
    return std::runtime_error(platform::to_utf8(file) + " is damaged: " + what +
                              " End the daemon with `glm stop --force`; the next one writes the file anew.");
  };
  const auto value = nlohmann::ordered_json::parse(*bytes, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) throw damaged("It is not valid JSON.");
  Endpoint endpoint;
  Fields fields(value);
  fields.require("address");
  fields.require("pid");
  fields.require("protocol_version");
  fields.text("address", endpoint.address, kMaxTextBytes);
  fields.whole("pid", endpoint.pid);
  fields.whole("protocol_version", endpoint.protocol_version);
  fields.text("version", endpoint.version, kMaxTextBytes);
  fields.text("server_key", endpoint.server_key, kMaxTextBytes);
  fields.text("client_key", endpoint.client_key, kMaxTextBytes);
  fields.text("client_secret", endpoint.client_secret, kMaxTextBytes);
  if (fields.error()) throw damaged(*fields.error());
  if (auto error = check_address(endpoint.address)) throw damaged(*error);
  // Over tcp the keys are what keeps other users of the machine out; without them a foreign daemon could be listening.
  if (is_tcp(endpoint.address) &&
      !(is_key(endpoint.server_key) && is_key(endpoint.client_key) && is_key(endpoint.client_secret))) {
    throw damaged("It has no keys.");
  }
  return endpoint;
}

void write_endpoint(const std::filesystem::path& runtime_folder, const Endpoint& endpoint) {
  const nlohmann::ordered_json value = {
      {"address", endpoint.address},
      {"pid", endpoint.pid},
      {"protocol_version", endpoint.protocol_version},
      {"version", endpoint.version},
      {"server_key", endpoint.server_key},
      {"client_key", endpoint.client_key},
      {"client_secret", endpoint.client_secret},
  };
  platform::write_private_file(endpoint_file(runtime_folder),
                               value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

void remove_endpoint(const std::filesystem::path& runtime_folder) {
  std::error_code already_gone;
  std::filesystem::remove(endpoint_file(runtime_folder), already_gone);
}

std::filesystem::path lock_file(const std::filesystem::path& runtime_folder) {
  return runtime_folder / "daemon.lock";
}

}  // namespace glmhost::protocol
