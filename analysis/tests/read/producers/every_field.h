// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// Events that together use every field macro of LTTng-UST 2.13.
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER every
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./every_field.h"

#if !defined(EVERY_FIELD_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define EVERY_FIELD_H
#include <lttng/tracepoint.h>

#include "values.h"

// clang-format off
LTTNG_UST_TRACEPOINT_EVENT(every, integers, LTTNG_UST_TP_ARGS(const struct values *, v),
  LTTNG_UST_TP_FIELDS(
    lttng_ust_field_integer(uint64_t, round, v->round)
    lttng_ust_field_integer(uint8_t, u8, v->u[0])
    lttng_ust_field_integer(int8_t, s8, v->u[1])
    lttng_ust_field_integer(uint16_t, u16, v->u[2])
    lttng_ust_field_integer(int16_t, s16, v->u[3])
    lttng_ust_field_integer(uint32_t, u32, v->u[4])
    lttng_ust_field_integer(int32_t, s32, v->u[5])
    lttng_ust_field_integer(uint64_t, u64, v->u[6])
    lttng_ust_field_integer(int64_t, s64, v->u[7])
    lttng_ust_field_unused(v->real)))

LTTNG_UST_TRACEPOINT_EVENT(every, integers_hex, LTTNG_UST_TP_ARGS(const struct values *, v),
  LTTNG_UST_TP_FIELDS(
    lttng_ust_field_integer_hex(uint8_t, u8, v->u[0])
    lttng_ust_field_integer_hex(int8_t, s8, v->u[1])
    lttng_ust_field_integer_hex(uint16_t, u16, v->u[2])
    lttng_ust_field_integer_hex(int16_t, s16, v->u[3])
    lttng_ust_field_integer_hex(uint32_t, u32, v->u[4])
    lttng_ust_field_integer_hex(int32_t, s32, v->u[5])
    lttng_ust_field_integer_hex(uint64_t, u64, v->u[6])
    lttng_ust_field_integer_hex(int64_t, s64, v->u[7])))

LTTNG_UST_TRACEPOINT_EVENT(every, integers_network, LTTNG_UST_TP_ARGS(const struct values *, v),
  LTTNG_UST_TP_FIELDS(
    lttng_ust_field_integer_network(uint8_t, u8, v->u[0])
    lttng_ust_field_integer_network(uint16_t, u16, v->u[2])
    lttng_ust_field_integer_network(int16_t, s16, v->u[3])
    lttng_ust_field_integer_network(uint32_t, u32, v->u[4])
    lttng_ust_field_integer_network(int32_t, s32, v->u[5])
    lttng_ust_field_integer_network(uint64_t, u64, v->u[6])
    lttng_ust_field_integer_network(int64_t, s64, v->u[7])
    lttng_ust_field_integer_network_hex(uint16_t, u16_hex, v->u[2])
    lttng_ust_field_integer_network_hex(int32_t, s32_hex, v->u[5])))

LTTNG_UST_TRACEPOINT_EVENT(every, floats, LTTNG_UST_TP_ARGS(const struct values *, v),
  LTTNG_UST_TP_FIELDS(
    lttng_ust_field_float(float, single, v->single)
    lttng_ust_field_integer(uint8_t, between, v->u[0])
    lttng_ust_field_float(double, real, v->real)))

LTTNG_UST_TRACEPOINT_EVENT(every, arrays, LTTNG_UST_TP_ARGS(const struct values *, v),
  LTTNG_UST_TP_FIELDS(
    lttng_ust_field_array(uint8_t, u8, v->u8, ELEMENTS)
    lttng_ust_field_array(int8_t, s8, v->s8, ELEMENTS)
    lttng_ust_field_array(char, chars, v->s8, ELEMENTS)
    lttng_ust_field_array(uint16_t, u16, v->u16, ELEMENTS)
    lttng_ust_field_array(int32_t, s32, v->s32, ELEMENTS)
    lttng_ust_field_array(uint64_t, u64, v->u64, ELEMENTS)
    lttng_ust_field_array(int64_t, s64, v->s64, ELEMENTS)
    lttng_ust_field_array_hex(uint8_t, u8_hex, v->u8, ELEMENTS)
    lttng_ust_field_array_hex(uint32_t, u32_hex, v->u32, ELEMENTS)
    lttng_ust_field_array_network(uint16_t, u16_network, v->u16, ELEMENTS)
    lttng_ust_field_array_network(int64_t, s64_network, v->s64, ELEMENTS)
    lttng_ust_field_array_network_hex(uint32_t, u32_network, v->u32, ELEMENTS)
    lttng_ust_field_array_text(char, text, v->text, TEXT)))

LTTNG_UST_TRACEPOINT_EVENT(every, sequences, LTTNG_UST_TP_ARGS(const struct values *, v),
  LTTNG_UST_TP_FIELDS(
    lttng_ust_field_sequence(uint8_t, u8, v->u8, uint8_t, v->length)
    lttng_ust_field_sequence(int8_t, s8, v->s8, uint16_t, v->length)
    lttng_ust_field_sequence(uint16_t, u16, v->u16, uint32_t, v->length)
    lttng_ust_field_sequence(int32_t, s32, v->s32, uint64_t, v->length)
    lttng_ust_field_sequence(uint64_t, u64, v->u64, size_t, v->length)
    lttng_ust_field_sequence(int64_t, s64, v->s64, unsigned int, ELEMENTS - v->length)
    lttng_ust_field_sequence_hex(uint8_t, u8_hex, v->u8, unsigned long, v->length)
    lttng_ust_field_sequence_hex(uint32_t, u32_hex, v->u32, uint16_t, v->length)
    lttng_ust_field_sequence_network(uint16_t, u16_network, v->u16, uint8_t, v->length)
    lttng_ust_field_sequence_network(int64_t, s64_network, v->s64, uint8_t, v->length)
    lttng_ust_field_sequence_network_hex(uint32_t, u32_network, v->u32, size_t, v->length)))

LTTNG_UST_TRACEPOINT_EVENT(every, texts, LTTNG_UST_TP_ARGS(const struct values *, v),
  LTTNG_UST_TP_FIELDS(
    lttng_ust_field_string(string, v->string)
    lttng_ust_field_array_text(char, fixed, v->text, TEXT)
    lttng_ust_field_sequence_text(char, counted, v->text, uint8_t, v->letters)
    lttng_ust_field_sequence_text(uint8_t, counted_bytes, v->text, size_t, v->letters)
    lttng_ust_field_string(again, v->string)))

LTTNG_UST_TRACEPOINT_ENUM(every, direction,
  LTTNG_UST_TP_ENUM_VALUES(
    lttng_ust_field_enum_value("none", 0)
    lttng_ust_field_enum_auto("next")
    lttng_ust_field_enum_range("some", 2, 99)
    lttng_ust_field_enum_range("half", 50, 149)
    lttng_ust_field_enum_auto("auto")
    lttng_ust_field_enum_value("a \"quoted\\label\"", 200)))

LTTNG_UST_TRACEPOINT_ENUM(every, temperature,
  LTTNG_UST_TP_ENUM_VALUES(
    lttng_ust_field_enum_range("cold", -128, -1)
    lttng_ust_field_enum_value("zero", 0)
    lttng_ust_field_enum_range("warm", 1, 127)))

LTTNG_UST_TRACEPOINT_ENUM(every, wide,
  LTTNG_UST_TP_ENUM_VALUES(
    lttng_ust_field_enum_range("low", 0ULL, 0x7fffffffffffffffULL)
    lttng_ust_field_enum_range("high", 0x8000000000000000ULL, 0xffffffffffffffffULL)))

LTTNG_UST_TRACEPOINT_EVENT(every, enums, LTTNG_UST_TP_ARGS(const struct values *, v),
  LTTNG_UST_TP_FIELDS(
    lttng_ust_field_enum(every, direction, uint8_t, direction, v->u[0])
    lttng_ust_field_enum(every, direction, uint32_t, other_direction, v->u[1])
    lttng_ust_field_enum(every, temperature, int8_t, temperature, v->u[2])
    lttng_ust_field_enum(every, temperature, int, whole_temperature, v->u[3])
    lttng_ust_field_enum(every, wide, uint64_t, wide, v->u[6])))

LTTNG_UST_TRACEPOINT_EVENT(every, nowrite, LTTNG_UST_TP_ARGS(const struct values *, v),
  LTTNG_UST_TP_FIELDS(
    lttng_ust_field_integer_nowrite(int, integer, v->u[0])
    lttng_ust_field_integer(uint16_t, written, v->u[0])
    lttng_ust_field_float_nowrite(double, real, v->real)
    lttng_ust_field_array_nowrite(uint8_t, array, v->u8, ELEMENTS)
    lttng_ust_field_array_text_nowrite(char, text, v->text, TEXT)
    lttng_ust_field_sequence_nowrite(uint8_t, sequence, v->u8, size_t, v->length)
    lttng_ust_field_string_nowrite(string, v->string)
    lttng_ust_field_enum_nowrite(every, direction, uint8_t, direction, v->u[0])
    lttng_ust_field_unused_nowrite(v->real)))

// Fields named as columns of the event tables are, or as words of TSDL.
LTTNG_UST_TRACEPOINT_EVENT(every, names, LTTNG_UST_TP_ARGS(const struct values *, v),
  LTTNG_UST_TP_FIELDS(
    lttng_ust_field_integer(uint64_t, timestamp, v->u[0])
    lttng_ust_field_string(host, v->string)
    lttng_ust_field_integer(int, vpid, v->u[1])
    lttng_ust_field_integer(int, cpu_id, v->u[2])
    lttng_ust_field_string(procname, v->string)
    lttng_ust_field_integer(int, _under, v->u[3])
    lttng_ust_field_integer(int, __twice, v->u[4])
    lttng_ust_field_integer(int, event, v->u[5])
    lttng_ust_field_integer(int, string, v->u[6])))

LTTNG_UST_TRACEPOINT_EVENT(every, empty, LTTNG_UST_TP_ARGS(const struct values *, v),
  LTTNG_UST_TP_FIELDS())

LTTNG_UST_TRACEPOINT_EVENT(every, critical, LTTNG_UST_TP_ARGS(const struct values *, v),
  LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, round, v->round)))
LTTNG_UST_TRACEPOINT_LOGLEVEL(every, critical, LTTNG_UST_TRACEPOINT_LOGLEVEL_CRIT)
LTTNG_UST_TRACEPOINT_MODEL_EMF_URI(every, critical, "https://example.org/critical")

LTTNG_UST_TRACEPOINT_EVENT(every, debugging, LTTNG_UST_TP_ARGS(const struct values *, v),
  LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, round, v->round)))
LTTNG_UST_TRACEPOINT_LOGLEVEL(every, debugging, LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_FUNCTION)

// Many event types of one class. LTTng wants the very text of its arguments in each.
LTTNG_UST_TRACEPOINT_EVENT_CLASS(every, numbered, LTTNG_UST_TP_ARGS(const struct values *, v),
  LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint16_t, u16, v->u[2])))
#define NUMBERED(name) \
  LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(every, numbered, every, n##name, \
    LTTNG_UST_TP_ARGS(const struct values *, v))
#define TEN_NUMBERED(ten) \
  NUMBERED(ten##0) NUMBERED(ten##1) NUMBERED(ten##2) NUMBERED(ten##3) NUMBERED(ten##4) \
  NUMBERED(ten##5) NUMBERED(ten##6) NUMBERED(ten##7) NUMBERED(ten##8) NUMBERED(ten##9)
TEN_NUMBERED(0)
TEN_NUMBERED(1)
TEN_NUMBERED(2)
// clang-format on
#endif

#include <lttng/tracepoint-event.h>
