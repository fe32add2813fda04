// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What passes an exception on from the end of a hook (ENTERED, CONVERSION). It is libgcc_s', which
// is there where an exception is; linked to it, this library would bring it into every process of
// a recording.
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

// Not by <unwind.h>, whose functions are visible to all.
#define HIDDEN __attribute__((visibility("hidden")))

typedef int (*personality_function)(int, int, uint64_t, void*, void*);

HIDDEN void _Unwind_Resume(void* exception);
HIDDEN int __gcc_personality_v0(int version, int actions, uint64_t kind, void* exception,
                                void* context);

static void* of_libgcc(const char* symbol) {
  void* library = dlopen("libgcc_s.so.1", RTLD_LAZY);
  void* function = library != NULL ? dlsym(library, symbol) : NULL;
  if (function == NULL) {
    abort();
  }
  return function;
}

void _Unwind_Resume(void* exception) {
  ((void (*)(void*))of_libgcc("_Unwind_Resume"))(exception);
  abort();
}

int __gcc_personality_v0(int version, int actions, uint64_t kind, void* exception, void* context) {
  personality_function personality = (personality_function)of_libgcc("__gcc_personality_v0");
  return personality(version, actions, kind, exception, context);
}
