// The object through which Excel learns that an answer has come.
//
// Thread rules: its methods are called on the thread that made it, Excel's own; topics change on any thread. What has
// changed lies in a mailbox, and a message to a window of Excel's thread makes that thread call UpdateNotify, because
// Excel takes the call from no other. Until Excel has fetched the values it is not notified again: the throttle is
// Excel's, and is left as the user has set it.
#pragma once

#include <windows.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>

#include "excel-addin/com/rtd_interfaces.h"
#include "excel-addin/com/topics.h"

namespace glmhost::com {

class RtdMailbox;

class RtdServer final : public IRtdServer {
 public:
  // `topics` outlives it: the module that both live in stays loaded.
  explicit RtdServer(Topics& topics);
  ~RtdServer();
  RtdServer(const RtdServer&) = delete;
  RtdServer& operator=(const RtdServer&) = delete;

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID id, void** out) override;
  ULONG STDMETHODCALLTYPE AddRef() override;
  ULONG STDMETHODCALLTYPE Release() override;

  HRESULT STDMETHODCALLTYPE GetTypeInfoCount(UINT* count) override;
  HRESULT STDMETHODCALLTYPE GetTypeInfo(UINT index, LCID locale, ITypeInfo** info) override;
  HRESULT STDMETHODCALLTYPE GetIDsOfNames(REFIID reserved, LPOLESTR* names, UINT count, LCID locale,
                                          DISPID* ids) override;
  HRESULT STDMETHODCALLTYPE Invoke(DISPID id, REFIID reserved, LCID locale, WORD flags, DISPPARAMS* parameters,
                                   VARIANT* result, EXCEPINFO* exception, UINT* bad_argument) override;

  // `callback` may be null: whoever asks by RefreshData need not be notified.
  HRESULT STDMETHODCALLTYPE ServerStart(IRTDUpdateEvent* callback, long* result) override;
  HRESULT STDMETHODCALLTYPE ConnectData(long topic, SAFEARRAY** strings, VARIANT_BOOL* get_new_values,
                                        VARIANT* value) override;
  HRESULT STDMETHODCALLTYPE RefreshData(long* topic_count, SAFEARRAY** values) override;
  HRESULT STDMETHODCALLTYPE DisconnectData(long topic) override;
  HRESULT STDMETHODCALLTYPE Heartbeat(long* result) override;
  HRESULT STDMETHODCALLTYPE ServerTerminate() override;

 private:
  struct Connected {
    std::string name;
    std::uint64_t watch = 0;
    std::uint32_t refreshed = 0;
  };
  std::wstring shown(Connected& topic);
  void disconnect_all();

  Topics& topics_;
  std::atomic<ULONG> references_{1};
  std::map<long, Connected> connected_;
  std::shared_ptr<RtdMailbox> mailbox_;
};

// Makes RtdServer objects. Static storage; never destroyed.
class RtdClassFactory final : public IClassFactory {
 public:
  explicit RtdClassFactory(Topics& topics) : topics_(topics) {}

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID id, void** out) override;
  ULONG STDMETHODCALLTYPE AddRef() override { return 2; }
  ULONG STDMETHODCALLTYPE Release() override { return 1; }
  HRESULT STDMETHODCALLTYPE CreateInstance(IUnknown* outer, REFIID id, void** out) override;
  HRESULT STDMETHODCALLTYPE LockServer(BOOL) override { return S_OK; }

 private:
  Topics& topics_;
};

}  // namespace glmhost::com
