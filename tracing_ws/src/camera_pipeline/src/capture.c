// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture.h"

#include <gst/app/gstappsink.h>
#include <string.h>
#include <time.h>

// How often the bus is asked for errors while something is awaited.
#define SLICE_NS 50000000

struct capture {
  GstElement* pipeline;
  GstElement* sink;
  GstBus* bus;
  unsigned max_buffers;
  GMutex mutex;
  GCond changed;
  // When each buffer in the appsink's queue came, in its order (int64_t, CLOCK_MONOTONIC).
  GArray* arrivals;
  uint64_t dropped;
  bool ended;
};

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool fail(struct failure* failure, const char* code, const char* message) {
  failure_clear(failure);
  failure->message = g_strdup(message);
  failure->code = code;
  return false;
}

void failure_clear(struct failure* failure) {
  g_free(failure->message);
  g_free(failure->debug);
  memset(failure, 0, sizeof(*failure));
}

static const char* code_of_parse(const GError* error) {
  if (error->domain == GST_PARSE_ERROR && error->code == GST_PARSE_ERROR_NO_SUCH_ELEMENT) {
    return "no-such-element";
  }
  return "parse";
}

static const char* code_of_stream(const GError* error, const char* debug) {
  if (debug != NULL && strstr(debug, "not-negotiated") != NULL) {
    return "not-negotiated";
  }
  if (error->domain == GST_CORE_ERROR && error->code == GST_CORE_ERROR_MISSING_PLUGIN) {
    return "missing-plugin";
  }
  if (error->domain == GST_RESOURCE_ERROR) {
    return "resource";
  }
  return "stream";
}

// Fills `failure` from the first error on the bus; false when there is none.
static bool take_error(struct capture* capture, struct failure* failure) {
  GstMessage* message = gst_bus_pop_filtered(capture->bus, GST_MESSAGE_ERROR);
  if (message == NULL) {
    return false;
  }
  GError* error = NULL;
  gchar* debug = NULL;
  gst_message_parse_error(message, &error, &debug);
  fail(failure, code_of_stream(error, debug), error->message);
  failure->debug = debug;
  g_error_free(error);
  gst_message_unref(message);
  return true;
}

// On the streaming thread, just after the buffer was put into the appsink's queue. Times are kept
// beside that queue, so both are changed under one lock.
static GstFlowReturn on_sample(GstAppSink* sink, gpointer data) {
  struct capture* capture = data;
  int64_t arrived = now_ns();
  g_mutex_lock(&capture->mutex);
  g_array_append_val(capture->arrivals, arrived);
  if (capture->max_buffers != 0 && capture->arrivals->len > capture->max_buffers) {
    GstSample* oldest = gst_app_sink_try_pull_sample(sink, 0);
    if (oldest != NULL) {
      gst_sample_unref(oldest);
      g_array_remove_index(capture->arrivals, 0);
      capture->dropped++;
    }
  }
  g_mutex_unlock(&capture->mutex);
  // Not before: who wakes would only wait again, for the lock.
  g_cond_signal(&capture->changed);
  return GST_FLOW_OK;
}

static void on_end(GstAppSink* sink, gpointer data) {
  (void)sink;
  struct capture* capture = data;
  g_mutex_lock(&capture->mutex);
  capture->ended = true;
  g_mutex_unlock(&capture->mutex);
  g_cond_signal(&capture->changed);
}

static GstElement* make_sink(struct capture* capture, const char* caps_text, bool sync) {
  GstCaps* caps = gst_caps_from_string(caps_text);
  GstElement* sink = caps != NULL ? gst_element_factory_make("appsink", NULL) : NULL;
  if (sink == NULL) {
    g_clear_pointer(&caps, gst_caps_unref);
    return NULL;
  }
  gst_app_sink_set_caps(GST_APP_SINK(sink), caps);
  gst_caps_unref(caps);
  gst_base_sink_set_sync(GST_BASE_SINK(sink), sync);
  GstAppSinkCallbacks callbacks = {.new_sample = on_sample, .eos = on_end};
  gst_app_sink_set_callbacks(GST_APP_SINK(sink), &callbacks, capture, NULL);
  return sink;
}

static bool build(struct capture* capture, const char* description, const char* caps, bool sync,
                  struct failure* failure) {
  GError* error = NULL;
  GstElement* bin = gst_parse_bin_from_description(description, TRUE, &error);
  if (error != NULL || bin == NULL) {
    fail(failure, error != NULL ? code_of_parse(error) : "parse",
         error != NULL ? error->message : "it is empty");
    g_clear_error(&error);
    g_clear_pointer(&bin, gst_object_unref);
    return false;
  }
  gst_bin_add(GST_BIN(capture->pipeline), bin);
  capture->sink = make_sink(capture, caps, sync);
  if (capture->sink == NULL) {
    return fail(failure, "no-such-element", "no element \"appsink\"");
  }
  gst_bin_add(GST_BIN(capture->pipeline), capture->sink);
  // The bin's source pads are those that the description left unlinked.
  if (bin->numsrcpads == 0) {
    return fail(failure, "no-source-pad", "its last element has no free source pad");
  }
  if (!gst_element_link(bin, capture->sink)) {
    return fail(failure, "not-negotiated", "its last element cannot be linked to the appsink");
  }
  return true;
}

struct capture* capture_open(const char* description, const char* caps, bool sync,
                             unsigned max_buffers, struct failure* failure) {
  struct capture* capture = g_new0(struct capture, 1);
  capture->max_buffers = max_buffers;
  g_mutex_init(&capture->mutex);
  g_cond_init(&capture->changed);
  capture->arrivals = g_array_new(FALSE, FALSE, sizeof(int64_t));
  capture->pipeline = gst_pipeline_new(NULL);
  capture->bus = gst_element_get_bus(capture->pipeline);
  if (!build(capture, description, caps, sync, failure)) {
    capture_close(capture);
    return NULL;
  }
  return capture;
}

const char* capture_name(const struct capture* capture) { return GST_OBJECT_NAME(capture->sink); }

void capture_close(struct capture* capture) {
  gst_element_set_state(capture->pipeline, GST_STATE_NULL);
  gst_object_unref(capture->bus);
  gst_object_unref(capture->pipeline);
  g_array_free(capture->arrivals, TRUE);
  g_cond_clear(&capture->changed);
  g_mutex_clear(&capture->mutex);
  g_free(capture);
}

bool capture_set_state(struct capture* capture, GstState state, int64_t timeout_ns,
                       struct failure* failure) {
  GstStateChangeReturn changed = gst_element_set_state(capture->pipeline, state);
  int64_t until = now_ns() + timeout_ns;
  while (changed == GST_STATE_CHANGE_ASYNC) {
    if (take_error(capture, failure)) {
      return false;
    }
    int64_t left = until - now_ns();
    if (left <= 0) {
      return fail(failure, "timeout", "no buffer came in time");
    }
    changed = gst_element_get_state(capture->pipeline, NULL, NULL, MIN(left, SLICE_NS));
  }
  if (changed != GST_STATE_CHANGE_FAILURE) {
    return true;
  }
  return take_error(capture, failure) || fail(failure, "state", "an element refused to start");
}

static bool map_frame(struct frame* frame, struct failure* failure) {
  GstBuffer* buffer = gst_sample_get_buffer(frame->sample);
  GstCaps* caps = gst_sample_get_caps(frame->sample);
  GstVideoInfo info;
  const GstStructure* structure = gst_caps_get_structure(caps, 0);
  if (!gst_structure_has_name(structure, "video/x-raw")) {
    gst_structure_get_int(structure, "width", &frame->width);
    gst_structure_get_int(structure, "height", &frame->height);
    if (!gst_buffer_map(buffer, &frame->map, GST_MAP_READ)) {
      return fail(failure, "map", "a buffer cannot be read");
    }
    frame->data = frame->map.data;
    frame->size = frame->map.size;
    return true;
  }
  // The pipeline's own idea of rows: padded to 4 bytes, or as the buffer's metadata say.
  if (!gst_video_info_from_caps(&info, caps) ||
      !gst_video_frame_map(&frame->video, &info, buffer, GST_MAP_READ)) {
    return fail(failure, "underflow", "a buffer is smaller than the image that its caps promise");
  }
  frame->is_video = true;
  frame->width = GST_VIDEO_FRAME_WIDTH(&frame->video);
  frame->height = GST_VIDEO_FRAME_HEIGHT(&frame->video);
  frame->step = GST_VIDEO_FRAME_PLANE_STRIDE(&frame->video, 0);
  frame->data = GST_VIDEO_FRAME_PLANE_DATA(&frame->video, 0);
  frame->size = (size_t)frame->step * (size_t)frame->height;
  return true;
}

void frame_release(struct frame* frame) {
  if (frame->is_video) {
    gst_video_frame_unmap(&frame->video);
  } else if (frame->data != NULL) {
    gst_buffer_unmap(gst_sample_get_buffer(frame->sample), &frame->map);
  }
  g_clear_pointer(&frame->sample, gst_sample_unref);
  frame->is_video = false;
  frame->data = NULL;
}

// With the lock held: takes the oldest buffer and its time of arrival.
static void take_oldest(struct capture* capture, struct frame* frame) {
  frame->arrived_ns = g_array_index(capture->arrivals, int64_t, 0);
  frame->dropped = capture->dropped;
  frame->sample = gst_app_sink_try_pull_sample(GST_APP_SINK(capture->sink), 0);
  g_array_remove_index(capture->arrivals, 0);
}

// Waits for a buffer, the end, or until `until_ns`.
static enum pulled await_buffer(struct capture* capture, int64_t until_ns, struct frame* frame,
                                struct failure* failure) {
  for (;;) {
    g_mutex_lock(&capture->mutex);
    int64_t left = MIN(until_ns - now_ns(), SLICE_NS);
    if (capture->arrivals->len == 0 && !capture->ended && left > 0) {
      g_cond_wait_until(&capture->changed, &capture->mutex,
                        g_get_monotonic_time() + left / 1000 + 1);
    }
    bool ended = capture->ended;
    if (capture->arrivals->len != 0) {
      take_oldest(capture, frame);
    }
    g_mutex_unlock(&capture->mutex);
    if (frame->sample != NULL) {
      return PULLED_FRAME;
    }
    if (take_error(capture, failure)) {
      return PULLED_ERROR;
    }
    if (ended) {
      return PULLED_END;
    }
    if (now_ns() >= until_ns) {
      return PULLED_NOTHING;
    }
  }
}

enum pulled capture_pull(struct capture* capture, int64_t timeout_ns, struct frame* frame,
                         struct failure* failure) {
  memset(frame, 0, sizeof(*frame));
  enum pulled pulled = await_buffer(capture, now_ns() + timeout_ns, frame, failure);
  if (pulled != PULLED_FRAME) {
    return pulled;
  }
  if (!map_frame(frame, failure)) {
    frame_release(frame);
    return PULLED_ERROR;
  }
  GstClockTime pts = GST_BUFFER_PTS(gst_sample_get_buffer(frame->sample));
  bool is_stamped = GST_CLOCK_TIME_IS_VALID(pts);
  frame->pts_ns = is_stamped ? (int64_t)pts : -1;
  frame->clock_ns = is_stamped ? (int64_t)(pts + gst_element_get_base_time(capture->pipeline)) : -1;
  return PULLED_FRAME;
}
