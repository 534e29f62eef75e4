// XML as a stream of elements (expat). Prefixes of namespaces are left out: a workbook's parts use one vocabulary each,
// under one of two names (transitional or strict).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace glmhost::table {

struct XmlAttributes {
  const char** pairs;
  // Empty when it is not there; prefixes are left out here too.
  std::string_view operator[](std::string_view name) const;
};

class XmlReader {
 public:
  using Begin = std::function<void(std::string_view name, const XmlAttributes& attributes)>;
  using End = std::function<void(std::string_view name)>;
  using Text = std::function<void(std::string_view text)>;
  XmlReader(Begin begin, End end, Text text);
  ~XmlReader();

  // The next piece of the document. Throws TableError for what is not well formed and for a document type declaration,
  // which no workbook has (entities could make a small file large); whatever a callback threw passes through.
  void feed(std::string_view piece);
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace glmhost::table
