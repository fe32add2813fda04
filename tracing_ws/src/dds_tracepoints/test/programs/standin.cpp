// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Stands in for a DDS library: every function that is hooked, by its symbol. All do the same: they
// write down how they were called, and do as they were told.
#include "standin.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

// rows.inc has ROW(name, symbol, letters, letter) for every function. The seventh argument lies
// on the stack; of a function with fewer it is whatever is there.
#define ROW(name, symbol, letters, letter)                                                 \
  extern "C" Word standin_##name(Word, Word, Word, Word, Word, Word, Word) asm(symbol);    \
  extern "C" Word standin_##name(Word a, Word b, Word c, Word d, Word e, Word f, Word g) { \
    standin_call.count++;                                                                  \
    standin_call.library = SONAME;                                                         \
    standin_call.errno_before = errno;                                                     \
    const Word given[] = {a, b, c, d, e, f, g};                                            \
    for (int i = 0; i < MOST_ARGUMENTS; i++) standin_call.arguments[i] = given[i];         \
    if (standin_orders.pause_ms != 0) usleep(1000 * standin_orders.pause_ms);              \
    if (standin_orders.throws) throw Thrown{standin_orders.result};                        \
    errno = standin_orders.errno_after;                                                    \
    return standin_orders.result;                                                          \
  }
#include "rows.inc"

#ifdef WITH_GUIDS
static const unsigned char guid[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 4};
#define GUID(name, symbol)                        \
  extern "C" const void* name(void*) asm(symbol); \
  extern "C" const void* name(void*) { return guid; }
GUID(of_writer, "_ZNK8eprosima7fastdds3dds10DataWriter4guidEv")
GUID(of_reader, "_ZNK8eprosima7fastdds3dds10DataReader4guidEv")
GUID(of_reader_impl, "_ZNK8eprosima7fastdds3dds14DataReaderImpl4guidEv")

// The socket calls of a DDS library; none is a tail call, which would hide who calls.
extern "C" ssize_t standin_sendmsg(int fd, const msghdr* message, int flags) {
  volatile ssize_t sent = sendmsg(fd, message, flags);
  return sent;
}
extern "C" ssize_t standin_sendto(int fd, const void* data, size_t length, int flags,
                                  const sockaddr* to, socklen_t to_length) {
  volatile ssize_t sent = sendto(fd, data, length, flags, to, to_length);
  return sent;
}
extern "C" ssize_t standin_send(int fd, const void* data, size_t length, int flags) {
  volatile ssize_t sent = send(fd, data, length, flags);
  return sent;
}
extern "C" ssize_t standin_recvmsg(int fd, msghdr* message, int flags) {
  volatile ssize_t got = recvmsg(fd, message, flags);
  return got;
}
#endif
