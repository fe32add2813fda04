// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// Emits the ros2:* events of rclcpp relay chains, a chain a thread, without any ROS 2.
//
// usage: chain_load --events N [--threads T] [--relays R] [--rate EVENTS_A_SECOND_AND_THREAD]
// Prints "emitted N", all events counted, the ones of the initialization too.
//
// The events, their order and their arguments are those of rclcpp (Jazzy): a SingleThreadedExecutor
// spins /load_<t>/source, relay_<k> and sink, and a timer starts a message on /load_<t>/chain_0.

#define _GNU_SOURCE
#include <getopt.h>
#include <pthread.h>

#include "load_events.h"

enum { MAX_THREADS = 64, MAX_RELAYS = 64 };
enum { EVENTS_SOURCE = 9, EVENTS_RELAY = 12, EVENTS_SINK = 9 };

typedef struct {
  int64_t events;  // of all threads together
  int threads, relays;
  int64_t rate;  // events a second and thread; 0: as fast as possible
} options_t;

typedef struct {
  options_t options;
  int index;
  int64_t cycles, period;
  handle_t out_message, in_message;
  node_t nodes[MAX_RELAYS + 2];  // source, relays, sink
  uint64_t emitted;
} chain_t;

static pthread_barrier_t all_ready;

static void init_node(chain_t* chain, int place) {
  const int last = chain->options.relays + 1;
  node_t* node = &chain->nodes[place];
  char name[NAME_SIZE], space[NAME_SIZE], topic[NAME_SIZE];
  snprintf(space, sizeof(space), "/load_%d", chain->index);
  snprintf(name, sizeof(name), "relay_%d", place - 1);
  const char* title = place == 0 ? "source" : place == last ? "sink" : name;
  node->node = new_handle(chain->index);
  node->rmw_node = new_handle(chain->index);
  EMIT(rcl_node_init, node->node, node->rmw_node, title, space);
  if (place < last) {
    snprintf(topic, sizeof(topic), "/load_%d/chain_%d", chain->index, place);
    init_publisher(node, chain->index, topic);
  }
  if (place == 0) {
    init_timer(node, chain->index, chain->period);
    return;
  }
  snprintf(topic, sizeof(topic), "/load_%d/chain_%d", chain->index, place - 1);
  init_subscription(node, chain->index, topic, place == last ? SINK_SYMBOL : RELAY_SYMBOL);
}

// One turn of the executor. It asks once more before it waits: the chain has one message at a time.
static int64_t spin_once(const chain_t* chain, int place, int64_t source_timestamp) {
  const node_t* node = &chain->nodes[place];
  EMIT(rclcpp_executor_get_next_ready);
  EMIT(rclcpp_executor_execute, place == 0 ? node->timer : node->subscription);
  if (place > 0) take(node, chain->in_message, source_timestamp);
  EMIT(callback_start, node->callback, false);
  int64_t timestamp = 0;
  if (place <= chain->options.relays) timestamp = publish(node, chain->out_message);
  EMIT(callback_end, node->callback);
  EMIT(rclcpp_executor_get_next_ready);
  EMIT(rclcpp_executor_wait_for_work, -1);
  return timestamp;
}

static void run_chain(const chain_t* chain) {
  // The chains are out of phase, so that the load on the buffers is even.
  int64_t next = now_ns(CLOCK_MONOTONIC) + chain->period * chain->index / chain->options.threads;
  EMIT(rclcpp_executor_get_next_ready);
  EMIT(rclcpp_executor_wait_for_work, -1);
  for (int64_t cycle = 0; cycle < chain->cycles; ++cycle) {
    if (chain->options.rate > 0) sleep_until(next);
    next += chain->period;
    int64_t timestamp = 0;
    for (int place = 0; place <= chain->options.relays + 1; ++place)
      timestamp = spin_once(chain, place, timestamp);
  }
}

static void* chain_main(void* argument) {
  chain_t* chain = argument;
  char name[16];
  // Before the first event: LTTng reads a thread's name once.
  snprintf(name, sizeof(name), "load_%d", chain->index);
  pthread_setname_np(pthread_self(), name);
  chain->out_message = new_handle(chain->index);
  chain->in_message = new_handle(chain->index);
  for (int place = chain->options.relays + 1; place >= 0; --place) init_node(chain, place);
  pthread_barrier_wait(&all_ready);
  run_chain(chain);
  chain->emitted = emitted;
  return NULL;
}

static options_t parse(int argc, char** argv) {
  static const struct option known[] = {{"events", required_argument, NULL, 'e'},
                                        {"threads", required_argument, NULL, 't'},
                                        {"relays", required_argument, NULL, 'r'},
                                        {"rate", required_argument, NULL, 's'},
                                        {NULL, 0, NULL, 0}};
  options_t options = {.events = 0, .threads = 4, .relays = 3, .rate = 50000};
  for (int key; (key = getopt_long(argc, argv, "", known, NULL)) != -1;) {
    if (key == 'e')
      options.events = number(optarg, 1, INT64_C(1000000000000));
    else if (key == 't')
      options.threads = (int)number(optarg, 1, MAX_THREADS);
    else if (key == 'r')
      options.relays = (int)number(optarg, 0, MAX_RELAYS);
    else if (key == 's')
      options.rate = number(optarg, 0, NS_PER_S);
    else
      exit(2);
  }
  if (options.events == 0 || optind != argc) {
    fprintf(stderr, "usage: chain_load --events N [--threads T] [--relays R] [--rate R]\n");
    exit(2);
  }
  return options;
}

static chain_t make_chain(const options_t* options, int index) {
  const int64_t a_cycle = EVENTS_SOURCE + EVENTS_RELAY * options->relays + EVENTS_SINK;
  const int64_t all = a_cycle * options->threads;
  const int64_t cycles = (options->events + all / 2) / all;
  // Without a rate the timer's period is that of a 1 kHz source, though it fires sooner.
  const int64_t period = options->rate > 0 ? a_cycle * NS_PER_S / options->rate : 1000000;
  return (chain_t){
      .options = *options, .index = index, .cycles = cycles > 0 ? cycles : 1, .period = period};
}

int main(int argc, char** argv) {
  const options_t options = parse(argc, argv);
  chain_t* chains = calloc(options.threads, sizeof(*chains));
  pthread_t threads[MAX_THREADS];
  if (chains == NULL) return 1;
  pthread_barrier_init(&all_ready, NULL, options.threads);
  EMIT(rcl_init, new_handle(MAX_THREADS));
  for (int index = 0; index < options.threads; ++index) {
    chains[index] = make_chain(&options, index);
    if (pthread_create(&threads[index], NULL, chain_main, &chains[index]) != 0) {
      fprintf(stderr, "chain_load: cannot start thread %d.\n", index);
      return 1;
    }
  }
  for (int index = 0; index < options.threads; ++index) {
    pthread_join(threads[index], NULL);
    emitted += chains[index].emitted;
  }
  free(chains);
  printf("emitted %llu\n", (unsigned long long)emitted);
  return 0;
}
