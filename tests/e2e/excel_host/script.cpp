#include "tests/e2e/excel_host/script.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <regex>
#include <utility>

namespace excel_host {
namespace {

using namespace glmhost::xll;

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
  return text;
}

class Script {
 public:
  explicit Script(Host& host) : host_(host) {}

  void run_line(const std::string& line) {
    rest_ = line;
    const std::string command = word();
    const auto found = commands().find(command);
    if (found == commands().end()) throw Failure{"there is no command `" + command + "`"};
    (this->*found->second)();
    const std::vector<std::string> broken = host_.violations.take();
    if (!broken.empty()) {
      std::string all;
      for (const std::string& each : broken) all += (all.empty() ? "" : "; ") + each;
      throw Failure{"rules were broken: " + all};
    }
  }

 private:
  using Command = void (Script::*)();
  static const std::map<std::string, Command>& commands() {
    static const std::map<std::string, Command> all = {
        {"threads", &Script::threads},
        {"throttle", &Script::throttle},
        {"automatic", &Script::automatic},
        {"dynamic", &Script::dynamic},
        {"set", &Script::set},
        {"text", &Script::long_text},
        {"formula", &Script::formula},
        {"calculate", &Script::calculate},
        {"esc", &Script::esc},
        {"pump", &Script::pump},
        {"wait", &Script::wait},
        {"expect", &Script::expect},
        {"remember", &Script::remember},
        {"reset", &Script::reset},
        {"insert", &Script::insert},
        {"delete", &Script::remove},
        {"wizard", &Script::wizard},
        {"save", &Script::save},
        {"open", &Script::open},
        {"unload", &Script::unload},
        {"load", &Script::load},
        {"close", &Script::close},
        {"command", &Script::command},
        {"@", &Script::ask},
        {"show", &Script::show_cells},
    };
    return all;
  }

  // --- the pieces of a line

  std::string word() {
    rest_.erase(0, rest_.find_first_not_of(' '));
    const std::size_t end = std::min(rest_.find(' '), rest_.size());
    std::string taken = rest_.substr(0, end);
    rest_.erase(0, end);
    rest_.erase(0, rest_.find_first_not_of(' '));
    return taken;
  }
  std::size_t number() {
    const std::string text = word();
    try {
      return static_cast<std::size_t>(std::stoull(text));
    } catch (const std::exception&) {
      throw Failure{"`" + text + "` is no number"};
    }
  }
  bool on() { return word() == "on"; }
  std::string all() { return std::exchange(rest_, {}); }
  Range range() { return parse_range(word()); }

  static CellValue value_of(const std::string& text, const Place& place) {
    if (text == "empty") return Empty{};
    CellValue value = parse_formula(replaced(text, "{row}", std::to_string(place.row + 1))).value;
    if (auto* words = std::get_if<std::u16string>(&value)) *words = unescaped(*words);
    return value;
  }
  static std::u16string unescaped(const std::u16string& text) {
    std::u16string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != u'\\' || i + 1 == text.size()) {
        out += text[i];
      } else if (text[i + 1] == u'n') {
        out += u'\n';
        ++i;
      } else if (text[i + 1] == u'u' && i + 5 < text.size()) {
        out += static_cast<char16_t>(std::stoul(to_utf8(text.substr(i + 2, 4)), nullptr, 16));
        i += 5;
      } else {
        out += text[i];
      }
    }
    return out;
  }

  template <class See>
  static void each_place(const Range& range, See see) {
    for (std::int32_t row = range.area.first_row; row <= range.area.last_row; ++row) {
      for (std::int32_t column = range.area.first_column; column <= range.area.last_column; ++column) {
        see(Place{range.sheet, row, column});
      }
    }
  }
  static Place place_of(const Range& range) { return {range.sheet, range.area.first_row, range.area.first_column}; }

  // --- commands

  void threads() { host_.threads = number(); }
  void throttle() { host_.rtd.throttle_ms = number(); }
  void automatic() { host_.automatic = on(); }
  void dynamic() { host_.book.dynamic_arrays = on(); }

  void set() {
    const Range target = range();
    const std::string text = all();
    each_place(target, [&](const Place& place) { host_.book.set_value(place, value_of(text, place)); });
    host_.calculate_if_automatic();
  }
  void long_text() {
    const Place target = place_of(range());
    const std::size_t count = number();
    const std::u16string unit = unescaped(to_utf16(word()));
    std::u16string text;
    while (text.size() < count) text += unit;
    text.resize(count);
    host_.book.set_value(target, text);
    host_.calculate_if_automatic();
  }
  void formula() {
    const Range target = range();
    const std::string text = all();
    if (!text.starts_with('=')) throw Failure{"a formula begins with ="};
    const Term term = parse_formula(text.substr(1));
    each_place(target, [&](const Place& place) {
      Term filled = term;
      move_formula(filled, place.row - target.area.first_row, place.column - target.area.first_column);
      host_.book.set_formula(place, std::move(filled));
    });
    host_.calculate_if_automatic();
  }
  void calculate() {
    if (word() == "all") host_.book.make_all_dirty();
    const ULONGLONG begin = GetTickCount64();
    host_.calculate();
    std::cout << "  calculated in " << GetTickCount64() - begin << " ms" << std::endl;
  }
  void esc() { host_.esc_after = number(); }
  void pump() { host_.pump(number()); }
  void wait() {
    const std::size_t seconds = number();
    const Range target = range();
    std::string pending;
    const auto done = [&] {
      pending.clear();
      each_place(target, [&](const Place& place) {
        const Cell* cell = host_.book.find(place);
        if (cell != nullptr && (is_pending(cell->value) || cell->dirty || !cell->topics.empty())) pending = show(place);
      });
      return pending.empty();
    };
    host_.pump(seconds * 1000, done);
    if (!done()) throw Failure{pending + " still waits: " + shown(pending)};
  }
  std::string shown(const std::string& place) {
    return excel_host::show(host_.book.value(place_of(parse_range(place))));
  }

  void show_cells() {
    each_place(range(), [&](const Place& place) {
      std::cout << "  " << excel_host::show(place) << " = " << excel_host::show(host_.book.value(place)) << std::endl;
    });
  }

  void expect() {
    const std::string what = word();
    if (what == "calls") return expect_calls();
    if (what == "topics") return expect_number("topics", host_.rtd.topics(), number());
    if (what == "registered") return expect_registered();
    if (what == "placeholder") return expect_no_placeholder();
    if (what == "remembered") return expect_remembered();
    if (what == "same" || what == "different") {
      const Place a = place_of(range());
      const Place b = place_of(range());
      const bool equal = host_.book.value(a) == host_.book.value(b);
      if (equal != (what == "same")) {
        throw Failure{excel_host::show(a) + " is " + excel_host::show(host_.book.value(a)) + ", " +
                      excel_host::show(b) + " is " + excel_host::show(host_.book.value(b))};
      }
      return;
    }
    if (what == "size") {
      const Cell* cell = host_.book.find(place_of(range()));
      const std::size_t rows = number();
      const std::size_t columns = number();
      expect_number("rows", static_cast<std::size_t>(cell == nullptr ? 0 : cell->rows), rows);
      return expect_number("columns", static_cast<std::size_t>(cell == nullptr ? 0 : cell->columns), columns);
    }
    const Range target = parse_range(what);
    const std::string wanted = all();
    each_place(target, [&](const Place& place) { expect_value(place, wanted); });
  }
  static void expect_number(const std::string& what, std::size_t is, std::size_t wanted) {
    if (is != wanted) throw Failure{std::to_string(is) + " " + what + ", not " + std::to_string(wanted)};
  }

  void expect_value(const Place& place, const std::string& wanted) {
    const CellValue value = host_.book.value(place);
    const auto fails = [&] { throw Failure{excel_host::show(place) + " is " + excel_host::show(value)}; };
    const auto* text = std::get_if<std::u16string>(&value);
    if (wanted.starts_with("is ")) {
      const std::string type = wanted.substr(3);
      const bool holds = type == "text"      ? text != nullptr && !text->empty()
                         : type == "number"  ? std::holds_alternative<double>(value)
                         : type == "boolean" ? std::holds_alternative<bool>(value)
                         : type == "error"   ? std::holds_alternative<CellError>(value)
                                             : throw Failure{"there is no type " + type};
      if (!holds) fails();
    } else if (wanted.starts_with("in ")) {
      const Term list = parse_formula("LIST(" + wanted.substr(3) + ")");
      if (std::ranges::none_of(list.arguments, [&](const Term& each) { return each.value == value; })) fails();
    } else if (wanted.starts_with("contains ")) {
      const CellValue part = value_of(wanted.substr(9), place);
      if (text == nullptr || text->find(std::get<std::u16string>(part)) == std::u16string::npos) fails();
    } else if (wanted.starts_with("like ")) {
      const std::string pattern = to_utf8(std::get<std::u16string>(value_of(wanted.substr(5), place)));
      if (text == nullptr || !std::regex_search(to_utf8(*text), std::regex(pattern))) fails();
    } else if (!(value == value_of(wanted, place))) {
      fails();
    }
  }

  void expect_calls() {
    const std::string name = word();
    const RegisteredFunction* function = host_.add_in.find(name);
    if (function == nullptr) throw Failure{"there is no function " + name};
    expect_number("calls of " + name, *function->calls, number());
  }
  void expect_registered() {
    const std::string name = word();
    const RegisteredFunction* function = host_.add_in.find(name);
    if (function == nullptr) throw Failure{name + " is not registered"};
    if (function->help.empty() || function->category.empty()) throw Failure{name + " has no help or no category"};
    if (!function->types.empty() && function->argument_names.empty()) throw Failure{name + " has no argument names"};
    const std::size_t names =
        function->types.empty() ? 0 : 1 + static_cast<std::size_t>(std::ranges::count(function->argument_names, ','));
    if (function->argument_help.size() < names) {
      throw Failure{name + " has help for " + std::to_string(function->argument_help.size()) + " of " +
                    std::to_string(names) + " named arguments"};
    }
  }
  void expect_no_placeholder() {
    if (word() != "never") throw Failure{"expect placeholder never TARGET"};
    each_place(range(), [&](const Place& place) {
      const Cell* cell = host_.book.find(place);
      if (cell != nullptr && cell->was_pending) throw Failure{excel_host::show(place) + " has shown #GETTING_DATA"};
    });
  }
  void remember() {
    each_place(range(), [&](const Place& place) { remembered_[place] = host_.book.value(place); });
  }
  void expect_remembered() {
    each_place(range(), [&](const Place& place) {
      const CellValue now = host_.book.value(place);
      const auto found = remembered_.find(place);
      if (found == remembered_.end()) throw Failure{excel_host::show(place) + " was not remembered"};
      if (!(now == found->second)) {
        throw Failure{excel_host::show(place) + " was " + excel_host::show(found->second) + " and is " +
                      excel_host::show(now)};
      }
    });
  }
  void reset() {
    for (const auto& [name, function] : host_.add_in.functions()) *function.calls = 0;
    for (auto& [place, cell] : host_.book.cells()) cell.was_pending = false;
  }

  void insert() {
    word();
    host_.book.shift_rows(0, static_cast<std::int32_t>(number()) - 1, 1);
    host_.calculate_if_automatic();
  }
  void remove() {
    word();
    host_.book.shift_rows(0, static_cast<std::int32_t>(number()) - 1, -1);
    host_.calculate_if_automatic();
  }
  void wizard() {
    const std::string text = all();
    const Argument value = host_.preview(parse_formula(text.substr(1)));
    std::cout << "  preview: " << excel_host::show(value.value) << std::endl;
  }
  void save() { host_.book.save(word()); }
  void open() {
    host_.book.open(word());
    host_.disconnect_unused_topics();
    host_.calculate_if_automatic();
  }
  void unload() { host_.add_in.unload(); }
  void load() { host_.add_in.load(); }
  void close() {
    if (word() != "cancel") throw Failure{"close cancel"};
    host_.add_in.close();
  }
  void command() { host_.add_in.run_command(word()); }
  void ask() {
    std::cout << "@ " << all() << std::endl;
    std::string answer;
    if (!std::getline(std::cin, answer)) throw Failure{"nobody answers"};
    while (!answer.empty() && answer.back() == '\r') answer.pop_back();
    if (answer != "ok") throw Failure{answer};
  }

  Host& host_;
  std::string rest_;
  std::map<Place, CellValue> remembered_;
};

}  // namespace

void run_script(Host& host, const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Failure{"there is no script " + path};
  Script script(host);
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (line.empty() || line.starts_with('#')) continue;
    try {
      script.run_line(line);
    } catch (const Failure& failure) {
      throw Failure{"line " + std::to_string(number) + ", `" + line + "`: " + failure.sentence};
    }
  }
}

}  // namespace excel_host
