// The name under which Excel finds the RTD server.
#pragma once

namespace glmhost::xll {

inline constexpr char16_t kRtdClass[] = u"GlmHost.Rtd";

}  // namespace glmhost::xll
