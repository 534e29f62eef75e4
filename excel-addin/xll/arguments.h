// What Excel passes to a function, as values of our own. An argument is never changed and never kept: everything is
// copied before the function returns, because Excel frees it then.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "excel-addin/formula/value.h"
#include "excel-addin/xll/excel.h"

namespace glmhost::xll {

// Cells by name: areas of one sheet. `sheet` is 0 for the sheet that is being calculated.
struct Reference {
  std::vector<XlArea> areas;
  std::uintptr_t sheet = 0;
};

bool is_reference(const XLOPER12& argument);

// The areas of a reference; nothing for another value, and for a reference that is damaged (no area, corners that are
// outside of a sheet or the wrong way round).
std::optional<Reference> reference_of(const XLOPER12& argument);

// The value of an argument that is no reference. Whole arrays of more cells than Excel's grid has, or with missing
// memory, are #VALUE!; so is a kind of value that no worksheet function is passed. Never throws but for want of memory.
formula::Value to_value(const XLOPER12& argument);

std::size_t cells_in(const XLOPER12& argument);  // of an array; 1 for others, 0 for one that is damaged

enum class ReadOutcome {
  done,
  uncalculated,  // return at once, whatever value: Excel calculates the cells and calls again
  failed,        // Excel does not give these cells
};

// The part of an area from its upper left corner that holds everything in it. Whole columns and rows are cut to it
// without being read: Excel's COUNTA is asked, which knows the used cells. Small areas stay as they are. `empty`: no
// cell of a large area is used.
ReadOutcome trim(const Excel& excel, std::uintptr_t sheet, XlArea& area, bool& empty);

// Gives the cells of the area piece by piece from the top, each of full width, as an array or one value. No piece has
// more than about 4 million cells, which is as much as Excel copies at once.
ReadOutcome read(const Excel& excel, std::uintptr_t sheet, const XlArea& area,
                 const std::function<void(ExcelValue piece)>& take);

// Whether the first cell of a reference waits for its calculation.
bool is_uncalculated(const Excel& excel, const XLOPER12& argument);

// "[Book1.xlsx]Sheet1" for a sheet's number (0: the one that is being calculated); empty when Excel does not tell.
std::string sheet_name(const Excel& excel, std::uintptr_t sheet, const XlArea& area);

// The sheet that is being calculated; 0 when Excel does not tell.
std::uintptr_t sheet_number(const Excel& excel);

}  // namespace glmhost::xll
