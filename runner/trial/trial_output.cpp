// SPDX-License-Identifier: BSD-3-Clause
#include "runner/trial/trial_output.hpp"

#include "base/format.hpp"
#include "base/text.hpp"
#include "io/files/own_file.hpp"

#include <iterator>
#include <span>

namespace runner::trial {
namespace {

void write_pictures(const TrialPage& page, const std::string& folder) {
    replace_file(folder + "/before.png", page.before.front());
    for (std::size_t i = 0; i < page.pictures.size(); ++i) {
        replace_file(fmt::format("{}/after{}.png", folder,
                                 page.pictures.size() > 1 ? fmt::format("-{}", i + 1) : ""),
                     page.pictures[i].after.front());
    }
}

std::string numbers_line(const TrialPicture& picture) {
    std::string line;
    for (const TrialNumber& each : picture.numbers) {
        line += (line.empty() ? "  " : ", ") + each.name + " " + each.text;
    }
    return line + "\n";
}

} // namespace

std::string write_trial(const TrialPage& page, const std::string& folder) {
    write_pictures(page, folder);
    const std::string html = trial_html(page);
    // A page that a power cut tore would be nobody's for check_page().
    replace_file(folder + "/index.html", std::as_bytes(std::span(html)), Durable::yes);
    std::string text;
    for (const std::string& line : page.lines) {
        text += line + "\n";
    }
    for (const TrialPicture& picture : page.pictures) {
        text += picture.line + "\n  " + picture.facts + "\n" + numbers_line(picture);
    }
    return text + folder + "/index.html: " + counted(std::ssize(page.pictures) + 1, "picture") +
           "\n";
}

} // namespace runner::trial
