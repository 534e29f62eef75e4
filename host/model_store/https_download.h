// A file from an https address: redirects followed, broken connections and earlier attempts continued.
#pragma once

#include <filesystem>
#include <string>

#include "host/model_store/pull_progress.h"

namespace glmhost::model_store {

struct Download {
  std::string sha256;  // what the server stated about the file; empty: nothing
};

// Brings `url` to `part`; `part` + ".json" tells what the bytes there belong to. A later call goes on where an earlier
// one ended when the server still has the same file (If-Range with its entity tag), and returns at once when it is
// complete. Redirects to anything but https are refused. The disk's room is checked as soon as the length is known.
// Throws HttpsError, PullCancelled, std::runtime_error, each with a sentence.
Download https_download(const std::string& url, const std::filesystem::path& part, const PullMonitor& monitor);

// Removes both files.
void forget_download(const std::filesystem::path& part);

}  // namespace glmhost::model_store
