// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Calls every hooked function: transparency LIBCALLS VALID|POISONED HOOKED|PLAIN REPEAT.
// Prints one line for each difference from calling the function itself, and last how many calls
// were made. POISONED: every object is memory that must not be touched.
#include <dlfcn.h>
#include <errno.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "standin.h"

Orders standin_orders;
Call standin_call;

namespace {

using Function = Word (*)(Word, Word, Word, Word, Word, Word, Word);

// A message of RTPS with one sample: header; DATA of an application's writer, number 7.
const unsigned char message[] = {
    'R',  'T', 'P', 'S', 2, 3, 1,  15, 1, 2, 3, 4, 5,  6, 7,  8, 9, 10, 11, 12,  // header
    0x15, 5,   28,  0,   0, 0, 16, 0,  0, 0, 0, 4, 0,  0, 19, 3,                 // DATA, entities
    0,    0,   0,   0,   7, 0, 0,  0,  0, 1, 0, 0, 42, 0, 0,  0};                // number, value
struct Buffer {
  const void* data;
  std::uint32_t size;
};
const Buffer buffers[] = {{message, 20}, {message + 20, sizeof(message) - 20}};
const Buffer* const vector[] = {buffers, buffers + 2, buffers + 2};

char* objects;
int calls, differences;

// `p` object, `d` bytes of a message, `l` their number, `n` vector of buffers, `i` 32-bit number,
// `h` 16-bit number, `q` 64-bit number.
Word argument(char kind, int index) {
  switch (kind) {
    case 'p':
      return reinterpret_cast<Word>(objects + 4096 * (index + 1));
    case 'd':
      return reinterpret_cast<Word>(message);
    case 'l':
      return sizeof(message);
    case 'n':
      return reinterpret_cast<Word>(vector);
    case 'i':
      return 0xfedcba98u - static_cast<unsigned>(index);
    case 'h':
      return 0xfed0u + static_cast<unsigned>(index);
    default:
      return 0xfedcba9876543210u + static_cast<unsigned>(index);
  }
}

Word bits(char kind) {
  switch (kind) {
    case 'b':
      return 0xff;
    case 'h':
      return 0xffff;
    case 'i':
    case 'l':
    case 'c':
      return 0xffffffffu;
    case 'v':
      return 0;
    default:
      return ~Word{0};
  }
}

void expect(bool holds, const Row& row, const char* what) {
  if (!holds) {
    differences++;
    std::printf("%s: %s\n", row.symbol, what);
  }
}

void check(const Row& row) {
  int arity = static_cast<int>(std::strlen(row.arguments));
  Word given[MOST_ARGUMENTS] = {};
  for (int i = 0; i < arity; i++) given[i] = argument(row.arguments[i], i);
  standin_call = Call{};
  errno = 77;
  bool thrown = false;
  Word result = 0;
  try {
    result = reinterpret_cast<Function>(row.function)(given[0], given[1], given[2], given[3],
                                                      given[4], given[5], given[6]);
  } catch (const Thrown& what) {
    thrown = true;
    expect(what.result == standin_orders.result, row, "another exception arrived");
  }
  int after = errno;
  calls++;
  expect(standin_call.count == 1, row, "the function was not called once");
  expect(standin_call.errno_before == 77, row, "the function saw another errno");
  expect(thrown == standin_orders.throws, row, "an exception was lost or made");
  if (!thrown) {
    expect(after == standin_orders.errno_after, row, "the caller saw another errno");
    expect(((result ^ standin_orders.result) & bits(*row.result)) == 0, row, "the result changed");
  }
  for (int i = 0; i < arity; i++) {
    Word changed = (standin_call.arguments[i] ^ given[i]) & bits(row.arguments[i]);
    expect(changed == 0, row, "an argument changed");
  }
}

bool is_hook(const Row& row) {
  Dl_info info;
  return dladdr(reinterpret_cast<void*>(row.function), &info) != 0 &&
         std::strstr(info.dli_fname, "libdds_tracepoints") != nullptr;
}

}  // namespace

int main(int, char** argv) {
  // As Python does: what a library brings is for it alone.
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::printf("%s\n", dlerror());
    return 1;
  }
  bool poisoned = std::strcmp(argv[2], "POISONED") == 0;
  bool hooked = std::strcmp(argv[3], "HOOKED") == 0;
  objects = static_cast<char*>(mmap(nullptr, 16 * 4096, poisoned ? PROT_NONE : PROT_READ,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  auto* rows = static_cast<const Row*>(dlsym(library, "standin_rows"));
  const Word results[] = {0, 1, 2, 0x7fffffff00000001};
  for (int round = std::atoi(argv[4]); round > 0; round--) {
    for (const Row* row = rows; row->name != nullptr; row++) {
      expect(is_hook(*row) == hooked, *row, hooked ? "is not hooked" : "is hooked");
      for (Word result : results) {
        for (bool throws : {false, true}) {
          standin_orders = Orders{throws, result, 5};
          check(*row);
        }
      }
    }
  }
  std::printf("%d calls, %d differences\n", calls, differences);
  return differences != 0;
}
