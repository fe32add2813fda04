// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Events from Arrow record batches: what Python has of a trace, and what tests make up.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "columns/arrow.hpp"
#include "model/engine.hpp"
#include "model/intake.hpp"

namespace strata {

// The rows of one record batch as events of one name; rows are in order of time. The array and its
// schema must live as long.
class Batch {
 public:
  // Throws std::invalid_argument for columns of types that event tables do not have.
  Batch(std::string_view event, const ArrowSchema& schema, const ArrowArray& array,
        Strings& strings);

  // Its events are operations, which have steps.
  bool has_steps() const { return is_operation(type_); }
  bool is_over() const { return row_ >= rows_; }
  int64_t ns() const { return ns_[row_]; }
  // The event of the present row; goes on to the next.
  void next(Arrival& arrival);

 private:
  enum class Kind : uint8_t { number, text, bytes, list };
  struct Source {
    Kind kind = Kind::number;
    int64_t offset = 0;                 // of the first row in the buffers
    const uint8_t* validity = nullptr;  // null: all are valid
    const int64_t* numbers = nullptr;   // of `number`, or the elements of `list`
    const int32_t* codes = nullptr;     // of `text`: into `texts`; else the offsets
    const char* content = nullptr;      // of `bytes`
    const ArrowArray* words = nullptr;
    std::vector<int64_t> texts;  // the number of each word that was met, else kNone

    bool is_valid(int64_t row) const {
      const int64_t at = offset + row;
      return validity == nullptr || (validity[at / 8] >> (at % 8) & 1) != 0;
    }
  };

  Source source_of(const ArrowSchema& schema, const ArrowArray& array) const;
  int64_t value(Source& source);
  int64_t text(Source& source, size_t code);
  int64_t optional(int source) {
    return source < 0 ? kNone : value(sources_[static_cast<size_t>(source)]);
  }

  Strings& strings_;
  EventType type_ = EventType::other;
  int64_t name_ = kNone;  // number of its text, of an event that is not declared
  int64_t row_ = 0;
  int64_t rows_ = 0;
  const int64_t* ns_ = nullptr;
  std::vector<Source> sources_;
  // Which source each context and field is; -1 for none.
  int host_ = -1, vpid_ = -1, vtid_ = -1, pid_ns_ = -1, procname_ = -1, cpu_ = -1;
  std::array<int, kMostFields> fields_;
};

// When the clocks of hosts began to count, in ns since the epoch, by numbers of texts.
using ClockOrigins = std::map<int64_t, int64_t>;

// The events of all batches, in order of time.
std::vector<Arrival> arrivals_of(std::vector<Batch>& batches);

// Pushes the events of all batches in order of time; of one instant, those of earlier batches
// first. `intake` is null where none looks back.
void push_in_order(Engine& engine, Intake* intake, const ClockOrigins& origins,
                   std::vector<Batch>& batches);

}  // namespace strata
