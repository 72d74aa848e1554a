// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace runner::trial {

/// A number about a picture.
struct TrialNumber {
    std::string name; ///< "noise"
    std::string text; ///< "1.23 dB", or "none"
    std::optional<double> value;
};

/// One run of a trial, for its page. Pictures are PNG, one for each slice.
struct TrialPicture {
    std::string heading; ///< "denoise.strength = 0.4"; "" if there is one run
    std::string line;    ///< the command that runs the whole job with this value
    std::string facts;   ///< "whole job: 12 s, 1.2 GiB"
    std::vector<std::vector<std::byte>> after;
    std::vector<std::vector<std::byte>> difference; ///< after less before; empty if there is none
    std::vector<TrialNumber> numbers;               ///< the same ones of every run
};

/// What the title of each page ends in.
inline constexpr const char* trial_title_end = ", tried on a part";

/// What the page of a trial shows.
struct TrialPage {
    std::string title;
    std::vector<std::string> lines;             ///< about the part and the prediction
    std::vector<std::string> slices;            ///< what each slice is, one or more
    std::vector<std::vector<std::byte>> before; ///< of the input
    std::string before_caption;
    std::vector<TrialNumber> before_numbers;
    std::int64_t width = 1; ///< pixels of the input's pictures; of the largest if !is_one_place
    std::int64_t height = 1;
    bool is_one_place = true;           ///< results lie along the axes of the input's pictures
    std::array<double, 2> range = {};   ///< values shown black and white after
    double difference_range = 0;        ///< the largest difference shown
    std::vector<TrialPicture> pictures; ///< row by row
    std::size_t columns = 1;
};

/// The style sheet and the script of the page, as they were when the program was built.
extern const std::string_view trial_page_style;
extern const std::string_view trial_page_script;

/// The page: HTML that loads nothing. Without its script it shows the first slice.
std::string trial_html(const TrialPage& page);

/// The folder that a trial's page and pictures are written to. Other files in it are left alone.
class PageFolder {
  public:
    explicit PageFolder(std::string path) : path_(std::move(path)) {}
    PageFolder(const PageFolder&) = delete;
    PageFolder& operator=(const PageFolder&) = delete;
    /// Removes the folder if make() has made it and it is still empty.
    ~PageFolder();

    /// Makes it unless it exists. @throws Error (output) if that fails, or if it already has a file
    /// of one of these names.
    void make(const std::vector<std::string>& new_names);

    /// Moves a file of the same file system into it. @throws Error (output).
    void take(const std::string& file, const std::string& name) const;

    const std::string& path() const { return path_; }

  private:
    std::string path_;
    bool is_made_ = false;
};

} // namespace runner::trial
