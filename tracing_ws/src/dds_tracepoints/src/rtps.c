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
  INFO_SRC_BODY = 20,
  DATA_HEADER = 20,
  DATA_FRAG_HEADER = 32,
  PREFIX = 12,
  PID_SENTINEL = 1,
};

// Other arrays than iovecs may have padding beside the length.
static struct iovec part_at(const struct rtps_reader* reader, size_t index) {
  const char* part = (const char*)&reader->parts[index];
  void* begin;
  uint32_t length;
  memcpy(&begin, part + offsetof(struct iovec, iov_base), sizeof(begin));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  memcpy(&length, part + offsetof(struct iovec, iov_len), sizeof(length));
#else
#error "An iovec's length and a shorter one begin at the same place on little-endian machines only."
#endif
  // A call that would fail for it is not ours to end.
  return (struct iovec){begin, begin != NULL ? length : 0};
}

static bool read_at(struct rtps_reader* reader, size_t offset, void* to, size_t length) {
  if (offset > reader->length || length > reader->length - offset) {
    return false;
  }
  if (offset < reader->base) {
    reader->part = reader->base = 0;
  }
  uint8_t* out = to;
  while (length != 0) {
    struct iovec part = part_at(reader, reader->part);
    size_t skipped = offset - reader->base;
    if (skipped >= part.iov_len) {
      reader->base += part.iov_len;
      reader->part++;
      continue;
    }
    size_t here = part.iov_len - skipped < length ? part.iov_len - skipped : length;
    memcpy(out, (const uint8_t*)part.iov_base + skipped, here);
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
static size_t inline_qos(struct rtps_reader* reader, size_t offset, size_t end, bool little) {
  size_t at = offset;
  uint8_t parameter[4];
  while (at + sizeof(parameter) <= end && read_at(reader, at, parameter, sizeof(parameter))) {
    at += sizeof(parameter);
    if (u16(parameter, little) == PID_SENTINEL) {
      return at - offset;
    }
    at += u16(parameter + 2, little);
  }
  return end - offset;
}

// Reads a DATA or DATA_FRAG whose body is [offset, end); false when it holds no sample.
static bool read_sample(struct rtps_reader* reader, uint8_t kind, uint8_t flags, size_t offset,
                        size_t end, struct sample* sample) {
  bool little = flags & FLAG_LITTLE_ENDIAN;
  bool whole = kind == SUBMESSAGE_DATA;
  size_t header = whole ? DATA_HEADER : DATA_FRAG_HEADER;
  uint8_t body[DATA_FRAG_HEADER];
  if ((whole && !(flags & FLAG_DATA)) || end - offset < header ||
      !read_at(reader, offset, body, header)) {
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
    payload += inline_qos(reader, payload, end, little);
  }
  sample->fragment = 0;
  sample->fragment_count = sample->fragment_size = 0;
  sample->size = (uint32_t)(end - payload);
  return true;
}

bool rtps_open(struct rtps_reader* reader, const struct iovec* parts, size_t count) {
  *reader = (struct rtps_reader){.parts = parts, .count = count};
  for (size_t i = 0; i < count; i++) {
    reader->length += part_at(reader, i).iov_len;
  }
  uint8_t header[RTPS_HEADER];
  if (read_at(reader, 0, header, 4) && memcmp(header, "RTCP", 4) == 0) {
    reader->at = RTCP_HEADER;
  }
  if (!read_at(reader, reader->at, header, sizeof(header)) || memcmp(header, "RTPS", 4) != 0) {
    reader->at = reader->length;
    return false;
  }
  memcpy(reader->now.guid, header + 8, PREFIX);
  reader->at += RTPS_HEADER;
  return true;
}

// Reads the submessage that comes next; true when it holds a sample of the application.
static bool read_submessage(struct rtps_reader* reader, const uint8_t head[SUBMESSAGE_HEADER]) {
  uint8_t kind = head[0], flags = head[1];
  bool little = flags & FLAG_LITTLE_ENDIAN;
  size_t length = u16(head + 2, little);
  size_t at = reader->at + SUBMESSAGE_HEADER;
  size_t left = reader->length - at;
  // The last submessage may go on to the end of the message, beyond what 16 bits can tell.
  if (length == 0 && kind != SUBMESSAGE_PAD && kind != SUBMESSAGE_INFO_TS) {
    length = left;
  }
  size_t end = length < left ? at + length : reader->length;
  reader->at = end;
  uint8_t body[INFO_SRC_BODY];
  if (kind == SUBMESSAGE_INFO_TS) {
    bool told = !(flags & FLAG_INVALIDATE) && end - at >= 8 && read_at(reader, at, body, 8);
    reader->now.stamp = told ? timestamp(body, little) : 0;
  } else if (kind == SUBMESSAGE_INFO_SRC && end - at >= sizeof(body) &&
             read_at(reader, at, body, sizeof(body))) {
    memcpy(reader->now.guid, body + 8, PREFIX);
    reader->now.stamp = 0;
  }
  return (kind == SUBMESSAGE_DATA || kind == SUBMESSAGE_DATA_FRAG) &&
         read_sample(reader, kind, flags, at, end, &reader->now) &&
         !rtps_is_builtin(reader->now.guid);
}

bool rtps_next(struct rtps_reader* reader, struct sample* sample) {
  uint8_t head[SUBMESSAGE_HEADER];
  while (read_at(reader, reader->at, head, sizeof(head))) {
    if (read_submessage(reader, head)) {
      *sample = reader->now;
      return true;
    }
  }
  return false;
}
