// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Executions of coroutine callbacks (rclpy), which run in pieces.
//
// Each piece has a callback_start and a callback_end of its own, and its thread does other things
// in between. A suspend is of the piece that it lies in, a resume of the piece that starts next on
// its thread with nothing else in between; both number the execution. What lies between the end of
// one piece and the start of the next is time suspended. An execution whose last piece is suspended
// never ended. While events were being lost, pieces may be among them: such an execution has no end
// that is known.
#include <algorithm>
#include <tuple>

#include "model/differences.hpp"
#include "model/executions.hpp"

namespace strata {

void Executions::join_pieces() {
  const auto& found = context_.rows.suspensions;
  if (found.size() == 0) return;
  // Process, number, start, thread id and row: of one instant by thread id, whatever event came
  // first.
  using PieceKey = std::tuple<int32_t, int64_t, int64_t, int64_t, size_t>;
  std::vector<PieceKey> pieces;
  std::vector<bool> awaited(rows_.size(), false);
  std::vector<bool> resumed(rows_.size(), false);
  for (size_t i = 0; i < found.size(); ++i) {
    const bool is_resume = found.is_resume[i] != 0;
    const int64_t row =
        is_resume ? found.execution[i] : innermost(found.execution[i], found.at[i], found.ns[i]);
    if (row == kNone) continue;
    const auto at = static_cast<size_t>(row);
    (is_resume ? resumed : awaited)[at] = true;
    const int64_t vtid = pick(context_.rows.threads.vtid, rows_.thread[at]);
    pieces.emplace_back(found.process[i], found.number[i], rows_.start_ns[at], vtid, at);
  }
  std::ranges::sort(pieces);
  pieces.erase(std::unique(pieces.begin(), pieces.end()), pieces.end());
  std::vector<std::pair<size_t, size_t>> coded;  // number of the execution, row
  for (size_t i = 0; i < pieces.size(); ++i) {
    const auto& [process, number, start, vtid, row] = pieces[i];
    const bool same =
        i > 0 && process == std::get<0>(pieces[i - 1]) && number == std::get<1>(pieces[i - 1]);
    coded.emplace_back(coded.empty() ? 0 : coded.back().first + (same ? 0 : 1), row);
  }
  for (size_t row = 0; row < rows_.size(); ++row) rows_.is_resumed[row] = resumed[row] ? 1 : 0;
  add_pieces(join(coded, awaited), awaited);
}

// `pieces` of one execution follow each other in order of time.
std::vector<Executions::Piece> Executions::join(
    const std::vector<std::pair<size_t, size_t>>& pieces, const std::vector<bool>& awaited) const {
  std::vector<Piece> joined;
  joined.reserve(pieces.size());
  for (size_t begin = 0, end = 0; begin < pieces.size(); begin = end) {
    while (end < pieces.size() && pieces[end].first == pieces[begin].first) ++end;
    const size_t first = pieces[begin].second;
    const size_t last = pieces[end - 1].second;
    const bool open = awaited[last] ||
                      context_.settings.losses.touch(rows_.start_ns[first], rows_.until_ns[last]);
    const int64_t finished_ns = open ? kNone : rows_.end_ns[last];
    int64_t paused_ns = 0;
    for (size_t i = begin; i < end; ++i) {
      const size_t row = pieces[i].second;
      const int64_t before = i > begin ? static_cast<int64_t>(pieces[i - 1].second) : kNone;
      if (before != kNone) {
        const int64_t gap_ns = minus(rows_.start_ns[row], pick(rows_.until_ns, before));
        paused_ns = plus(paused_ns, gap_ns);
      }
      joined.push_back({row, first, last, before, finished_ns, paused_ns});
    }
  }
  return joined;
}

// One that two executions claim is of that which comes later.
void Executions::add_pieces(std::vector<Piece> pieces, const std::vector<bool>& awaited) {
  auto& rows = context_.rows.execution_pieces;
  std::ranges::stable_sort(pieces, {}, &Piece::row);
  for (size_t i = 0; i < pieces.size(); ++i) {
    const Piece& piece = pieces[i];
    if (i + 1 < pieces.size() && pieces[i + 1].row == piece.row) continue;
    const auto row = static_cast<size_t>(rows.add());
    rows.piece[row] = static_cast<int32_t>(piece.row);
    rows.first[row] = static_cast<int32_t>(piece.first);
    rows.last[row] = static_cast<int32_t>(piece.last);
    rows.previous[row] = static_cast<int32_t>(piece.previous);
    rows.finished_ns[row] = piece.finished_ns;
    rows.paused_ns[row] = piece.paused_ns;
    const bool is_several = piece.last != piece.first || awaited[piece.row];
    if (is_several && piece.first == piece.row && piece.finished_ns == kNone) {
      context_.ledger.add(Finding::callbacks_left_suspended);
    }
  }
}

int64_t Executions::first_piece(int64_t row) const {
  const auto& rows = context_.rows.execution_pieces;
  if (rows.size() == 0) return row;
  const int32_t* const begin = rows.piece.data();
  const int32_t* const end = begin + rows.size();
  const int32_t* const found = std::lower_bound(begin, end, row);
  return found == end || *found != row ? row : rows.first[static_cast<size_t>(found - begin)];
}

}  // namespace strata
