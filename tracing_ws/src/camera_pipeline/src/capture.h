// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// A GStreamer pipeline that ends in an appsink, as gscam builds it. Knows nothing of Python or ROS.
#ifndef CAMERA_PIPELINE_CAPTURE_H
#define CAMERA_PIPELINE_CAPTURE_H

#include <gst/gst.h>
#include <gst/video/video.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct capture;

// Why something failed; `message` is null when nothing did. `code` names the kind of error for a
// program ("no-such-element", "not-negotiated" ...), or is null. Free with `failure_clear`.
struct failure {
  char* message;
  char* debug;
  const char* code;
};

void failure_clear(struct failure* failure);

enum pulled { PULLED_FRAME, PULLED_NOTHING, PULLED_END, PULLED_ERROR };

// A buffer of the appsink, mapped for reading. `step` is the bytes of a row, 0 of compressed
// images; pts_ns is its presentation time stamp, clock_ns the same on the pipeline's clock, -1 each
// when it has none; arrived_ns is when it came into the appsink, CLOCK_MONOTONIC; dropped counts
// the buffers that were dropped so far.
struct frame {
  GstSample* sample;
  bool is_video;
  GstVideoFrame video;
  GstMapInfo map;
  const uint8_t* data;
  size_t size;
  int width;
  int height;
  int step;
  int64_t pts_ns;
  int64_t clock_ns;
  int64_t arrived_ns;
  uint64_t dropped;
};

void frame_release(struct frame* frame);

// Builds a pipeline of `description` whose free source pad goes to an appsink with `caps`. With
// `sync` a buffer waits for its time. Above `max_buffers` (0: no limit) the oldest is dropped.
// It is for one thread. Returns null and fills `failure` when that cannot be done.
struct capture* capture_open(const char* description, const char* caps, bool sync,
                             unsigned max_buffers, struct failure* failure);
// The appsink's element name, unique in the process; valid until the capture is closed.
const char* capture_name(const struct capture* capture);
void capture_close(struct capture* capture);

// Changes the state and waits until it is reached, for at most `timeout_ns`.
bool capture_set_state(struct capture* capture, GstState state, int64_t timeout_ns,
                       struct failure* failure);

// Waits for the next buffer and maps it. PULLED_NOTHING: none came in time.
enum pulled capture_pull(struct capture* capture, int64_t timeout_ns, struct frame* frame,
                         struct failure* failure);

#ifdef __cplusplus
}
#endif

#endif
