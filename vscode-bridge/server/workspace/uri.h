// File URIs as editors write them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace glmhost::workspace {

// The file behind "file:///home/a%20b/c.py", also behind a notebook's cell ("vscode-notebook-cell:/home/a.ipynb#x") and
// in a remote window ("vscode-remote://host/path": the server runs where the file is). On Windows "file:///c%3A/a" is
// c:\a and "file://server/share" a network path. Nothing for documents that are no files ("untitled:Untitled-1") and
// for paths that are none.
std::optional<std::filesystem::path> path_of(std::string_view uri);

std::string uri_of(const std::filesystem::path& absolute_path);

}  // namespace glmhost::workspace
