#include "host/cli/heat_map.h"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <vector>

#include "host/cli/limits_text.h"
#include "host/cli/text_table.h"

namespace glmhost::cli {
namespace {

using architectures::kOperations;
using architectures::Operation;
using architectures::OperationTime;
using generation::PhaseProfile;

[[gnu::format(printf, 1, 2)]] std::string formatted(const char* format, ...) {
  std::array<char, 256> text{};
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text.data(), text.size(), format, arguments);
  va_end(arguments);
  return text.data();
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += c;
    }
  }
  return out;
}

struct Phase {
  const char* title;
  const PhaseProfile& profile;
};

std::array<Phase, 2> phases(const ProfileReport& report) {
  return {{{"Prompt", report.profile.prompt}, {"Answer, one token", report.profile.decode}}};
}

std::array<Achieved, kOperations> by_operation(const PhaseProfile& profile) {
  std::array<Achieved, kOperations> sums;
  for (const OperationTime& time : profile.entries) sums[static_cast<std::size_t>(time.operation)].add(time);
  return sums;
}

// Entries of one layer after the other: [layer + 1][operation]; null where a layer has no such operation.
std::vector<std::array<const OperationTime*, kOperations>> by_layer(const PhaseProfile& profile) {
  std::vector<std::array<const OperationTime*, kOperations>> rows;
  for (const OperationTime& time : profile.entries) {
    const auto row = static_cast<std::size_t>(time.layer + 1);
    if (rows.size() <= row) rows.resize(row + 1);
    rows[row][static_cast<std::size_t>(time.operation)] = &time;
  }
  return rows;
}

double longest(const PhaseProfile& profile) {
  double most = 0;
  for (const OperationTime& time : profile.entries) most = std::max(most, time.seconds);
  return most;
}

std::string layer_name(std::size_t row, std::size_t rows) {
  if (row == 0) return "before";
  return row + 1 == rows ? "behind" : std::to_string(row - 1);
}

std::string summary(const Phase& phase) {
  const double rate = static_cast<double>(phase.profile.tokens) / phase.profile.seconds;
  return formatted("%s: %lld token%s in %.2f ms, %.0f tokens/s", phase.title,
                   static_cast<long long>(phase.profile.tokens), phase.profile.tokens == 1 ? "" : "s",
                   phase.profile.seconds * 1e3, rate);
}

std::string percent(double share) {
  return share == 0 ? "" : formatted("%.0f %%", share * 100);
}

std::vector<std::string> operation_cells(Operation operation, const Achieved& achieved, const Phase& phase,
                                         const kernels::MachineLimits& limits) {
  const Share share = share_of_limits(achieved, limits);
  return {operation_name(operation),
          formatted("%.3f", achieved.seconds * 1e3),
          formatted("%.1f %%", achieved.seconds / phase.profile.seconds * 100),
          achieved.gigabytes == 0 ? "" : formatted("%.1f", achieved.gb_per_s()),
          percent(share.of_reading),
          achieved.gigaoperations == 0 ? "" : formatted("%.0f", achieved.gop_per_s()),
          percent(share.of_arithmetic)};
}

const std::vector<std::string> kColumns = {"operation", "ms", "share", "GB/s", "of limit", "GOP/s", "of limit"};

// From white over yellow to red; `heat` 0 to 1.
std::string colour(double heat) {
  const double x = std::clamp(heat, 0.0, 1.0);
  const int green = static_cast<int>(x < 0.5 ? 250 - 40 * x : 330 - 200 * x);
  const int blue = static_cast<int>(240 * (1 - x));
  return formatted("rgb(255,%d,%d)", std::clamp(green, 0, 255), blue);
}

std::string phase_html(const Phase& phase, const kernels::MachineLimits& limits) {
  std::string out = "<h2>" + escaped(summary(phase)) + "</h2>\n<table><tr>";
  for (const std::string& column : kColumns) out += "<th>" + column + "</th>";
  out += "</tr>\n";
  const auto sums = by_operation(phase.profile);
  for (int i = 0; i < kOperations; ++i) {
    const Achieved& achieved = sums[static_cast<std::size_t>(i)];
    if (achieved.seconds == 0) continue;
    out += "<tr>";
    for (const std::string& cell : operation_cells(static_cast<Operation>(i), achieved, phase, limits)) {
      out += "<td>" + cell + "</td>";
    }
    out += "</tr>\n";
  }
  out += "</table>\n<table class=\"map\"><tr><th>layer</th>";
  for (int i = 0; i < kOperations; ++i)
    out += "<th>" + std::string(operation_name(static_cast<Operation>(i))) + "</th>";
  out += "</tr>\n";
  const auto rows = by_layer(phase.profile);
  const double most = longest(phase.profile);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    out += "<tr><th>" + layer_name(row, rows.size()) + "</th>";
    for (const OperationTime* time : rows[row]) {
      if (time == nullptr) {
        out += "<td></td>";
        continue;
      }
      Achieved achieved;
      achieved.add(*time);
      out +=
          "<td style=\"background:" + colour(time->seconds / most) + "\" title=\"" +
          formatted("%.1f us, %.1f GB/s, %.0f GOP/s", time->seconds * 1e6, achieved.gb_per_s(), achieved.gop_per_s()) +
          "\">" + formatted("%.0f", time->seconds * 1e6) + "</td>";
    }
    out += "</tr>\n";
  }
  return out + "</table>\n";
}

std::string phase_text(const Phase& phase, const kernels::MachineLimits& limits) {
  Table table(kColumns);
  const auto sums = by_operation(phase.profile);
  for (int i = 0; i < kOperations; ++i) {
    const Achieved& achieved = sums[static_cast<std::size_t>(i)];
    if (achieved.seconds > 0) table.add(operation_cells(static_cast<Operation>(i), achieved, phase, limits));
  }
  std::string out = summary(phase) + "\n\n" + table.text() + "\n";
  // One sign for each operation, the darker the longer it took.
  constexpr std::string_view kShades = " .:-=+*#%@";
  const auto rows = by_layer(phase.profile);
  const double most = longest(phase.profile);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::string line;
    double seconds = 0;
    for (const OperationTime* time : rows[row]) {
      const double heat = time == nullptr ? 0 : time->seconds / most;
      line += kShades[static_cast<std::size_t>(heat * static_cast<double>(kShades.size() - 1) + 0.5)];
      seconds += time == nullptr ? 0 : time->seconds;
    }
    out += formatted("%7s |%s| %8.1f us\n", layer_name(row, rows.size()).c_str(), line.c_str(), seconds * 1e6);
  }
  return out;
}

}  // namespace

std::string heat_map_html(const ProfileReport& report) {
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + escaped(report.model) +
      ": where the time goes</title>\n<style>body{font:14px sans-serif;margin:2em}table{border-collapse:collapse;"
      "margin:1em 0}td,th{padding:2px 8px;text-align:right;border:1px solid #ddd}th:first-child,td:first-child{"
      "text-align:left}.map td{min-width:3.5em}</style></head>\n<body><h1>" +
      escaped(report.model) + "</h1>\n<p>" + escaped(report.kernels) + ", " + std::to_string(report.threads) +
      (report.threads == 1 ? " thread" : " threads") +
      ". Times of each layer and operation in microseconds; hover for rates. \"Of limit\" is the share of what this "
      "machine was measured to reach at most with the same threads: reading memory (more than 100 % means a cache), "
      "and arithmetic on its fastest unit.</p>\n<pre>" +
      escaped(limits_text(report.limits, report.threads)) + "</pre>\n";
  for (const Phase& phase : phases(report)) out += phase_html(phase, report.limits);
  return out + "</body></html>\n";
}

std::string heat_map_text(const ProfileReport& report) {
  std::string out = report.model + ", " + report.kernels + ", " + std::to_string(report.threads) +
                    (report.threads == 1 ? " thread" : " threads") + "\n\n" +
                    limits_text(report.limits, report.threads);
  for (const Phase& phase : phases(report)) out += "\n" + phase_text(phase, report.limits);
  out += "\nColumns of the map:";
  for (int i = 0; i < kOperations; ++i) {
    out += (i == 0 ? " " : "; ") + std::string(operation_name(static_cast<Operation>(i)));
  }
  return out + ".\n";
}

}  // namespace glmhost::cli
