#include "tests/e2e/excel_host/rtd.h"

#include <utility>

namespace excel_host {

using glmhost::com::kRtdServerId;
using glmhost::com::kRtdUpdateEventId;

namespace {

std::string hex(HRESULT result) {
  char text[16];
  std::snprintf(text, sizeof(text), "%08lx", static_cast<unsigned long>(result));
  return text;
}

CellValue cell_value(const VARIANT& variant) {
  switch (V_VT(&variant)) {
    case VT_EMPTY:
      return Empty{};
    case VT_R8:
      return V_R8(&variant);
    case VT_I4:
      return static_cast<double>(V_I4(&variant));
    case VT_BOOL:
      return V_BOOL(&variant) != VARIANT_FALSE;
    case VT_BSTR: {
      const std::wstring_view text(V_BSTR(&variant), SysStringLen(V_BSTR(&variant)));
      return to_utf16(text);
    }
    default:
      throw Failure{"an RTD value has the type " + std::to_string(V_VT(&variant))};
  }
}

}  // namespace

// Lives as long as the program: a server may hold it longer than it should.
struct Rtd::Event final : glmhost::com::IRTDUpdateEvent {
  explicit Event(Rtd& owner) : rtd(owner), thread(GetCurrentThreadId()) {}

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID id, void** out) override {
    if (IsEqualGUID(id, IID_IUnknown) || IsEqualGUID(id, IID_IDispatch) || IsEqualGUID(id, kRtdUpdateEventId)) {
      *out = this;
      AddRef();
      return S_OK;
    }
    *out = nullptr;
    return E_NOINTERFACE;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return ++references; }
  ULONG STDMETHODCALLTYPE Release() override { return --references; }
  HRESULT STDMETHODCALLTYPE GetTypeInfoCount(UINT* count) override {
    *count = 0;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE GetTypeInfo(UINT, LCID, ITypeInfo**) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE GetIDsOfNames(REFIID, LPOLESTR*, UINT, LCID, DISPID*) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE Invoke(DISPID id, REFIID, LCID, WORD, DISPPARAMS*, VARIANT*, EXCEPINFO*, UINT*) override {
    return id == 10 ? UpdateNotify() : DISP_E_MEMBERNOTFOUND;
  }
  HRESULT STDMETHODCALLTYPE UpdateNotify() override {
    if (GetCurrentThreadId() != thread) rtd.violations_.add("UpdateNotify was called from another thread than Excel's");
    if (terminated) rtd.violations_.add("UpdateNotify was called after ServerTerminate");
    rtd.notified_ = true;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE get_HeartbeatInterval(long* milliseconds) override {
    *milliseconds = -1;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE put_HeartbeatInterval(long) override { return S_OK; }
  HRESULT STDMETHODCALLTYPE Disconnect() override { return S_OK; }

  Rtd& rtd;
  const DWORD thread;
  std::atomic<ULONG> references{1};
  bool terminated = false;
};

Rtd::Rtd(Violations& violations) : violations_(violations), event_(std::make_unique<Event>(*this)) {}

Rtd::~Rtd() {
  event_.release();  // a server that still calls it must not crash, but be told
}

void Rtd::start(const std::u16string& server) {
  if (server_ != nullptr) return;
  CLSID id{};
  const NoVisit no_calls;
  if (const HRESULT result = CLSIDFromProgID(to_wide(server).c_str(), &id); FAILED(result)) {
    throw Failure{"the RTD server " + to_utf8(server) + " is not registered (" + hex(result) + ")"};
  }
  void* made = nullptr;
  if (const HRESULT result = CoCreateInstance(id, nullptr, CLSCTX_INPROC_SERVER, kRtdServerId, &made); FAILED(result)) {
    throw Failure{"the RTD server cannot be made (" + hex(result) + ")"};
  }
  server_ = static_cast<glmhost::com::IRtdServer*>(made);
  long well = 0;
  const HRESULT result = server_->ServerStart(event_.get(), &well);
  if (FAILED(result) || well <= 0) {
    throw Failure{"ServerStart gave " + hex(result) + " and " + std::to_string(well)};
  }
}

int Rtd::topic(const std::u16string& server, const std::vector<std::u16string>& strings) {
  for (const auto& [number, topic] : topics_) {
    if (topic.strings == strings) return number;
  }
  start(server);
  const int number = ++last_topic_;
  SAFEARRAY* array = SafeArrayCreateVector(VT_VARIANT, 0, static_cast<ULONG>(strings.size()));
  for (LONG i = 0; i < static_cast<LONG>(strings.size()); ++i) {
    VARIANT text;
    VariantInit(&text);
    const std::wstring wide = to_wide(strings[static_cast<std::size_t>(i)]);
    if (wide.size() > 255) throw Failure{"an RTD topic has " + std::to_string(wide.size()) + " characters"};
    V_VT(&text) = VT_BSTR;
    V_BSTR(&text) = SysAllocStringLen(wide.data(), static_cast<UINT>(wide.size()));
    SafeArrayPutElement(array, &i, &text);
    VariantClear(&text);
  }
  VARIANT_BOOL new_values = VARIANT_FALSE;
  VARIANT out;
  VariantInit(&out);
  HRESULT result = E_FAIL;
  {
    const NoVisit no_calls;
    result = server_->ConnectData(number, &array, &new_values, &out);
  }
  if (array != nullptr) SafeArrayDestroy(array);
  if (FAILED(result)) throw Failure{"ConnectData gave " + hex(result)};
  topics_[number] = {strings, cell_value(out)};
  VariantClear(&out);
  return number;
}

std::set<int> Rtd::numbers() const {
  std::set<int> all;
  for (const auto& [number, topic] : topics_) all.insert(number);
  return all;
}

void Rtd::disconnect(int topic) {
  topics_.erase(topic);
  const NoVisit no_calls;
  if (const HRESULT result = server_->DisconnectData(topic); FAILED(result)) {
    violations_.add("DisconnectData gave " + hex(result));
  }
}

std::vector<int> Rtd::refresh() {
  if (!notified_ || server_ == nullptr || GetTickCount64() - last_refresh_ < throttle_ms) return {};
  notified_ = false;
  last_refresh_ = GetTickCount64();
  long count = -1;
  SAFEARRAY* array = nullptr;
  {
    const NoVisit no_calls;
    if (const HRESULT result = server_->RefreshData(&count, &array); FAILED(result)) {
      throw Failure{"RefreshData gave " + hex(result)};
    }
  }
  std::vector<int> changed;
  if (array == nullptr) {
    if (count != 0) violations_.add("RefreshData counts " + std::to_string(count) + " topics and gives no array");
    return changed;
  }
  LONG first_row = 0, last_row = 0, first = 0, last = -1;
  VARTYPE type = VT_EMPTY;
  SafeArrayGetVartype(array, &type);
  if (SafeArrayGetDim(array) != 2 || type != VT_VARIANT) {
    violations_.add("RefreshData gives no two-dimensional array of variants");
  } else {
    SafeArrayGetLBound(array, 1, &first_row);
    SafeArrayGetUBound(array, 1, &last_row);
    SafeArrayGetLBound(array, 2, &first);
    SafeArrayGetUBound(array, 2, &last);
    if (last_row - first_row != 1 || last - first + 1 != count) {
      violations_.add("RefreshData gives " + std::to_string(last_row - first_row + 1) + " x " +
                      std::to_string(last - first + 1) + " values for " + std::to_string(count) + " topics");
      last = first - 1;
    }
    for (LONG i = first; i <= last; ++i) {
      LONG index[2] = {first_row, i};
      VARIANT number, value;
      VariantInit(&number);
      VariantInit(&value);
      SafeArrayGetElement(array, index, &number);
      index[0] = last_row;
      SafeArrayGetElement(array, index, &value);
      const auto found = V_VT(&number) == VT_I4 ? topics_.find(static_cast<int>(V_I4(&number))) : topics_.end();
      if (found == topics_.end()) {
        violations_.add("RefreshData names a topic that is not connected");
      } else {
        CellValue now = cell_value(value);
        // An equal value is no news, as in Excel.
        if (!(now == found->second.value)) changed.push_back(found->first);
        found->second.value = std::move(now);
      }
      VariantClear(&number);
      VariantClear(&value);
    }
  }
  SafeArrayDestroy(array);
  return changed;
}

void Rtd::end() {
  if (server_ == nullptr) return;
  const NoVisit no_calls;
  server_->ServerTerminate();
  event_->terminated = true;
  std::exchange(server_, nullptr)->Release();
}

}  // namespace excel_host
