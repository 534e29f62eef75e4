// Values as a person writes them: "512 MiB", "10m", "yes".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace glmhost::settings {

// A whole number, optionally followed by B, KB, MB, GB, TB (powers of 1000) or KiB, MiB, GiB, TiB, K, M, G, T (powers
// of 1024); a fraction only with a unit ("1.5 GiB"). Nothing for anything else and for more than 2^63 bytes.
std::optional<std::uint64_t> parse_bytes(std::string_view text);

// A whole number, optionally followed by s, m, h or d. "-1" passes: some settings mean "for ever" by it.
std::optional<std::int64_t> parse_seconds(std::string_view text);

std::optional<std::int64_t> parse_integer(std::string_view text);

// true false yes no on off 1 0, in any case.
std::optional<bool> parse_bool(std::string_view text);

// The shortest form that parse_bytes reads back to the same number: "256 MiB", "1000".
std::string bytes_text(std::uint64_t bytes);

// For sentences: "1.4 GiB". Rounded.
std::string rounded_bytes_text(std::uint64_t bytes);

}  // namespace glmhost::settings
