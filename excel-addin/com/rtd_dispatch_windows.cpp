// The methods by name and number, for scripts and other late-bound callers.
#include <array>
#include <string_view>
#include <utility>

#include "excel-addin/com/rtd_server.h"

namespace glmhost::com {
namespace {

constexpr std::array<std::pair<std::wstring_view, DISPID>, 6> kMethods = {{{L"ServerStart", 10},
                                                                           {L"ConnectData", 11},
                                                                           {L"RefreshData", 12},
                                                                           {L"DisconnectData", 13},
                                                                           {L"Heartbeat", 14},
                                                                           {L"ServerTerminate", 15}}};

// What a caller passed: the value itself, whatever stands between.
VARIANT* plain(VARIANT* value) {
  while (V_VT(value) == (VT_VARIANT | VT_BYREF)) value = V_VARIANTREF(value);
  return value;
}

SAFEARRAY* array_of(VARIANT* value) {
  value = plain(value);
  if ((V_VT(value) & VT_ARRAY) == 0) return nullptr;
  return (V_VT(value) & VT_BYREF) != 0 ? *V_ARRAYREF(value) : V_ARRAY(value);
}

HRESULT number_of(VARIANT* value, long& number) {
  VARIANT changed;
  VariantInit(&changed);
  const HRESULT result = VariantChangeType(&changed, plain(value), 0, VT_I4);
  if (SUCCEEDED(result)) number = V_I4(&changed);
  return result;
}

// The object that is told of news; none for Nothing, Empty and objects that cannot be told.
IRTDUpdateEvent* callback_of(VARIANT* value) {
  value = plain(value);
  IUnknown* object = nullptr;
  if (V_VT(value) == VT_DISPATCH || V_VT(value) == VT_UNKNOWN) object = V_UNKNOWN(value);
  void* callback = nullptr;
  if (object != nullptr) object->QueryInterface(kRtdUpdateEventId, &callback);
  return static_cast<IRTDUpdateEvent*>(callback);
}

}  // namespace

HRESULT STDMETHODCALLTYPE RtdServer::GetTypeInfoCount(UINT* count) {
  if (count == nullptr) return E_POINTER;
  *count = 0;
  return S_OK;
}

HRESULT STDMETHODCALLTYPE RtdServer::GetTypeInfo(UINT, LCID, ITypeInfo**) {
  return E_NOTIMPL;
}

HRESULT STDMETHODCALLTYPE RtdServer::GetIDsOfNames(REFIID, LPOLESTR* names, UINT count, LCID, DISPID* ids) {
  if (names == nullptr || ids == nullptr || count == 0) return E_INVALIDARG;
  for (UINT i = 0; i < count; ++i) ids[i] = DISPID_UNKNOWN;
  for (const auto& [name, id] : kMethods) {
    if (lstrcmpiW(names[0], name.data()) == 0) {
      ids[0] = id;
      return count == 1 ? S_OK : DISP_E_UNKNOWNNAME;
    }
  }
  return DISP_E_UNKNOWNNAME;
}

HRESULT STDMETHODCALLTYPE RtdServer::Invoke(DISPID id, REFIID, LCID, WORD, DISPPARAMS* parameters, VARIANT* result,
                                            EXCEPINFO*, UINT*) {
  if (parameters == nullptr) return E_POINTER;
  constexpr std::array<UINT, 6> kCounts = {1, 3, 1, 1, 0, 0};
  if (id < 10 || id > 15) return DISP_E_MEMBERNOTFOUND;
  if (parameters->cArgs != kCounts[static_cast<std::size_t>(id - 10)]) return DISP_E_BADPARAMCOUNT;
  // The last argument comes first.
  const auto argument = [&](UINT i) { return &parameters->rgvarg[parameters->cArgs - 1 - i]; };
  VARIANT ignored;
  VariantInit(&ignored);
  VARIANT& out = result == nullptr ? ignored : *result;
  HRESULT code = S_OK;
  long number = 0;
  switch (id) {
    case 10: {
      IRTDUpdateEvent* callback = callback_of(argument(0));
      code = ServerStart(callback, &number);
      if (callback != nullptr) callback->Release();
      V_VT(&out) = VT_I4;
      V_I4(&out) = number;
      break;
    }
    case 11: {
      SAFEARRAY* strings = array_of(argument(1));
      VARIANT_BOOL new_values = VARIANT_TRUE;
      code = number_of(argument(0), number);
      if (SUCCEEDED(code)) code = ConnectData(number, &strings, &new_values, &out);
      break;
    }
    case 12: {
      SAFEARRAY* values = nullptr;
      code = RefreshData(&number, &values);
      if (FAILED(code)) break;
      VARIANT* count = argument(0);
      while (V_VT(count) == (VT_VARIANT | VT_BYREF)) count = V_VARIANTREF(count);
      if (V_VT(count) == (VT_I4 | VT_BYREF)) {
        *V_I4REF(count) = number;
      } else if ((V_VT(argument(0)) & VT_BYREF) != 0) {
        VariantClear(count);
        V_VT(count) = VT_I4;
        V_I4(count) = number;
      }
      V_VT(&out) = VT_ARRAY | VT_VARIANT;
      V_ARRAY(&out) = values;
      break;
    }
    case 13:
      code = number_of(argument(0), number);
      if (SUCCEEDED(code)) code = DisconnectData(number);
      break;
    case 14:
      code = Heartbeat(&number);
      V_VT(&out) = VT_I4;
      V_I4(&out) = number;
      break;
    default:
      code = ServerTerminate();
      break;
  }
  VariantClear(&ignored);
  return code;
}

}  // namespace glmhost::com
