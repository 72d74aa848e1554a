// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/each_sample_job.hpp"

#include "base/rounding.hpp"
#include "io/metadata/carry_setup.hpp"
#include "jobs/axis_work.hpp"
#include "kernels/transpose/transpose.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>
#include <variant>

namespace runner {
namespace {

/// Pixels with their samples side by side, and images of one sample with `pitch` elements from one
/// to the next: one to the other and back.
struct SampleLayout {
    std::int64_t pixels = 0;
    std::int64_t samples = 0;
    std::int64_t pitch = 0;
    std::int64_t element_bytes = 1;

    Transposition split() const {
        return {{1, pixels, samples},
                {0, 2, 1},
                static_cast<int>(element_bytes),
                {pixels * samples, samples, 1},
                {samples * pitch, pitch, 1}};
    }
    Transposition join() const {
        return {{1, samples, pixels},
                {0, 2, 1},
                static_cast<int>(element_bytes),
                {samples * pitch, pitch, 1},
                {pixels * samples, samples, 1}};
    }
};

void move(Queue& queue, const Transposition& transposition, const std::byte* in, std::byte* out) {
    std::visit([&](auto& backend) { transpose(backend, transposition, in, out); }, queue);
}

std::string of_sample(std::size_t sample, const std::string& text) {
    return "sample " + std::to_string(sample) + ": " + text;
}

/// Lines of the jobs of all samples, each once where all say the same.
std::vector<std::string> lines_of_samples(std::span<const std::shared_ptr<const StreamJob>> jobs,
                                          std::vector<std::string> (Job::*of_job)() const) {
    const std::vector<std::string> first = (jobs.front().get()->*of_job)();
    std::vector<std::string> lines;
    bool are_alike = true;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        const std::vector<std::string> own = (jobs[i].get()->*of_job)();
        are_alike = are_alike && own == first;
        for (const std::string& line : own) {
            lines.push_back(of_sample(i, line));
        }
    }
    return are_alike ? first : lines;
}

/// The surveys of all samples.
class SampleSurvey final : public Survey {
  public:
    SampleSurvey(std::vector<std::unique_ptr<Survey>> of_samples, std::int64_t columns,
                 std::int64_t element_bytes)
        : of_samples_(std::move(of_samples)), columns_(columns), element_bytes_(element_bytes) {}

    std::int64_t step() const override { return of_samples_.front()->step() * columns_; }

    void add(CpuQueue& queue, std::int64_t first, std::int64_t rows, const std::byte* in) override {
        const auto samples = static_cast<std::int64_t>(of_samples_.size());
        images_.resize(static_cast<std::size_t>(samples * rows * element_bytes_));
        const SampleLayout layout{rows, samples, rows, element_bytes_};
        transpose(queue, layout.split(), in, images_.data());
        for (std::size_t i = 0; i < of_samples_.size(); ++i) {
            of_samples_[i]->add(queue, first / columns_, rows / columns_,
                                images_.data() +
                                    static_cast<std::ptrdiff_t>(i) * rows * element_bytes_);
        }
    }

    Findings& findings() override {
        if (findings_.samples.empty()) {
            for (const std::unique_ptr<Survey>& each : of_samples_) {
                findings_.samples.push_back(std::move(each->findings()));
            }
        }
        return findings_;
    }

    bool needs_another_pass() override {
        (void)findings();
        bool needs = false;
        for (std::size_t i = 0; i < of_samples_.size(); ++i) {
            of_samples_[i]->findings() = std::move(findings_.samples[i]);
            needs = of_samples_[i]->needs_another_pass() || needs;
        }
        findings_.samples.clear();
        return needs;
    }

  private:
    std::vector<std::unique_ptr<Survey>> of_samples_;
    std::int64_t columns_;
    std::int64_t element_bytes_;
    std::vector<std::byte> images_;
    Findings findings_;
};

} // namespace

EachSampleJob::EachSampleJob(std::vector<std::shared_ptr<const StreamJob>> of_samples,
                             std::int64_t columns, std::string parameters)
    : shape_(of_samples.front()->shape()), of_samples_(std::move(of_samples)), columns_(columns),
      element_bytes_(shape_.in_row_bytes / columns), parameters_(std::move(parameters)) {
    shape_.output.shape.push_back(samples());
    shape_.rows *= columns;
    shape_.in_row_bytes = samples() * element_bytes_;
    shape_.out_row_bytes = samples() * size_of(shape_.output.type);
    shape_.halo *= columns;
    shape_.made.layer *= columns;
    shape_.made.each *= columns;
    shape_.wanted_rows *= columns;
    shape_.enough_rows *= columns;
    shape_.rows_between *= columns;
}

std::string EachSampleJob::computation() const {
    return first().computation() + ", each sample by itself";
}

std::vector<Attribute> EachSampleJob::attributes() const {
    std::vector<std::vector<Attribute>> of_samples;
    for (const std::shared_ptr<const StreamJob>& job : of_samples_) {
        of_samples.push_back(job->attributes());
    }
    std::vector<Attribute> all;
    for (std::size_t i = 0; i < of_samples.front().size(); ++i) {
        const Attribute& attribute = of_samples.front()[i];
        if (std::all_of(of_samples.begin(), of_samples.end(),
                        [&](const auto& own) { return own[i] == attribute; })) {
            all.push_back(attribute);
            continue;
        }
        for (std::size_t sample = 0; sample < of_samples.size(); ++sample) {
            all.emplace_back(attribute.first + "_" + std::to_string(sample),
                             of_samples[sample][i].second);
        }
    }
    return all;
}

std::vector<Likeness> EachSampleJob::likeness() const {
    std::vector<Likeness> like = first().likeness();
    for (Likeness& each : like) {
        each.axes.push_back({static_cast<std::int64_t>(each.axes.size()), 1});
        each.shape.push_back(samples());
    }
    return like;
}

std::vector<std::string> EachSampleJob::axis_work(std::size_t axes) const {
    std::vector<std::string> work = first().axis_work(axes - 1);
    work.emplace_back(each_by_itself);
    return work;
}

std::vector<std::string> EachSampleJob::found() const {
    return lines_of_samples(of_samples_, &Job::found);
}

std::vector<std::string> EachSampleJob::notes() const {
    return lines_of_samples(of_samples_, &Job::notes);
}

std::unique_ptr<Survey> EachSampleJob::survey() const {
    std::vector<std::unique_ptr<Survey>> surveys;
    for (const std::shared_ptr<const StreamJob>& job : of_samples_) {
        surveys.push_back(job->survey());
        if (!surveys.back()) {
            return nullptr;
        }
    }
    return std::make_unique<SampleSurvey>(std::move(surveys), columns_, element_bytes_);
}

std::unique_ptr<Job> EachSampleJob::surveyed(const Findings& findings) const {
    std::vector<std::shared_ptr<const StreamJob>> known;
    for (std::size_t i = 0; i < of_samples_.size(); ++i) {
        const std::shared_ptr<const Job> job = of_samples_[i]->surveyed(findings.samples[i]);
        known.push_back(std::dynamic_pointer_cast<const StreamJob>(job));
    }
    return with(std::move(known));
}

std::unique_ptr<EachSampleJob>
EachSampleJob::with(std::vector<std::shared_ptr<const StreamJob>> of_samples) const {
    return std::make_unique<EachSampleJob>(std::move(of_samples), columns_, parameters_);
}

std::shared_ptr<const StreamJob> EachSampleJob::counting_part() const {
    const std::shared_ptr<const StreamJob> part = first().counting_part();
    return part ? with({of_samples_.size(), part}) : nullptr;
}

void EachSampleJob::check_rows(std::int64_t first, std::int64_t rows, const std::byte* in) const {
    if (!checks_rows() || rows == 0) {
        return;
    }
    // Pixels may begin and end within a row of the image: zeros stand for the others.
    const std::int64_t before = (first % columns_ + columns_) % columns_;
    const std::int64_t lines = ceil_divide(before + rows, columns_);
    std::vector<std::byte> image(static_cast<std::size_t>(lines * columns_ * element_bytes_));
    for (std::int64_t sample = 0; sample < samples(); ++sample) {
        const std::byte* from = in + sample * element_bytes_;
        std::byte* to = image.data() + before * element_bytes_;
        for (std::int64_t i = 0; i < rows; ++i) {
            std::memcpy(to, from, static_cast<std::size_t>(element_bytes_));
            from += shape_.in_row_bytes;
            to += element_bytes_;
        }
        of_samples_[static_cast<std::size_t>(sample)]->check_rows((first - before) / columns_,
                                                                  lines, image.data());
    }
}

RowBlock EachSampleJob::lines_of(const RowBlock& block) const {
    return {block.frames, block.in_first / columns_, ceil_divide(block.in_rows, columns_),
            block.out_first / columns_, ceil_divide(block.out_rows, columns_)};
}

std::int64_t EachSampleJob::pitch(std::int64_t made_rows) const {
    return aligned_bytes(made_rows * first().shape().out_row_bytes);
}

std::int64_t EachSampleJob::scratch_bytes(Backend backend, const RowBlock& block) const {
    const RowBlock lines = lines_of(block);
    const std::int64_t pixels = lines.frames * lines.in_rows * columns_;
    std::int64_t most = 0;
    for (const std::shared_ptr<const StreamJob>& job : of_samples_) {
        most = std::max(most, job->scratch_bytes(backend, lines));
    }
    const std::int64_t made = lines.frames * first().shape().made.most(lines.out_rows);
    return samples() * (aligned_bytes(pixels * element_bytes_) + pitch(made)) + most;
}

double EachSampleJob::operations(const RowBlock& block) const {
    return static_cast<double>(samples()) * first().operations(lines_of(block));
}

void EachSampleJob::join(Queue& queue, const RowBlock& lines, const std::byte* made,
                         std::int64_t pitch, std::byte* out) const {
    const std::int64_t bytes = size_of(shape_.output.type);
    const std::int64_t pixels = made_rows(lines) * first().shape().out_row_bytes / bytes;
    move(queue, SampleLayout{pixels, samples(), pitch / bytes, bytes}.join(), made, out);
}

void EachSampleJob::run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
                        const RunMemory& memory) const {
    const RowBlock lines = lines_of(block);
    const std::int64_t pixels = lines.frames * lines.in_rows * columns_;
    const std::int64_t in_pitch = aligned_bytes(pixels * element_bytes_);
    const std::int64_t made_pitch = pitch(made_rows(lines));
    std::byte* const images = memory.scratch;
    std::byte* const made = images + samples() * in_pitch;
    move(queue, SampleLayout{pixels, samples(), in_pitch / element_bytes_, element_bytes_}.split(),
         in, images);
    RunMemory own = memory;
    own.scratch = made + samples() * made_pitch;
    own.counted_first = memory.counted_first / columns_;
    own.counted_last = memory.counted_last / columns_;
    for (std::int64_t i = 0; i < samples(); ++i) {
        of_samples_[static_cast<std::size_t>(i)]->run(queue, lines, images + i * in_pitch,
                                                      made + i * made_pitch, own);
    }
    join(queue, lines, made, made_pitch, out);
}

bool has_samples(const JobInput& input) {
    return input.channels.value_or(1) > 1 && input.array.shape.size() > 2;
}

JobInput sample_of(const JobInput& input, int sample) {
    JobInput own = input;
    own.array.shape.pop_back();
    own.channels = 1;
    if (own.axes.known()) {
        own.axes.each.pop_back();
    }
    own.setup = lost_setup(std::move(own.setup), "is of frames without colour");
    own.sample = sample;
    return own;
}

std::unique_ptr<Job>
make_each_sample(const JobInput& input, const KindParameters& parameters,
                 const std::function<std::unique_ptr<StreamJob>(const JobInput&)>& make) {
    if (!has_samples(input)) {
        return make(input);
    }
    const JobInput one = sample_of(input, 0);
    std::vector<std::shared_ptr<const StreamJob>> jobs = jobs_of_samples(input, make);
    std::string lines = jobs.front()->parameters().value_or(parameters.canonical_for(one.array));
    return std::make_unique<EachSampleJob>(std::move(jobs), one.array.shape.back(),
                                           std::move(lines));
}

} // namespace runner
