// SPDX-License-Identifier: BSD-3-Clause
#include "runner/page_sections.hpp"

#include "base/sizes.hpp"
#include "runner/html.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace runner {
namespace {

using Json = nlohmann::ordered_json;

std::string shape_text(const Json& dataset) {
    std::string text;
    for (const Json& extent : dataset.at("shape")) {
        text += (text.empty() ? "" : " × ") + std::to_string(extent.get<std::int64_t>());
    }
    return text + " " + text_at(dataset, "type");
}

std::int64_t most_of(const Json& report, const char* key) {
    std::int64_t most = 0;
    for (const Json& rank : report.at("ranks")) {
        most = std::max(most, rank.at("memory").value(key, std::int64_t{0}));
    }
    return most;
}

std::int64_t most_growth(const Json& report) {
    std::int64_t most = 0;
    for (const Json& rank : report.at("ranks")) {
        const Json& memory = rank.at("memory");
        most = std::max(most, memory.at("resident_peak_bytes").get<std::int64_t>() -
                                  memory.at("resident_before_bytes").get<std::int64_t>());
    }
    return most;
}

std::string meter(const std::string& what, std::int64_t bytes, std::int64_t whole) {
    const double share = whole > 0 ? static_cast<double>(bytes) / static_cast<double>(whole) : 0;
    return "<div class=\"meter\"><span>" + what +
           "</span><b><i style=\"width:" + decimal_text(100 * share, 1) + "%\"></i></b><span>" +
           html_text(size_text(bytes)) + "</span></div>\n";
}

std::string range_text(const Json& range) {
    return std::to_string(range.at(0).get<std::int64_t>()) + " to " +
           std::to_string(range.at(1).get<std::int64_t>());
}

std::vector<std::string> rank_cells(const Json& rank) {
    const auto number = [&](const char* key) {
        return std::to_string(rank.at(key).get<std::int64_t>());
    };
    const std::string uuid = text_at(rank, "uuid");
    return {number("rank"),
            text_at(rank, "host"),
            text_at(rank, "device") + (uuid.empty() ? "" : "<br><small>" + uuid + "</small>"),
            number("ranks_on_device"),
            text_at(rank, "cores"),
            range_text(rank.at("rows")),
            number("chunks"),
            number("lanes"),
            short_time_text(rank.at("stream_seconds"))};
}

/// As a shell reads it.
std::string shell_word(const std::string& word) {
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 ||
               std::string_view("_-./=:,+@%").find(static_cast<char>(c)) != std::string_view::npos;
    });
    if (plain) {
        return word;
    }
    std::string quoted = "'";
    for (const char c : word) {
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return quoted + "'";
}

std::string command_text(const Json& report) {
    const Json& job = report.at("job");
    const std::size_t ranks = report.at("ranks").size();
    std::string text;
    if (const std::string folder = job.value("folder", std::string()); !folder.empty()) {
        text += "cd " + shell_word(folder) + "\n";
    }
    text += ranks > 1 ? "mpirun -n " + std::to_string(ranks) + " " : "";
    text += "runner " + shell_word(job.at("file"));
    for (const Json& setting : job.at("settings")) {
        text += " --set " + shell_word(setting);
    }
    return text + "\n";
}

std::string dataset_words(const Json& dataset) {
    return text_at(dataset, "file") + ":" + text_at(dataset, "dataset") + ", " +
           shape_text(dataset);
}

} // namespace

std::string text_at(const Json& value, const char* key) {
    return html_text(value.value(key, std::string()));
}

std::string size_at(const Json& value, const char* key) {
    return html_text(size_text(value.value(key, std::int64_t{0})));
}

std::string section(const std::string& title, const std::string& body) {
    return body.empty() ? "" : "<section>\n<h2>" + title + "</h2>\n" + body + "</section>\n";
}

std::string memory_section(const Json& report) {
    const Json& plan = report.at("plan").at("memory_per_rank");
    const std::int64_t host = plan.at("host_bytes");
    const std::int64_t grown = most_growth(report);
    const std::int64_t device = plan.at("device_bytes");
    const std::int64_t taken = most_of(report, "device_bytes");
    std::string text = "<h3>Host, a rank</h3>\n" + meter("planned", host, std::max(host, grown)) +
                       meter("process grew by", grown, std::max(host, grown)) +
                       "<p class=\"small\">Allowed: " + size_at(plan, "host_limit_bytes") +
                       ". Planned are the buffers alone: staging " +
                       size_at(plan, "staging_bytes") + ", border rows " +
                       size_at(plan, "border_bytes") + ", storage " +
                       size_at(plan, "storage_bytes") +
                       ". The process grows by threads, libraries and page tables too, and by less "
                       "where buffers were not filled.</p>\n";
    if (report.at("plan").value("backend", std::string()) == "cuda") {
        text += "<h3>GPU, a rank</h3>\n" + meter("planned", device, std::max(device, taken)) +
                meter("taken", taken, std::max(device, taken)) +
                "<p class=\"small\">Allowed: " + size_at(plan, "device_limit_bytes") + ".</p>\n";
    }
    return section("Memory", text);
}

std::string ranks_section(const Json& report) {
    constexpr std::size_t most_listed = 64;
    const Json& ranks = report.at("ranks");
    std::vector<std::vector<std::string>> rows = {{"rank", "host", "device", "ranks on it", "cores",
                                                   "rows", "chunks", "lanes",
                                                   "first read to last write"}};
    for (std::size_t i = 0; i < std::min(ranks.size(), most_listed); ++i) {
        rows.push_back(rank_cells(ranks[i]));
    }
    std::string text = html_table(rows);
    if (ranks.size() > most_listed) {
        text += "<p class=\"small\">And " + std::to_string(ranks.size() - most_listed) +
                " ranks more.</p>\n";
    }
    return section("Ranks and devices", text);
}

std::string warnings_section(const Json& report) {
    std::string items;
    const auto add = [&](const std::string& text) {
        items += "<li>" + html_text(text) + "</li>\n";
    };
    for (const Json& warning : report.value("warnings", Json::array())) {
        add(warning);
    }
    for (const Json& rank : report.at("ranks")) {
        for (const Json& halving : rank.at("halvings")) {
            add("rank " + std::to_string(rank.at("rank").get<int>()) + ": " +
                halving.at("reason").get<std::string>() + "; went on with chunks of " +
                std::to_string(halving.at("chunk_rows").get<std::int64_t>()) + " rows in " +
                std::to_string(halving.at("lanes").get<int>()) + " lanes");
        }
    }
    for (const Json& note : report.value("notes", Json::array())) {
        add(note);
    }
    return section("Warnings", items.empty() ? "<p>None.</p>\n"
                                             : "<ul class=\"warnings\">\n" + items + "</ul>\n");
}

std::string repeat_section(const Json& report) {
    const Json& input = report.at("input");
    std::vector<std::pair<std::string, std::string>> facts = {
        {"input", dataset_words(input) + ", " + text_at(input, "storage") + ", " +
                      size_at(input, "bytes") + ", of " + text_at(input, "modified")},
        {"output", dataset_words(report.at("output"))},
        {"runs on this output", std::to_string(report.value("runs", std::int64_t{1}))}};
    for (const auto& [name, value] : report.at("runner").items()) {
        facts.emplace_back(html_text(name), html_text(value.get<std::string>()));
    }
    return section("To repeat it", "<pre>" + html_text(command_text(report)) +
                                       "</pre>\n<details open><summary>" +
                                       text_at(report.at("job"), "file") + "</summary>\n<pre>" +
                                       text_at(report.at("job"), "text") + "</pre></details>\n" +
                                       html_facts(facts));
}

} // namespace runner
