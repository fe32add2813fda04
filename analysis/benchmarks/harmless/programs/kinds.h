// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#ifndef HARMLESS_KINDS_H
#define HARMLESS_KINDS_H

struct kind {
  const char* name;
  int (*run)(void);
};

extern const struct kind kinds[];

// Of descriptors.c.
int close_loop(void);
int close_range_call(void);
int closefrom_call(void);
int close_by_system_call(void);
int close_and_reuse(void);
int dup_over_all(void);
int spawn_closing(void);
int lowest_descriptor(void);
int few_descriptors(void);

// Of processes.c.
int daemonize(void);
int fork_and_close_late(void);
int fork_of_many_threads(void);
int fork_and_emit(void);
int clone_child(void);
int vfork_exec(void);
int new_user_namespace(void);
int change_root(void);
int change_user(void);
int small_address_space(void);
int count_threads(void);
int wait_for_all_signals(void);
int count_signals(void);
int work(void);
int overflow(void);
int own_status(void);

// Of kernel.c.
int strict_seccomp(void);
int filtered_seccomp(void);
int read_only_control(void);

#endif
