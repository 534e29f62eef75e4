#include "host/model_store/https_download.h"

#include <charconv>
#include <chrono>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <thread>

#include "host/model_store/byte_size.h"
#include "host/model_store/files.h"
#include "host/model_store/https_client.h"
#include "host/model_store/sha256.h"
#include "host/platform/paths.h"

namespace glmhost::model_store {
namespace {

namespace fs = std::filesystem;

constexpr int kMostRedirects = 10;
constexpr int kMostFailures = 5;  // in a row, without a byte in between

std::string header(const HttpsResponse& response, const std::string& name) {
  const auto found = response.headers.find(name);
  return found == response.headers.end() ? std::string() : found->second;
}

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

// "bytes 100-199/200": where the piece begins, and the whole length; "bytes */200" has no beginning.
struct ContentRange {
  std::optional<std::uint64_t> begin;
  std::optional<std::uint64_t> total;
};

ContentRange parse_content_range(std::string_view text) {
  ContentRange out;
  if (!text.starts_with("bytes ")) return out;
  text.remove_prefix(6);
  const std::size_t slash = std::min(text.find('/'), text.size());
  out.begin = number(text.substr(0, std::min(text.find('-'), slash)));
  if (slash < text.size()) out.total = number(text.substr(slash + 1));
  return out;
}

std::string refusal(int status, const std::string& host) {
  const std::string answer = host + " answered with status " + std::to_string(status);
  switch (status) {
    case 401:
    case 403:
      return answer +
             ": it does not give the file to everybody. Fetch it with a browser where you are signed in, then "
             "`glm pull` the file.";
    case 404:
    case 410:
      return answer + ": there is no such file. Check the address.";
    case 429:
      return answer + ": too many requests. Try again later.";
    default:
      return answer + ".";
  }
}

fs::path note_of(fs::path part) {
  return part += ".json";
}

// One download over as many requests as it takes.
class Attempt {
 public:
  Attempt(const std::string& url, const fs::path& part, const PullMonitor& monitor)
      : url_(url), part_(part), note_(note_of(part)), monitor_(monitor) {
    read_note();
  }

  // One chain of redirects and one body. True when the file is complete.
  bool run() {
    std::string url = url_;
    for (int redirects = 0; redirects <= kMostRedirects; ++redirects) {
      location_.clear();
      failure_ = nullptr;
      if (tag_.empty()) done_ = 0;  // without a tag nobody knows whether the rest would fit
      std::exception_ptr broken;
      try {
        https_get(
            url, request_headers(), [&](const HttpsResponse& r) { return guarded([&] { return accept(r, url); }); },
            [&](std::span<const char> bytes) { return guarded([&] { return take(bytes); }); });
      } catch (...) {
        broken = std::current_exception();
      }
      if (output_) {
        output_->close();
        output_.reset();
      }
      if (failure_) std::rethrow_exception(failure_);
      if (broken) std::rethrow_exception(broken);
      if (location_.empty()) return complete_ || (!total_ && done_ > 0) || (total_ && done_ == *total_);
      url = location_;
    }
    throw HttpsError("The address " + url_ + " leads from one redirect to the next without end.", false);
  }

  std::uint64_t done() const { return done_; }
  const std::string& stated_sha256() const { return sha256_; }

 private:
  // Exceptions must not pass through the HTTP library, which is in the middle of its work.
  template <class Body>
  bool guarded(const Body& body) {
    try {
      return body();
    } catch (...) {
      failure_ = std::current_exception();
      return false;
    }
  }

  void read_note() {
    std::error_code error;
    const std::uint64_t size = fs::file_size(part_, error);
    if (error) return;
    std::ifstream stream(note_);
    const auto json = nlohmann::json::parse(stream, nullptr, false);
    if (!json.is_object() || json.value("url", "") != url_) return;
    tag_ = json.value("tag", "");
    if (!tag_.empty()) done_ = size;
  }

  void write_note() const {
    std::ofstream stream(note_, std::ios::trunc);
    stream << nlohmann::json{{"url", url_}, {"tag", tag_}};
  }

  Headers request_headers() const {
    if (done_ == 0) return {};
    return {{"range", "bytes=" + std::to_string(done_) + "-"}, {"if-range", tag_}};
  }

  // Whether the body is wanted.
  bool accept(const HttpsResponse& response, const std::string& url) {
    if (sha256_.empty()) {
      // Hugging Face states the SHA-256 of a large file as the entity tag of what its redirect leads to.
      std::string linked = header(response, "x-linked-etag");
      std::erase(linked, '"');
      sha256_ = parse_sha256(linked).value_or("");
    }
    const std::string host = parse_https_url(url).host;
    const std::string location = header(response, "location");
    if (response.status >= 300 && response.status < 400 && response.status != 304 && !location.empty()) {
      follow(location, url);
      return false;
    }
    const ContentRange range = parse_content_range(header(response, "content-range"));
    if (response.status == 416 && done_ > 0) {
      // Nothing is left to fetch, or the file has become shorter: then from the beginning.
      complete_ = range.total == done_;
      if (!complete_) done_ = 0;
      return false;
    }
    if (response.status == 206) {
      if (range.begin != done_) throw HttpsError(host + " sent another part of the file than asked for.", false);
      total_ = range.total;
    } else if (response.status == 200) {
      done_ = 0;
      total_ = number(header(response, "content-length"));
    } else {
      const bool retry = response.status == 408 || response.status == 429 || response.status >= 500;
      throw HttpsError(refusal(response.status, host), retry);
    }
    const std::string tag = header(response, "etag");
    tag_ = tag.starts_with("W/") ? "" : tag;  // a weak tag does not promise the same bytes
    if (total_) require_room(part_.parent_path(), *total_ - done_);
    write_note();
    output_.emplace(part_, done_ > 0);
    return true;
  }

  void follow(const std::string& location, const std::string& from) {
    if (location.starts_with("https://")) {
      location_ = location;
    } else if (location.starts_with("/") && !location.starts_with("//")) {
      const std::size_t path = from.find('/', std::string_view("https://").size());
      location_ = from.substr(0, path) + location;
    } else {
      throw HttpsError("The address " + url_ + " leads to " + location.substr(0, 200) + ", which is not https.", false);
    }
  }

  bool take(std::span<const char> bytes) {
    output_->write(bytes);
    done_ += bytes.size();
    if (total_ && done_ > *total_) throw HttpsError("The server sends more than it announced.", false);
    monitor_.update({"downloading", done_, total_.value_or(0)});
    return true;
  }

  std::string url_;
  fs::path part_;
  fs::path note_;
  const PullMonitor& monitor_;
  std::string tag_;
  std::string sha256_;
  std::string location_;
  std::uint64_t done_ = 0;
  std::optional<std::uint64_t> total_;
  bool complete_ = false;
  std::optional<OutputFile> output_;
  std::exception_ptr failure_;
};

}  // namespace

Download https_download(const std::string& url, const fs::path& part, const PullMonitor& monitor) {
  Attempt attempt(url, part, monitor);
  int failures = 0;
  while (true) {
    const std::uint64_t before = attempt.done();
    std::string reason = "The connection ended before the file was complete.";
    try {
      if (attempt.run()) break;
    } catch (const HttpsError& error) {
      if (!error.worth_retrying()) throw;
      reason = error.what();
    }
    failures = attempt.done() > before ? 1 : failures + 1;
    if (failures >= kMostFailures) {
      throw HttpsError(
          reason + (attempt.done() > 0 ? " " + byte_size(attempt.done()) + " are kept: pull again to go on from there."
                                       : std::string()),
          true);
    }
    for (int tenth = 0; tenth < 10 * failures; ++tenth) {
      monitor.update({"downloading", attempt.done(), 0});
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
  return {attempt.stated_sha256()};
}

void forget_download(const fs::path& part) {
  std::error_code ignored;
  fs::remove(part, ignored);
  fs::remove(note_of(part), ignored);
}

}  // namespace glmhost::model_store
