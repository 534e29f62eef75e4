// This process, others, and the memory of the machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace glmhost::platform {

std::uint32_t process_id();
std::optional<std::uint32_t> user_id();  // the effective one; nothing on Windows, where users are no numbers

// False also for a zombie, which runs no more. A process of another user counts as alive.
bool process_is_alive(std::uint32_t pid);

// Asks the process to end (SIGTERM; on Windows there is no such thing for a process without a console, so nothing
// happens) or ends it at once (SIGKILL, TerminateProcess). False when there is no such process or it is not ours.
bool ask_process_to_stop(std::uint32_t pid);
bool kill_process(std::uint32_t pid);

// The program that runs. Throws std::runtime_error when the system does not tell.
std::filesystem::path executable_path();

// Starts `program` (a path, no search) so that it outlives this process and its terminal: own session, working folder
// "/" (Windows: the program's own folder), stdin empty, stdout and stderr appended to `log_file` (made with mode 0600),
// no other file descriptor or handle inherited. Arguments are UTF-8, without the program's own name. Returns the
// process id. Throws std::runtime_error with a sentence when it cannot be started; that it went on to work is for the
// caller to see.
std::uint32_t spawn_detached(const std::filesystem::path& program, std::span<const std::string> arguments,
                             const std::filesystem::path& log_file);

// Bytes; 0 where the system does not tell.
std::uint64_t resident_memory();       // of this process, now
std::uint64_t peak_resident_memory();  // of this process, at most so far
std::uint64_t total_memory();          // of the machine, or of the control group when that is less
std::uint64_t available_memory();      // what can be allocated without swapping, or the control group's rest when less

}  // namespace glmhost::platform
