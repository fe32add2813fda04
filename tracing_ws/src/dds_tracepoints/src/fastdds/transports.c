// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Hooks of what carries messages, other than sockets, and of the place where all that is received
// arrives.
#include "fastdds.h"

// --- shared memory -------------------------------------------------------------------------------

// Ports that the SHM send of this thread has reached.
static _Thread_local struct destination shm_destination;

static bool shm_send(HOOKED, void* transport, const uint8_t* data, uint32_t length, void* begin,
                     void* end, const void* until) {
  (void)caller;
  typedef bool (*function)(void*, const uint8_t*, uint32_t, void*, void*, const void*);
  function send = (function)real_function(real);
  if (!is_send_wanted()) {
    return send(transport, data, length, begin, end, until);
  }
  struct iovec part = {(void*)data, length};
  shm_destination = (struct destination){0};
  ENTERED(sending);
  send_begins(&sending, TRANSPORT_SHM, &part, 1);
  bool done = send(transport, data, length, begin, end, until);
  send_ends(&sending, &shm_destination, done);
  return done;
}

// NetworkBuffer: address and 32-bit size, as rtps_open reads parts; in a std::vector, which begins
// with the addresses of begin and end.
struct network_buffer {
  const void* data;
  uint32_t size;
};
struct network_buffers {
  const struct network_buffer* begin;
  const struct network_buffer* end;
};
_Static_assert(sizeof(struct network_buffer) == sizeof(struct iovec), "elements of one size");

// Buffers whose sizes do not add up to the given total are none of this layout.
static void send_of_buffers_begins(struct entered* sending, const struct network_buffers* buffers,
                                   uint32_t total) {
  size_t count = (size_t)(buffers->end - buffers->begin);
  uint64_t sum = 0;
  for (size_t i = 0; i < count; i++) {
    sum += buffers->begin[i].size;
  }
  if (sum == total) {
    send_begins(sending, TRANSPORT_SHM, (const struct iovec*)(const void*)buffers->begin, count);
  }
}

static bool shm_send_buffers(HOOKED, void* transport, const struct network_buffers* buffers,
                             uint32_t total, void* begin, void* end, const void* until) {
  (void)caller;
  typedef bool (*function)(void*, const void*, uint32_t, void*, void*, const void*);
  function send = (function)real_function(real);
  if (!is_send_wanted()) {
    return send(transport, buffers, total, begin, end, until);
  }
  shm_destination = (struct destination){0};
  ENTERED(sending);
  send_of_buffers_begins(&sending, buffers, total);
  bool done = send(transport, buffers, total, begin, end, until);
  send_ends(&sending, &shm_destination, done);
  return done;
}

static bool shm_push(HOOKED, void* transport, const void* buffer, const void* to) {
  (void)caller;
  typedef bool (*function)(void*, const void*, const void*);
  function push = (function)real_function(real);
  if (WANTED(sent)) {
    shm_destination.port = layout_of(real) != NULL ? (uint32_t)int_at(to, LOCATOR_PORT) : 0;
    shm_destination.count++;
  }
  return push(transport, buffer, to);
}

// --- data sharing --------------------------------------------------------------------------------

// What is shared is already in the segment: the reader only learns that it is there. His locator
// does not know the sample; it is the one that this thread has just added. Not the notifier behind
// it, whose function compilers put in here.
static void data_sharing_notify(HOOKED, void* locator) {
  (void)caller;
  typedef void (*function)(void*);
  function notify = (function)real_function(real);
  struct destination to = {.count = 1};
  ENTERED(sending);
  if (is_send_wanted() && last_added.sequence != 0 && is_writing()) {
    send_of_sample_begins(&sending, TRANSPORT_DATA_SHARING, &last_added);
  }
  notify(locator);
  send_ends(&sending, &to, 1);
}

// --- receive -------------------------------------------------------------------------------------

// The kinds of RTPS, but for shared memory: 2.x has 16, 3.x has 16 + 3, so that they do not meet.
static int32_t transport_of(const void* locator) {
  int32_t kind = int_at(locator, LOCATOR_KIND);
  return kind >= TRANSPORT_SHM && kind < 2 * TRANSPORT_SHM ? TRANSPORT_SHM : kind;
}

static const uint8_t nobody[16];

static void receive(HOOKED, void* resource, const uint8_t* data, uint32_t length, const void* local,
                    const void* remote) {
  (void)caller;
  typedef void (*function)(void*, const uint8_t*, uint32_t, const void*, const void*);
  function process = (function)real_function(real);
  if (!WANTED(received) && !WANTED(receive) && !WANTED(receive_sample) && !WANTED(reader_notify) &&
      !WANTED(reader_history_add)) {
    process(resource, data, length, local, remote);
    return;
  }
  ENTERED(receiving);
  struct operation* receipt =
      enter_operation(&receiving, OPERATION_RECEIVE, (uintptr_t)__builtin_frame_address(0));
  struct iovec part = {(void*)data, length};
  bool known = layout_of(real) != NULL;
  emit_receive(known ? transport_of(local) : TRANSPORT_UNKNOWN,
               known ? (uint32_t)int_at(local, LOCATOR_PORT) : 0, &part, 1,
               WANTED(received) ? receipt : NULL);
  process(resource, data, length, local, remote);
  if (is_open(receipt)) {
    EMIT(received, receipt, nobody, 0);
  }
  leave_operation(&receiving);
  // What this thread adds to histories from here on is not of this buffer.
  last_received = (struct sample){0};
}

#define HOOK_shm_send(name, library, symbol) HOOK_##name(name, library, symbol)
#define HOOK_shm_send_2_14(name, library, symbol)                                      \
  STUB(name, library, symbol, bool, shm_send,                                          \
       (void* transport, const uint8_t* data, uint32_t length, void* begin, void* end, \
        const void* until),                                                            \
       transport, data, length, begin, end, until)
#define HOOK_shm_send_3_2(name, library, symbol)                                             \
  STUB(name, library, symbol, bool, shm_send_buffers,                                        \
       (void* transport, const struct network_buffers* buffers, uint32_t total, void* begin, \
        void* end, const void* until),                                                       \
       transport, buffers, total, begin, end, until)
#define HOOK_shm_push(name, library, symbol)  \
  STUB(name, library, symbol, bool, shm_push, \
       (void* transport, const void* buffer, const void* to), transport, buffer, to)
#define HOOK_data_sharing_notify(name, library, symbol) \
  STUB(name, library, symbol, void, data_sharing_notify, (void* locator), locator)
#define HOOK_receive(name, library, symbol)                                      \
  STUB(name, library, symbol, void, receive,                                     \
       (void* resource, const uint8_t* data, uint32_t length, const void* local, \
        const void* remote),                                                     \
       resource, data, length, local, remote)

#define HOOKS_OF_FASTDDS_TRANSPORTS
#define HOOK(id, build, library, symbol) HOOK_##id(id##_##build, library, symbol)
#include "hooks.def"
