// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Hooks of GStreamer's appsink: a program that pulls samples, by function or by action signal.
// When a buffer came is seen where the sink's class renders it; so is what the sink dropped, as it
// gives its buffers in order. GStreamer is not linked to: its functions are looked up in the
// process that has it, and only layouts of its 1.x interface are compiled in.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <gst/app/gstappsink.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../export.h"
#include "../sources.h"
#include "driver_tracepoints/driver.h"

#define LIBRARY "libgstapp-1.0.so.0"
// More buffers than these do not wait in a sink; older ones are forgotten.
#define MOST_WAITING 65536

struct waiting {
  const void* buffer;  // compared, never used
  GstClockTime pts;
  int64_t since_ns;  // CLOCK_MONOTONIC
};

// What is known of an appsink; freed with it.
struct sink {
  pthread_mutex_t lock;
  struct waiting* ring;
  size_t room, first, count;
  uint64_t source, frame, dropped;
};

// Functions of the process's GStreamer.
static struct {
  GstSample* (*pull_sample)(GstAppSink*);
  GstSample* (*try_pull_sample)(GstAppSink*, GstClockTime);
  GType (*get_type)(void);
  gboolean (*buffer_list_support)(GstAppSink*);
  gboolean (*is_initialized)(void);
  GstBuffer* (*sample_buffer)(GstSample*);
  GstBufferList* (*sample_list)(GstSample*);
  gsize (*buffer_size)(GstBuffer*);
  guint (*list_length)(GstBufferList*);
  GstBuffer* (*list_get)(GstBufferList*, guint);
  gpointer (*class_ref)(GType);
  GQuark (*quark)(const gchar*);
  gpointer (*get_data)(GObject*, GQuark);
  void (*set_data)(GObject*, GQuark, gpointer, GDestroyNotify);
} gst;

static const struct {
  const char* name;
  void* slot;
} functions[] = {
    {"gst_app_sink_pull_sample", &gst.pull_sample},
    {"gst_app_sink_try_pull_sample", &gst.try_pull_sample},
    {"gst_app_sink_get_type", &gst.get_type},
    {"gst_app_sink_get_buffer_list_support", &gst.buffer_list_support},
    {"gst_is_initialized", &gst.is_initialized},
    {"gst_sample_get_buffer", &gst.sample_buffer},
    {"gst_sample_get_buffer_list", &gst.sample_list},
    {"gst_buffer_get_size", &gst.buffer_size},
    {"gst_buffer_list_length", &gst.list_length},
    {"gst_buffer_list_get", &gst.list_get},
    {"g_type_class_ref", &gst.class_ref},
    {"g_quark_from_static_string", &gst.quark},
    {"g_object_get_qdata", &gst.get_data},
    {"g_object_set_qdata_full", &gst.set_data},
};

// The class's own functions, once ours stand in their place.
static struct {
  GstFlowReturn (*render)(GstBaseSink*, GstBuffer*);
  GstFlowReturn (*render_list)(GstBaseSink*, GstBufferList*);
  gboolean (*event)(GstBaseSink*, GstEvent*);
  gboolean (*start)(GstBaseSink*);
  GstSample* (*pull_sample)(GstAppSink*);
  GstSample* (*try_pull_sample)(GstAppSink*, GstClockTime);
} original;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool complete;
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
static GQuark key;
// A pull within a pull is the same one.
static __thread bool pulling;

// Who calls a hook is linked to the function, or found it: the library is in the process, but not
// always in the scope of all (Python's modules).
static void look_up(void) {
  void* library = dlopen(LIBRARY, RTLD_LAZY | RTLD_NOLOAD);
  complete = true;
  for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
    void* found = library != NULL ? dlsym(library, functions[i].name) : NULL;
    found = found != NULL ? found : dlsym(RTLD_NEXT, functions[i].name);
    memcpy(functions[i].slot, &found, sizeof(found));
    complete = complete && found != NULL;
  }
  if (gst.pull_sample == NULL || gst.try_pull_sample == NULL || gst.get_type == NULL) {
    abort();
  }
  if (complete) {
    key = gst.quark("strata-driver-tracepoints");
  }
}

static void forget_sink(gpointer data) {
  struct sink* sink = data;
  pthread_mutex_destroy(&sink->lock);
  free(sink->ring);
  free(sink);
}

// Null when nothing is to be told of it, or there is no memory.
static struct sink* watched(GObject* object) {
  const char* name = GST_OBJECT_NAME(object);
  if (!strata_driver_hook_wants_buffers() ||
      (name != NULL && strata_driver_hook_sink_claimed(name))) {
    return NULL;
  }
  struct sink* sink = gst.get_data(object, key);
  if (sink == NULL) {
    pthread_mutex_lock(&making);
    sink = gst.get_data(object, key);
    if (sink == NULL && (sink = calloc(1, sizeof(*sink))) != NULL) {
      pthread_mutex_init(&sink->lock, NULL);
      gst.set_data(object, key, sink, forget_sink);
    }
    pthread_mutex_unlock(&making);
  }
  return sink;
}

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static struct waiting* at(struct sink* sink, size_t index) {
  return &sink->ring[(sink->first + index) % sink->room];
}

static bool has_room(struct sink* sink) {
  if (sink->count < sink->room) {
    return true;
  }
  if (sink->room == MOST_WAITING) {
    sink->first = (sink->first + 1) % sink->room;
    sink->count--;
    return true;
  }
  size_t room = sink->room != 0 ? 2 * sink->room : 16;
  struct waiting* ring = malloc(room * sizeof(*ring));
  if (ring == NULL) {
    return false;
  }
  for (size_t i = 0; i < sink->count; i++) {
    ring[i] = *at(sink, i);
  }
  free(sink->ring);
  sink->ring = ring;
  sink->room = room;
  sink->first = 0;
  return true;
}

static void comes(struct sink* sink, const void* buffer, GstClockTime pts) {
  pthread_mutex_lock(&sink->lock);
  if (has_room(sink)) {
    *at(sink, sink->count++) = (struct waiting){buffer, pts, now_ns()};
  }
  pthread_mutex_unlock(&sink->lock);
}

// The sink refused the buffer that came last.
static void refused(struct sink* sink, const void* buffer) {
  pthread_mutex_lock(&sink->lock);
  if (sink->count > 0 && at(sink, sink->count - 1)->buffer == buffer) {
    sink->count--;
  }
  pthread_mutex_unlock(&sink->lock);
}

static void emptied(GstBaseSink* basesink) {
  struct sink* sink = gst.get_data((GObject*)basesink, key);
  if (sink != NULL) {
    pthread_mutex_lock(&sink->lock);
    sink->count = 0;
    pthread_mutex_unlock(&sink->lock);
  }
}

static GstFlowReturn render(GstBaseSink* basesink, GstBuffer* buffer) {
  struct sink* sink = watched((GObject*)basesink);
  if (sink == NULL) {
    return original.render(basesink, buffer);
  }
  comes(sink, buffer, GST_BUFFER_PTS(buffer));
  GstFlowReturn flow = original.render(basesink, buffer);
  if (flow != GST_FLOW_OK) {
    refused(sink, buffer);
  }
  return flow;
}

static GstFlowReturn render_list(GstBaseSink* basesink, GstBufferList* list) {
  struct sink* sink = watched((GObject*)basesink);
  if (sink != NULL && gst.buffer_list_support((GstAppSink*)basesink)) {
    comes(sink, list, GST_CLOCK_TIME_NONE);
  } else if (sink != NULL) {
    // The sink takes the list apart itself, past render.
    for (guint i = 0; i < gst.list_length(list); i++) {
      GstBuffer* buffer = gst.list_get(list, i);
      comes(sink, buffer, GST_BUFFER_PTS(buffer));
    }
  }
  return original.render_list(basesink, list);
}

static gboolean event(GstBaseSink* basesink, GstEvent* event) {
  // A flushed buffer is no dropped one.
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) {
    emptied(basesink);
  }
  return original.event(basesink, event);
}

static gboolean start(GstBaseSink* basesink) {
  emptied(basesink);
  return original.start(basesink);
}

// How long a buffer lay in the sink; -1: not known. Those before it were dropped.
static int64_t leaves(struct sink* sink, const void* buffer, GstClockTime pts) {
  for (size_t i = 0; i < sink->count; i++) {
    struct waiting found = *at(sink, i);
    if (found.buffer == buffer && found.pts == pts) {
      sink->dropped += i;
      sink->first = (sink->first + i + 1) % sink->room;
      sink->count -= i + 1;
      return now_ns() - found.since_ns;
    }
  }
  return -1;
}

static void tell(GstAppSink* appsink, struct sink* sink, GstSample* sample) {
  GstBuffer* buffer = gst.sample_buffer(sample);
  GstBufferList* list = gst.sample_list(sample);
  const char* name = GST_OBJECT_NAME(appsink);
  GstClockTime pts = buffer != NULL ? GST_BUFFER_PTS(buffer) : GST_CLOCK_TIME_NONE;
  gsize bytes = buffer != NULL ? gst.buffer_size(buffer) : 0;
  for (guint i = 0; list != NULL && i < gst.list_length(list); i++) {
    bytes += gst.buffer_size(gst.list_get(list, i));
  }
  pthread_mutex_lock(&sink->lock);
  int64_t queue_ns = leaves(sink, buffer != NULL ? (void*)buffer : (void*)list, pts);
  if (sink->source == 0) {
    sink->source = strata_driver_hook_source("appsink", name != NULL ? name : "");
  }
  strata_driver_buffer_pulled(sink->source, sink->frame++, (uint32_t)bytes,
                              pts != GST_CLOCK_TIME_NONE ? (int64_t)pts : -1, queue_ns,
                              sink->dropped);
  pthread_mutex_unlock(&sink->lock);
}

static GstSample* pulled(GstAppSink* appsink, GstSample* sample) {
  if (sample == NULL || !complete) {
    return sample;
  }
  struct sink* sink = watched((GObject*)appsink);
  if (sink != NULL) {
    tell(appsink, sink, sample);
  } else {
    emptied((GstBaseSink*)appsink);
  }
  return sample;
}

static GstSample* pull(GstAppSink* appsink, GstSample* (*function)(GstAppSink*)) {
  if (pulling) {
    return function(appsink);
  }
  pulling = true;
  GstSample* sample = function(appsink);
  pulling = false;
  return pulled(appsink, sample);
}

static GstSample* try_pull(GstAppSink* appsink, GstClockTime timeout,
                           GstSample* (*function)(GstAppSink*, GstClockTime)) {
  if (pulling) {
    return function(appsink, timeout);
  }
  pulling = true;
  GstSample* sample = function(appsink, timeout);
  pulling = false;
  return pulled(appsink, sample);
}

static GstSample* class_pull(GstAppSink* appsink) { return pull(appsink, original.pull_sample); }

static GstSample* class_try_pull(GstAppSink* appsink, GstClockTime timeout) {
  return try_pull(appsink, timeout, original.try_pull_sample);
}

// Puts ours in the place of the class's functions, before any sink is made.
static void stand_in(GType type) {
  static _Atomic bool done;
  if (!complete || !gst.is_initialized() || atomic_exchange(&done, true)) {
    return;
  }
  GstAppSinkClass* class = gst.class_ref(type);
  GstBaseSinkClass* base = &class->basesink_class;
  original.render = base->render;
  original.render_list = base->render_list;
  original.event = base->event;
  original.start = base->start;
  original.pull_sample = class->pull_sample;
  original.try_pull_sample = class->try_pull_sample;
  if (original.render == NULL || original.render_list == NULL || original.event == NULL ||
      original.start == NULL || original.pull_sample == NULL || original.try_pull_sample == NULL) {
    return;
  }
  base->render = render;
  base->render_list = render_list;
  base->event = event;
  base->start = start;
  class->pull_sample = class_pull;
  class->try_pull_sample = class_try_pull;
}

EXPORT GType gst_app_sink_get_type(void) {
  strata_driver_hook_begin();
  pthread_once(&once, look_up);
  GType type = gst.get_type();
  stand_in(type);
  return type;
}

EXPORT GstSample* gst_app_sink_pull_sample(GstAppSink* appsink) {
  pthread_once(&once, look_up);
  return pull(appsink, gst.pull_sample);
}

EXPORT GstSample* gst_app_sink_try_pull_sample(GstAppSink* appsink, GstClockTime timeout) {
  pthread_once(&once, look_up);
  return try_pull(appsink, timeout, gst.try_pull_sample);
}
