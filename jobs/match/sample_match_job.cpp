// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/match/sample_match_job.hpp"

#include "io/writers/output_fields.hpp"
#include "kernels/transpose/transpose.hpp"

#include <utility>
#include <variant>

namespace runner {

SampleMatchJob::SampleMatchJob(const std::vector<std::shared_ptr<const MatchJob>>& of_samples,
                               std::string parameters)
    : EachSampleJob({of_samples.begin(), of_samples.end()}, of_samples.front()->match().volume[2],
                    std::move(parameters)),
      match_(of_samples.front()->match()) {
    const StreamShape own = first().shape();
    for (OutputField& field : shape_.fields) {
        field.array.shape.front() *= samples();
    }
    shape_.output = joined_array(shape_.fields);
    shape_.out_row_bytes = own.out_row_bytes;
    shape_.made.each = own.made.each * samples();
}

std::vector<Attribute> SampleMatchJob::attributes() const {
    std::vector<Attribute> all = EachSampleJob::attributes();
    all.emplace_back("samples", samples());
    return all;
}

std::vector<Likeness> SampleMatchJob::likeness() const {
    std::vector<Likeness> like = first().likeness();
    like.front().shape = shape_.fields.front().array.shape;
    return like;
}

std::int64_t SampleMatchJob::made_rows(const RowBlock& lines) const {
    const std::int64_t rows = match_.volume[1];
    return match_rows(match_, match_layers(match_, lines.out_first / rows, lines.out_rows / rows));
}

void SampleMatchJob::join(Queue& queue, const RowBlock& lines, const std::byte* made,
                          std::int64_t pitch, std::byte* out) const {
    constexpr std::int64_t word = 4; // bytes, that the parts of a row are made of
    const std::int64_t references = made_rows(lines);
    const std::int64_t row = match_row_bytes(match_.count) / word;
    const Transposition rows{{samples(), references, row},
                             {1, 0, 2},
                             static_cast<int>(word),
                             {pitch / word, row, 1},
                             {samples() * row, row, 1}};
    std::visit([&](auto& backend) { transpose(backend, rows, made, out); }, queue);
}

} // namespace runner
