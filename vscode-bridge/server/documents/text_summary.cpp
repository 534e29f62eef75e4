#include "vscode-bridge/server/documents/text_summary.h"

namespace glmhost::documents {

TextSummary summarize(std::string_view text) {
  TextSummary sum;
  sum.bytes = text.size();
  if (text.empty()) return sum;
  sum.begins_with_lf = text.front() == '\n';
  sum.ends_with_cr = text.back() == '\r';
  bool after_cr = false;
  for (const char byte : text) {
    if (!is_continuation(byte)) ++sum.characters;
    if (static_cast<unsigned char>(byte) >= 0xF0) ++sum.units;  // a pair of surrogates
    if (byte == '\r' || (byte == '\n' && !after_cr)) ++sum.line_ends;
    after_cr = byte == '\r';
  }
  sum.units += sum.characters;
  return sum;
}

}  // namespace glmhost::documents
