// The two interfaces of real-time data, declared by us from Microsoft's documentation ("IRtdServer",
// "IRTDUpdateEvent"). Both are dual: Excel calls the methods by their place in the table, scripts by their number.
#pragma once

// clang-format off
#include <windows.h>  // the others do not stand alone

#include <oaidl.h>
#include <oleauto.h>
// clang-format on

// COM objects are destroyed by Release, never through a base.
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

namespace glmhost::com {

inline constexpr GUID kRtdUpdateEventId = {
    0xA43788C1, 0xD91B, 0x11D3, {0x8F, 0x39, 0x00, 0xC0, 0x4F, 0x36, 0x51, 0xB8}};
inline constexpr GUID kRtdServerId = {0xEC0E6191, 0xDB51, 0x11D3, {0x8F, 0x3E, 0x00, 0xC0, 0x4F, 0x36, 0x51, 0xB8}};

struct IRTDUpdateEvent : IDispatch {
  virtual HRESULT STDMETHODCALLTYPE UpdateNotify() = 0;                             // 10
  virtual HRESULT STDMETHODCALLTYPE get_HeartbeatInterval(long* milliseconds) = 0;  // 11
  virtual HRESULT STDMETHODCALLTYPE put_HeartbeatInterval(long milliseconds) = 0;
  virtual HRESULT STDMETHODCALLTYPE Disconnect() = 0;  // 12
};

struct IRtdServer : IDispatch {
  virtual HRESULT STDMETHODCALLTYPE ServerStart(IRTDUpdateEvent* callback, long* result) = 0;  // 10
  virtual HRESULT STDMETHODCALLTYPE ConnectData(long topic, SAFEARRAY** strings, VARIANT_BOOL* get_new_values,
                                                VARIANT* value) = 0;                         // 11
  virtual HRESULT STDMETHODCALLTYPE RefreshData(long* topic_count, SAFEARRAY** values) = 0;  // 12
  virtual HRESULT STDMETHODCALLTYPE DisconnectData(long topic) = 0;                          // 13
  virtual HRESULT STDMETHODCALLTYPE Heartbeat(long* result) = 0;                             // 14
  virtual HRESULT STDMETHODCALLTYPE ServerTerminate() = 0;                                   // 15
};

}  // namespace glmhost::com
