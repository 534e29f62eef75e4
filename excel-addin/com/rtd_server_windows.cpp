#include <new>
#include <utility>

#include "excel-addin/com/rtd_mailbox.h"
#include "excel-addin/com/rtd_server.h"
#include "host/platform/windows_api.h"

namespace glmhost::com {
namespace {

constexpr char kSeparator = '\x1F';

// The topic's strings as one; nothing else than texts is a topic of ours.
HRESULT topic_name(SAFEARRAY* strings, std::string& name) {
  if (strings == nullptr || SafeArrayGetDim(strings) != 1) return E_INVALIDARG;
  LONG first = 0;
  LONG last = -1;
  SafeArrayGetLBound(strings, 1, &first);
  SafeArrayGetUBound(strings, 1, &last);
  for (LONG i = first; i <= last; ++i) {
    VARIANT value;
    VariantInit(&value);
    if (const HRESULT result = SafeArrayGetElement(strings, &i, &value); FAILED(result)) return result;
    HRESULT result = VariantChangeType(&value, &value, 0, VT_BSTR);
    if (SUCCEEDED(result)) {
      if (i > first) name += kSeparator;
      name += platform::to_utf8(std::wstring_view(V_BSTR(&value), SysStringLen(V_BSTR(&value))));
    }
    VariantClear(&value);
    if (FAILED(result)) return result;
  }
  return name.empty() ? E_INVALIDARG : S_OK;
}

HRESULT put_text(const std::wstring& text, VARIANT& out) {
  V_BSTR(&out) = SysAllocStringLen(text.data(), static_cast<UINT>(text.size()));
  if (V_BSTR(&out) == nullptr) return E_OUTOFMEMORY;
  V_VT(&out) = VT_BSTR;
  return S_OK;
}

}  // namespace

RtdServer::RtdServer(Topics& topics) : topics_(topics) {}

RtdServer::~RtdServer() {
  disconnect_all();
}

HRESULT STDMETHODCALLTYPE RtdServer::QueryInterface(REFIID id, void** out) {
  if (out == nullptr) return E_POINTER;
  if (!IsEqualGUID(id, IID_IUnknown) && !IsEqualGUID(id, IID_IDispatch) && !IsEqualGUID(id, kRtdServerId)) {
    *out = nullptr;
    return E_NOINTERFACE;
  }
  *out = static_cast<IRtdServer*>(this);
  AddRef();
  return S_OK;
}

ULONG STDMETHODCALLTYPE RtdServer::AddRef() {
  return ++references_;
}

ULONG STDMETHODCALLTYPE RtdServer::Release() {
  const ULONG left = --references_;
  if (left == 0) delete this;
  return left;
}

HRESULT STDMETHODCALLTYPE RtdServer::ServerStart(IRTDUpdateEvent* callback, long* result) {
  if (result == nullptr) return E_POINTER;
  *result = 0;
  disconnect_all();
  mailbox_ = std::make_shared<RtdMailbox>(callback);
  if (!mailbox_->is_ready()) {
    mailbox_.reset();
    return E_FAIL;
  }
  *result = 1;
  return S_OK;
}

HRESULT STDMETHODCALLTYPE RtdServer::ConnectData(long topic, SAFEARRAY** strings, VARIANT_BOOL* get_new_values,
                                                 VARIANT* value) {
  if (strings == nullptr || value == nullptr) return E_POINTER;
  if (mailbox_ == nullptr) return E_UNEXPECTED;  // before ServerStart, or after ServerTerminate
  Connected connected;
  if (const HRESULT result = topic_name(*strings, connected.name); FAILED(result)) return result;
  DisconnectData(topic);
  // A book that is opened brings old values; ours are better.
  if (get_new_values != nullptr) *get_new_values = VARIANT_TRUE;
  connected.watch = topics_.watch(connected.name, [mailbox = mailbox_, topic] { mailbox->add(topic); });
  Connected& kept = connected_[topic] = std::move(connected);
  return put_text(shown(kept), *value);
}

// Excel passes over a value that equals the one before, so a second "done" is another text than the first.
std::wstring RtdServer::shown(Connected& topic) {
  std::wstring text = platform::to_wide(topics_.value(topic.name));
  if (topic.refreshed > 0) text += L' ' + std::to_wstring(topic.refreshed);
  return text;
}

HRESULT STDMETHODCALLTYPE RtdServer::RefreshData(long* topic_count, SAFEARRAY** values) {
  if (topic_count == nullptr || values == nullptr) return E_POINTER;
  *topic_count = 0;
  *values = nullptr;
  if (mailbox_ == nullptr) return E_UNEXPECTED;
  const std::set<long> changed = mailbox_->take();
  std::map<long, std::wstring> texts;
  for (const long topic : changed) {
    const auto found = connected_.find(topic);
    if (found == connected_.end()) continue;
    ++found->second.refreshed;
    texts[topic] = shown(found->second);
  }
  SAFEARRAYBOUND bounds[2] = {{2, 0}, {static_cast<ULONG>(texts.size()), 0}};
  SAFEARRAY* array = SafeArrayCreate(VT_VARIANT, 2, bounds);
  if (array == nullptr) return E_OUTOFMEMORY;
  HRESULT result = S_OK;
  LONG column = 0;
  for (const auto& [topic, text] : texts) {
    VARIANT number;
    VARIANT value;
    VariantInit(&number);
    VariantInit(&value);
    V_VT(&number) = VT_I4;
    V_I4(&number) = topic;
    LONG place[2] = {0, column};
    if (SUCCEEDED(result)) result = SafeArrayPutElement(array, place, &number);
    if (SUCCEEDED(result)) result = put_text(text, value);
    place[0] = 1;
    if (SUCCEEDED(result)) result = SafeArrayPutElement(array, place, &value);
    VariantClear(&value);
    ++column;
  }
  if (FAILED(result)) {
    SafeArrayDestroy(array);
    for (const long topic : changed) mailbox_->add(topic);  // they are told again
    return result;
  }
  *topic_count = static_cast<long>(texts.size());
  *values = array;
  return S_OK;
}

HRESULT STDMETHODCALLTYPE RtdServer::DisconnectData(long topic) {
  const auto found = connected_.find(topic);
  if (found == connected_.end()) return S_OK;
  const std::uint64_t watch = found->second.watch;
  connected_.erase(found);
  topics_.unwatch(watch);
  if (mailbox_ != nullptr) mailbox_->forget(topic);
  return S_OK;
}

HRESULT STDMETHODCALLTYPE RtdServer::Heartbeat(long* result) {
  if (result == nullptr) return E_POINTER;
  *result = 1;
  return S_OK;
}

HRESULT STDMETHODCALLTYPE RtdServer::ServerTerminate() {
  disconnect_all();
  return S_OK;
}

void RtdServer::disconnect_all() {
  while (!connected_.empty()) DisconnectData(connected_.begin()->first);
  if (mailbox_ != nullptr) mailbox_->close();
  mailbox_.reset();
}

HRESULT STDMETHODCALLTYPE RtdClassFactory::QueryInterface(REFIID id, void** out) {
  if (out == nullptr) return E_POINTER;
  if (!IsEqualGUID(id, IID_IUnknown) && !IsEqualGUID(id, IID_IClassFactory)) {
    *out = nullptr;
    return E_NOINTERFACE;
  }
  *out = static_cast<IClassFactory*>(this);
  return S_OK;
}

HRESULT STDMETHODCALLTYPE RtdClassFactory::CreateInstance(IUnknown* outer, REFIID id, void** out) {
  if (out == nullptr) return E_POINTER;
  *out = nullptr;
  if (outer != nullptr) return CLASS_E_NOAGGREGATION;
  auto* server = new (std::nothrow) RtdServer(topics_);
  if (server == nullptr) return E_OUTOFMEMORY;
  const HRESULT result = server->QueryInterface(id, out);
  server->Release();
  return result;
}

}  // namespace glmhost::com
