// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The two functions that tracetools/utils.hpp declares and client libraries call to name callbacks.
#include <cxxabi.h>
#include <dlfcn.h>

#include <cstring>

#include "tracetools/utils.hpp"

namespace tracetools {
namespace detail {

// Both return memory that the caller frees, or null.
char* demangle_symbol(const char* mangled) {
  int status = 0;
  char* demangled = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  return status == 0 ? demangled : nullptr;
}

char* get_symbol_funcptr(const void* funcptr) {
  Dl_info info;
  if (dladdr(const_cast<void*>(funcptr), &info) == 0 || info.dli_sname == nullptr) {
    return nullptr;
  }
  // A C function has a symbol that is no mangled name: it is its own.
  char* demangled = demangle_symbol(info.dli_sname);
  return demangled != nullptr ? demangled : strdup(info.dli_sname);
}

}  // namespace detail
}  // namespace tracetools
