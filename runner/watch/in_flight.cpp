// SPDX-License-Identifier: BSD-3-Clause
#include "runner/watch/in_flight.hpp"

#include <algorithm>

namespace runner {

void InFlight::watch(const std::shared_ptr<WorkMeter>& meter) {
    const std::lock_guard lock(mutex_);
    meters_.push_back(meter);
    if (dropped_) {
        meter->drop();
    }
}

InFlight::Entry* InFlight::find(std::int64_t number) {
    const auto found = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& entry) { return entry.number == number; });
    return found == entries_.end() ? nullptr : &*found;
}

void InFlight::begin(std::int64_t number, std::int64_t rows) {
    const std::lock_guard lock(mutex_);
    Entry entry;
    entry.number = number;
    entry.rows = rows;
    entries_.push_back(std::move(entry));
}

void InFlight::compute(std::int64_t number, double operations,
                       const std::shared_ptr<WorkMeter>& meter, Clock::time_point now) {
    const std::lock_guard lock(mutex_);
    if (Entry* entry = find(number)) {
        entry->operations = operations;
        entry->meter = meter;
        entry->counted_before = meter->done();
        entry->begun = now;
    }
}

void InFlight::computed(std::int64_t number) {
    const std::lock_guard lock(mutex_);
    if (Entry* entry = find(number)) {
        entry->computed = true;
    }
}

void InFlight::wrote(std::int64_t number, std::int64_t rows) {
    const std::lock_guard lock(mutex_);
    if (Entry* entry = find(number)) {
        entry->rows = std::max<std::int64_t>(0, entry->rows - rows);
    }
}

void InFlight::end(std::int64_t number) {
    const std::lock_guard lock(mutex_);
    std::erase_if(entries_, [&](const Entry& entry) { return entry.number == number; });
}

std::vector<ChunkInFlight> InFlight::chunks(Clock::time_point now) const {
    const std::lock_guard lock(mutex_);
    std::vector<ChunkInFlight> chunks;
    for (const Entry& entry : entries_) {
        ChunkInFlight chunk{entry.number, entry.rows, entry.operations > 0};
        chunk.computing = entry.meter != nullptr && !entry.computed;
        if (entry.computed) {
            chunk.share = 1;
        } else if (chunk.computing && chunk.counts) {
            const double done = entry.meter->done() - entry.counted_before;
            chunk.share = std::clamp(done / entry.operations, 0.0, 1.0);
            if (chunk.share > 0) {
                const std::chrono::duration<double> took = now - entry.begun;
                chunk.seconds_left = took.count() / chunk.share * (1 - chunk.share);
            }
        }
        chunks.push_back(chunk);
    }
    std::sort(chunks.begin(), chunks.end(),
              [](const auto& a, const auto& b) { return a.number < b.number; });
    return chunks;
}

double InFlight::operations() const {
    const std::lock_guard lock(mutex_);
    double all = 0;
    for (const std::shared_ptr<WorkMeter>& meter : meters_) {
        all += meter->done();
    }
    return all;
}

void InFlight::drop() {
    const std::lock_guard lock(mutex_);
    dropped_ = true;
    for (const std::shared_ptr<WorkMeter>& meter : meters_) {
        meter->drop();
    }
}

} // namespace runner
