// The options of GLM.WITH: "model=glm-4; temperature=0.2; max_tokens=200; seed=7; thinking=on".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "host/protocol/messages.h"

namespace glmhost::functions {

struct Options {
  std::string model;  // empty: the daemon's default
  double temperature = 0;
  std::int32_t max_tokens = 512;
  std::uint64_t seed = 0;
  bool thinking = false;

  bool operator==(const Options&) const = default;
};

// Overrides what `options` holds. Entries are divided by ; or line ends; case and blanks around names do not count; a
// decimal comma is understood. Throws CallError: an unknown name (with the nearest known one), a value that is none,
// the same name twice.
Options parse_options(std::string_view text, Options options = {});

void apply(const Options& options, protocol::Request& request);

}  // namespace glmhost::functions
