// The binary interface of Excel's C API (Excel 2007 and later), declared by us from Microsoft's "Excel XLL SDK" pages
// so that it compiles everywhere. Names are Microsoft's where a page must be found again by them.
//
// Layout rules: 32 bytes a value on both 32- and 64-bit systems; strings are counted (the first unit is the length) and
// not terminated; arrays are row by row.
#pragma once

#include <cstddef>
#include <cstdint>

// On 64-bit Windows there is one calling convention; on 32-bit Windows Excel calls an XLL by __stdcall.
#if defined(_WIN32) && !defined(_WIN64)
#define GLMHOST_EXCEL_CALL __stdcall
#else
#define GLMHOST_EXCEL_CALL
#endif

namespace glmhost::xll {

using XlChar = char16_t;

struct XlArea {  // zero-based, both corners inside
  std::int32_t first_row, last_row, first_column, last_column;
  bool operator==(const XlArea&) const = default;
};

struct XlAreas {  // one or more, in one block of memory
  std::uint16_t count;
  XlArea areas[1];
};

struct XLOPER12 {
  union {
    double num;
    const XlChar* str;
    std::int32_t boolean;
    std::int32_t err;
    std::int32_t w;
    struct {
      std::uint16_t count;  // always 1
      XlArea area;
    } sref;
    struct {
      XlAreas* areas;
      std::uintptr_t sheet;
    } mref;
    struct {
      XLOPER12* cells;
      std::int32_t rows;
      std::int32_t columns;
    } array;
    struct {
      void* handle;
      long size;
    } bigdata;
  } val;
  std::uint32_t xltype;
};
static_assert(sizeof(XLOPER12) == 32);
static_assert(offsetof(XLOPER12, xltype) == 24);
static_assert(sizeof(XlArea) == 16);

struct FP12 {  // rows * columns doubles, row by row
  std::int32_t rows;
  std::int32_t columns;
  double values[1];
};

// xltype
inline constexpr std::uint32_t xltypeNum = 0x0001;
inline constexpr std::uint32_t xltypeStr = 0x0002;
inline constexpr std::uint32_t xltypeBool = 0x0004;
inline constexpr std::uint32_t xltypeRef = 0x0008;  // areas of a named sheet
inline constexpr std::uint32_t xltypeErr = 0x0010;
inline constexpr std::uint32_t xltypeMulti = 0x0040;
inline constexpr std::uint32_t xltypeMissing = 0x0080;
inline constexpr std::uint32_t xltypeNil = 0x0100;
inline constexpr std::uint32_t xltypeSRef = 0x0400;  // one area of the sheet that is being calculated
inline constexpr std::uint32_t xltypeInt = 0x0800;
inline constexpr std::uint32_t xltypeBigData = xltypeStr | xltypeInt;
inline constexpr std::uint32_t xlbitXLFree = 0x1000;   // Excel owns what it points to: xlFree
inline constexpr std::uint32_t xlbitDLLFree = 0x4000;  // the XLL owns it: Excel calls xlAutoFree12
inline constexpr std::uint32_t kTypeMask = 0x0FFF;

// val.err
inline constexpr std::int32_t xlerrNull = 0;
inline constexpr std::int32_t xlerrDiv0 = 7;
inline constexpr std::int32_t xlerrValue = 15;
inline constexpr std::int32_t xlerrRef = 23;
inline constexpr std::int32_t xlerrName = 29;
inline constexpr std::int32_t xlerrNum = 36;
inline constexpr std::int32_t xlerrNA = 42;
inline constexpr std::int32_t xlerrGettingData = 43;

// What a callback returns; several may be set.
inline constexpr int xlretSuccess = 0;
inline constexpr int xlretAbort = 1;
inline constexpr int xlretInvXlfn = 2;
inline constexpr int xlretInvCount = 4;
inline constexpr int xlretInvXloper = 8;
inline constexpr int xlretFailed = 32;
inline constexpr int xlretUncalced = 64;
inline constexpr int xlretNotThreadSafe = 128;

// Functions of the C API alone
inline constexpr int kSpecial = 0x4000;
inline constexpr int xlFree = 0 | kSpecial;
inline constexpr int xlCoerce = 2 | kSpecial;
inline constexpr int xlSheetId = 4 | kSpecial;
inline constexpr int xlSheetNm = 5 | kSpecial;
inline constexpr int xlAbort = 6 | kSpecial;
inline constexpr int xlGetHwnd = 8 | kSpecial;
inline constexpr int xlGetName = 9 | kSpecial;
inline constexpr int xlEventRegister = 17 | kSpecial;

inline constexpr int xleventCalculationEnded = 1;
inline constexpr int xleventCalculationCanceled = 2;

// Excel's own functions
inline constexpr int xlfSetName = 88;
inline constexpr int xlfCaller = 89;
inline constexpr int xlfRegister = 149;
inline constexpr int xlfCounta = 169;
inline constexpr int xlfGetCell = 185;
inline constexpr int xlfGetWorkspace = 186;
inline constexpr int xlfUnregister = 201;
inline constexpr int xlfRtd = 379;

inline constexpr std::int32_t kMostRows = 1'048'576;
inline constexpr std::int32_t kMostColumns = 16'384;
inline constexpr std::size_t kMostCharacters = 32'767;  // of a cell, and of a string that is passed
inline constexpr std::size_t kMostArguments = 255;      // of any call

// Exported by the program that loads the XLL, under the name kCallbackName.
using Callback = int(GLMHOST_EXCEL_CALL*)(int function, int count, const XLOPER12* const* arguments, XLOPER12* result);
inline constexpr char kCallbackName[] = "MdCallBack12";

}  // namespace glmhost::xll
