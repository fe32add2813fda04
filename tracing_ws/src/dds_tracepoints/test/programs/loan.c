// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Publishes numbers in loaned messages and takes them as loans, within one process: loan COUNT.
// Prints the addresses of what was lent to it, a line for each message. A library, for a Python to
// call: those of ROS need one.
#include <inttypes.h>
#include <rcl/rcl.h>
#include <rcutils/error_handling.h>
#include <std_msgs/msg/u_int64.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void require(bool holds, const char* what) {
  if (!holds) {
    fprintf(stderr, "loan: %s: %s\n", what, rcutils_get_error_string().str);
    exit(1);
  }
}

// What is published before the reader is known is published for nobody.
static void wait_for_match(const rcl_publisher_t* publisher,
                           const rcl_subscription_t* subscription) {
  size_t readers = 0, writers = 0;
  for (int i = 0; i < 10000 && (readers == 0 || writers == 0); i++) {
    require(rcl_publisher_get_subscription_count(publisher, &readers) == RCL_RET_OK, "readers");
    require(rcl_subscription_get_publisher_count(subscription, &writers) == RCL_RET_OK, "writers");
    nanosleep(&(struct timespec){0, 1000000}, NULL);
  }
  require(readers == 1 && writers == 1, "no match");
}

static void exchange(const rcl_publisher_t* publisher, const rcl_subscription_t* subscription,
                     uint64_t number) {
  const rosidl_message_type_support_t* type = ROSIDL_GET_MSG_TYPE_SUPPORT(std_msgs, msg, UInt64);
  void *sent = NULL, *taken = NULL;
  require(rcl_borrow_loaned_message(publisher, type, &sent) == RCL_RET_OK, "borrow");
  ((std_msgs__msg__UInt64*)sent)->data = number;
  require(rcl_publish_loaned_message(publisher, sent, NULL) == RCL_RET_OK, "publish");
  for (int i = 0; i < 1000 && taken == NULL; i++) {
    rmw_message_info_t info = rmw_get_zero_initialized_message_info();
    if (rcl_take_loaned_message(subscription, &taken, &info, NULL) != RCL_RET_OK) {
      rcutils_reset_error();
      taken = NULL;
      nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
  }
  require(taken != NULL && ((std_msgs__msg__UInt64*)taken)->data == number, "take");
  printf("%" PRIuPTR " %" PRIuPTR "\n", (uintptr_t)sent, (uintptr_t)taken);
  require(rcl_return_loaned_message_from_subscription(subscription, taken) == RCL_RET_OK, "return");
}

int main(int argc, char** argv) {
  require(argc == 2, "usage: loan COUNT");
  rcl_init_options_t options = rcl_get_zero_initialized_init_options();
  require(rcl_init_options_init(&options, rcl_get_default_allocator()) == RCL_RET_OK, "options");
  rcl_context_t context = rcl_get_zero_initialized_context();
  require(rcl_init(0, NULL, &options, &context) == RCL_RET_OK, "init");
  rcl_node_t node = rcl_get_zero_initialized_node();
  rcl_node_options_t node_options = rcl_node_get_default_options();
  require(rcl_node_init(&node, "loan", "", &context, &node_options) == RCL_RET_OK, "node");
  const rosidl_message_type_support_t* type = ROSIDL_GET_MSG_TYPE_SUPPORT(std_msgs, msg, UInt64);
  rcl_subscription_t subscription = rcl_get_zero_initialized_subscription();
  rcl_subscription_options_t subscribing = rcl_subscription_get_default_options();
  require(rcl_subscription_init(&subscription, &node, type, "loan", &subscribing) == RCL_RET_OK,
          "subscription");
  rcl_publisher_t publisher = rcl_get_zero_initialized_publisher();
  rcl_publisher_options_t publishing = rcl_publisher_get_default_options();
  require(rcl_publisher_init(&publisher, &node, type, "loan", &publishing) == RCL_RET_OK,
          "publisher");
  require(rcl_publisher_can_loan_messages(&publisher), "nothing is lent to publishers");
  wait_for_match(&publisher, &subscription);
  for (uint64_t number = strtoull(argv[1], NULL, 10); number > 0; number--) {
    exchange(&publisher, &subscription, number);
  }
  require(rcl_publisher_fini(&publisher, &node) == RCL_RET_OK, "fini");
  require(rcl_subscription_fini(&subscription, &node) == RCL_RET_OK, "fini");
  // Threads of Fast DDS that outlive main use what exit() destroys.
  require(rcl_node_fini(&node) == RCL_RET_OK, "fini");
  require(rcl_shutdown(&context) == RCL_RET_OK, "shutdown");
  require(rcl_context_fini(&context) == RCL_RET_OK, "fini");
  require(rcl_init_options_fini(&options) == RCL_RET_OK, "fini");
  return 0;
}
