#include "excel-addin/table/csv_text.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "excel-addin/formula/text_units.h"
#include "excel-addin/table/table_error.h"

namespace glmhost::table {
namespace {

bool is_valid_utf8(std::string_view text) {
  std::size_t i = 0;
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  while (i < text.size()) {
    if (i + 8 <= text.size()) {
      std::uint64_t word = 0;
      std::memcpy(&word, text.data() + i, 8);
      if ((word & 0x8080808080808080u) == 0) {
        i += 8;
        continue;
      }
    }
    const unsigned char c = byte(i);
    const std::size_t length = c < 0x80                ? 1
                               : c >= 0xC2 && c < 0xE0 ? 2
                               : c >= 0xE0 && c < 0xF0 ? 3
                               : c >= 0xF0 && c < 0xF5 ? 4
                                                       : 0;
    if (length == 0 || i + length > text.size()) return false;
    for (std::size_t k = 1; k < length; ++k) {
      if ((byte(i + k) & 0xC0) != 0x80) return false;
    }
    if (c == 0xE0 && byte(i + 1) < 0xA0) return false;  // an overlong form
    if (c == 0xED && byte(i + 1) > 0x9F) return false;  // half of a pair
    if (c == 0xF0 && byte(i + 1) < 0x90) return false;
    if (c == 0xF4 && byte(i + 1) > 0x8F) return false;
    i += length;
  }
  return true;
}

std::string from_utf16_bytes(std::string_view bytes, bool big_endian) {
  std::u16string units(bytes.size() / 2, u'\0');
  for (std::size_t i = 0; i < units.size(); ++i) {
    const auto first = static_cast<unsigned char>(bytes[2 * i]), second = static_cast<unsigned char>(bytes[2 * i + 1]);
    units[i] = static_cast<char16_t>(big_endian ? first << 8 | second : second << 8 | first);
  }
  return formula::valid_utf8(formula::from_utf16(units));
}

// 0x80 to 0x9F of Windows-1252; the rest is as in Unicode.
constexpr std::array<std::uint16_t, 32> kWindows1252 = {0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                                        0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,   0x017D, 0x8F,
                                                        0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                                        0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};

std::string from_windows_1252(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() + bytes.size() / 8);
  for (const char each : bytes) {
    const auto c = static_cast<unsigned char>(each);
    formula::append_utf8(text, c >= 0x80 && c < 0xA0 ? kWindows1252[c - 0x80] : c);
  }
  return text;
}

}  // namespace

std::string_view decoded(std::string_view bytes, std::string& storage, std::vector<std::string>& notes) {
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF")) {
    storage = from_utf16_bytes(bytes.substr(2), bytes[0] == '\xFE');
    return storage;
  }
  // Without a mark, but with the zeros that UTF-16 gives to letters of English.
  const std::string_view begin = bytes.substr(0, 4096);
  std::size_t zeros[2] = {};
  for (std::size_t i = 0; i < begin.size(); ++i) zeros[i % 2] += begin[i] == '\0';
  if (zeros[0] + zeros[1] > begin.size() / 4 && (zeros[0] == 0 || zeros[1] == 0)) {
    notes.push_back("The file has no byte order mark but looks like UTF-16; it was read as such.");
    storage = from_utf16_bytes(bytes, zeros[1] == 0);
    return storage;
  }
  // One by accident is a character like any other; many are a program's or a model's file.
  if (zeros[0] + zeros[1] > begin.size() / 64) {
    throw TableError("The file is not text: it holds many zero bytes. Give a CSV file.");
  }
  if (is_valid_utf8(bytes)) return bytes;
  notes.push_back("The file is not UTF-8; it was read as Windows-1252. Letters beyond A to Z may be others.");
  storage = from_windows_1252(bytes);
  return storage;
}

char sniffed_delimiter(std::string_view text) {
  constexpr std::size_t kLooked = 1 << 16, kMostLines = 50;
  constexpr std::string_view kCandidates = ",;\t|";
  std::vector<std::array<std::size_t, 4>> lines(1);
  bool quoted = false;
  for (const char c : text.substr(0, kLooked)) {
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '\n' || c == '\r') {
      if (lines.back() != std::array<std::size_t, 4>{}) {
        if (lines.size() == kMostLines) break;
        lines.emplace_back();
      }
      continue;
    }
    if (const auto which = kCandidates.find(c); which != std::string_view::npos) ++lines.back()[which];
  }
  if (lines.size() > 1) lines.pop_back();  // perhaps cut, or empty
  char best = ',';
  double best_score = 0;
  for (std::size_t which = 0; which < kCandidates.size(); ++which) {
    const std::size_t first = lines[0][which];
    if (first == 0) continue;
    const auto same = static_cast<double>(
        std::count_if(lines.begin(), lines.end(), [&](const auto& line) { return line[which] == first; }));
    // How many lines agree counts most; then how many fields there are.
    const double score =
        same / static_cast<double>(lines.size()) * 1000 + static_cast<double>(std::min<std::size_t>(first, 100));
    if (score > best_score) {
      best_score = score;
      best = kCandidates[which];
    }
  }
  return best;
}

void split_fields(std::string_view text, char delimiter, bool skip_blank_lines, std::size_t most_rows, Fields& out) {
  out.fields.clear();
  out.row_ends.clear();
  out.stray_quote = out.open_quote = false;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const char* at = begin;
  const auto place = [&](const char* p) { return static_cast<std::uint32_t>(p - begin); };
  while (at < end && out.row_ends.size() < most_rows) {
    if (skip_blank_lines && (*at == '\n' || *at == '\r')) {
      ++at;
      continue;
    }
    while (true) {  // a field
      if (at < end && *at == '"') {
        const char* const inside = ++at;
        bool escaped = false;
        while (true) {
          at = static_cast<const char*>(std::memchr(at, '"', static_cast<std::size_t>(end - at)));
          if (at == nullptr) {
            out.open_quote = true;
            at = end;
            break;
          }
          if (at + 1 < end && at[1] == '"') {
            escaped = true;
            at += 2;
            continue;
          }
          break;
        }
        out.fields.push_back(
            {place(inside), (place(at) - place(inside)) | Fields::kQuoted | (escaped ? Fields::kEscaped : 0)});
        if (at < end) ++at;
        if (at < end && *at != delimiter && *at != '\n' && *at != '\r') {
          // "a"b: what stands behind the closing quote belongs to the field, quotes and all.
          out.stray_quote = true;
          const char* const start = inside - 1;
          while (at < end && *at != delimiter && *at != '\n' && *at != '\r') ++at;
          out.fields.back() = {place(start), place(at) - place(start)};
        }
      } else {
        const char* const start = at;
        bool quote = false;
        while (at < end && *at != delimiter && *at != '\n' && *at != '\r') quote |= *at++ == '"';
        out.stray_quote |= quote;
        out.fields.push_back({place(start), place(at) - place(start)});
      }
      if (at < end && *at == delimiter) {
        ++at;
        continue;
      }
      break;
    }
    if (at < end) at += *at == '\r' && at + 1 < end && at[1] == '\n' ? 2 : 1;
    out.row_ends.push_back(static_cast<std::uint32_t>(out.fields.size()));
  }
}

std::vector<std::size_t> cut_rows(std::string_view text, std::size_t piece_size) {
  std::vector<std::size_t> cuts = {0};
  std::size_t at = 0;
  bool quoted = false;
  while (text.size() - at > piece_size) {
    std::size_t end = at + piece_size;
    quoted = std::count(text.begin() + static_cast<std::ptrdiff_t>(at), text.begin() + static_cast<std::ptrdiff_t>(end),
                        '"') %
                 2 !=
             0;
    // On to the end of a line that no quote spans.
    while (end < text.size()) {
      const char c = text[end++];
      if (c == '"') quoted = !quoted;
      if (quoted) continue;
      if (c == '\n' || (c == '\r' && (end == text.size() || text[end] != '\n'))) break;
    }
    cuts.push_back(end);
    at = end;
  }
  if (at < text.size()) cuts.push_back(text.size());
  return cuts;
}

}  // namespace glmhost::table
