// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Programs that the kernel holds to fewer system calls, or to what it checks itself.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emit.h"
#include "kinds.h"

// read, write and exit of this thread alone.
int strict_seccomp(void) {
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) {
    return 1;
  }
  emit(1000);
  ssize_t written = write(1, "strict\n", 7);
  syscall(SYS_exit, written == 7 ? 0 : 1);
  return 1;
}

#define ALLOW(name)                                      \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), \
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

// What a small program needs, of all of its threads; the kernel ends it at any other call.
int filtered_seccomp(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      ALLOW(read),
      ALLOW(write),
      ALLOW(close),
      ALLOW(fstat),
      ALLOW(brk),
#ifdef SYS_newfstatat
      ALLOW(newfstatat),
#endif
      ALLOW(mmap),
      ALLOW(munmap),
      ALLOW(exit_group),
      ALLOW(exit),
      ALLOW(rt_sigreturn),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0) {
    return 1;
  }
  emit(1000);
  for (int fd = 3; fd < 100; fd++) {
    close(fd);
  }
  free(malloc(1 << 20));
  printf("filtered\n");
  return 0;
}

// A sensor's port, and a control buffer that nobody can write to: the kernel drops what it would
// put there.
int read_only_control(void) {
  int receiver = socket(AF_INET, SOCK_DGRAM, 0), sender = socket(AF_INET, SOCK_DGRAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(7502)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(receiver, (struct sockaddr*)&address, sizeof(address)) != 0) {
    printf("%s\n", strerror(errno));
    return 1;
  }
  char text[16] = "";
  struct iovec part = {text, sizeof(text)};
  void* page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int asked = 0; asked < 2; asked++) {
    int on = asked;
    setsockopt(receiver, SOL_SOCKET, SO_TIMESTAMP, &on, sizeof(on));
    sendto(sender, "packet", 6, 0, (struct sockaddr*)&address, sizeof(address));
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = page, .msg_controllen = 512};
    ssize_t got = recvmsg(receiver, &message, 0);
    printf("%zd %.6s flags %x control %zu\n", got, text, message.msg_flags, message.msg_controllen);
  }
  return 0;
}
