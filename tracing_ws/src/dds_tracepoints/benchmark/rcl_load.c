// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Times publish() or round trips as rclpy_load.py does, but without Python: what a program in C or
// C++ spends, less its client library's own time. bench_publish.py compiles it.
// usage: rcl_load {publish,heard,ping} COUNT | rcl_load {pong,sink}
#include <rcl/error_handling.h>
#include <rcl/rcl.h>
#include <rosidl_runtime_c/string_functions.h>
#include <std_msgs/msg/string.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WARM_UP = 500, BURST = 1000, CLOCK_READINGS = 10000, ANSWER_MS = 2000 };
// As in rclpy_load.py.
static const char ending[] = "end";
static const struct timespec pause_of_burst = {0, 10000000}, period = {0, 500000},
                             settling = {0, 300000000};

static rcl_context_t context;
static rcl_node_t node;

static void require(bool done, const char* what) {
  if (!done) {
    fprintf(stderr, "Cannot measure: %s failed. %s\n", what, rcl_get_error_string().str);
    exit(1);
  }
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int compare(const void* left, const void* right) {
  int64_t a = *(const int64_t*)left, b = *(const int64_t*)right;
  return (a > b) - (a < b);
}

static int64_t median(int64_t* times, size_t count) {
  qsort(times, count, sizeof(*times), compare);
  return times[count / 2];
}

static int64_t clock_cost(void) {
  static int64_t times[CLOCK_READINGS];
  for (size_t i = 0; i < CLOCK_READINGS; i++) {
    int64_t begin = now();
    times[i] = now() - begin;
  }
  return median(times, CLOCK_READINGS);
}

// --- ROS -----------------------------------------------------------------------------------------

static const rosidl_message_type_support_t* type(void) {
  return ROSIDL_GET_MSG_TYPE_SUPPORT(std_msgs, msg, String);
}

static void start(const char* name) {
  rcl_init_options_t options = rcl_get_zero_initialized_init_options();
  context = rcl_get_zero_initialized_context();
  node = rcl_get_zero_initialized_node();
  rcl_node_options_t node_options = rcl_node_get_default_options();
  require(rcl_init_options_init(&options, rcl_get_default_allocator()) == RCL_RET_OK, "options");
  require(rcl_init(0, NULL, &options, &context) == RCL_RET_OK, "rcl_init");
  require(rcl_node_init(&node, name, "", &context, &node_options) == RCL_RET_OK, "rcl_node_init");
}

// Without it the middleware's shared memory would stay behind, and be in the way of later runs.
static void end(rcl_publisher_t* publisher, rcl_subscription_t* subscription) {
  rcl_ret_t result = rcl_publisher_fini(publisher, &node);
  if (subscription != NULL) {
    result |= rcl_subscription_fini(subscription, &node);
  }
  result |= rcl_node_fini(&node) | rcl_shutdown(&context) | rcl_context_fini(&context);
  require(result == RCL_RET_OK, "the end");
}

static rcl_publisher_t publisher_of(const char* topic) {
  rcl_publisher_t publisher = rcl_get_zero_initialized_publisher();
  rcl_publisher_options_t options = rcl_publisher_get_default_options();
  require(rcl_publisher_init(&publisher, &node, type(), topic, &options) == RCL_RET_OK, topic);
  return publisher;
}

static rcl_subscription_t subscription_of(const char* topic) {
  rcl_subscription_t subscription = rcl_get_zero_initialized_subscription();
  rcl_subscription_options_t options = rcl_subscription_get_default_options();
  require(rcl_subscription_init(&subscription, &node, type(), topic, &options) == RCL_RET_OK,
          topic);
  return subscription;
}

static std_msgs__msg__String message_of(int64_t number) {
  char text[65];
  snprintf(text, sizeof(text), "%064lld", (long long)number);
  std_msgs__msg__String message;
  require(std_msgs__msg__String__init(&message) &&
              rosidl_runtime_c__String__assign(&message.data, text),
          "a message");
  return message;
}

static void end_peer(rcl_publisher_t* publisher) {
  std_msgs__msg__String message = message_of(0);
  require(rosidl_runtime_c__String__assign(&message.data, ending) &&
              rcl_publish(publisher, &message, NULL) == RCL_RET_OK &&
              rcl_publisher_wait_for_all_acked(publisher, RCL_S_TO_NS(10)) == RCL_RET_OK,
          "ending the other process");
  std_msgs__msg__String__fini(&message);
}

static bool is_end(const std_msgs__msg__String* message) {
  return strcmp(message->data.data, ending) == 0;
}

// Waits for a message, for ever when `wait_ms` is negative, and takes it; false when none came.
static bool receive(rcl_wait_set_t* set, rcl_subscription_t* from, int64_t wait_ms,
                    std_msgs__msg__String* into) {
  require(rcl_wait_set_clear(set) == RCL_RET_OK, "rcl_wait_set_clear");
  require(rcl_wait_set_add_subscription(set, from, NULL) == RCL_RET_OK, "rcl_wait_set_add");
  rcl_ret_t result = rcl_wait(set, wait_ms < 0 ? -1 : RCL_MS_TO_NS(wait_ms));
  require(result == RCL_RET_OK || result == RCL_RET_TIMEOUT, "rcl_wait");
  return set->subscriptions[0] != NULL && rcl_take(from, into, NULL, NULL) == RCL_RET_OK;
}

static rcl_wait_set_t wait_set(void) {
  rcl_wait_set_t set = rcl_get_zero_initialized_wait_set();
  require(rcl_wait_set_init(&set, 1, 0, 0, 0, 0, 0, &context, rcl_get_default_allocator()) ==
              RCL_RET_OK,
          "rcl_wait_set_init");
  return set;
}

// --- workloads -----------------------------------------------------------------------------------

static void await_listeners(const rcl_publisher_t* publisher, size_t listeners) {
  size_t there = listeners + 1;
  for (size_t tries = 0; there != listeners; tries++) {
    require(tries < 3000, "waiting for a subscriber");
    nanosleep(&pause_of_burst, NULL);
    require(rcl_publisher_get_subscription_count(publisher, &there) == RCL_RET_OK, "counting");
  }
  nanosleep(&settling, NULL);
}

static void publish_to(size_t listeners, size_t burst, const struct timespec* pause, int64_t* times,
                       size_t count) {
  start("bench");
  rcl_publisher_t publisher = publisher_of("bench");
  await_listeners(&publisher, listeners);
  std_msgs__msg__String message = message_of(0);
  for (size_t i = 0; i < count + WARM_UP; i++) {
    if (i % burst == 0) {
      nanosleep(pause, NULL);
    }
    int64_t begin = now();
    rcl_ret_t result = rcl_publish(&publisher, &message, NULL);
    times[i < WARM_UP ? 0 : i - WARM_UP] = now() - begin;
    require(result == RCL_RET_OK, "rcl_publish");
  }
  if (listeners != 0) {
    end_peer(&publisher);
  }
  end(&publisher, NULL);
}

static void publish(int64_t* times, size_t count) {
  publish_to(0, BURST, &pause_of_burst, times, count);
}

static void heard(int64_t* times, size_t count) { publish_to(1, 1, &period, times, count); }

// Takes what it gets until told to end.
static int sink(void) {
  start("sink");
  rcl_subscription_t subscription = subscription_of("bench");
  rcl_publisher_t unused = publisher_of("sink");
  rcl_wait_set_t set = wait_set();
  std_msgs__msg__String message = message_of(0);
  while (!is_end(&message)) {
    receive(&set, &subscription, -1, &message);
  }
  end(&unused, &subscription);
  return 0;
}

struct pinger {
  rcl_publisher_t publisher;
  rcl_subscription_t subscription;
  rcl_wait_set_t set;
  std_msgs__msg__String answer;
};

// Returns the round trip in nanoseconds; 0 when no answer came in time.
static int64_t send_ping(struct pinger* pinger, int64_t number, int64_t wait_ms) {
  std_msgs__msg__String message = message_of(number);
  int64_t begin = now(), taken = 0;
  require(rcl_publish(&pinger->publisher, &message, NULL) == RCL_RET_OK, "rcl_publish");
  while (receive(&pinger->set, &pinger->subscription, wait_ms, &pinger->answer)) {
    taken = now() - begin;
    if (strcmp(pinger->answer.data.data, message.data.data) == 0) {
      break;
    }
    taken = 0;
  }
  std_msgs__msg__String__fini(&message);
  return taken;
}

static void ping(int64_t* times, size_t count) {
  start("ping");
  struct pinger pinger = {publisher_of("ping"), subscription_of("pong"), wait_set(), message_of(0)};
  int64_t number = 1;
  while (send_ping(&pinger, number, 100) == 0) {
    require(number++ < 300, "waiting for pong");
  }
  for (size_t i = 0; i < count + WARM_UP; i++) {
    int64_t taken = send_ping(&pinger, ++number, ANSWER_MS);
    require(taken != 0, "waiting for an answer");
    times[i < WARM_UP ? 0 : i - WARM_UP] = taken;
  }
  end_peer(&pinger.publisher);
  end(&pinger.publisher, &pinger.subscription);
}

static int pong(void) {
  start("pong");
  rcl_publisher_t publisher = publisher_of("pong");
  rcl_subscription_t subscription = subscription_of("ping");
  rcl_wait_set_t set = wait_set();
  std_msgs__msg__String message = message_of(0);
  while (!is_end(&message)) {
    if (receive(&set, &subscription, -1, &message) && !is_end(&message)) {
      require(rcl_publish(&publisher, &message, NULL) == RCL_RET_OK, "rcl_publish");
    }
  }
  end(&publisher, &subscription);
  return 0;
}

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "pong") == 0) {
    return pong();
  }
  if (argc == 2 && strcmp(argv[1], "sink") == 0) {
    return sink();
  }
  static const struct {
    const char* name;
    void (*run)(int64_t*, size_t);
  } workloads[] = {{"publish", publish}, {"heard", heard}, {"ping", ping}};
  void (*run)(int64_t*, size_t) = NULL;
  for (size_t i = 0; i < 3 && argc == 3; i++) {
    run = strcmp(argv[1], workloads[i].name) == 0 ? workloads[i].run : run;
  }
  size_t count = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
  if (run == NULL || count == 0) {
    fprintf(stderr, "usage: rcl_load {publish,heard,ping} COUNT | rcl_load {pong,sink}\n");
    return 2;
  }
  int64_t* times = calloc(count, sizeof(*times));
  run(times, count);
  int64_t cost = clock_cost(), middle = median(times, count);
  printf(
      "{\"p50_ns\": %lld, \"p99_ns\": %lld, \"least_ns\": %lld, \"clock_ns\": %lld, \"messages\": "
      "%zu}",
      (long long)(middle - cost), (long long)(times[count - 1 - count / 100] - cost),
      (long long)(times[0] - cost), (long long)cost, count + WARM_UP);
  free(times);
  return 0;
}
