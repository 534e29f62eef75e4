#include "inference/model_files/metadata.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "inference/error.h"
#include "inference/model_files/error_text.h"

namespace glmhost::model_files {
namespace {

constexpr std::uint64_t kLongestKey = 65535;

// GGUF's ids of value types.
enum class ValueType : std::uint32_t {
  u8 = 0,
  i8 = 1,
  u16 = 2,
  i16 = 3,
  u32 = 4,
  i32 = 5,
  f32 = 6,
  boolean = 7,
  string = 8,
  array = 9,
  u64 = 10,
  i64 = 11,
  f64 = 12,
};

bool read_bool(HeaderReader& reader) {
  const auto byte = reader.number<std::uint8_t>();
  if (byte > 1) reader.fail("holds " + std::to_string(byte) + " where only 0 (false) or 1 (true) may stand");
  return byte == 1;
}

// Calls visit with a reading function for one scalar of the type, and the bytes that it takes at least in the file.
template <typename Visit>
MetadataValue with_scalar(HeaderReader& reader, ValueType type, Visit visit) {
  const auto plain = [&]<typename Stored, typename Widened>(Stored, Widened) {
    return visit([](HeaderReader& from) { return static_cast<Widened>(from.number<Stored>()); }, sizeof(Stored));
  };
  switch (type) {
    case ValueType::u8:
      return plain(std::uint8_t{}, std::uint64_t{});
    case ValueType::u16:
      return plain(std::uint16_t{}, std::uint64_t{});
    case ValueType::u32:
      return plain(std::uint32_t{}, std::uint64_t{});
    case ValueType::u64:
      return plain(std::uint64_t{}, std::uint64_t{});
    case ValueType::i8:
      return plain(std::int8_t{}, std::int64_t{});
    case ValueType::i16:
      return plain(std::int16_t{}, std::int64_t{});
    case ValueType::i32:
      return plain(std::int32_t{}, std::int64_t{});
    case ValueType::i64:
      return plain(std::int64_t{}, std::int64_t{});
    case ValueType::f32:
      return plain(float{}, double{});
    case ValueType::f64:
      return plain(double{}, double{});
    case ValueType::boolean:
      return visit(read_bool, std::size_t{1});
    case ValueType::string:
      return visit([](HeaderReader& from) { return from.string(0, from.remaining(), "a text"); },
                   sizeof(std::uint64_t));
    case ValueType::array:
      reader.fail("is an array of arrays, which GGUF files do not have");
  }
  reader.fail("has value type " + std::to_string(static_cast<std::uint32_t>(type)) + ", which GGUF does not define");
}

MetadataValue read_array(HeaderReader& reader) {
  const auto type = static_cast<ValueType>(reader.number<std::uint32_t>());
  return with_scalar(reader, type, [&](auto read, std::size_t stored_bytes) -> MetadataValue {
    using Element = std::invoke_result_t<decltype(read), HeaderReader&>;
    const auto count = reader.number<std::uint64_t>();
    // In this order: what passes the first check cannot wrap in the second.
    reader.charge(count, std::is_same_v<Element, bool> ? 1 : sizeof(Element));
    reader.need(count * stored_bytes);
    std::vector<Element> elements;
    elements.reserve(static_cast<std::size_t>(count));
    for (std::uint64_t i = 0; i < count; ++i) elements.push_back(read(reader));
    return elements;
  });
}

MetadataValue read_value(HeaderReader& reader) {
  const auto type = static_cast<ValueType>(reader.number<std::uint32_t>());
  if (type == ValueType::array) return read_array(reader);
  return with_scalar(reader, type, [&](auto read, std::size_t) -> MetadataValue { return read(reader); });
}

std::string_view kind_name(const MetadataValue& value) {
  struct Names {
    std::string_view operator()(std::int64_t) const { return "a whole number"; }
    std::string_view operator()(std::uint64_t) const { return "a whole number"; }
    std::string_view operator()(double) const { return "a fractional number"; }
    std::string_view operator()(bool) const { return "true or false"; }
    std::string_view operator()(const std::string&) const { return "a text"; }
    std::string_view operator()(const std::vector<std::int64_t>&) const { return "a list of whole numbers"; }
    std::string_view operator()(const std::vector<std::uint64_t>&) const { return "a list of whole numbers"; }
    std::string_view operator()(const std::vector<double>&) const { return "a list of fractional numbers"; }
    std::string_view operator()(const std::vector<bool>&) const { return "a list of true or false"; }
    std::string_view operator()(const std::vector<std::string>&) const { return "a list of texts"; }
  };
  return std::visit(Names{}, value);
}

}  // namespace

Metadata::Metadata(HeaderReader& reader, std::uint64_t count, std::string file_name)
    : file_name_(std::move(file_name)) {
  entries_.reserve(static_cast<std::size_t>(count));
  index_.reserve(static_cast<std::size_t>(count));
  for (std::uint64_t i = 0; i < count; ++i) {
    reader.set_place({"metadata entry", i, count, {}});
    reader.charge(1, sizeof(entries_[0]) + 64);
    auto& [key, value] = entries_.emplace_back(reader.string(1, kLongestKey, "its key"), MetadataValue{});
    reader.set_name(key);
    if (!index_.emplace(key, static_cast<std::size_t>(i)).second) reader.fail("has a key that occurred before");
    value = read_value(reader);
  }
}

const MetadataValue* Metadata::find(std::string_view key) const {
  const auto found = index_.find(key);
  return found == index_.end() ? nullptr : &entries_[found->second].second;
}

std::optional<std::uint64_t> Metadata::get_unsigned(std::string_view key) const {
  const MetadataValue* value = find(key);
  if (!value) return std::nullopt;
  if (const auto* number = std::get_if<std::uint64_t>(value)) return *number;
  if (const auto* number = std::get_if<std::int64_t>(value)) {
    if (*number < 0) fail(key, "is " + std::to_string(*number) + ", and it must not be negative");
    return static_cast<std::uint64_t>(*number);
  }
  fail_kind(key, *value, "a whole number");
}

std::optional<double> Metadata::get_number(std::string_view key) const {
  const MetadataValue* value = find(key);
  if (!value) return std::nullopt;
  if (const auto* number = std::get_if<double>(value)) return *number;
  if (const auto* number = std::get_if<std::uint64_t>(value)) return static_cast<double>(*number);
  if (const auto* number = std::get_if<std::int64_t>(value)) return static_cast<double>(*number);
  fail_kind(key, *value, "a number");
}

std::optional<bool> Metadata::get_bool(std::string_view key) const {
  const MetadataValue* value = find(key);
  if (!value) return std::nullopt;
  if (const auto* truth = std::get_if<bool>(value)) return *truth;
  fail_kind(key, *value, "true or false");
}

std::optional<std::string_view> Metadata::get_string(std::string_view key) const {
  const MetadataValue* value = find(key);
  if (!value) return std::nullopt;
  if (const auto* text = std::get_if<std::string>(value)) return *text;
  fail_kind(key, *value, "a text");
}

const std::vector<std::string>* Metadata::get_strings(std::string_view key) const {
  const MetadataValue* value = find(key);
  if (!value) return nullptr;
  if (const auto* texts = std::get_if<std::vector<std::string>>(value)) return texts;
  fail_kind(key, *value, "a list of texts");
}

std::optional<std::vector<std::int64_t>> Metadata::get_integers(std::string_view key) const {
  const MetadataValue* value = find(key);
  if (!value) return std::nullopt;
  if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(value)) return *numbers;
  if (const auto* numbers = std::get_if<std::vector<std::uint64_t>>(value)) {
    constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (const auto large = std::ranges::find_if(*numbers, [](auto n) { return n > kLargest; });
        large != numbers->end()) {
      fail(key, "contains " + std::to_string(*large) + ", which is too large");
    }
    return std::vector<std::int64_t>(numbers->begin(), numbers->end());
  }
  if (const auto* truths = std::get_if<std::vector<bool>>(value)) {
    return std::vector<std::int64_t>(truths->begin(), truths->end());
  }
  fail_kind(key, *value, "a list of whole numbers");
}

std::optional<std::vector<float>> Metadata::get_floats(std::string_view key) const {
  const MetadataValue* value = find(key);
  if (!value) return std::nullopt;
  if (const auto* numbers = std::get_if<std::vector<double>>(value)) {
    std::vector<float> narrowed(numbers->size());
    for (std::size_t i = 0; i < narrowed.size(); ++i) {
      const double number = (*numbers)[i];
      if (std::isfinite(number) && std::abs(number) > static_cast<double>(std::numeric_limits<float>::max())) {
        fail(key, "contains a number that is too large for single precision");
      }
      narrowed[i] = static_cast<float>(number);
    }
    return narrowed;
  }
  if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(value)) {
    return std::vector<float>(numbers->begin(), numbers->end());
  }
  if (const auto* numbers = std::get_if<std::vector<std::uint64_t>>(value)) {
    return std::vector<float>(numbers->begin(), numbers->end());
  }
  fail_kind(key, *value, "a list of numbers");
}

std::vector<std::string> Metadata::keys() const {
  std::vector<std::string> result;
  result.reserve(entries_.size());
  for (const auto& entry : entries_) result.push_back(entry.first);
  return result;
}

void Metadata::fail(std::string_view key, const std::string& problem) const {
  throw Error(ErrorKind::bad_file, file_name_ + " is damaged: its metadata value " + quoted_text(key) + " " + problem +
                                       ". Download or convert the file again.");
}

void Metadata::fail_kind(std::string_view key, const MetadataValue& value, std::string_view wanted) const {
  fail(key, "is " + std::string(kind_name(value)) + ", and it must be " + std::string(wanted));
}

}  // namespace glmhost::model_files
