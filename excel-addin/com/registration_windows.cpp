#include <objbase.h>

#include "excel-addin/com/registration.h"

namespace glmhost::com {
namespace {

constexpr wchar_t kClasses[] = L"Software\\Classes\\";

std::wstring class_id_text() {
  wchar_t text[40];
  StringFromGUID2(kRtdClassId, text, 40);
  return text;
}

LSTATUS write(const std::wstring& key, const wchar_t* name, const std::wstring& value) {
  const std::wstring path = kClasses + key;
  wchar_t present[1024];
  DWORD size = sizeof(present);
  if (RegGetValueW(HKEY_CURRENT_USER, path.c_str(), name, RRF_RT_REG_SZ, nullptr, present, &size) == ERROR_SUCCESS &&
      value == present) {
    return ERROR_SUCCESS;
  }
  return RegSetKeyValueW(HKEY_CURRENT_USER, path.c_str(), name, REG_SZ, value.c_str(),
                         static_cast<DWORD>((value.size() + 1) * sizeof(wchar_t)));
}

}  // namespace

HRESULT register_classes(const std::wstring& path) {
  const std::wstring id = class_id_text();
  const std::wstring of_class = L"CLSID\\" + id;
  for (const LSTATUS status : {
           write(of_class, nullptr, L"GLM Host, live answers for Excel"),
           write(of_class + L"\\InprocServer32", nullptr, path),
           write(of_class + L"\\InprocServer32", L"ThreadingModel", L"Apartment"),
           write(of_class + L"\\ProgID", nullptr, kRtdProgId),
           write(kRtdProgId, nullptr, L"GLM Host, live answers for Excel"),
           write(std::wstring(kRtdProgId) + L"\\CLSID", nullptr, id),
       }) {
    if (status != ERROR_SUCCESS) return HRESULT_FROM_WIN32(static_cast<DWORD>(status));
  }
  return S_OK;
}

HRESULT unregister_classes() {
  for (const std::wstring& key : {kClasses + (L"CLSID\\" + class_id_text()), kClasses + std::wstring(kRtdProgId)}) {
    const LSTATUS status = RegDeleteTreeW(HKEY_CURRENT_USER, key.c_str());
    if (status != ERROR_SUCCESS && status != ERROR_FILE_NOT_FOUND) {
      return HRESULT_FROM_WIN32(static_cast<DWORD>(status));
    }
    RegDeleteKeyW(HKEY_CURRENT_USER, key.c_str());
  }
  return S_OK;
}

}  // namespace glmhost::com
