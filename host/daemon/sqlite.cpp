#include "host/daemon/sqlite.h"

namespace glmhost::daemon {
namespace {

[[noreturn]] void fail_connection(sqlite3* connection, int code) {
  throw SqliteError(code, connection != nullptr ? sqlite3_errmsg(connection) : sqlite3_errstr(code));
}

}  // namespace

SqliteStatement::SqliteStatement(sqlite3* connection, const char* sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(connection, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  statement_.reset(statement);
  if (code != SQLITE_OK) fail_connection(connection, code);
}

void SqliteStatement::fail(int code) const {
  fail_connection(sqlite3_db_handle(statement_.get()), code);
}

SqliteStatement& SqliteStatement::bind(int index, std::int64_t value) {
  const int code = sqlite3_bind_int64(statement_.get(), index, value);
  if (code != SQLITE_OK) fail(code);
  return *this;
}

SqliteStatement& SqliteStatement::bind(int index, std::string_view bytes) {
  // A null pointer would bind NULL; an empty text is not that.
  const char* data = bytes.empty() ? "" : bytes.data();
  const int code = sqlite3_bind_blob64(statement_.get(), index, data, bytes.size(), SQLITE_STATIC);
  if (code != SQLITE_OK) fail(code);
  return *this;
}

bool SqliteStatement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  const SqliteError error(code, sqlite3_errmsg(sqlite3_db_handle(statement_.get())));
  reset();
  throw error;
}

void SqliteStatement::run() {
  while (step()) {
  }
  reset();
}

void SqliteStatement::reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}

std::int64_t SqliteStatement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string SqliteStatement::bytes(int column) const {
  const void* data = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return data == nullptr ? std::string() : std::string(static_cast<const char*>(data), static_cast<std::size_t>(size));
}

SqliteConnection::SqliteConnection(const std::string& utf8_path) {
  sqlite3* connection = nullptr;
  const int code = sqlite3_open_v2(utf8_path.c_str(), &connection,
                                   SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  connection_.reset(connection);
  if (code != SQLITE_OK) fail_connection(connection, code);
  // Another process that reads the file, a backup program for instance, may hold a lock for a moment.
  sqlite3_busy_timeout(connection, 2000);
}

void SqliteConnection::execute(const char* sql) {
  const int code = sqlite3_exec(connection_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail_connection(connection_.get(), code);
}

std::int64_t SqliteConnection::integer(const char* sql) {
  SqliteStatement statement = prepare(sql);
  return statement.step() ? statement.integer(0) : 0;
}

}  // namespace glmhost::daemon
