// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/pipeline/step_chain.hpp"

#include "base/error.hpp"
#include "base/rounding.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace runner {
namespace {

/// `value / step` towards minus infinity, for extended rows.
std::int64_t floor_div(std::int64_t value, std::int64_t step) {
    return value >= 0 ? value / step : -((-value + step - 1) / step);
}

std::int64_t common_frames(std::span<const StreamShape> steps) {
    std::int64_t frames = 0;
    for (const StreamShape& step : steps) {
        frames = std::gcd(frames, step.frames);
    }
    return frames;
}

/// What a step makes of the rows of a frame of the pipeline, which holds `frames` of its own:
/// where these are several, of whole ones.
OutputRows rows_made(const StreamShape& step, std::int64_t frames) {
    return frames == 1 ? step.made : OutputRows{step.rows, step.made.before(step.rows)};
}

/// The output's rows that belong to rows of the first step's input. Nothing where an OutputRows
/// cannot say it.
std::optional<OutputRows> chained(std::span<const StreamShape> steps, std::int64_t frames) {
    const std::int64_t rows = steps.front().frames / frames * steps.front().rows;
    OutputRows chain;
    std::int64_t total = rows; // that the steps so far make of a frame
    for (const StreamShape& step : steps) {
        const std::int64_t own = step.frames / frames;
        const OutputRows next = rows_made(step, own);
        if (chain.step != 1) {
            return std::nullopt;
        }
        const std::int64_t layers = next.layer / std::gcd(chain.each, next.layer);
        const std::int64_t next_layers = layers * chain.each / next.layer; // in so many
        total = own * step.made.before(step.rows);
        chain.layer *= layers;
        chain.each = next_layers * next.each;
        if (next.step != 1) {
            if (next_layers != 1) {
                return std::nullopt;
            }
            chain.step = next.step;
            chain.last = next.last;
        } else if (chain.layer >= rows) {
            chain = {rows, total};
        } else if (total % chain.each != 0) {
            return std::nullopt;
        } else {
            chain.last = total / chain.each - 1;
        }
    }
    return chain.before(rows) == total ? std::optional(chain) : std::nullopt;
}

} // namespace

bool StepChain::is_chain(std::span<const StreamShape> steps) {
    return chained(steps, common_frames(steps)).has_value();
}

StepChain::StepChain(std::span<const StreamShape> steps) : frames_(common_frames(steps)) {
    const std::optional<OutputRows> made = chained(steps, frames_);
    if (!made) {
        throw Error(ExitCode::defect, {"these steps are no chain", "pipeline", "", ""});
    }
    made_ = *made;
    for (const StreamShape& shape : steps) {
        Step step;
        step.frames = shape.frames / frames_;
        step.rows = step.frames * shape.rows;
        step.out_rows = step.frames * shape.made.before(shape.rows);
        step.halo = step.frames == 1 ? std::min(shape.halo, shape.rows) : 0;
        step.border = step.frames == 1 ? shape.border : RowBorder::inside;
        step.made = rows_made(shape, step.frames);
        if (step.border == RowBorder::periodic && step.halo > 0) {
            border_ = RowBorder::periodic;
        }
        if (!steps_.empty() && steps_.back().out_rows != step.rows) {
            throw Error(ExitCode::defect,
                        {"a step takes other rows than the one before makes", "pipeline", "", ""});
        }
        steps_.push_back(step);
    }
    for (std::size_t i = steps_.size(); i-- > 0;) {
        Step& step = steps_[i];
        if (i + 1 < steps_.size()) {
            step.reach_out =
                round_up(steps_[i + 1].reach_in, step.made.each) / step.made.each * step.made.layer;
            // Across a frame's end, where the last layer may be short.
            if (border_ == RowBorder::periodic && step.reach_out > 0 &&
                step.rows % step.made.layer != 0) {
                step.reach_out += 2 * step.made.layer;
            }
        }
        step.reach_in = step.reach_out + step.halo;
        whole_ = whole_ || step.reach_in >= step.rows;
    }
    halo_ = whole_ ? rows() : steps_.front().reach_in;
}

/// The fewest rows of a step's input, in whole layers, that these of its output belong to.
RowSpan StepChain::rows_around(const Step& step, RowSpan out) const {
    const OutputRows& made = step.made;
    return {std::min(step.rows, out.first / made.each * made.layer),
            std::min(step.rows, round_up(out.last, made.each) / made.each * made.layer)};
}

/// As Decomposition::window(); where the whole input is there, no row is held under another number.
RowSpan StepChain::window(const Step& step, RowSpan rows) const {
    const RowSpan all{0, step.rows};
    if (step.halo >= step.rows || (rows.first == 0 && rows.last == step.rows)) {
        return all;
    }
    const RowSpan wide{rows.first - step.halo, rows.last + step.halo};
    const bool crosses = wide.first < 0 || wide.last > step.rows;
    if (!crosses || (step.border == RowBorder::periodic && !whole_)) {
        return wide;
    }
    return step.border == RowBorder::periodic
               ? all
               : RowSpan{std::max<std::int64_t>(0, wide.first), std::min(step.rows, wide.last)};
}

/// The calls of step `index` for extended rows `out` of its output. `held`: the extended rows that
/// the step's buffer then holds; the next step's buffer begins with the first call's output.
void StepChain::add_calls(std::size_t index, RowSpan out, std::vector<StepWork>& works,
                          RowSpan& held) const {
    const Step& step = steps_[index];
    std::optional<RowSpan> all;
    std::vector<RowSpan> windows;
    StepWork& work = works[index];
    for (std::int64_t frame = floor_div(out.first, step.out_rows); frame * step.out_rows < out.last;
         ++frame) {
        const std::int64_t start = frame * step.out_rows;
        const RowSpan rows = rows_around(step, {std::max(out.first - start, std::int64_t{0}),
                                                std::min(out.last - start, step.out_rows)});
        const RowSpan in = window(step, rows);
        const std::int64_t offset = frame * step.rows;
        windows.push_back({in.first + offset, in.last + offset});
        all = all ? RowSpan{std::min(all->first, windows.back().first),
                            std::max(all->last, windows.back().last)}
                  : windows.back();
        const std::int64_t made = step.made.before(rows.first);
        StepCall call;
        call.out_row = start + made; // extended, until the buffer's first row is known
        call.out_rows = step.made.before(rows.last) - made;
        call.block = {1, in.first, in.count(), rows.first, rows.count()};
        work.calls.push_back(call);
    }
    held = *all;
    for (std::size_t i = 0; i < work.calls.size(); ++i) {
        work.calls[i].in_row = windows[i].first; // extended
    }
}

StepChain::Extended StepChain::extended(const RowBlock& block, std::size_t least) const {
    Extended found;
    std::vector<RowSpan>& own = found.own;
    own = {{block.out_first, block.out_first + block.out_rows}};
    for (const Step& step : steps_) {
        own.push_back({step.made.before(own.back().first), step.made.before(own.back().last)});
    }
    std::vector<StepWork>& works = found.works;
    works.resize(steps_.size());
    std::size_t count = steps_.size(); // of steps with output; rows behind the last whole block,
    while (count > 0 && own[count].count() == 0) { // for example, have none
        --count;
    }
    count = count < steps_.size() ? std::min(count, least) : count;
    if (count == 0) {
        return found;
    }
    // The last of them, which may make nothing of some layers.
    const RowSpan in = window(steps_[count - 1], own[count - 1]);
    works[count - 1].calls = {
        {{1, in.first, in.count(), own[count - 1].first, own[count - 1].count()},
         in.first,
         own[count].first,
         own[count].count()}};
    RowSpan held = in;
    for (std::size_t i = count - 1; i-- > 0;) {
        if (i < least) { // with those that the next step drops
            held = {std::min(held.first, own[i + 1].first), std::max(held.last, own[i + 1].last)};
        }
        add_calls(i, held, works, held);
        works[i + 1].first = works[i].calls.front().out_row;
    }
    works.front().first = block.in_first;
    if (count < works.size()) {
        works[count].first = own[count].first;
    }
    return found;
}

std::vector<StepWork> StepChain::work(const RowBlock& block, std::size_t least,
                                      const BlockRun& blocks, Carries carries) const {
    if (block.frames > 1 || block.out_rows == rows()) {
        return whole_frames(block.frames); // rows of the frame's other end are not held again
    }
    const Extended plain = extended(block, least);
    std::vector<StepWork> works = plain.works;
    // Where a step needs whole frames, a block may make more of them than the one behind it.
    const BlockRun near = whole_ ? BlockRun{} : blocks;
    const Extended before = near.before ? extended(*near.before, least) : Extended{};
    if (near.before && carries == Carries::yes && is_inside(before) && is_inside(plain) &&
        !carry(before, works)) {
        works = plain.works;
    }
    own_rows(plain, near, before, works);
    works.front().held = block.in_rows;
    place_calls(works);
    return works;
}

/// Whether every step makes rows of the block, and of no other frame than the block's.
bool StepChain::is_inside(const Extended& block) const {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        const std::vector<StepCall>& calls = block.works[i].calls;
        if (calls.size() != 1) {
            return false;
        }
        const RowBlock& in = calls.front().block;
        // With a periodic border the window of a whole frame is not that of its last rows.
        const bool whole = in.in_first <= 0 || in.in_first + in.in_rows >= steps_[i].rows;
        if (border_ == RowBorder::periodic && whole) {
            return false;
        }
    }
    return true;
}

std::int64_t StepChain::most_carried(std::size_t step) const {
    return whole_ ? 0
                  : std::min(steps_[step].rows,
                             2 * steps_[step].halo + steps_[step - 1].made.each - 1);
}

/// Leaves out of `works` what the block before has made: from the last step to the first, each
/// makes what the next one takes and the block before has not made. False where that is more than
/// is carried.
bool StepChain::carry(const Extended& before, std::vector<StepWork>& works) const {
    for (std::size_t i = steps_.size() - 1; i-- > 0;) {
        StepWork& next = works[i + 1];
        StepCall& call = works[i].calls.front();
        const StepCall& earlier = before.works[i].calls.front();
        const std::int64_t made = earlier.out_row + earlier.out_rows;
        const std::int64_t last = call.out_row + call.out_rows;
        next.first = next.calls.empty() ? made : next.calls.front().in_row;
        next.carried = std::min(made, last) - next.first;
        if (next.carried < 0 || next.carried > most_carried(i + 1)) {
            return false;
        }
        if (made >= last) {
            works[i].calls.clear();
            continue;
        }
        const Step& step = steps_[i];
        const RowSpan rows = rows_around(step, {made, last});
        if (step.made.before(rows.first) != made) {
            return false;
        }
        const RowSpan in = window(step, rows);
        call.block = {1, in.first, in.count(), rows.first, rows.count()};
        call.in_row = in.first;
        call.out_row = made;
        call.out_rows = last - made;
    }
    for (StepWork& work : works) {
        work.follows = true;
    }
    return true;
}

/// Marks the own rows of each call: those of the block, or, where blocks follow one another, those
/// of all of them that no block before has made.
void StepChain::own_rows(const Extended& block, const BlockRun& blocks, const Extended& before,
                         std::vector<StepWork>& works) const {
    std::int64_t end = blocks.last.value_or(0); // of the last block; a row of each step's input
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        RowSpan own = block.own[i + 1];
        end = steps_[i].made.before(end);
        if (blocks.before) {
            const std::vector<StepCall>& earlier = before.works[i].calls;
            const std::int64_t made =
                earlier.empty() ? own.first : earlier.back().out_row + earlier.back().out_rows;
            own.first = std::max(own.first, made);
        }
        own.last = std::max({own.first, own.last, end});
        for (StepCall& call : works[i].calls) {
            const auto within = [&](std::int64_t row) {
                return std::clamp<std::int64_t>(row - call.out_row, 0, call.out_rows);
            };
            call.own = {within(own.first), within(own.last)};
        }
    }
}

/// Extended rows to places in buffers.
void StepChain::place_calls(std::vector<StepWork>& works) const {
    for (std::size_t i = 0; i < works.size(); ++i) {
        StepWork* next = i + 1 < works.size() ? &works[i + 1] : nullptr;
        if (next != nullptr) {
            next->held = next->carried;
        }
        for (StepCall& call : works[i].calls) {
            call.in_row -= works[i].first;
            call.out_row -= next != nullptr ? next->first : works[i].calls.front().out_row;
            if (next != nullptr) {
                next->held = call.out_row + call.out_rows;
            }
            const std::int64_t frames = steps_[i].frames;
            if (frames > 1) {
                const std::int64_t rows = steps_[i].rows / frames;
                call.block = {call.block.in_rows / rows, 0, rows, 0, rows};
            }
        }
    }
}

std::vector<StepWork> StepChain::whole_frames(std::int64_t frames) const {
    std::vector<StepWork> works;
    for (const Step& step : steps_) {
        const std::int64_t rows = step.rows / step.frames;
        StepCall call;
        call.block = {frames * step.frames, 0, rows, 0, rows};
        call.out_rows = frames * step.out_rows;
        call.own = {0, call.out_rows};
        works.push_back({{call}, frames * step.rows, 0, 0, false});
    }
    return works;
}

/// The size of a block that lies in one frame, in which `own_rows` of the step's input are its own.
StepSize StepChain::size(std::size_t index, const RowBlock& block, std::int64_t own_rows) const {
    const Step& step = steps_[index];
    const bool inside = border_ == RowBorder::inside;
    std::int64_t out = own_rows + 2 * step.reach_out;
    std::int64_t held = block.in_rows;
    if (index > 0) {
        // Whole layers of the step before are made, and its frame's last one may be short.
        const std::int64_t each = steps_[index - 1].made.each;
        held = own_rows + 2 * (round_up(step.reach_in, each) + (inside ? 0 : each));
        held = whole_ ? step.rows : (inside ? std::min(held, step.rows) : held);
    }
    // A periodic border may then ask a step before for its whole output.
    const bool all = whole_ && index + 1 < steps_.size();
    out = all ? step.rows : std::min(out, whole_ || inside ? step.rows : held);
    if (step.frames > 1) {
        const std::int64_t rows = step.rows / step.frames;
        return {held, {(held + rows - 1) / rows, 0, rows, 0, rows}};
    }
    return {held, {1, 0, held, 0, out}};
}

std::vector<StepSize> StepChain::sizes(const RowBlock& block) const {
    std::vector<StepSize> sizes;
    // A block of one frame may be as large as one of several, where a periodic border is long.
    const std::int64_t frames = std::max(block.frames, block.in_rows / rows());
    std::int64_t own = frames > 1 ? rows() : std::min(block.out_rows, rows());
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        const Step& step = steps_[i];
        StepSize most = size(i, block, own);
        if (frames > 1) {
            const std::int64_t frame = step.rows / step.frames;
            most.held = std::max(most.held, frames * step.rows);
            most.block = {frames * step.frames, 0, std::max(frame, most.block.in_rows), 0,
                          std::max(frame, most.block.out_rows)};
        }
        sizes.push_back(most);
        own = std::min(step.out_rows,
                       round_up(own, step.made.layer) / step.made.layer * step.made.each);
    }
    return sizes;
}

} // namespace runner
