// A SQLite connection and its statements as values with an owner. Used by memo_store.cpp alone.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace glmhost::daemon {

class SqliteError : public std::runtime_error {
 public:
  SqliteError(int code, const std::string& message) : std::runtime_error(message), code_(code & 0xff) {}
  int code() const { return code_; }  // primary result code
  bool file_is_damaged() const { return code_ == SQLITE_CORRUPT || code_ == SQLITE_NOTADB; }

 private:
  int code_;
};

class SqliteStatement {
 public:
  SqliteStatement(sqlite3* connection, const char* sql);

  // Numbered from 1. Bound bytes must live until the statement has run.
  SqliteStatement& bind(int index, std::int64_t value);
  SqliteStatement& bind(int index, std::string_view bytes);  // as a blob

  bool step();   // true: a row is there
  void run();    // to the end, and ready for the next use
  void reset();  // ready for the next use; a failure of the last step is not told again

  std::int64_t integer(int column) const;
  std::string bytes(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  [[noreturn]] void fail(int code) const;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class SqliteConnection {
 public:
  // Opens, or makes, the file. Not thread-safe: one thread at a time uses a connection and its statements.
  explicit SqliteConnection(const std::string& utf8_path);

  void execute(const char* sql);
  std::int64_t integer(const char* sql);  // the first column of the first row; 0 without one
  SqliteStatement prepare(const char* sql) { return {connection_.get(), sql}; }

 private:
  struct Close {
    void operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }
  };
  std::unique_ptr<sqlite3, Close> connection_;
};

}  // namespace glmhost::daemon
