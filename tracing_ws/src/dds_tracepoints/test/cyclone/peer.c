// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Two programs on Cyclone DDS that play ping-pong, each message answered before the next one.
// usage: peer ping|pong|both COUNT SIZE FILE
// `ping` writes COUNT values of SIZE bytes; `pong` answers each one and puts the bytes that it got
// into FILE. `both` does it all in one process. Prints the C address of each value, in order.
// With PEER_CONDITIONS=1 they wait for conditions of their readers, as rmw_cyclonedds does; with
// PEER_CPU=N all their threads run on that CPU.
#define _GNU_SOURCE
#include "peer.h"

#include <dds/dds.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const dds_duration_t patience = DDS_SECS(60);

static void check(dds_return_t result, const char* what) {
  if (result < 0) {
    fprintf(stderr, "%s: %s\n", what, dds_strretcode(result));
    exit(1);
  }
}

static dds_entity_t participant;
static dds_qos_t* reliable;

static dds_entity_t topic(const dds_topic_descriptor_t* type, const char* name) {
  dds_entity_t made = dds_create_topic(participant, type, name, NULL, NULL);
  check(made, "dds_create_topic");
  return made;
}

static dds_entity_t writer(const dds_topic_descriptor_t* type, const char* name) {
  dds_entity_t made = dds_create_writer(participant, topic(type, name), reliable, NULL);
  check(made, "dds_create_writer");
  return made;
}

static dds_entity_t reader(const dds_topic_descriptor_t* type, const char* name) {
  dds_entity_t made = dds_create_reader(participant, topic(type, name), reliable, NULL);
  check(made, "dds_create_reader");
  check(dds_set_status_mask(made, DDS_DATA_AVAILABLE_STATUS), "dds_set_status_mask");
  return made;
}

static dds_entity_t waitset(dds_entity_t reader) {
  dds_entity_t made = dds_create_waitset(participant);
  check(made, "dds_create_waitset");
  dds_entity_t watched = reader;
  if (getenv("PEER_CONDITIONS") != NULL) {
    watched = dds_create_readcondition(reader, DDS_ANY_STATE);
    check(watched, "dds_create_readcondition");
  }
  check(dds_waitset_attach(made, watched, reader), "dds_waitset_attach");
  return made;
}

// Both sides write only when both directions are matched.
static void await_match(dds_entity_t writer, dds_entity_t reader) {
  dds_publication_matched_status_t writers = {0};
  dds_subscription_matched_status_t readers = {0};
  for (dds_time_t end = dds_time() + patience; dds_time() < end; dds_sleepfor(DDS_MSECS(5))) {
    check(dds_get_publication_matched_status(writer, &writers), "matched");
    check(dds_get_subscription_matched_status(reader, &readers), "matched");
    if (writers.current_count == 1 && readers.current_count == 1) {
      return;
    }
  }
  check(DDS_RETCODE_TIMEOUT, "no peer");
}

static void take_one(dds_entity_t set, dds_entity_t reader, void* value, dds_sample_info_t* info) {
  for (;;) {
    dds_attach_t which;
    dds_return_t found = dds_waitset_wait(set, &which, 1, patience);
    check(found, "dds_waitset_wait");
    check(found == 0 ? DDS_RETCODE_TIMEOUT : 0, "no message");
    void* values[] = {value};
    dds_return_t taken = dds_take(reader, values, info, 1, 1);
    check(taken, "dds_take");
    if (taken == 1 && info->valid_data) {
      return;
    }
  }
}

static uint8_t byte_of(uint32_t number, uint32_t at) { return (uint8_t)(number * 31 + at * 7); }

static void send_ping(dds_entity_t ping, uint32_t number, uint32_t size) {
  peer_Ping value = {.number = number};
  value.data._length = value.data._maximum = size;
  value.data._buffer = malloc(size);
  for (uint32_t at = 0; at < size; at++) {
    value.data._buffer[at] = byte_of(number, at);
  }
  printf("%p\n", (void*)&value);
  // Every second one with a timestamp of its own.
  check(number % 2 ? dds_write_ts(ping, &value, dds_time() - 5) : dds_write(ping, &value),
        "dds_write");
  free(value.data._buffer);
}

static void answer(dds_entity_t set, dds_entity_t pings, dds_entity_t pong, FILE* file) {
  dds_sample_info_t info;
  peer_Ping* value = peer_Ping__alloc();
  take_one(set, pings, value, &info);
  printf("%p %lld\n", (void*)value, (long long)info.source_timestamp);
  fwrite(value->data._buffer, 1, value->data._length, file);
  peer_Pong reply = {.key = (int32_t)(value->number % 3), .number = value->number, .text = "got"};
  check(dds_write(pong, &reply), "dds_write");
  dds_sample_free(value, &peer_Ping_desc, DDS_FREE_ALL);
}

static void await_answer(dds_entity_t set, dds_entity_t pongs, uint32_t number) {
  dds_sample_info_t info;
  peer_Pong* value = peer_Pong__alloc();
  take_one(set, pongs, value, &info);
  if (value->number != number || value->key != (int32_t)(number % 3) ||
      strcmp(value->text, "got")) {
    check(DDS_RETCODE_ERROR, "another answer");
  }
  dds_sample_free(value, &peer_Pong_desc, DDS_FREE_ALL);
}

// What one side, or both, needs; 0 where it does not.
static struct {
  dds_entity_t ping, pong, ping_reader, pong_reader, ping_set, pong_set;
} made;

static void make(bool pings, bool answers) {
  participant = dds_create_participant(DDS_DOMAIN_DEFAULT, NULL, NULL);
  check(participant, "dds_create_participant");
  reliable = dds_create_qos();
  dds_qset_reliability(reliable, DDS_RELIABILITY_RELIABLE, patience);
  dds_qset_history(reliable, DDS_HISTORY_KEEP_ALL, 0);
  if (pings) {
    made.ping = writer(&peer_Ping_desc, "ping");
    made.pong_reader = reader(&peer_Pong_desc, "pong");
    made.pong_set = waitset(made.pong_reader);
  }
  if (answers) {
    made.pong = writer(&peer_Pong_desc, "pong");
    made.ping_reader = reader(&peer_Ping_desc, "ping");
    made.ping_set = waitset(made.ping_reader);
  }
  dds_delete_qos(reliable);
  await_match(pings ? made.ping : made.pong, pings ? made.pong_reader : made.ping_reader);
}

int main(int count, char** arguments) {
  if (count != 5) {
    return 2;
  }
  if (getenv("PEER_CPU") != NULL) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)atoi(getenv("PEER_CPU")), &one);
    check(sched_setaffinity(0, sizeof(one), &one), "sched_setaffinity");
  }
  bool pings = strcmp(arguments[1], "pong") != 0, answers = strcmp(arguments[1], "ping") != 0;
  uint32_t messages = (uint32_t)atoi(arguments[2]), size = (uint32_t)atoi(arguments[3]);
  FILE* file = fopen(arguments[4], "wb");
  make(pings, answers);
  for (uint32_t number = 0; number < messages; number++) {
    if (pings) {
      send_ping(made.ping, number, size);
    }
    if (answers) {
      answer(made.ping_set, made.ping_reader, made.pong, file);
    }
    if (pings) {
      await_answer(made.pong_set, made.pong_reader, number);
    }
  }
  fclose(file);
  fflush(stdout);
  // The last answer must have arrived before its writer goes.
  check(answers ? dds_wait_for_acks(made.pong, patience) : 0, "dds_wait_for_acks");
  check(dds_delete(participant), "dds_delete");
  return 0;
}
