// SPDX-License-Identifier: BSD-3-Clause
#include "runner/trial/trial_results.hpp"

#include "base/format.hpp"
#include "io/formats/png_writer.hpp"
#include "runner/trial/choice/picture_numbers.hpp"
#include "views/pictures/contrast.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace runner::trial {
namespace {

/// The ranges of values of all pictures.
struct Ranges {
    GreyRange before;
    GreyRange after;
    double difference = 0; ///< shown from -difference to difference
};

bool has_differences(const TrialResults& results) {
    return results.is_alike &&
           std::all_of(results.runs.begin(), results.runs.end(), [&](const TrialResult& run) {
               return removed_between(results.before, run.after).has_value();
           });
}

Ranges ranges_of(const TrialResults& results, bool with_differences) {
    std::vector<Thumbnail> after;
    std::vector<Thumbnail> differences;
    for (const TrialResult& run : results.runs) {
        after.insert(after.end(), run.after.begin(), run.after.end());
        for (std::size_t i = 0; with_differences && i < run.after.size(); ++i) {
            differences.push_back(difference_of(results.before[i], run.after[i]));
        }
    }
    Ranges ranges;
    if (results.is_alike) {
        after.insert(after.end(), results.before.begin(), results.before.end());
    }
    ranges.after = range_of(after);
    ranges.before = results.is_alike ? ranges.after : range_of(results.before);
    if (!differences.empty()) {
        const GreyRange range = range_of(differences, Percentiles{});
        ranges.difference = std::max(std::abs(range.black), std::abs(range.white));
    }
    return ranges;
}

std::vector<std::vector<std::byte>> pictures(std::span<const Thumbnail> images,
                                             const GreyRange& range) {
    std::vector<std::vector<std::byte>> all;
    std::transform(images.begin(), images.end(), std::back_inserter(all),
                   [&](const Thumbnail& image) { return png_bytes(shaded(image, range)); });
    return all;
}

/// A number as the page has it: four significant digits.
TrialNumber number(std::string name, std::string unit, const std::optional<double>& value) {
    return {std::move(name), value ? fmt::format("{:.4g}{}", *value, unit) : "none", value};
}

/// How many elements, with their share in percent.
TrialNumber count(std::string name, double elements, double all) {
    constexpr double percent = 100;
    const double share = percent * elements / std::max(1.0, all);
    return {std::move(name), fmt::format("{:.4g} % ({:.0f})", share, elements), share};
}

/// How many elements of the images have this value.
TrialNumber count_of(std::string name, const std::vector<Thumbnail>& images, double value) {
    std::ptrdiff_t found = 0;
    std::size_t all = 0;
    for (const Thumbnail& image : images) {
        found += std::count(image.values.begin(), image.values.end(), value);
        all += image.values.size();
    }
    return count(std::move(name), static_cast<double>(found), static_cast<double>(all));
}

/// The numbers of a result.
std::vector<TrialNumber> numbers_of(const TrialResults& results, const TrialResult& run,
                                    bool with_differences) {
    std::vector<TrialNumber> all;
    all.push_back(number("noise", "", noise_of(run.after)));
    if (with_differences) {
        const std::optional<Removed> removed = removed_between(results.before, run.after);
        all.push_back(
            removed ? count("changed",
                            std::round(removed->changed * static_cast<double>(removed->elements)),
                            static_cast<double>(removed->elements))
                    : number("changed", " %", std::nullopt));
        all.push_back(
            number("removed", "", removed ? std::optional(removed->deviation) : std::nullopt));
        all.push_back(number("structure removed", "", removed ? removed->structure : std::nullopt));
        all.push_back(number("sharpness", "", sharpness_of(results.before, run.after)));
    }
    if (run.ends) {
        all.push_back(count_of("at the lower end", run.after, run.ends->front()));
        all.push_back(count_of("at the upper end", run.after, run.ends->back()));
    }
    if (run.closeness) {
        all.push_back(number("PSNR", " dB", run.closeness->psnr));
        all.push_back(number("SSIM", "", run.closeness->ssim));
    }
    return all;
}

} // namespace

TrialPage page_of(const TrialResults& results) {
    const bool with_differences = has_differences(results);
    const Ranges ranges = ranges_of(results, with_differences);
    TrialPage page;
    page.title = results.title;
    page.lines = results.lines;
    page.slices = results.slices;
    page.columns = results.columns;
    page.before_caption = results.before_caption;
    page.before = pictures(results.before, ranges.before);
    page.before_numbers = {number("noise", "", noise_of(results.before))};
    page.width = results.before.front().width;
    page.height = results.before.front().height;
    page.is_one_place = results.is_one_place;
    for (const TrialResult& run : results.runs) {
        if (!results.is_one_place) {
            page.width = std::max(page.width, run.after.front().width);
            page.height = std::max(page.height, run.after.front().height);
        }
    }
    page.range = {ranges.after.black, ranges.after.white};
    page.difference_range = ranges.difference;
    for (const TrialResult& run : results.runs) {
        TrialPicture picture{run.heading, run.line, run.facts, {}, {}, {}};
        picture.after = pictures(run.after, ranges.after);
        for (std::size_t i = 0; with_differences && i < run.after.size(); ++i) {
            picture.difference.push_back(png_bytes(shaded_difference(
                difference_of(results.before[i], run.after[i]), ranges.difference)));
        }
        picture.numbers = numbers_of(results, run, with_differences);
        page.pictures.push_back(std::move(picture));
    }
    return page;
}

} // namespace runner::trial
