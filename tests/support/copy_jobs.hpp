// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/engines/evolve/evolve_engine.hpp"
#include "runner/engines/permute/permute_engine.hpp"
#include "tests/io/scratch_folder.hpp"
#include "tests/support/copy_stream.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace runner {

/// Swaps the first two axes of a volume of bytes, by copies on the device alone.
class CopyPermutation : public PermuteJob {
  public:
    explicit CopyPermutation(const std::array<std::int64_t, 3>& input) {
        shape_.input = {input.begin(), input.end()};
        shape_.permutation = {1, 0, 2};
        shape_.output = {ElementType::uint8, {input[1], input[0], input[2]}};
    }

    PermuteShape shape() const override { return shape_; }
    std::string computation() const override { return "copies"; }
    void run(Queue& queue, const Extents& box, const std::byte* in, std::byte* out) const override {
        for (std::int64_t a = 0; a < box[0]; ++a) {
            for (std::int64_t b = 0; b < box[1]; ++b) {
                std::visit(
                    [&](auto& own) {
                        copy_on_device(own, out + (b * box[0] + a) * box[2],
                                       in + (a * box[1] + b) * box[2], box[2]);
                    },
                    queue);
            }
        }
    }

    /// The whole output, without the engine.
    std::vector<std::byte> expected(const std::vector<std::byte>& in) const {
        std::vector<std::byte> out(in.size());
        const Extents& n = shape_.input;
        for (std::int64_t a = 0; a < n[0]; ++a) {
            for (std::int64_t b = 0; b < n[1]; ++b) {
                std::copy_n(in.data() + (a * n[1] + b) * n[2], n[2],
                            out.data() + (b * n[0] + a) * n[2]);
            }
        }
        return out;
    }

  private:
    PermuteShape shape_;
};

/// A state of rows of bytes that moves a row down with each generation, by copies on the device
/// alone: its first row stays. Rows have 8 bytes or more.
class CopyEvolution : public EvolveJob {
  public:
    CopyEvolution(std::int64_t rows, std::int64_t row_bytes, const Snapshots& snapshots) {
        shape_.output = {ElementType::uint8, {snapshots.count(), rows, row_bytes}};
        shape_.rows = rows;
        shape_.in_row_bytes = shape_.out_row_bytes = shape_.state_row_bytes = row_bytes;
        shape_.cells = rows * row_bytes;
        shape_.snapshots = snapshots;
    }

    EvolveShape shape() const override { return shape_; }
    std::string computation() const override { return "copies"; }
    std::vector<Attribute> attributes() const override { return {}; }
    std::int64_t table_bytes(Backend /*backend*/) const override { return 64; }
    void make_tables(Queue& /*queue*/, std::byte* /*tables*/) const override {}

    void pack(Queue& queue, std::int64_t rows, const std::byte* in, std::byte* state,
              std::int64_t* first_wrong) const override {
        copy(queue, state, in, rows);
        // No byte is wrong: what each row begins with is a place far behind them all.
        std::visit(
            [&](auto& own) {
                copy_on_device(own, reinterpret_cast<std::byte*>(first_wrong), in,
                               sizeof(*first_wrong));
            },
            queue);
    }
    /// Makes rows begin so.
    void prepare(std::vector<std::byte>& in) const {
        for (std::int64_t row = 0; row < shape_.rows; ++row) {
            const std::int64_t last = row * shape_.in_row_bytes + std::int64_t{sizeof(row)} - 1;
            in[static_cast<std::size_t>(last)] = std::byte{0x7f};
        }
    }
    ErrorText wrong_byte(std::int64_t /*row*/, std::int64_t /*column*/,
                         std::byte /*value*/) const override {
        return {"a wrong byte", "", "", ""};
    }
    void unpack(Queue& queue, std::int64_t rows, const std::byte* state,
                std::byte* out) const override {
        copy(queue, out, state, rows);
    }
    void advance(Queue& queue, const StateBand& band, std::uint64_t /*generation*/,
                 std::int64_t generations, std::byte* from, std::byte* to,
                 const std::byte* /*tables*/) const override {
        const std::int64_t down = std::min(generations, band.rows - 1);
        for (std::int64_t row = 0; row < down; ++row) {
            copy(queue, to + row * shape_.state_row_bytes, from, 1);
        }
        copy(queue, to + down * shape_.state_row_bytes, from, band.rows - down);
    }

    /// The whole output, without the engine.
    std::vector<std::byte> expected(const std::vector<std::byte>& in) const {
        const Snapshots& snapshots = shape_.snapshots;
        const std::int64_t bytes = shape_.state_row_bytes;
        std::vector<std::byte> out;
        for (std::int64_t i = 0; i < snapshots.count(); ++i) {
            const auto down = static_cast<std::int64_t>(snapshots.generation(i) - snapshots.first);
            for (std::int64_t row = 0; row < shape_.rows; ++row) {
                const auto* const from = in.data() + std::max<std::int64_t>(0, row - down) * bytes;
                out.insert(out.end(), from, from + bytes);
            }
        }
        return out;
    }

  private:
    void copy(Queue& queue, std::byte* to, const std::byte* from, std::int64_t rows) const {
        std::visit([&](auto& own) { copy_on_device(own, to, from, rows * shape_.state_row_bytes); },
                   queue);
    }

    EvolveShape shape_;
};

/// What one run of such a job on one rank reads, writes and says, from memory to memory.
class CopyRun {
  public:
    CopyRun(std::int64_t in_rows, std::int64_t out_rows, std::int64_t row_bytes)
        : in_(counted_bytes(in_rows * row_bytes)), reader_(in_, row_bytes),
          writer_(out_rows, row_bytes) {
        std::filesystem::create_directory(folder_ / "j");
    }

    RunTimes run(const CopyPermutation& job, const PermutePlan& plan,
                 const QueueMaker& make_queue) {
        output::Commits commits(writer_, journal(), 3600, RowWriter::Sync::no);
        return permute::run_permutation(
            {plan, job, 0, reader_, writer_, progress_, nullptr, &commits, nullptr, say()},
            make_queue);
    }

    RunTimes run(const CopyEvolution& job, const EvolvePlan& plan, const QueueMaker& make_queue) {
        job.prepare(in_);
        output::Commits commits(writer_, journal(), 3600, RowWriter::Sync::no);
        const Ranks ranks(Ranks::Alone{});
        const Stop stop({}, 1);
        return evolve::run_evolution({plan, job, ranks, reader_, writer_, &commits, progress_,
                                      nullptr, stop, HaloChoice{}, folder_ / "j", std::nullopt,
                                      3600, RowWriter::Sync::no, say()},
                                     make_queue);
    }

    const std::vector<std::byte>& in() const { return in_; }
    const MemoryReader& reader() const { return reader_; }
    const MemoryWriter& writer() const { return writer_; }
    const std::string& said() const { return said_; }

  private:
    JournalWriter journal() const { return {folder_ / "j", 1, "rank-0"}; }
    std::function<void(const std::string&)> say() {
        return [this](const std::string& line) { said_ += line; };
    }

    ScratchFolder folder_;
    std::vector<std::byte> in_;
    MemoryReader reader_;
    MemoryWriter writer_;
    RunProgress progress_;
    std::string said_;
};

} // namespace runner
