// The flags that demand a form of the answer, and name the tools that the model may call.
#pragma once

#include <string>
#include <vector>

#include "host/cli/command.h"
#include "host/protocol/messages.h"

namespace glmhost::cli {

class FormFlags {
 public:
  void add_to(Command& command);

  // Sets request.form and request.tools from what was given; reads the files. Call after Command::parse. Throws
  // Failure(usage): more than one form, a form together with --tools or --stop, a file that is no JSON,
  // --tool-choice without --tools or of a tool that the file does not have.
  void apply(const Command& command, protocol::Request& request) const;

 private:
  std::string schema_, regex_, grammar_, type_, tools_, tool_choice_;
  std::vector<std::string> choices_;
};

}  // namespace glmhost::cli
