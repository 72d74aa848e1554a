// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/kind.hpp"
#include "jobs/stream_job.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// A job that does the samples of colour pixels each by itself: on the queue they are taken apart
/// into images of one sample, which another job takes, and what it makes of each is joined to
/// pixels. So the bytes of a sample are those that the other job makes of it alone.
///
/// A row of the dataset is a pixel, and slabs and chunks are whole rows of the image.
class EachSampleJob : public StreamJob {
  public:
    /// `of_samples`: a job for each sample, in their order. All are alike, but for what their
    /// surveys find, and keep the same (kept_bytes()). Their input ends with rows × `columns`; of
    /// their output a row belongs to each row of the input. `parameters`: the lines in effect.
    EachSampleJob(std::vector<std::shared_ptr<const StreamJob>> of_samples, std::int64_t columns,
                  std::string parameters);

    StreamShape shape() const override { return shape_; }
    std::string computation() const override;
    std::optional<std::string> parameters() const override { return parameters_; }
    /// An attribute that is not the same of all samples has their number behind its name.
    std::vector<Attribute> attributes() const override;
    std::vector<Likeness> likeness() const override;
    std::optional<Locality> locality() const override { return first().locality(); }
    std::optional<Locality> mixing() const override { return first().mixing(); }
    std::vector<std::string> axis_work(std::size_t axes) const override;
    std::vector<std::string> found() const override;
    std::vector<std::string> notes() const override;
    std::optional<double> invalid() const override { return first().invalid(); }
    int channels() const override { return static_cast<int>(samples()); }
    std::unique_ptr<Survey> survey() const override;
    std::unique_ptr<Job> surveyed(const Findings& findings) const override;

    bool checks_rows() const override { return first().checks_rows(); }
    void check_rows(std::int64_t first, std::int64_t rows, const std::byte* in) const override;
    std::int64_t scratch_bytes(Backend backend, const RowBlock& block) const override;
    std::int64_t thread_bytes(const RowBlock& block) const override {
        return first().thread_bytes(lines_of(block));
    }
    std::int64_t kept_bytes(Backend backend) const override { return first().kept_bytes(backend); }
    void prepare(Queue& queue, std::byte* kept) const override { first().prepare(queue, kept); }
    std::vector<std::string> counted() const override { return first().counted(); }
    std::vector<std::int64_t> counts(Queue& queue, const std::byte* kept) const override {
        return first().counts(queue, kept);
    }
    std::shared_ptr<const StreamJob> counting_part() const override;
    double operations(const RowBlock& block) const override;
    void run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
             const RunMemory& memory) const override;

  protected:
    /// The job of the first sample.
    const StreamJob& first() const { return *of_samples_.front(); }
    std::int64_t samples() const { return static_cast<std::int64_t>(of_samples_.size()); }

    /// The shape, for a job whose output is another.
    StreamShape shape_;

  private:
    /// A block in rows of the image.
    RowBlock lines_of(const RowBlock& block) const;
    /// Bytes from so many rows that are made of one sample to those of the next, in scratch memory.
    std::int64_t pitch(std::int64_t made_rows) const;

    /// How many rows the job of a sample makes of a block of its input.
    virtual std::int64_t made_rows(const RowBlock& lines) const {
        return lines.frames * lines.out_rows;
    }
    /// Joins what was made of the samples, `pitch` bytes from one to the next, on the queue.
    virtual void join(Queue& queue, const RowBlock& lines, const std::byte* made,
                      std::int64_t pitch, std::byte* out) const;
    /// The same job with others for its samples.
    virtual std::unique_ptr<EachSampleJob>
    with(std::vector<std::shared_ptr<const StreamJob>> of_samples) const;

    std::vector<std::shared_ptr<const StreamJob>> of_samples_;
    std::int64_t columns_;
    std::int64_t element_bytes_;
    std::string parameters_;
};

/// The input that one sample of a colour input is.
JobInput sample_of(const JobInput& input, int sample);

/// Whether the input's last axis has the samples of colour pixels.
bool has_samples(const JobInput& input);

/// A job for each sample of a colour input. `make`: makes one of the input that a sample is.
template <class Make> auto jobs_of_samples(const JobInput& input, const Make& make) {
    using Made = typename decltype(make(input))::element_type;
    std::vector<std::shared_ptr<const Made>> jobs;
    jobs.reserve(static_cast<std::size_t>(*input.channels));
    for (int i = 0; i < *input.channels; ++i) {
        jobs.push_back(make(sample_of(input, i)));
    }
    return jobs;
}

/// A job that kinds make of an input without colour, for each sample of `input` where that is
/// colour. `make`: makes it of its input. `parameters`: of the kind.
std::unique_ptr<Job>
make_each_sample(const JobInput& input, const KindParameters& parameters,
                 const std::function<std::unique_ptr<StreamJob>(const JobInput&)>& make);

} // namespace runner
