// The RTD class in the user's own part of the registry: no administrator is needed.
#pragma once

#include <windows.h>

#include <string>

namespace glmhost::com {

// {7E1C9D1A-3B52-4D0E-9B3E-6A4B1F0C52D1}
inline constexpr GUID kRtdClassId = {0x7E1C9D1A, 0x3B52, 0x4D0E, {0x9B, 0x3E, 0x6A, 0x4B, 0x1F, 0x0C, 0x52, 0xD1}};
inline constexpr wchar_t kRtdProgId[] = L"GlmHost.Rtd";

// Writes what is not there yet, for the DLL at `path`. S_OK, or why not.
HRESULT register_classes(const std::wstring& path);

// Takes away all that register_classes() wrote. S_OK also when there was nothing.
HRESULT unregister_classes();

}  // namespace glmhost::com
