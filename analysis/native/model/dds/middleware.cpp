// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/dds/middleware.hpp"

namespace strata::dds {

void Middleware::look(const Event& event) {
  switch (event.type) {
    case EventType::rmw_publish:
      return writes_.publish(event);
    case EventType::rmw_take:
      return reads_.rmw_take(event);
    default:
      if (is_of_hooks(event.type)) on_hook(event);
      if (is_work_step(event.type)) reads_.work(event);
      if (is_take_step(event.type)) reads_.other_take(event);
  }
}

void Middleware::on_hook(const Event& event) {
  has_hooks_ = true;
  writes_.make_rows();
  reads_.make_rows();
  switch (event.type) {
    case EventType::write_begin:
      return writes_.write_begin(event);
    case EventType::serialize_begin:
      return writes_.serialize_begin(event);
    case EventType::serialize_end:
      return writes_.serialize_end(event);
    case EventType::writer_history_add:
      return writes_.writer_history_add(event);
    case EventType::write_end:
      return writes_.write_end(event);
    case EventType::send_begin:
      return buffers_.send_begin(event);
    case EventType::send_sample:
      return buffers_.send_sample(event);
    case EventType::send_end:
      return buffers_.send_end(event);
    case EventType::receive:
      return buffers_.receive(event);
    case EventType::receive_sample:
      return buffers_.receive_sample(event);
    case EventType::reader_history_add:
      return buffers_.reader_history_add(event);
    case EventType::reader_notify:
      return buffers_.reader_notify(event);
    case EventType::create_reader:
      return reads_.create_reader(event);
    case EventType::take_begin:
      return reads_.take_begin(event);
    case EventType::deserialize_begin:
      return reads_.deserialize_begin(event);
    case EventType::deserialize_end:
      return reads_.deserialize_end(event);
    case EventType::take_end:
      return reads_.take_end(event);
    default:
      return;
  }
}

void Middleware::finish() {
  writes_.close();
  samples_.resolve(buffers_.unnumbered());
  SamplesByStamp sent, received;
  writes_.ask(sent);
  reads_.ask(received);
  buffers_.note_sent(sent);
  buffers_.note_received(received);
  writes_.finish(sent);
  wire_.finish();
  reads_.finish(received, wire_);
}

}  // namespace strata::dds
