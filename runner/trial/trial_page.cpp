// SPDX-License-Identifier: BSD-3-Clause
#include "runner/trial/trial_page.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/files/own_file.hpp"
#include "runner/page/page_shell.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace runner::trial {
namespace {

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

using Pngs = std::vector<std::vector<std::byte>>;

/// Images of one kind, a slice each. The first one is shown if `shown`.
std::string images(const Pngs& pngs, std::string_view kind, std::string_view what, bool shown) {
    std::string html;
    for (std::size_t i = 0; i < pngs.size(); ++i) {
        html += fmt::format("<img class=\"{}\" data-slice=\"{}\" alt=\"{}\"{} "
                            "src=\"data:image/png;base64,{}\">\n",
                            kind, i, html_text(what), shown && i == 0 ? "" : " hidden",
                            base64_text(pngs[i]));
    }
    return html;
}

std::string number_rows(const std::vector<TrialNumber>& numbers) {
    std::string html;
    for (const TrialNumber& number : numbers) {
        html += fmt::format("<div><dt>{}</dt><dd{}>{}</dd></div>", html_text(number.name),
                            number.value ? fmt::format(" data-value=\"{}\"", *number.value) : "",
                            html_text(number.text));
    }
    return "<dl>" + html + "</dl>\n";
}

/// `content`: the images.
std::string figure(std::string_view name, std::string_view heading, const std::string& content,
                   const std::string& caption) {
    return fmt::format("<figure class=\"{}\">\n<h2>{}</h2>\n<div class=\"view\" tabindex=\"0\" "
                       "role=\"group\" aria-label=\"{}\">\n{}<span class=\"shown\"></span></div>\n"
                       "<figcaption>{}</figcaption>\n</figure>\n",
                       name, html_text(heading), html_text(heading), content, caption);
}

std::string figure(const TrialPicture& picture) {
    const std::string heading = picture.heading.empty() ? "after" : picture.heading;
    return figure("run", heading,
                  images(picture.after, "after", "after, " + heading, true) +
                      images(picture.difference, "difference", "difference, " + heading, false),
                  number_rows(picture.numbers) + "<p>" + html_text(picture.facts) +
                      "</p>\n<p class=\"line\"><code>" + html_text(picture.line) +
                      "</code><button type=\"button\" class=\"copy\" hidden>Copy</button></p>\n");
}

std::string button(std::string_view attribute, std::string_view value, std::string_view text,
                   std::string_view title) {
    return fmt::format("<button type=\"button\" data-{}=\"{}\" title=\"{}\">{}</button>\n",
                       attribute, value, title, text);
}

/// The controls, which the script shows.
std::string tools(const TrialPage& page) {
    const bool with_differences = !page.pictures.front().difference.empty();
    std::string html =
        "<div class=\"tools\" hidden>\n<div role=\"group\" aria-label=\"shown\">\n" +
        button("show", "after", "After", "a") + button("show", "before", "Before", "b") +
        (page.is_one_place ? button("show", "split", "Both", "s") : "") +
        (with_differences ? button("show", "difference", "Removed", "d") : "") +
        "<label class=\"split\" hidden>divided at <input type=\"range\" min=\"0\" "
        "max=\"100\" value=\"50\"></label>\n</div>\n"
        "<div role=\"group\" aria-label=\"zoom\">\n" +
        button("zoom", "out", "&minus;", "-") + button("zoom", "one", "1:1", "1") +
        button("zoom", "in", "+", "+") + "<output class=\"zoom\"></output>\n</div>\n";
    if (page.slices.size() > 1) {
        html += "<label>Slice <input class=\"slice\" type=\"range\" min=\"0\" max=\"" +
                std::to_string(page.slices.size() - 1) +
                "\" value=\"0\" title=\"[ and ]\"> <output class=\"slice\"></output></label>\n";
        html += "<ol class=\"slices\" hidden>";
        for (const std::string& slice : page.slices) {
            html += "<li>" + html_text(slice) + "</li>";
        }
        html += "</ol>\n";
    }
    if (page.pictures.size() > 1) {
        html += "<label>Sort by <select><option value=\"\">the sweep</option>";
        for (const TrialNumber& number : page.pictures.front().numbers) {
            html += fmt::format("<option>{}</option>", html_text(number.name));
        }
        html += "</select></label>\n";
    }
    return html + "</div>\n";
}

/// Refuses a page that try did not make: it would be lost.
void check_page(const std::string& file) {
    if (is_of_others(file, std::string(trial_title_end) + "</title>")) {
        throw Error(ExitCode::output, {"cannot replace the page", file, "try did not make it",
                                       "Name another folder with --out, or move this file away"});
    }
}

} // namespace

std::string trial_html(const TrialPage& page) {
    std::string html =
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n"
        "<link rel=\"icon\" href=\"data:,\">\n<title>" +
        html_text(page.title) + "</title>\n<style>\n" + std::string(trial_page_style) +
        "</style>\n</head>\n<body>\n<h1>" + html_text(page.title) + "</h1>\n";
    for (const std::string& line : page.lines) {
        html += "<p>" + html_text(line) + "</p>\n";
    }
    html += tools(page);
    html += fmt::format("<main style=\"--columns: {}\" data-width=\"{}\" data-height=\"{}\" "
                        "data-place=\"{}\" data-black=\"{}\" "
                        "data-white=\"{}\" data-difference=\"{}\">\n",
                        page.pictures.size() == 1 ? 2 : page.columns, page.width, page.height,
                        page.is_one_place ? "one" : "own", page.range[0], page.range[1],
                        page.difference_range);
    html += figure("input", "before", images(page.before, "before", "before", true),
                   number_rows(page.before_numbers) + "<p>" + html_text(page.before_caption) +
                       "</p>\n");
    if (page.pictures.size() > 1) {
        html += "<hr>\n"; // the runs begin a row of their own
    }
    for (const TrialPicture& picture : page.pictures) {
        html += figure(picture);
    }
    return html +
           "</main>\n<section class=\"profile\" hidden></section>\n<script>\n\"use strict\";\n" +
           std::string(trial_page_script) + "</script>\n</body>\n</html>\n";
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
    check_page(path_ + "/index.html");
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

} // namespace runner::trial
