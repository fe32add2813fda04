// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Sends messages that can be made again from their number, and compares what arrives byte for byte:
//   soak publish|receive|both COUNT
// Two threads publish COUNT messages each, of random sizes, reliably and keeping all; `both` does
// all in one process. The receiver prints how many messages and bytes were right. A library, for a
// Python to call: those of ROS need one.
#include <inttypes.h>
#include <pthread.h>
#include <rcl/rcl.h>
#include <rcutils/error_handling.h>
#include <rosidl_runtime_c/primitives_sequence_functions.h>
#include <sched.h>
#include <std_msgs/msg/u_int8_multi_array.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A reader keeps 5000 messages. What its own process writes beyond that is never given to it, with
// or without hooks.
enum { WRITERS = 2, MOST_BYTES = 65536, MOST_AHEAD = 1000 };

struct head {
  uint64_t writer;
  uint64_t number;
};

static rcl_context_t context;
static rcl_node_t node;
static uint64_t count;
static bool receives, publishes;
static _Atomic uint64_t compared[WRITERS];

static void require(bool holds, const char* what) {
  if (!holds) {
    fprintf(stderr, "soak: %s: %s\n", what, rcutils_get_error_string().str);
    exit(1);
  }
}

// splitmix64
static uint64_t next(uint64_t* state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

// Writes the message of that number and returns its size: mostly small, one in 1024 large enough
// to travel in fragments.
static size_t make(uint64_t writer, uint64_t number, uint8_t* data) {
  uint64_t state = writer << 56 ^ number;
  uint64_t random = next(&state);
  size_t most = random % 1024 == 0 ? MOST_BYTES : 512;
  size_t size = sizeof(struct head) + (random >> 32) % (most - sizeof(struct head) + 1);
  memcpy(data, &(struct head){writer, number}, sizeof(struct head));
  for (size_t at = sizeof(struct head); at < size; at += sizeof(uint64_t)) {
    uint64_t word = next(&state);
    memcpy(data + at, &word, size - at < sizeof(word) ? size - at : sizeof(word));
  }
  return size;
}

static rmw_qos_profile_t qos(void) {
  rmw_qos_profile_t profile = rmw_qos_profile_default;
  profile.history = RMW_QOS_POLICY_HISTORY_KEEP_ALL;
  profile.reliability = RMW_QOS_POLICY_RELIABILITY_RELIABLE;
  return profile;
}

static const rosidl_message_type_support_t* type(void) {
  return ROSIDL_GET_MSG_TYPE_SUPPORT(std_msgs, msg, UInt8MultiArray);
}

// Of storm.c, where it is preloaded: this thread has recorded events, and may be disturbed.
void storm_begins(void) __attribute__((weak));

static void may_be_disturbed(void) {
  if (storm_begins != NULL) {
    storm_begins();
  }
}

// --- publish -------------------------------------------------------------------------------------

static rcl_publisher_t publishers[WRITERS];

static void* publish(void* argument) {
  uint64_t writer = (uint64_t)(uintptr_t)argument;
  rcl_publisher_t* publisher = &publishers[writer];
  std_msgs__msg__UInt8MultiArray message;
  std_msgs__msg__UInt8MultiArray__init(&message);
  // Room for the last word.
  rosidl_runtime_c__uint8__Sequence__init(&message.data, MOST_BYTES + sizeof(uint64_t));
  for (uint64_t number = 0; number < count; number++) {
    while (receives && number > compared[writer] + MOST_AHEAD) {
      sched_yield();
    }
    message.data.size = make(writer, number, message.data.data);
    // A full history is no fault: the receiver is slower.
    while (rcl_publish(publisher, &message, NULL) != RCL_RET_OK) {
      rcutils_reset_error();
    }
    may_be_disturbed();
  }
  std_msgs__msg__UInt8MultiArray__fini(&message);
  return NULL;
}

static void start(pthread_t* threads) {
  rcl_publisher_options_t options = rcl_publisher_get_default_options();
  options.qos = qos();
  for (uintptr_t writer = 0; writer < WRITERS; writer++) {
    publishers[writer] = rcl_get_zero_initialized_publisher();
    require(rcl_publisher_init(&publishers[writer], &node, type(), "soak", &options) == RCL_RET_OK,
            "publisher");
  }
  for (uintptr_t writer = 0; writer < WRITERS; writer++) {
    size_t readers = 0;
    while (readers == 0) {
      nanosleep(&(struct timespec){0, 10000000}, NULL);
      require(rcl_publisher_get_subscription_count(&publishers[writer], &readers) == RCL_RET_OK,
              "count");
    }
    require(pthread_create(&threads[writer], NULL, publish, (void*)writer) == 0, "thread");
  }
}

static void finish(const pthread_t* threads) {
  for (int writer = 0; writer < WRITERS; writer++) {
    pthread_join(threads[writer], NULL);
    require(rcl_publisher_wait_for_all_acked(&publishers[writer], -1) == RCL_RET_OK, "acked");
    require(rcl_publisher_fini(&publishers[writer], &node) == RCL_RET_OK, "fini");
  }
}

// --- receive -------------------------------------------------------------------------------------

static rcl_subscription_t subscription;
static uint64_t bytes;

static void subscribe(void) {
  rcl_subscription_options_t options = rcl_subscription_get_default_options();
  options.qos = qos();
  subscription = rcl_get_zero_initialized_subscription();
  require(rcl_subscription_init(&subscription, &node, type(), "soak", &options) == RCL_RET_OK,
          "subscription");
}

static void compare(const std_msgs__msg__UInt8MultiArray* message) {
  static uint8_t own[MOST_BYTES + sizeof(uint64_t)];
  struct head head = {WRITERS, 0};
  if (message->data.size >= sizeof(head)) {
    memcpy(&head, message->data.data, sizeof(head));
  }
  size_t size = head.writer < WRITERS ? make(head.writer, compared[head.writer], own) : 0;
  if (size == 0 || size != message->data.size || memcmp(own, message->data.data, size) != 0) {
    printf("writer %" PRIu64 " number %" PRIu64 " (%zu bytes) is not what was sent\n", head.writer,
           head.number, message->data.size);
    exit(1);
  }
  compared[head.writer]++;
  may_be_disturbed();
  bytes += size;
}

static void take_all(void) {
  std_msgs__msg__UInt8MultiArray message;
  std_msgs__msg__UInt8MultiArray__init(&message);
  rcl_wait_set_t set = rcl_get_zero_initialized_wait_set();
  require(rcl_wait_set_init(&set, 1, 0, 0, 0, 0, 0, &context, rcl_get_default_allocator()) ==
              RCL_RET_OK,
          "wait set");
  while (compared[0] + compared[1] < WRITERS * count) {
    require(rcl_wait_set_clear(&set) == RCL_RET_OK &&
                rcl_wait_set_add_subscription(&set, &subscription, NULL) == RCL_RET_OK,
            "wait set");
    rcl_ret_t waited = rcl_wait(&set, INT64_C(20000000000));
    require(waited == RCL_RET_OK, "nothing arrives");
    while (rcl_take(&subscription, &message, NULL, NULL) == RCL_RET_OK) {
      compare(&message);
    }
    rcutils_reset_error();
  }
  require(rcl_wait_set_fini(&set) == RCL_RET_OK, "fini");
  std_msgs__msg__UInt8MultiArray__fini(&message);
  require(rcl_subscription_fini(&subscription, &node) == RCL_RET_OK, "fini");
  printf("%" PRIu64 " messages, %" PRIu64 " bytes\n", compared[0] + compared[1], bytes);
}

int main(int argc, char** argv) {
  require(argc == 3, "usage: soak publish|receive|both COUNT");
  receives = strcmp(argv[1], "publish") != 0;
  publishes = strcmp(argv[1], "receive") != 0;
  count = strtoull(argv[2], NULL, 10);
  rcl_init_options_t options = rcl_get_zero_initialized_init_options();
  require(rcl_init_options_init(&options, rcl_get_default_allocator()) == RCL_RET_OK, "options");
  context = rcl_get_zero_initialized_context();
  require(rcl_init(0, NULL, &options, &context) == RCL_RET_OK, "init");
  node = rcl_get_zero_initialized_node();
  rcl_node_options_t node_options = rcl_node_get_default_options();
  require(rcl_node_init(&node, argv[1], "", &context, &node_options) == RCL_RET_OK, "node");
  pthread_t threads[WRITERS];
  if (receives) {
    subscribe();
  }
  if (publishes) {
    start(threads);
  }
  if (receives) {
    take_all();
  }
  if (publishes) {
    finish(threads);
  }
  return 0;
}
