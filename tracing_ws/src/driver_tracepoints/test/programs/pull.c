// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Pulls from an appsink: usage: pull PIPELINE WAY EVERY_MS. WAY: pull, try (functions), signal,
// try-signal (action signals). The sink is named "out". Prints size, pts and checksum of each
// sample, and how it ended; EVERY_MS is slept before each pull.
#include <gst/app/gstappsink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static GstSample* pull(GstElement* sink, const char* way) {
  GstSample* sample = NULL;
  if (strcmp(way, "pull") == 0) {
    return gst_app_sink_pull_sample(GST_APP_SINK(sink));
  }
  if (strcmp(way, "try") == 0) {
    return gst_app_sink_try_pull_sample(GST_APP_SINK(sink), 5 * GST_SECOND);
  }
  if (strcmp(way, "signal") == 0) {
    g_signal_emit_by_name(sink, "pull-sample", &sample);
  } else {
    g_signal_emit_by_name(sink, "try-pull-sample", 5 * GST_SECOND, &sample);
  }
  return sample;
}

static void print_buffer(GstBuffer* buffer) {
  GstMapInfo map;
  guint sum = 0;
  gst_buffer_map(buffer, &map, GST_MAP_READ);
  for (gsize i = 0; i < map.size; i++) {
    sum = sum * 31 + map.data[i];
  }
  printf("%zu %lld %u\n", map.size, (long long)GST_BUFFER_PTS(buffer), sum);
  gst_buffer_unmap(buffer, &map);
}

int main(int count, char** arguments) {
  (void)count;
  gst_init(NULL, NULL);
  GstElement* pipeline = gst_parse_launch(arguments[1], NULL);
  GstElement* sink = gst_bin_get_by_name(GST_BIN(pipeline), "out");
  gulong every_us = strtoul(arguments[3], NULL, 10) * 1000;
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  for (;;) {
    g_usleep(every_us);
    GstSample* sample = pull(sink, arguments[2]);
    if (sample == NULL) {
      break;
    }
    print_buffer(gst_sample_get_buffer(sample));
    gst_sample_unref(sample);
  }
  printf("end %d\n", gst_app_sink_is_eos(GST_APP_SINK(sink)));
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(sink);
  gst_object_unref(pipeline);
  return 0;
}
