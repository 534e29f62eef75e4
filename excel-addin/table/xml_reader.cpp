#include "excel-addin/table/xml_reader.h"

#include <expat.h>

#include <exception>

#include "excel-addin/table/table_error.h"

namespace glmhost::table {
namespace {

std::string_view local(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

}  // namespace

std::string_view XmlAttributes::operator[](std::string_view name) const {
  for (const char** pair = pairs; *pair != nullptr; pair += 2) {
    if (local(*pair) == name) return pair[1];
  }
  return {};
}

struct XmlReader::State {
  XML_Parser parser = nullptr;
  Begin begin;
  End end;
  Text text;
  std::size_t depth = 0;
  std::exception_ptr failure;  // exceptions must not cross expat, which is C

  template <class Call>
  void guarded(const Call& call) {
    if (failure) return;
    try {
      call();
    } catch (...) {
      failure = std::current_exception();
      XML_StopParser(parser, XML_FALSE);
    }
  }
};

XmlReader::XmlReader(Begin begin, End end, Text text) : state_(std::make_unique<State>()) {
  state_->parser = XML_ParserCreate(nullptr);
  if (state_->parser == nullptr) throw std::bad_alloc();
  state_->begin = std::move(begin);
  state_->end = std::move(end);
  state_->text = std::move(text);
  XML_SetUserData(state_->parser, state_.get());
  XML_SetElementHandler(
      state_->parser,
      [](void* data, const char* name, const char** attributes) {
        State& state = *static_cast<State*>(data);
        state.guarded([&] {
          constexpr std::size_t kMostDepth = 256;
          if (++state.depth > kMostDepth) throw TableError("The workbook is damaged: its XML is nested too deep.");
          state.begin(local(name), XmlAttributes{attributes});
        });
      },
      [](void* data, const char* name) {
        State& state = *static_cast<State*>(data);
        --state.depth;
        state.guarded([&] { state.end(local(name)); });
      });
  XML_SetCharacterDataHandler(state_->parser, [](void* data, const char* characters, int length) {
    State& state = *static_cast<State*>(data);
    state.guarded([&] { state.text({characters, static_cast<std::size_t>(length)}); });
  });
  XML_SetStartDoctypeDeclHandler(state_->parser, [](void* data, const char*, const char*, const char*, int) {
    static_cast<State*>(data)->guarded(
        [] { throw TableError("The workbook is damaged: its XML declares a document type, which no workbook does."); });
  });
}

XmlReader::~XmlReader() {
  XML_ParserFree(state_->parser);
}

void XmlReader::feed(std::string_view piece) {
  constexpr std::size_t kAtOnce = std::size_t{1} << 24;
  for (; !piece.empty(); piece.remove_prefix(std::min(piece.size(), kAtOnce))) {
    const std::string_view part = piece.substr(0, kAtOnce);
    const auto status = XML_Parse(state_->parser, part.data(), static_cast<int>(part.size()), XML_FALSE);
    if (state_->failure) std::rethrow_exception(state_->failure);
    if (status == XML_STATUS_ERROR) throw TableError("The workbook is damaged: its XML is not well formed.");
  }
}

void XmlReader::finish() {
  const auto status = XML_Parse(state_->parser, nullptr, 0, XML_TRUE);
  if (state_->failure) std::rethrow_exception(state_->failure);
  if (status == XML_STATUS_ERROR) throw TableError("The workbook is damaged: its XML ends in the middle.");
}

}  // namespace glmhost::table
