// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>

#include "kinds.h"

#define KIND(function) {#function, function}

const struct kind kinds[] = {
    KIND(close_loop),
    KIND(close_range_call),
    KIND(closefrom_call),
    KIND(close_by_system_call),
    KIND(close_and_reuse),
    KIND(dup_over_all),
    KIND(spawn_closing),
    KIND(lowest_descriptor),
    KIND(few_descriptors),
    KIND(daemonize),
    KIND(fork_and_close_late),
    KIND(fork_of_many_threads),
    KIND(fork_and_emit),
    KIND(clone_child),
    KIND(vfork_exec),
    KIND(new_user_namespace),
    KIND(change_root),
    KIND(change_user),
    KIND(small_address_space),
    KIND(count_threads),
    KIND(wait_for_all_signals),
    KIND(count_signals),
    KIND(strict_seccomp),
    KIND(filtered_seccomp),
    KIND(read_only_control),
    KIND(work),
    KIND(overflow),
    KIND(own_status),
    {NULL, NULL},
};
