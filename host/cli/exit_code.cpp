#include "host/cli/exit_code.h"

namespace glmhost::cli {

ExitCode exit_code(protocol::ErrorCode code) {
  using protocol::ErrorCode;
  switch (code) {
    case ErrorCode::no_model:
      return ExitCode::no_model;
    case ErrorCode::model_load_failed:
      return ExitCode::model_load_failed;
    case ErrorCode::bad_request:
      return ExitCode::usage;
    case ErrorCode::too_large:
      return ExitCode::too_large;
    case ErrorCode::cancelled:
      return ExitCode::cancelled;
    case ErrorCode::deadline:
      return ExitCode::deadline;
    case ErrorCode::busy:
      return ExitCode::busy;
    case ErrorCode::backend_failed:
    case ErrorCode::internal:
      break;
  }
  return ExitCode::failure;
}

ExitCode exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::not_found:
      return ExitCode::no_model;
    case ErrorKind::bad_file:
    case ErrorKind::unsupported:
    case ErrorKind::out_of_memory:
      return ExitCode::model_load_failed;
    case ErrorKind::context_exceeded:
      return ExitCode::too_large;
    case ErrorKind::bad_argument:
      return ExitCode::usage;
    case ErrorKind::cancelled:
      return ExitCode::cancelled;
    case ErrorKind::io:
      break;
  }
  return ExitCode::failure;
}

std::string_view name(ExitCode code) {
  switch (code) {
    case ExitCode::usage:
      return "bad_request";
    case ExitCode::no_daemon:
      return "no_daemon";
    case ExitCode::no_model:
      return "no_model";
    case ExitCode::model_load_failed:
      return "model_load_failed";
    case ExitCode::busy:
      return "busy";
    case ExitCode::deadline:
      return "deadline";
    case ExitCode::too_large:
      return "too_large";
    case ExitCode::already_running:
      return "already_running";
    case ExitCode::incomplete:
      return "incomplete";
    case ExitCode::cancelled:
      return "cancelled";
    case ExitCode::success:
    case ExitCode::failure:
    case ExitCode::output_closed:
      break;
  }
  return "failed";
}

}  // namespace glmhost::cli
