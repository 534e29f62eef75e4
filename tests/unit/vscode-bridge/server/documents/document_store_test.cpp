#include "vscode-bridge/server/documents/document_store.h"

#include <doctest/doctest.h>

using namespace glmhost::documents;

TEST_CASE("changes of one notification apply in their order, each to what the one before left") {
  DocumentStore store;
  Document& document = store.open("file:///a.py", "python", 1, "one\r\ntwo\r\n");
  const Change changes[] = {
      {Range{{0, 3}, {1, 0}}, "\n"},  // the first line end becomes \n
      {Range{{1, 3}, {1, 3}}, "!"},
      {Range{{1, 4}, {1, 1}}, "-"},  // in the wrong order
  };
  for (const Change& change : changes) DocumentStore::apply(document, change, PositionEncoding::utf16);
  CHECK(document.text.text() == "one\nt-\r\n");
  const Change all{std::nullopt, "new"};
  const AppliedChange whole = DocumentStore::apply(document, all, PositionEncoding::utf16);
  CHECK(document.text.text() == "new");
  CHECK(whole.begin == 0);
  CHECK(whole.removed == 8);
  const Change key{Range{{0, 3}, {0, 3}}, "er"};
  const AppliedChange typed = DocumentStore::apply(document, key, PositionEncoding::utf16);
  CHECK(typed.begin == 3);
  CHECK(typed.removed == 0);
  CHECK(typed.inserted == "er");
}

TEST_CASE("opening anew takes the new text, closing frees") {
  DocumentStore store;
  store.open("untitled:1", "", 1, "a");
  CHECK(store.open("untitled:1", "cpp", 5, "b").text.text() == "b");
  CHECK(store.all().size() == 1);
  store.close("untitled:1");
  store.close("untitled:1");
  CHECK(store.find("untitled:1") == nullptr);
}

TEST_CASE("a notebook's code cells are one text in their order") {
  DocumentStore store;
  for (const char* uri : {"c1", "c2", "c3", "c4"})
    store.open(uri, "python", 1, std::string("in ") + uri).notebook = "n";
  store.open_notebook({"n", {{"c3", true}, {"c1", true}, {"c4", false}, {"c2", true}}});
  const Document& cell = *store.find("c1");
  CHECK(store.text_before(cell) == "in c3\n");
  CHECK(store.text_behind(cell) == "\nin c2");
  CHECK(store.text_before(*store.find("c2")) == "in c3\nin c1\n");
  store.open("alone", "python", 1, "x");
  CHECK(store.text_before(*store.find("alone")).empty());
  store.close_notebook("n");
  CHECK(store.text_before(cell).empty());
}
