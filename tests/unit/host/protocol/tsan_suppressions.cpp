// libzmq and libsodium are not built with the thread sanitizer, which therefore sees the memory that libzmq touches but
// not the atomics by which its threads hand it over. Only what happens inside it is left out; our own code is watched.
#if defined(__SANITIZE_THREAD__)
extern "C" const char* __tsan_default_suppressions() {
  return "called_from_lib:libzmq.so\ncalled_from_lib:libsodium.so\n";
}
#endif
