#include "vscode-bridge/server/completion/context_ring.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "vscode-bridge/server/completion/extent.h"

namespace glmhost::completion {
namespace {

constexpr std::size_t kMostKept = 64;
constexpr std::size_t kMostPieceBytes = 3000;
constexpr double kLeastSimilarity = 0.04;

constexpr std::array<std::string_view, 26> kDeclares = {
    "def ",     "class ",  "async def ", "function ", "export ", "interface ", "type ",      "enum ",   "struct ",
    "fn ",      "pub ",    "impl ",      "trait ",    "func ",   "public ",    "protected ", "static ", "namespace ",
    "template", "module ", "const ",     "void ",     "int ",    "abstract ",  "data ",      "record "};

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         (static_cast<unsigned char>(c) & 0x80) != 0;
}

}  // namespace

std::vector<std::uint64_t> names_in(std::string_view text) {
  std::vector<std::uint64_t> names;
  for (std::size_t i = 0; i < text.size();) {
    if (!is_name(text[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && is_name(text[end])) ++end;
    const std::string_view name = text.substr(i, end - i);
    const bool is_number = name[0] >= '0' && name[0] <= '9';
    if (name.size() > 2 && !is_number) names.push_back(std::hash<std::string_view>()(name));
    i = end;
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

double similarity(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
  std::vector<std::uint64_t> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  const std::size_t either = a.size() + b.size() - both.size();
  return either == 0 ? 0 : static_cast<double>(both.size()) / static_cast<double>(either);
}

void ContextRing::visit(Piece piece) {
  if (piece.text.size() > kMostPieceBytes) {
    const std::size_t line = piece.text.rfind('\n', kMostPieceBytes);
    if (line == std::string::npos) return;  // one endless line helps nobody
    piece.text.resize(line + 1);
  }
  const auto known = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& one) {
    return one.piece.uri == piece.uri && one.piece.block == piece.block;
  });
  Kept kept{std::move(piece), ++clock_, {}};
  if (known != kept_.end()) {
    kept.since = known->since;
    kept_.erase(known);
  }
  kept.names = names_in(kept.piece.text);
  if (kept.names.size() < 2) return;
  kept_.push_front(std::move(kept));
  if (kept_.size() > kMostKept) kept_.pop_back();
}

void ContextRing::forget(std::string_view uri) {
  kept_.remove_if([&](const Kept& one) { return one.piece.uri == uri; });
}

std::vector<Piece> ContextRing::choose(std::string_view uri, std::string_view near, std::size_t bytes) const {
  const std::vector<std::uint64_t> names = names_in(near);
  std::vector<std::pair<double, const Kept*>> ranked;
  for (const Kept& one : kept_) {
    if (one.piece.uri == uri) continue;
    const double score = similarity(one.names, names);
    if (score >= kLeastSimilarity) ranked.emplace_back(score, &one);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<const Kept*> chosen;
  for (const auto& [score, one] : ranked) {
    if (one->piece.text.size() > bytes) continue;
    bytes -= one->piece.text.size();
    chosen.push_back(one);
  }
  std::sort(chosen.begin(), chosen.end(), [](const Kept* a, const Kept* b) { return a->since < b->since; });
  std::vector<Piece> pieces;
  for (const Kept* one : chosen) pieces.push_back(one->piece);
  return pieces;
}

std::string declarations_of(std::string_view text, std::size_t bytes) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    const std::string_view said = trimmed(line);
    const bool declares =
        columns(indentation(line)) <= 4 && line.size() < 200 &&
        std::any_of(kDeclares.begin(), kDeclares.end(), [&](std::string_view word) { return said.starts_with(word); });
    if (!declares) continue;
    if (out.size() + line.size() + 1 > bytes) break;
    out += line.substr(0, line.find_last_not_of("\r") + 1);
    out += '\n';
  }
  return out;
}

}  // namespace glmhost::completion
