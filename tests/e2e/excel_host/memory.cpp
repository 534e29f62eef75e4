#include "tests/e2e/excel_host/memory.h"

#include <windows.h>

#include <cmath>
#include <cstring>

namespace excel_host {
namespace {

using namespace glmhost::xll;

constexpr std::uintptr_t kFirstSheet = 0x5EE7'0000;

std::size_t text_bytes(const CellValue& value) {
  const auto* text = std::get_if<std::u16string>(&value);
  return text == nullptr ? 0 : (text->size() + 1) * sizeof(char16_t);
}

std::size_t aligned(std::size_t bytes) {
  return (bytes + 15) & ~std::size_t{15};
}

// Room for an argument at most.
std::size_t bytes_of(const Argument& argument) {
  std::size_t bytes = 64 + aligned(text_bytes(argument.value));
  bytes += aligned(argument.grid.cells.size() * sizeof(XLOPER12));
  for (const CellValue& cell : argument.grid.cells) bytes += aligned(text_bytes(cell));
  return bytes + aligned(sizeof(XlAreas) + argument.areas.size() * sizeof(XlArea));
}

class Writer {
 public:
  explicit Writer(char* at) : at_(at) {}

  template <class T>
  T* take(std::size_t bytes) {
    T* taken = reinterpret_cast<T*>(at_);
    at_ += aligned(bytes);
    return taken;
  }

  void put(const CellValue& value, XLOPER12& out) {
    out.xltype = xltypeNil;
    if (const auto* number = std::get_if<double>(&value)) {
      out.val.num = *number;
      out.xltype = xltypeNum;
    } else if (const auto* text = std::get_if<std::u16string>(&value)) {
      auto* units = take<char16_t>(text_bytes(value));
      units[0] = static_cast<char16_t>(text->size());
      std::memcpy(units + 1, text->data(), text->size() * sizeof(char16_t));
      out.val.str = units;
      out.xltype = xltypeStr;
    } else if (const auto* boolean = std::get_if<bool>(&value)) {
      out.val.boolean = *boolean ? 1 : 0;
      out.xltype = xltypeBool;
    } else if (const auto* error = std::get_if<CellError>(&value)) {
      out.val.err = error->code >= kSpillError ? xlerrValue : error->code;
      out.xltype = xltypeErr;
    }
  }

 private:
  char* at_;
};

const void* put_argument(Writer& writer, const Argument& argument) {
  if (argument.kind == Argument::Kind::numbers) {
    auto* numbers = writer.take<FP12>(sizeof(FP12) + argument.grid.cells.size() * sizeof(double));
    numbers->rows = argument.grid.rows;
    numbers->columns = argument.grid.columns;
    for (std::size_t i = 0; i < argument.grid.cells.size(); ++i) {
      numbers->values[i] = std::get<double>(argument.grid.cells[i]);
    }
    return numbers;
  }
  auto* out = writer.take<XLOPER12>(sizeof(XLOPER12));
  std::memset(out, 0xCD, sizeof(XLOPER12));  // what is not said is not zero
  switch (argument.kind) {
    case Argument::Kind::value:
      writer.put(argument.value, *out);
      break;
    case Argument::Kind::array: {
      auto* cells = writer.take<XLOPER12>(argument.grid.cells.size() * sizeof(XLOPER12));
      for (std::size_t i = 0; i < argument.grid.cells.size(); ++i) writer.put(argument.grid.cells[i], cells[i]);
      out->val.array.cells = cells;
      out->val.array.rows = argument.grid.rows;
      out->val.array.columns = argument.grid.columns;
      out->xltype = xltypeMulti;
      break;
    }
    case Argument::Kind::reference:
      if (argument.areas.size() == 1 && argument.areas[0].sheet == argument.own_sheet) {
        out->val.sref.count = 1;
        out->val.sref.area = argument.areas[0].area;
        out->xltype = xltypeSRef;
      } else {
        auto* areas = writer.take<XlAreas>(sizeof(XlAreas) + argument.areas.size() * sizeof(XlArea));
        areas->count = static_cast<std::uint16_t>(argument.areas.size());
        for (std::size_t i = 0; i < argument.areas.size(); ++i) {
          std::memcpy(reinterpret_cast<char*>(areas) + offsetof(XlAreas, areas) + i * sizeof(XlArea),
                      &argument.areas[i].area, sizeof(XlArea));
        }
        out->val.mref.areas = areas;
        out->val.mref.sheet = sheet_number(argument.areas.at(0).sheet);
        out->xltype = xltypeRef;
      }
      break;
    default:
      out->xltype = xltypeMissing;
  }
  return out;
}

CellValue scalar(const XLOPER12& value) {
  switch (value.xltype & kTypeMask) {
    case xltypeNum:
      if (!std::isfinite(value.val.num)) throw Failure{"the add-in returned a number that is not finite"};
      return value.val.num;
    case xltypeInt:
      return static_cast<double>(value.val.w);
    case xltypeBool:
      return value.val.boolean != 0;
    case xltypeNil:
    case xltypeMissing:
      return Empty{};
    case xltypeErr:
      if (value.val.err < 0 || value.val.err > xlerrGettingData) throw Failure{"the add-in returned an unknown error"};
      return CellError{value.val.err};
    case xltypeStr:
      if (value.val.str == nullptr) throw Failure{"the add-in returned a text without memory"};
      if (value.val.str[0] > kMostCharacters) throw Failure{"the add-in returned a text that is too long for a cell"};
      return std::u16string(value.val.str + 1, value.val.str[0]);
    default:
      throw Failure{"the add-in returned a value of type " + std::to_string(value.xltype)};
  }
}

}  // namespace

std::uintptr_t sheet_number(int sheet) {
  return kFirstSheet + static_cast<std::uintptr_t>(sheet);
}

int sheet_of_number(std::uintptr_t number) {
  return number >= kFirstSheet && number < kFirstSheet + 100 ? static_cast<int>(number - kFirstSheet) : -1;
}

GuardedValues::GuardedValues(const std::vector<Argument>& arguments) {
  std::size_t bytes = 16;
  for (const Argument& argument : arguments) bytes += bytes_of(argument);
  pages_.reset(VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE));
  if (!pages_) throw Failure{"there is no memory for the arguments"};
  Writer writer(static_cast<char*>(pages_.get()));
  for (const Argument& argument : arguments) places_.push_back(put_argument(writer, argument));
  DWORD before = 0;
  VirtualProtect(pages_.get(), bytes, PAGE_READONLY, &before);
}

void GuardedValues::Release::operator()(void* pages) const {
  VirtualFree(pages, 0, MEM_RELEASE);
}

Argument take_result(const XLOPER12* result) {
  Argument taken;
  if ((result->xltype & kTypeMask) != xltypeMulti) {
    taken.kind = Argument::Kind::value;
    taken.value = scalar(*result);
    return taken;
  }
  const auto& array = result->val.array;
  if (array.rows < 1 || array.columns < 1 || array.rows > kMostRows || array.columns > kMostColumns ||
      array.cells == nullptr) {
    throw Failure{"the add-in returned an array of impossible size"};
  }
  taken.kind = Argument::Kind::array;
  taken.grid.rows = array.rows;
  taken.grid.columns = array.columns;
  const std::size_t count = static_cast<std::size_t>(array.rows) * static_cast<std::size_t>(array.columns);
  taken.grid.cells.reserve(count);
  for (std::size_t i = 0; i < count; ++i) taken.grid.cells.push_back(scalar(array.cells[i]));
  return taken;
}

}  // namespace excel_host
