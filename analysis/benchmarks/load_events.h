// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// Emits the ros2:* events of one object or step each, as rclcpp does (Jazzy), without any ROS 2.
//
// For the load generators: each is one translation unit, so that every function is static.

#ifndef STRATA_BENCHMARKS_LOAD_EVENTS_H_
#define STRATA_BENCHMARKS_LOAD_EVENTS_H_

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tracetools/tracetools.h"

enum { GID_SIZE = 24, NAME_SIZE = 64, QUEUE_DEPTH = 10 };
static const int64_t NS_PER_S = 1000000000;

// The program counts what it emits: recorded plus discarded events must add up to it.
static _Thread_local uint64_t emitted;
#define EMIT(...)                       \
  do {                                  \
    TRACETOOLS_TRACEPOINT(__VA_ARGS__); \
    ++emitted;                          \
  } while (0)

static const char SOURCE_SYMBOL[] =
    "Source<sensor_msgs::msg::CompressedImage_<std::allocator<void> > >::Source("
    "rclcpp::NodeOptions const&)::{lambda()#1}";
static const char RELAY_SYMBOL[] =
    "Relay<sensor_msgs::msg::CompressedImage_<std::allocator<void> > >::Relay("
    "rclcpp::NodeOptions const&)::{lambda(std::shared_ptr<sensor_msgs::msg::CompressedImage_<"
    "std::allocator<void> > const>, rclcpp::MessageInfo const&)#1}";
static const char SINK_SYMBOL[] =
    "Sink<sensor_msgs::msg::CompressedImage_<std::allocator<void> > >::Sink("
    "rclcpp::NodeOptions const&)::{lambda(std::shared_ptr<sensor_msgs::msg::CompressedImage_<"
    "std::allocator<void> > const>, rclcpp::MessageInfo const&)#1}";

typedef const void* handle_t;

typedef struct {
  handle_t node, rmw_node;
  handle_t publisher, rmw_publisher;
  handle_t subscription, rmw_subscription, rclcpp_subscription;
  handle_t timer, callback;
} node_t;

static int64_t now_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * NS_PER_S + now.tv_nsec;
}

// Addresses look like those of a heap, and no two objects of the process share one.
static handle_t new_handle(int chain) {
  static _Thread_local uint64_t used;
  const uint64_t heap = UINT64_C(0x557FCF000000) + ((uint64_t)chain << 24);
  return (handle_t)(uintptr_t)(heap + 0x5A0 * ++used);
}

static void make_gid(uint8_t gid[GID_SIZE], handle_t owner) {
  memset(gid, 0, GID_SIZE);
  gid[0] = 1;
  gid[1] = 15;
  memcpy(gid + 8, &owner, sizeof(owner));
}

static void init_publisher(node_t* node, int chain, const char* topic) {
  uint8_t gid[GID_SIZE];
  node->rmw_publisher = new_handle(chain);
  node->publisher = new_handle(chain);
  make_gid(gid, node->rmw_publisher);
  EMIT(rmw_publisher_init, node->rmw_publisher, gid);
  EMIT(rcl_publisher_init, node->publisher, node->node, node->rmw_publisher, topic, QUEUE_DEPTH);
}

static void init_subscription(node_t* node, int chain, const char* topic, const char* symbol) {
  uint8_t gid[GID_SIZE];
  node->rmw_subscription = new_handle(chain);
  node->subscription = new_handle(chain);
  node->rclcpp_subscription = new_handle(chain);
  node->callback = new_handle(chain);
  make_gid(gid, node->rmw_subscription);
  EMIT(rmw_subscription_init, node->rmw_subscription, gid);
  EMIT(rcl_subscription_init, node->subscription, node->node, node->rmw_subscription, topic,
       QUEUE_DEPTH);
  EMIT(rclcpp_subscription_init, node->subscription, node->rclcpp_subscription);
  EMIT(rclcpp_subscription_callback_added, node->rclcpp_subscription, node->callback);
  EMIT(rclcpp_callback_register, node->callback, symbol);
}

static void init_timer(node_t* node, int chain, int64_t period) {
  node->timer = new_handle(chain);
  node->callback = new_handle(chain);
  EMIT(rcl_timer_init, node->timer, period);
  EMIT(rclcpp_timer_callback_added, node->timer, node->callback);
  EMIT(rclcpp_callback_register, node->callback, SOURCE_SYMBOL);
  EMIT(rclcpp_timer_link_node, node->timer, node->node);
}

static int64_t publish(const node_t* node, handle_t message) {
  EMIT(rclcpp_publish, node->publisher, message);
  EMIT(rcl_publish, node->publisher, message);
  const int64_t timestamp = now_ns(CLOCK_REALTIME);
  EMIT(rmw_publish, node->rmw_publisher, message, timestamp);
  return timestamp;
}

static void take(const node_t* node, handle_t message, int64_t source_timestamp) {
  EMIT(rmw_take, node->rmw_subscription, message, source_timestamp, true);
  EMIT(rcl_take, message);
  EMIT(rclcpp_take, message);
}

static void sleep_until(int64_t monotonic) {
  const struct timespec until = {.tv_sec = monotonic / NS_PER_S, .tv_nsec = monotonic % NS_PER_S};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static int64_t number(const char* text, int64_t least, int64_t most) {
  char* end;
  const long long value = strtoll(text, &end, 10);
  if (end == text || *end != '\0' || value < least || value > most) {
    fprintf(stderr, "%s is not a number from %lld to %lld.\n", text, (long long)least,
            (long long)most);
    exit(2);
  }
  return value;
}

#endif  // STRATA_BENCHMARKS_LOAD_EVENTS_H_
