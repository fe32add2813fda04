// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// Emits the ros2:* events of a MultiThreadedExecutor of rclcpp that spins, without any ROS 2.
//
// usage: executor_load --events N [--threads T] [--chains C] [--relays R] [--period-us P]
//                      [--work-us W] [--wait-ns W]
// Prints "emitted N", all events counted, the ones of the initialization too; it stops at about N.
//
// C timers start messages on chains of R relays; all chains end at one node, /load/fusion, whose C
// callbacks work W us each and exclude each other. While one works and the message of another is
// there, rclcpp's wait returns at once and finds nothing that may run: the thread that waits spins,
// a turn of wait_for_work and twice get_next_ready every 3 us (Jazzy). The executor here is the
// same in small: one thread at a time waits and picks, under a mutex; what was ready is picked
// before it waits again; the end of a callback wakes the thread that waits; the callbacks of a node
// exclude each other. So the order of the threads' events is that of real threads and not made up.

#define _GNU_SOURCE
#include <getopt.h>
#include <pthread.h>
#include <stdatomic.h>

#include "load_events.h"

enum { MAX_THREADS = 64, MAX_CHAINS = 16, MAX_RELAYS = 64, NS_PER_US = 1000 };
enum { MAX_ENTITIES = MAX_CHAINS * (MAX_RELAYS + 2) };
static const int64_t RELAY_WORK_NS = 50000;

// A timer or a subscription, with the publisher that its callback uses.
typedef struct entity {
  node_t node;
  atomic_bool* node_runs;  // a callback of its node does: the others may not be taken
  bool is_ready;           // by the last wait; picked, or passed over, once
  int64_t due, period;     // of a timer; CLOCK_MONOTONIC
  int64_t queue[QUEUE_DEPTH];
  int queued, oldest;
  handle_t message;      // what its callback publishes
  struct entity* taker;  // of what its callback publishes; NULL at the chain's end
  int64_t work_ns;
} entity_t;

typedef struct {
  int64_t events, period_ns, work_ns, wait_ns;
  int threads, chains, relays;
} options_t;

static options_t options = {.period_ns = 10000000,
                            .work_ns = 2500000,
                            .wait_ns = 1900,
                            .threads = 4,
                            .chains = 3,
                            .relays = 3};
static entity_t entities[MAX_ENTITIES];
static atomic_bool nodes_run[MAX_ENTITIES];
static int entity_count;
static atomic_ullong emitted_by_all;
static atomic_bool has_stopped;

static pthread_mutex_t picking = PTHREAD_MUTEX_INITIALIZER;   // wait_for_work, get_next_ready
static pthread_mutex_t arriving = PTHREAD_MUTEX_INITIALIZER;  // the queues, and is_interrupted
static pthread_cond_t arrived;
static bool is_interrupted;  // the executor's guard condition

static void interrupt_wait(void) {
  pthread_mutex_lock(&arriving);
  is_interrupted = true;
  pthread_cond_signal(&arrived);
  pthread_mutex_unlock(&arriving);
}

static bool is_timer(const entity_t* entity) { return entity->period > 0; }

static void work(int64_t ns) { sleep_until(now_ns(CLOCK_MONOTONIC) + ns); }

// Tells whether anything is ready; else when the next timer is.
static bool find_ready(int64_t* next_due) {
  const int64_t now = now_ns(CLOCK_MONOTONIC);
  bool any = false;
  *next_due = INT64_MAX;
  for (int index = 0; index < entity_count; ++index) {
    entity_t* entity = &entities[index];
    entity->is_ready = is_timer(entity) ? now >= entity->due : entity->queued > 0;
    any |= entity->is_ready;
    if (is_timer(entity) && entity->due < *next_due) *next_due = entity->due;
  }
  return any;
}

static void wait_for_work(void) {
  int64_t next_due;
  const int64_t begin = now_ns(CLOCK_MONOTONIC);
  EMIT(rclcpp_executor_wait_for_work, -1);
  pthread_mutex_lock(&arriving);
  while (!find_ready(&next_due) && !is_interrupted) {
    const struct timespec until = {.tv_sec = next_due / NS_PER_S, .tv_nsec = next_due % NS_PER_S};
    pthread_cond_timedwait(&arrived, &arriving, &until);
  }
  is_interrupted = false;
  pthread_mutex_unlock(&arriving);
  // What the wait set and the middleware take of a thread that finds something ready at once.
  while (now_ns(CLOCK_MONOTONIC) - begin < options.wait_ns) continue;
}

static bool has_message(entity_t* entity) {
  pthread_mutex_lock(&arriving);
  const bool has_one = entity->queued > 0;
  pthread_mutex_unlock(&arriving);
  return has_one;
}

static entity_t* get_next_ready(void) {
  EMIT(rclcpp_executor_get_next_ready);
  for (int index = 0; index < entity_count; ++index) {
    entity_t* entity = &entities[index];
    if (!entity->is_ready) continue;
    entity->is_ready = false;
    if (atomic_load(entity->node_runs)) continue;
    if (is_timer(entity)) {
      const int64_t now = now_ns(CLOCK_MONOTONIC);
      if (now < entity->due) continue;
      while (entity->due <= now) entity->due += entity->period;
    } else if (!has_message(entity)) {
      // Another thread took it since the wait found it. rclcpp takes in vain then.
      continue;
    }
    atomic_store(entity->node_runs, true);
    return entity;
  }
  return NULL;
}

static entity_t* get_next_executable(void) {
  pthread_mutex_lock(&picking);
  entity_t* entity = NULL;
  if (!atomic_load(&has_stopped)) {
    entity = get_next_ready();
    if (entity == NULL) {
      wait_for_work();
      if (!atomic_load(&has_stopped)) entity = get_next_ready();
    }
  }
  pthread_mutex_unlock(&picking);
  return entity;
}

// History is "keep last": what comes to a full queue replaces the oldest.
static void deliver(entity_t* entity, int64_t source_timestamp) {
  pthread_mutex_lock(&arriving);
  if (entity->queued == QUEUE_DEPTH) {
    entity->oldest = (entity->oldest + 1) % QUEUE_DEPTH;
    --entity->queued;
  }
  entity->queue[(entity->oldest + entity->queued++) % QUEUE_DEPTH] = source_timestamp;
  pthread_cond_signal(&arrived);
  pthread_mutex_unlock(&arriving);
}

static int64_t pop(entity_t* entity) {
  pthread_mutex_lock(&arriving);
  const int64_t source_timestamp = entity->queue[entity->oldest];
  entity->oldest = (entity->oldest + 1) % QUEUE_DEPTH;
  --entity->queued;
  pthread_mutex_unlock(&arriving);
  return source_timestamp;
}

static void execute(entity_t* entity, handle_t in_message) {
  const node_t* node = &entity->node;
  EMIT(rclcpp_executor_execute, is_timer(entity) ? node->timer : node->subscription);
  if (!is_timer(entity)) take(node, in_message, pop(entity));
  EMIT(callback_start, node->callback, false);
  if (entity->work_ns > 0) work(entity->work_ns);
  if (entity->taker != NULL) deliver(entity->taker, publish(node, entity->message));
  EMIT(callback_end, node->callback);
  atomic_store(entity->node_runs, false);
  interrupt_wait();
}

static void* executor_main(void* in_message) {
  uint64_t counted = 0;
  while (!atomic_load(&has_stopped)) {
    entity_t* entity = get_next_executable();
    if (entity != NULL) execute(entity, in_message);
    const uint64_t before = atomic_fetch_add(&emitted_by_all, emitted - counted);
    if (before + emitted - counted >= (uint64_t)options.events) {
      atomic_store(&has_stopped, true);
      interrupt_wait();
    }
    counted = emitted;
  }
  return NULL;
}

static node_t new_node(const char* name, const char* space) {
  node_t node = {.node = new_handle(0), .rmw_node = new_handle(0)};
  EMIT(rcl_node_init, node.node, node.rmw_node, name, space);
  return node;
}

static entity_t* new_entity(const node_t* node, int node_index) {
  entity_t* entity = &entities[entity_count++];
  entity->node = *node;
  entity->node_runs = &nodes_run[node_index];
  entity->message = new_handle(0);
  return entity;
}

// Makes the nodes of a chain from its end, so that each publisher knows who takes.
static void make_chain(int chain, const node_t* fusion) {
  char name[NAME_SIZE], space[NAME_SIZE], topic[NAME_SIZE];
  snprintf(space, sizeof(space), "/load_%d", chain);
  snprintf(topic, sizeof(topic), "/load_%d/chain_%d", chain, options.relays);
  entity_t* taker = new_entity(fusion, 0);
  taker->work_ns = options.work_ns;
  init_subscription(&taker->node, 0, topic, SINK_SYMBOL);
  for (int place = options.relays; place >= 0; --place) {
    snprintf(name, sizeof(name), "relay_%d", place - 1);
    const node_t node = new_node(place == 0 ? "source" : name, space);
    entity_t* entity = new_entity(&node, entity_count);
    snprintf(topic, sizeof(topic), "/load_%d/chain_%d", chain, place);
    init_publisher(&entity->node, 0, topic);
    entity->taker = taker;
    taker = entity;
    if (place == 0) break;
    snprintf(topic, sizeof(topic), "/load_%d/chain_%d", chain, place - 1);
    init_subscription(&entity->node, 0, topic, RELAY_SYMBOL);
    entity->work_ns = RELAY_WORK_NS;
  }
  init_timer(&taker->node, 0, options.period_ns);
  taker->period = options.period_ns;
  taker->due = now_ns(CLOCK_MONOTONIC) + options.period_ns;
}

static void parse(int argc, char** argv) {
  static const struct option known[] = {
      {"events", required_argument, NULL, 'e'},    {"threads", required_argument, NULL, 't'},
      {"chains", required_argument, NULL, 'c'},    {"relays", required_argument, NULL, 'r'},
      {"period-us", required_argument, NULL, 'p'}, {"work-us", required_argument, NULL, 'w'},
      {"wait-ns", required_argument, NULL, 'n'},   {NULL, 0, NULL, 0}};
  for (int key; (key = getopt_long(argc, argv, "", known, NULL)) != -1;) {
    if (key == 'e')
      options.events = number(optarg, 1, INT64_C(1000000000000));
    else if (key == 't')
      options.threads = (int)number(optarg, 2, MAX_THREADS);
    else if (key == 'c')
      options.chains = (int)number(optarg, 1, MAX_CHAINS);
    else if (key == 'r')
      options.relays = (int)number(optarg, 0, MAX_RELAYS);
    else if (key == 'p')
      options.period_ns = number(optarg, 1, NS_PER_S) * NS_PER_US;
    else if (key == 'w')
      options.work_ns = number(optarg, 0, NS_PER_S) * NS_PER_US;
    else if (key == 'n')
      options.wait_ns = number(optarg, 0, NS_PER_S);
    else
      exit(2);
  }
  if (options.events == 0 || optind != argc) {
    fprintf(stderr,
            "usage: executor_load --events N [--threads T] [--chains C] [--relays R]"
            " [--period-us P] [--work-us W] [--wait-ns W]\n");
    exit(2);
  }
}

int main(int argc, char** argv) {
  pthread_t threads[MAX_THREADS];
  pthread_condattr_t monotonic;
  parse(argc, argv);
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&arrived, &monotonic);
  EMIT(rcl_init, new_handle(0));
  const node_t fusion = new_node("fusion", "/load");
  for (int chain = 0; chain < options.chains; ++chain) make_chain(chain, &fusion);
  atomic_fetch_add(&emitted_by_all, emitted);
  for (int index = 0; index < options.threads; ++index) {
    // The handles of one thread's heap only: messages of the others may not share addresses.
    if (pthread_create(&threads[index], NULL, executor_main, (void*)new_handle(0)) != 0) {
      fprintf(stderr, "executor_load: cannot start thread %d.\n", index);
      return 1;
    }
  }
  for (int index = 0; index < options.threads; ++index) pthread_join(threads[index], NULL);
  printf("emitted %llu\n", atomic_load(&emitted_by_all));
  return 0;
}
