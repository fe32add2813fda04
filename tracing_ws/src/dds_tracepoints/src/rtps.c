// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "rtps.h"

#include <string.h>

enum submessage {
  SUBMESSAGE_PAD = 0x01,
  SUBMESSAGE_INFO_TS = 0x09,
  SUBMESSAGE_INFO_SRC = 0x0c,
  SUBMESSAGE_DATA = 0x15,
  SUBMESSAGE_DATA_FRAG = 0x16,
};

enum flag {
  FLAG_LITTLE_ENDIAN = 0x01,
  FLAG_INVALIDATE = 0x02,  // INFO_TS: there is no timestamp from here on
  FLAG_INLINE_QOS = 0x02,
  FLAG_DATA = 0x04,  // DATA: a value, not only a key
};

enum {
  RTCP_HEADER = 14,
  RTPS_HEADER = 20,
  SUBMESSAGE_HEADER = 4,
  DATA_HEADER = 20,
  DATA_FRAG_HEADER = 32,
  PREFIX = 12,
  PID_SENTINEL = 1,
};

// A message in several parts, read at ascending offsets.
struct cursor {
  const struct iovec* parts;
  size_t count;
  size_t part;
  size_t base;  // offset of parts[part]
  size_t length;
};

static struct cursor cursor_of(const struct iovec* parts, size_t count) {
  struct cursor cursor = {parts, count, 0, 0, 0};
  for (size_t i = 0; i < count; i++) {
    cursor.length += parts[i].iov_len;
  }
  return cursor;
}

static bool read_at(struct cursor* cursor, size_t offset, void* to, size_t length) {
  if (offset > cursor->length || length > cursor->length - offset) {
    return false;
  }
  if (offset < cursor->base) {
    cursor->part = cursor->base = 0;
  }
  uint8_t* out = to;
  while (length != 0) {
    const struct iovec* part = &cursor->parts[cursor->part];
    size_t skipped = offset - cursor->base;
    if (skipped >= part->iov_len) {
      cursor->base += part->iov_len;
      cursor->part++;
      continue;
    }
    size_t here = part->iov_len - skipped < length ? part->iov_len - skipped : length;
    memcpy(out, (const uint8_t*)part->iov_base + skipped, here);
    out += here;
    offset += here;
    length -= here;
  }
  return true;
}

static uint16_t u16(const uint8_t* at, bool little) {
  return little ? (uint16_t)(at[0] | at[1] << 8) : (uint16_t)(at[0] << 8 | at[1]);
}

static uint32_t u32(const uint8_t* at, bool little) {
  return little ? (uint32_t)u16(at, true) | (uint32_t)u16(at + 2, true) << 16
                : (uint32_t)u16(at, false) << 16 | (uint32_t)u16(at + 2, false);
}

// RTPS has seconds and a fraction of 2^-32 s. Rounding gives back the nanoseconds that the writer
// had, whichever way it rounded: a fraction is 0.23 ns.
static int64_t timestamp(const uint8_t* at, bool little) {
  uint64_t fraction = u32(at + 4, little);
  return (int64_t)u32(at, little) * 1000000000 +
         (int64_t)((fraction * 1000000000 + (UINT64_C(1) << 31)) >> 32);
}

// Bytes of the inline QoS that begins at `offset`, its sentinel included; to `end` when it has
// none.
static size_t inline_qos(struct cursor* cursor, size_t offset, size_t end, bool little) {
  size_t at = offset;
  uint8_t parameter[4];
  while (at + sizeof(parameter) <= end && read_at(cursor, at, parameter, sizeof(parameter))) {
    at += sizeof(parameter);
    if (u16(parameter, little) == PID_SENTINEL) {
      return at - offset;
    }
    at += u16(parameter + 2, little);
  }
  return end - offset;
}

// Reads a DATA or DATA_FRAG whose body is [offset, end); false when it holds no sample.
static bool read_sample(struct cursor* cursor, uint8_t kind, uint8_t flags, size_t offset,
                        size_t end, struct sample* sample) {
  bool little = flags & FLAG_LITTLE_ENDIAN;
  bool whole = kind == SUBMESSAGE_DATA;
  size_t header = whole ? DATA_HEADER : DATA_FRAG_HEADER;
  uint8_t body[DATA_FRAG_HEADER];
  if ((whole && !(flags & FLAG_DATA)) || end - offset < header ||
      !read_at(cursor, offset, body, header)) {
    return false;
  }
  memcpy(sample->guid + PREFIX, body + 8, 4);
  sample->sequence = (int64_t)((uint64_t)u32(body + 12, little) << 32 | u32(body + 16, little));
  if (!whole) {
    sample->fragment = u32(body + 20, little);
    sample->fragment_count = u16(body + 24, little);
    sample->fragment_size = u16(body + 26, little);
    sample->size = u32(body + 28, little);
    return true;
  }
  // The inline QoS begins octetsToInlineQos after that field, which ends at 4.
  size_t payload = offset + 4 + u16(body + 2, little);
  if (payload > end) {
    return false;
  }
  if (flags & FLAG_INLINE_QOS) {
    payload += inline_qos(cursor, payload, end, little);
  }
  sample->fragment = 0;
  sample->fragment_count = sample->fragment_size = 0;
  sample->size = (uint32_t)(end - payload);
  return true;
}

static size_t skip_rtcp(struct cursor* cursor) {
  uint8_t magic[4];
  return read_at(cursor, 0, magic, sizeof(magic)) && memcmp(magic, "RTCP", 4) == 0 ? RTCP_HEADER
                                                                                   : 0;
}

size_t rtps_samples(const struct iovec* parts, size_t count, struct sample* samples, size_t room) {
  struct cursor cursor = cursor_of(parts, count);
  size_t at = skip_rtcp(&cursor);
  uint8_t header[RTPS_HEADER];
  if (!read_at(&cursor, at, header, sizeof(header)) || memcmp(header, "RTPS", 4) != 0) {
    return 0;
  }
  struct sample now = {0};
  memcpy(now.guid, header + 8, PREFIX);
  at += RTPS_HEADER;
  size_t found = 0;
  uint8_t head[SUBMESSAGE_HEADER];
  while (found < room && read_at(&cursor, at, head, sizeof(head))) {
    uint8_t kind = head[0], flags = head[1];
    bool little = flags & FLAG_LITTLE_ENDIAN;
    size_t length = u16(head + 2, little);
    at += SUBMESSAGE_HEADER;
    // The last submessage may go on to the end of the message, beyond what 16 bits can tell.
    if (length == 0 && kind != SUBMESSAGE_PAD && kind != SUBMESSAGE_INFO_TS) {
      length = cursor.length - at;
    }
    size_t end = length < cursor.length - at ? at + length : cursor.length;
    uint8_t body[20];
    if (kind == SUBMESSAGE_INFO_TS) {
      bool told = !(flags & FLAG_INVALIDATE) && read_at(&cursor, at, body, 8);
      now.stamp = told ? timestamp(body, little) : 0;
    } else if (kind == SUBMESSAGE_INFO_SRC && read_at(&cursor, at, body, 20)) {
      memcpy(now.guid, body + 8, PREFIX);
      now.stamp = 0;
    } else if ((kind == SUBMESSAGE_DATA || kind == SUBMESSAGE_DATA_FRAG) &&
               read_sample(&cursor, kind, flags, at, end, &now) && !rtps_is_builtin(now.guid)) {
      samples[found++] = now;
    }
    at = end;
  }
  return found;
}
