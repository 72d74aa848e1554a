// SPDX-License-Identifier: BSD-3-Clause
#include "runner/trial/trial_page.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "runner/page/page_shell.hpp"

#include <filesystem>
#include <string_view>
#include <system_error>

namespace runner {
namespace {

constexpr std::string_view style = R"(:root { color-scheme: light dark; }
body { margin: 24px; font: 15px/1.5 system-ui, "Liberation Sans", sans-serif; }
h1 { font-size: 24px; margin: 0 0 8px; overflow-wrap: anywhere; }
p { margin: 4px 0; max-width: 70em; }
main { display: grid; gap: 20px; overflow-x: auto; margin-top: 20px; justify-content: start; }
figure { margin: 0; width: 384px; }
img { width: 100%; image-rendering: pixelated; display: block; background: #888; }
figcaption { font-size: 13px; overflow-wrap: anywhere; }
h2 { font-size: 14px; margin: 6px 0 0; }
code { font-size: 12px; user-select: all; }
body > .before { margin-top: 20px; }
)";

/// Text as an element's content or an attribute's value.
std::string html_text(std::string_view text) {
    std::string escaped;
    for (const char each : text) {
        switch (each) {
        case '&': escaped += "&amp;"; break;
        case '<': escaped += "&lt;"; break;
        case '>': escaped += "&gt;"; break;
        case '"': escaped += "&quot;"; break;
        default: escaped += each;
        }
    }
    return escaped;
}

std::string image(const std::vector<std::byte>& png, std::string_view what) {
    return fmt::format("<img alt=\"{}\" src=\"data:image/png;base64,{}\">\n", html_text(what),
                       base64_text(png));
}

std::string figure(const TrialPicture& picture) {
    return "<figure>\n" +
           image(picture.png, picture.heading.empty() ? "after" : "after, " + picture.heading) +
           "<figcaption><h2>" + html_text(picture.heading.empty() ? "after" : picture.heading) +
           "</h2>" + html_text(picture.facts) + "<br><code>" + html_text(picture.line) +
           "</code></figcaption>\n</figure>\n";
}

} // namespace

std::string trial_html(const TrialPage& page) {
    std::string html =
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        "style-src 'unsafe-inline'; img-src data:\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<link rel=\"icon\" href=\"data:,\">\n<title>" +
        html_text(page.title) + "</title>\n<style>\n" + std::string(style) +
        fmt::format("main {{ grid-template-columns: repeat({}, 384px); }}\n", page.columns) +
        "</style>\n</head>\n<body>\n<h1>" + html_text(page.title) + "</h1>\n";
    for (const std::string& line : page.lines) {
        html += "<p>" + html_text(line) + "</p>\n";
    }
    const std::string before = "<figure class=\"before\">\n" + image(page.before, "before") +
                               "<figcaption><h2>before</h2>" + html_text(page.before_caption) +
                               "</figcaption>\n</figure>\n";
    const bool side_by_side = page.pictures.size() == 1;
    html += side_by_side ? "<main style=\"grid-template-columns: 384px 384px\">\n" + before
                         : before + "<main>\n";
    for (const TrialPicture& picture : page.pictures) {
        html += figure(picture);
    }
    return html + "</main>\n</body>\n</html>\n";
}

PageFolder::~PageFolder() {
    std::error_code ignored; // a folder that is not empty stays
    if (is_made_) {
        std::filesystem::remove(path_, ignored);
    }
}

void PageFolder::make(const std::vector<std::string>& new_names) {
    std::error_code failure;
    is_made_ = std::filesystem::create_directory(path_, failure);
    if (failure || !std::filesystem::is_directory(path_, failure)) {
        throw Error(ExitCode::output, {"cannot make the folder of the page", path_,
                                       failure ? failure.message() : "a file has that name",
                                       "Name another with --out"});
    }
    for (const std::string& name : new_names) {
        const std::string file = path_ + "/" + name;
        if (std::filesystem::exists(std::filesystem::symlink_status(file, failure))) {
            throw Error(ExitCode::output,
                        {"the output of a part would replace a file", file, "it exists already",
                         "Remove it, or name another folder with --out"});
        }
    }
}

void PageFolder::take(const std::string& file, const std::string& name) const {
    const std::string kept = path_ + "/" + name;
    std::error_code failure;
    std::filesystem::rename(file, kept, failure);
    if (failure) {
        throw Error(ExitCode::output, {"cannot keep the output of a part", kept, failure.message(),
                                       "Name a folder with --out beside output.file"});
    }
}

} // namespace runner
