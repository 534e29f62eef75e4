#include "excel-addin/formula/unit_conversion.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace glmhost::formula {
namespace {

enum class Quantity : std::uint8_t {
  mass,
  length,
  time,
  pressure,
  force,
  energy,
  power,
  magnetism,
  temperature,
  volume,
  area,
  information,
  speed
};

// Whether a prefix may stand in front, and to which power it counts: 2 and 3 for metres squared and cubed.
enum class Prefix : std::uint8_t { none = 0, metric = 1, metric_squared = 2, metric_cubed = 3, metric_or_binary = 4 };

struct Unit {
  std::string_view name;
  Quantity quantity;
  double factor;  // of the quantity's first unit
  Prefix prefix = Prefix::none;
  double zero = 0;  // for temperatures: kelvin = (value + zero) * factor
};

constexpr double kInch = 0.0254, kFoot = 0.3048, kYard = 0.9144, kMile = 1609.344, kNauticalMile = 1852;
constexpr double kAngstrom = 1e-10, kLightYear = 9.46073047258e15, kPoint = kInch / 72;
constexpr double square(double x) {
  return x * x;
}
constexpr double cube(double x) {
  return x * x * x;
}
constexpr auto kM = Prefix::metric;
constexpr auto kM2 = Prefix::metric_squared;
constexpr auto kM3 = Prefix::metric_cubed;

// Where Excel's own constants are older than today's standard, they are Excel's.
constexpr Unit kUnits[] = {
    {"g", Quantity::mass, 1, kM},
    {"u", Quantity::mass, 1.66053100460465e-24, kM},
    {"sg", Quantity::mass, 14593.8424189287},
    {"lbm", Quantity::mass, 453.592309748811},
    {"ozm", Quantity::mass, 28.3495152079732},
    {"grain", Quantity::mass, 0.06479891},
    {"cwt", Quantity::mass, 45359.237},
    {"shweight", Quantity::mass, 45359.237},
    {"uk_cwt", Quantity::mass, 50802.34544},
    {"lcwt", Quantity::mass, 50802.34544},
    {"hweight", Quantity::mass, 50802.34544},
    {"stone", Quantity::mass, 6350.29318},
    {"ton", Quantity::mass, 907184.74},
    {"uk_ton", Quantity::mass, 1016046.9088},
    {"LTON", Quantity::mass, 1016046.9088},
    {"brton", Quantity::mass, 1016046.9088},
    {"m", Quantity::length, 1, kM},
    {"mi", Quantity::length, kMile},
    {"Nmi", Quantity::length, kNauticalMile},
    {"in", Quantity::length, kInch},
    {"ft", Quantity::length, kFoot},
    {"yd", Quantity::length, kYard},
    {"ang", Quantity::length, kAngstrom, kM},
    {"ell", Quantity::length, 1.143},
    {"ly", Quantity::length, kLightYear, kM},
    {"parsec", Quantity::length, 3.08567758128155e16, kM},
    {"pc", Quantity::length, 3.08567758128155e16, kM},
    {"Picapt", Quantity::length, kPoint},
    {"Pica", Quantity::length, kPoint},
    {"pica", Quantity::length, kInch / 6},
    {"survey_mi", Quantity::length, 1609.34721869444},
    {"s", Quantity::time, 1, kM},
    {"sec", Quantity::time, 1, kM},
    {"mn", Quantity::time, 60},
    {"min", Quantity::time, 60},
    {"hr", Quantity::time, 3600},
    {"day", Quantity::time, 86400},
    {"d", Quantity::time, 86400},
    {"yr", Quantity::time, 31557600},
    {"Pa", Quantity::pressure, 1, kM},
    {"p", Quantity::pressure, 1, kM},
    {"atm", Quantity::pressure, 101325, kM},
    {"at", Quantity::pressure, 101325, kM},
    {"mmHg", Quantity::pressure, 133.322, kM},
    {"psi", Quantity::pressure, 6894.757293168362},
    {"Torr", Quantity::pressure, 133.322368421053},
    {"N", Quantity::force, 1, kM},
    {"dyn", Quantity::force, 1e-5, kM},
    {"dy", Quantity::force, 1e-5, kM},
    {"lbf", Quantity::force, 4.4482216152605},
    {"pond", Quantity::force, 0.00980665, kM},
    {"J", Quantity::energy, 1, kM},
    {"e", Quantity::energy, 1e-7, kM},
    {"c", Quantity::energy, 4.184, kM},
    {"cal", Quantity::energy, 4.1868, kM},
    {"eV", Quantity::energy, 1.602176487e-19, kM},
    {"ev", Quantity::energy, 1.602176487e-19, kM},
    {"HPh", Quantity::energy, 2684519.537696173},
    {"hh", Quantity::energy, 2684519.537696173},
    {"Wh", Quantity::energy, 3600, kM},
    {"wh", Quantity::energy, 3600, kM},
    {"flb", Quantity::energy, 1.3558179483314},
    {"BTU", Quantity::energy, 1055.05585262},
    {"btu", Quantity::energy, 1055.05585262},
    {"W", Quantity::power, 1, kM},
    {"w", Quantity::power, 1, kM},
    {"HP", Quantity::power, 745.6998715822702},
    {"h", Quantity::power, 745.6998715822702},
    {"PS", Quantity::power, 735.49875},
    {"T", Quantity::magnetism, 1, kM},
    {"ga", Quantity::magnetism, 1e-4, kM},
    {"K", Quantity::temperature, 1, kM},
    {"kel", Quantity::temperature, 1, kM},
    {"C", Quantity::temperature, 1, Prefix::none, 273.15},
    {"cel", Quantity::temperature, 1, Prefix::none, 273.15},
    {"F", Quantity::temperature, 5.0 / 9, Prefix::none, 459.67},
    {"fah", Quantity::temperature, 5.0 / 9, Prefix::none, 459.67},
    {"Rank", Quantity::temperature, 5.0 / 9},
    {"Reau", Quantity::temperature, 1.25, Prefix::none, 218.52},
    {"l", Quantity::volume, 0.001, kM},
    {"L", Quantity::volume, 0.001, kM},
    {"lt", Quantity::volume, 0.001, kM},
    {"m3", Quantity::volume, 1, kM3},
    {"m^3", Quantity::volume, 1, kM3},
    {"tsp", Quantity::volume, 4.92892159375e-6},
    {"tspm", Quantity::volume, 5e-6},
    {"tbs", Quantity::volume, 1.478676478125e-5},
    {"oz", Quantity::volume, 2.95735295625e-5},
    {"cup", Quantity::volume, 2.365882365e-4},
    {"pt", Quantity::volume, 4.73176473e-4},
    {"us_pt", Quantity::volume, 4.73176473e-4},
    {"uk_pt", Quantity::volume, 5.6826125e-4},
    {"qt", Quantity::volume, 9.46352946e-4},
    {"uk_qt", Quantity::volume, 1.1365225e-3},
    {"gal", Quantity::volume, 3.785411784e-3},
    {"uk_gal", Quantity::volume, 4.54609e-3},
    {"barrel", Quantity::volume, 0.158987294928},
    {"bushel", Quantity::volume, 0.03523907016688},
    {"ang3", Quantity::volume, cube(kAngstrom), kM3},
    {"ang^3", Quantity::volume, cube(kAngstrom), kM3},
    {"ft3", Quantity::volume, cube(kFoot)},
    {"ft^3", Quantity::volume, cube(kFoot)},
    {"in3", Quantity::volume, cube(kInch)},
    {"in^3", Quantity::volume, cube(kInch)},
    {"ly3", Quantity::volume, cube(kLightYear), kM3},
    {"ly^3", Quantity::volume, cube(kLightYear), kM3},
    {"mi3", Quantity::volume, cube(kMile)},
    {"mi^3", Quantity::volume, cube(kMile)},
    {"yd3", Quantity::volume, cube(kYard)},
    {"yd^3", Quantity::volume, cube(kYard)},
    {"Nmi3", Quantity::volume, cube(kNauticalMile)},
    {"Nmi^3", Quantity::volume, cube(kNauticalMile)},
    {"Picapt3", Quantity::volume, cube(kPoint)},
    {"Picapt^3", Quantity::volume, cube(kPoint)},
    {"Pica3", Quantity::volume, cube(kPoint)},
    {"Pica^3", Quantity::volume, cube(kPoint)},
    {"GRT", Quantity::volume, 2.8316846592},
    {"regton", Quantity::volume, 2.8316846592},
    {"MTON", Quantity::volume, 1.13267386368},
    {"m2", Quantity::area, 1, kM2},
    {"m^2", Quantity::area, 1, kM2},
    {"uk_acre", Quantity::area, 4046.8564224},
    {"us_acre", Quantity::area, 4046.872609874252},
    {"ang2", Quantity::area, square(kAngstrom), kM2},
    {"ang^2", Quantity::area, square(kAngstrom), kM2},
    {"ar", Quantity::area, 100, kM},
    {"ft2", Quantity::area, square(kFoot)},
    {"ft^2", Quantity::area, square(kFoot)},
    {"ha", Quantity::area, 10000},
    {"in2", Quantity::area, square(kInch)},
    {"in^2", Quantity::area, square(kInch)},
    {"ly2", Quantity::area, square(kLightYear), kM2},
    {"ly^2", Quantity::area, square(kLightYear), kM2},
    {"Morgen", Quantity::area, 2500},
    {"mi2", Quantity::area, square(kMile)},
    {"mi^2", Quantity::area, square(kMile)},
    {"Nmi2", Quantity::area, square(kNauticalMile)},
    {"Nmi^2", Quantity::area, square(kNauticalMile)},
    {"Picapt2", Quantity::area, square(kPoint)},
    {"Picapt^2", Quantity::area, square(kPoint)},
    {"Pica2", Quantity::area, square(kPoint)},
    {"Pica^2", Quantity::area, square(kPoint)},
    {"yd2", Quantity::area, square(kYard)},
    {"yd^2", Quantity::area, square(kYard)},
    {"bit", Quantity::information, 1, Prefix::metric_or_binary},
    {"byte", Quantity::information, 8, Prefix::metric_or_binary},
    {"m/s", Quantity::speed, 1, kM},
    {"m/sec", Quantity::speed, 1, kM},
    {"m/h", Quantity::speed, 1.0 / 3600, kM},
    {"m/hr", Quantity::speed, 1.0 / 3600, kM},
    {"mph", Quantity::speed, 0.44704},
    {"kn", Quantity::speed, kNauticalMile / 3600},
    {"admkn", Quantity::speed, 0.514773333333333},
};

struct PrefixName {
  std::string_view name;
  double factor;
  bool binary = false;
};
constexpr PrefixName kPrefixes[] = {
    {"Y", 1e24},          {"Z", 1e21},          {"E", 1e18},          {"P", 1e15},          {"T", 1e12},
    {"G", 1e9},           {"M", 1e6},           {"k", 1e3},           {"h", 1e2},           {"da", 1e1},
    {"e", 1e1},           {"d", 1e-1},          {"c", 1e-2},          {"m", 1e-3},          {"u", 1e-6},
    {"n", 1e-9},          {"p", 1e-12},         {"f", 1e-15},         {"a", 1e-18},         {"z", 1e-21},
    {"y", 1e-24},         {"ki", 0x1p10, true}, {"Mi", 0x1p20, true}, {"Gi", 0x1p30, true}, {"Ti", 0x1p40, true},
    {"Pi", 0x1p50, true}, {"Ei", 0x1p60, true}, {"Zi", 0x1p70, true}, {"Yi", 0x1p80, true},
};

struct Found {
  const Unit* unit;
  double factor;
};

std::optional<Found> find_unit(std::string_view name) {
  const auto plain = std::ranges::find(kUnits, name, &Unit::name);
  if (plain != std::end(kUnits)) return Found{&*plain, plain->factor};
  for (const PrefixName& prefix : kPrefixes) {
    if (!name.starts_with(prefix.name)) continue;
    const auto unit = std::ranges::find(kUnits, name.substr(prefix.name.size()), &Unit::name);
    if (unit == std::end(kUnits) || unit->prefix == Prefix::none) continue;
    if (prefix.binary && unit->prefix != Prefix::metric_or_binary) continue;
    const int power = unit->prefix == Prefix::metric_squared ? 2 : unit->prefix == Prefix::metric_cubed ? 3 : 1;
    return Found{&*unit, unit->factor * std::pow(prefix.factor, power)};
  }
  return std::nullopt;
}

}  // namespace

Result<double> convert_unit(double number, std::string_view from, std::string_view to) {
  const auto source = find_unit(from), target = find_unit(to);
  if (!source || !target || source->unit->quantity != target->unit->quantity) return ErrorCode::not_available;
  if (source->unit == target->unit && source->factor == target->factor) return number;
  return (number + source->unit->zero) * source->factor / target->factor - target->unit->zero;
}

}  // namespace glmhost::formula
