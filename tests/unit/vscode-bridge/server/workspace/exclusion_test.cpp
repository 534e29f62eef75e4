#include "vscode-bridge/server/workspace/exclusion.h"

#include <doctest/doctest.h>

#include <fstream>

#include "host/platform/process.h"
#include "vscode-bridge/server/workspace/uri.h"

using namespace glmhost::workspace;
namespace fs = std::filesystem;

namespace {

struct Folder {
  Folder() : path(fs::temp_directory_path() / ("glm ignore 工程 " + std::to_string(glmhost::platform::process_id()))) {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  fs::path write(const std::string& name, const std::string& text) const {
    const fs::path file = path / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }
  fs::path path;
};

}  // namespace

TEST_CASE("patterns of paths") {
  for (const auto& one : std::initializer_list<std::pair<const char*, const char*>>{{"a.py", "a.py"},
                                                                                    {"*.py", "a.py"},
                                                                                    {"a?c", "abc"},
                                                                                    {"[a-c]x", "bx"},
                                                                                    {"[!a-c]x", "dx"},
                                                                                    {"[]]", "]"},
                                                                                    {"**/a", "a"},
                                                                                    {"**/a", "x/y/a"},
                                                                                    {"a/**", "a/b/c"},
                                                                                    {"a/**/b", "a/b"},
                                                                                    {"a/**/b", "a/x/y/b"},
                                                                                    {"\\*", "*"},
                                                                                    {"[x", "[x"},
                                                                                    {"a**b", "axxb"},
                                                                                    {"*", ""},
                                                                                    {"", ""}}) {
    CAPTURE(one.first);
    CAPTURE(one.second);
    CHECK(glob_matches(one.first, one.second));
  }
  for (const auto& one : std::initializer_list<std::pair<const char*, const char*>>{{"*.py", "a/b.py"},
                                                                                    {"a?c", "a/c"},
                                                                                    {"[!a]x", "/x"},
                                                                                    {"a/**", "a"},
                                                                                    {"**/a", "ba"},
                                                                                    {"a**b", "a/b"},
                                                                                    {"a/**/b", "axb"},
                                                                                    {"", "a"},
                                                                                    {"[a-c]x", "dx"}}) {
    CAPTURE(one.first);
    CAPTURE(one.second);
    CHECK_FALSE(glob_matches(one.first, one.second));
  }
  // Nothing that a pattern can do takes more than the product of the lengths.
  CHECK_FALSE(glob_matches(std::string(2000, '*') + "b", std::string(2000, 'a')));
  std::string stars;
  for (int i = 0; i < 500; ++i) stars += "*a";
  CHECK_FALSE(glob_matches(stars + "b", std::string(2000, 'a')));
}

TEST_CASE("rules of an ignore file: the last one decides") {
  const IgnoreRules rules("# comment\n*.log\n!keep.log\n/build\nout/\nsrc/gen\n\\#x\r\nspace\\ \n trailing   \n");
  CHECK(rules.ignores("a.log", false) == true);
  CHECK(rules.ignores("deep/a.log", false) == true);
  CHECK(rules.ignores("keep.log", false) == false);
  CHECK(rules.ignores("build", true) == true);
  CHECK_FALSE(rules.ignores("x/build", true).has_value());
  CHECK(rules.ignores("x/out", true) == true);
  CHECK_FALSE(rules.ignores("out", false).has_value());
  CHECK(rules.ignores("src/gen", false) == true);
  CHECK_FALSE(rules.ignores("x/src/gen", false).has_value());
  CHECK(rules.ignores("#x", false) == true);
  CHECK(rules.ignores("space ", false) == true);
  CHECK(rules.ignores(" trailing", false) == true);
  CHECK_FALSE(rules.ignores("a.py", false).has_value());
}

TEST_CASE("ignore files of every folder up to the repository's, and the settings") {
  const Folder folder;
  folder.write("repo/.git/info/exclude", "private/\n");
  folder.write("repo/.gitignore", "*.tmp\nvendor/\n");
  folder.write("repo/sub/.gitignore", "!good.tmp\nlocal.py\n");
  folder.write("repo/sub/.glmignore", "generated*\n");
  folder.write(".gitignore", "*.py\n");  // outside of the repository
  Exclusion exclusion;
  exclusion.set_roots({folder.path / "repo" / "sub"});
  exclusion.set_patterns({"*.min.js", "docs/**"});
  const auto excluded = [&](const char* name) { return exclusion.reason(folder.path / name).has_value(); };
  CHECK_FALSE(excluded("repo/sub/a.py"));
  CHECK(excluded("repo/sub/a.tmp"));
  CHECK_FALSE(excluded("repo/sub/good.tmp"));
  CHECK(excluded("repo/good.tmp"));
  CHECK(excluded("repo/sub/local.py"));
  CHECK_FALSE(excluded("repo/local.py"));
  CHECK(excluded("repo/vendor/deep/x.c"));
  CHECK(excluded("repo/private/x.c"));
  CHECK(excluded("repo/sub/generated_api.py"));
  CHECK(excluded("repo/sub/x/app.min.js"));
  CHECK(excluded("repo/sub/docs/x/y.md"));
  CHECK_FALSE(excluded("repo/sub/app.js"));
  // A change of the file is seen.
  const fs::path changed = folder.write("repo/sub/.glmignore", "a.py\n");
  fs::last_write_time(changed, fs::file_time_type::clock::now() + std::chrono::seconds(5));
  CHECK(excluded("repo/sub/a.py"));
  CHECK_FALSE(excluded("repo/sub/generated_api.py"));
}

TEST_CASE("files that look like secrets are excluded wherever they are") {
  for (const char* name : {".env", ".ENV", ".env.local", "prod.env", "server.key", "id_rsa", "id_ed25519.old",
                           ".ssh/config", ".aws/anything", "credentials.json", "secrets.yaml", ".netrc", "x.pem"}) {
    CAPTURE(name);
    CHECK(looks_secret(fs::path("/home/u") / name));
  }
  for (const char* name : {".env.example", "environment.py", "keys.py", "main.c", "secretary.txt", "monkey"}) {
    CAPTURE(name);
    CHECK_FALSE(looks_secret(fs::path("/home/u") / name));
  }
#ifndef _WIN32
  const Folder folder;
  const fs::path secret = folder.write("real/.env", "KEY=1");
  fs::create_symlink(secret, folder.path / "notes.txt");
  Exclusion exclusion;
  CHECK(exclusion.reason(folder.path / "notes.txt").has_value());
  CHECK_FALSE(exclusion.reason(folder.path / "other.txt").has_value());
#endif
}

#ifndef _WIN32
TEST_CASE("URIs of files") {
  CHECK(path_of("file:///a%20b/%E5%B7%A5/c.py") == fs::path("/a b/工/c.py"));
  CHECK(path_of("file:///a/../b.py") == fs::path("/b.py"));
  CHECK(path_of("vscode-notebook-cell:/n.ipynb#W0s") == fs::path("/n.ipynb"));
  CHECK(path_of("vscode-remote://host%3A80/a.py") == fs::path("/a.py"));
  CHECK(path_of("file:///100%.py") == fs::path("/100%.py"));
  for (const char* none : {"", "untitled:Untitled-1", "file:", "file://host", "x", "file:///a%00b", "http://x/y"}) {
    CAPTURE(none);
    CHECK_FALSE(path_of(none).has_value());
  }
  for (const char* path : {"/a b/工 程/x#y?.py", "/%41"}) CHECK(path_of(uri_of(path)) == fs::path(path));
}
#endif
