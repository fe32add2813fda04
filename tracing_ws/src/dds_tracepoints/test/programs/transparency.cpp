// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Calls every hooked function, on several threads at once:
//   transparency VALID|POISONED HOOKED|PLAIN THREADS ROUNDS LIBRARY...
//   transparency STUCK MS FUNCTION... LIBRARY
// A round opens each library of calls, makes its calls, and closes it. Prints one line for each
// difference from calling the function itself, and last how many calls were made. POISONED: every
// object is memory that must not be touched. STUCK: a thread for each function calls it; it takes
// MS milliseconds, and after three seconds the program ends, wherever its threads are. The objects
// lie right above the first thread's stack.
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "standin.h"

thread_local Orders standin_orders;
thread_local Call standin_call;

namespace {

using Invoke = Word (*)(void (*)(), const Word*);

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

constexpr std::size_t stack_size = 1 << 20;
constexpr std::size_t objects_size = 16 * 4096;
char* stack;
char* objects;
std::atomic<int> calls, differences;

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

void check(const Row& row, Invoke invoke) {
  int arity = static_cast<int>(std::strlen(row.arguments));
  Word given[MOST_ARGUMENTS] = {};
  for (int i = 0; i < arity; i++) given[i] = argument(row.arguments[i], i);
  standin_call = Call{};
  errno = 77;
  bool thrown = false;
  Word result = 0;
  try {
    result = invoke(row.function, given);
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

// Each library of calls lies in the directory that has the name of what it is to call.
bool is_at_home(const std::string& path) {
  return std::strncmp(standin_call.library, "librmw", 6) == 0 ||
         path.find(standin_call.library) != std::string::npos;
}

void call_all(void* library, const std::string& path, bool hooked) {
  auto* rows = static_cast<const Row*>(dlsym(library, "standin_rows"));
  auto invoke = reinterpret_cast<Invoke>(dlsym(library, "standin_invoke"));
  const Word results[] = {0, 1, 2, 0x7fffffff00000001};
  for (const Row* row = rows; row->name != nullptr; row++) {
    expect(is_hook(*row) == hooked, *row, hooked ? "is not hooked" : "is hooked");
    for (Word result : results) {
      for (bool throws : {false, true}) {
        standin_orders = Orders{throws, result, 5, 0};
        check(*row, invoke);
        expect(is_at_home(path), *row, "another library was called");
      }
    }
  }
}

using Body = std::function<void()>;

pthread_t started(Body& body, bool below_objects) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (below_objects) pthread_attr_setstack(&attributes, stack, stack_size);
  auto run = [](void* body) -> void* {
    (*static_cast<Body*>(body))();
    return nullptr;
  };
  pthread_t thread;
  if (pthread_create(&thread, &attributes, run, &body) != 0) std::abort();
  pthread_attr_destroy(&attributes);
  return thread;
}

void open_and_call(const char* path, bool hooked, int threads) {
  // As Python does: what a library brings is for it alone.
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::printf("%s\n", dlerror());
    std::exit(1);
  }
  std::atomic<int> waiting{threads};
  Body body = [&] {
    // All at once: each function is called for the first time by several.
    waiting--;
    while (waiting > 0) {
    }
    call_all(library, path, hooked);
  };
  std::vector<pthread_t> running;
  for (int i = 0; i < threads; i++) running.push_back(started(body, i == 0));
  for (pthread_t thread : running) pthread_join(thread, nullptr);
  dlclose(library);
}

void call_slowly(const Row& row, Invoke invoke, int ms) {
  Word given[MOST_ARGUMENTS] = {};
  for (int i = 0; row.arguments[i] != 0; i++) given[i] = argument(row.arguments[i], i);
  standin_orders = Orders{false, 0, 0, ms};
  invoke(row.function, given);
}

int be_stuck(int count, char** names, int ms) {
  void* library = dlopen(names[count - 1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return 1;
  auto invoke = reinterpret_cast<Invoke>(dlsym(library, "standin_invoke"));
  std::vector<Body> bodies;
  for (int i = 0; i + 1 < count; i++) {
    auto* row = static_cast<const Row*>(dlsym(library, "standin_rows"));
    while (std::strcmp(row->name, names[i]) != 0) row++;
    bodies.push_back([=] { call_slowly(*row, invoke, ms); });
  }
  for (Body& body : bodies) started(body, false);
  usleep(3'000'000);
  _exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  bool stuck = std::strcmp(argv[1], "STUCK") == 0;
  bool poisoned = std::strcmp(argv[1], "POISONED") == 0;
  bool hooked = std::strcmp(argv[2], "HOOKED") == 0;
  stack = static_cast<char*>(mmap(nullptr, stack_size + objects_size, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  objects = stack + stack_size;
  mprotect(objects, objects_size, poisoned ? PROT_NONE : PROT_READ);
  if (stuck) return be_stuck(argc - 3, argv + 3, std::atoi(argv[2]));
  for (int round = std::atoi(argv[4]); round > 0; round--) {
    for (int i = 5; i < argc; i++) open_and_call(argv[i], hooked, std::atoi(argv[3]));
  }
  std::printf("%d calls, %d differences\n", calls.load(), differences.load());
  return differences != 0;
}
