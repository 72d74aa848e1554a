// SPDX-License-Identifier: BSD-3-Clause
#include "runner/report_page.hpp"

#include "base/sizes.hpp"
#include "runner/html.hpp"
#include "runner/page_timeline.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>

#include <nlohmann/json.hpp>

namespace runner {
namespace {

using Json = nlohmann::ordered_json;

std::string text_at(const Json& value, const char* key) {
    return html_text(value.value(key, std::string()));
}

std::string size_at(const Json& value, const char* key) {
    return html_text(size_text(value.value(key, std::int64_t{0})));
}

std::string shape_text(const Json& dataset) {
    std::string text;
    for (const Json& extent : dataset.at("shape")) {
        text += (text.empty() ? "" : " × ") + std::to_string(extent.get<std::int64_t>());
    }
    return text + " " + text_at(dataset, "type");
}

std::string section(const std::string& title, const std::string& body) {
    return body.empty() ? "" : "<section>\n<h2>" + title + "</h2>\n" + body + "</section>\n";
}

std::string counted(std::size_t count, const std::string& what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string head(const Json& report) {
    std::set<std::string> hosts;
    std::set<std::string> devices;
    for (const Json& rank : report.at("ranks")) {
        hosts.insert(rank.at("host"));
        devices.insert(rank.at("device"));
    }
    std::string on;
    for (const std::string& device : devices) {
        on += (on.empty() ? "" : ", ") + html_text(device);
    }
    return "<header>\n<h1>" + text_at(report.at("job"), "name") + "</h1>\n<p class=\"sub\">" +
           text_at(report.at("job"), "kind") + " · " + text_at(report, "started") + " · " +
           counted(report.at("ranks").size(), "rank") + " on " + counted(hosts.size(), "host") +
           ", " + on + " · runner " + text_at(report.at("runner"), "version") +
           "</p>\n<p class=\"verdict\">" + text_at(report, "verdict") + "</p>\n</header>\n";
}

std::string tile(const std::string& what, const std::string& value) {
    return "<div><dt>" + what + "</dt><dd>" + html_text(value) + "</dd></div>\n";
}

/// Of one stage over all ranks.
struct StageSum {
    std::int64_t bytes = 0;
    double busy_seconds = 0; ///< of the rank where it is most
    double wait_seconds = 0; ///< likewise
};

StageSum sum_stage(const Json& report, Stage stage) {
    StageSum sum;
    for (const Json& rank : report.at("ranks")) {
        const Json& times =
            rank.at("stages").at(std::string(stage_names[static_cast<std::size_t>(stage)]));
        sum.bytes += times.at("bytes").get<std::int64_t>();
        sum.busy_seconds = std::max(sum.busy_seconds, times.at("busy_seconds").get<double>());
        sum.wait_seconds = std::max(sum.wait_seconds, times.at("wait_seconds").get<double>());
    }
    return sum;
}

double longest_stream(const Json& report) {
    double longest = 0;
    for (const Json& rank : report.at("ranks")) {
        longest = std::max(longest, rank.at("stream_seconds").get<double>());
    }
    return longest;
}

std::string tiles(const Json& report) {
    const double wall = report.at("wall_seconds");
    const std::int64_t read = sum_stage(report, Stage::read).bytes;
    const std::int64_t written = sum_stage(report, Stage::write).bytes;
    std::string text = "<dl class=\"tiles\">\n" + tile("in all", short_time_text(wall)) +
                       tile("before the first read", short_time_text(report.at("start_seconds"))) +
                       tile("first read to last write", short_time_text(longest_stream(report))) +
                       tile("after the last write", short_time_text(report.at("finish_seconds"))) +
                       tile("read", size_text(read)) + tile("written", size_text(written)) +
                       tile("read and written, over all of that time",
                            rate_text(static_cast<double>(read + written) / wall));
    const std::int64_t generations =
        report.at("ranks").at(0).at("evolution").at("generations").get<std::int64_t>();
    if (generations > 0) {
        text += tile("generations", std::to_string(generations));
    }
    return text + "</dl>\n";
}

std::string stages_section(const Json& report) {
    std::vector<std::vector<std::string>> rows = {{"stage", "busy, on the rank where most",
                                                   "of the time", "waited there at most",
                                                   "bytes of all ranks", "these over busy time"}};
    const double stream = longest_stream(report);
    for (std::size_t i = 0; i < stage_count; ++i) {
        const auto stage = static_cast<Stage>(i);
        const StageSum sum = sum_stage(report, stage);
        if (sum.busy_seconds == 0 && sum.bytes == 0) {
            continue;
        }
        const double share = stream > 0 ? sum.busy_seconds / stream : 0;
        rows.push_back(
            {"<i class=\"" + std::string(stage_names[i]) + "\"></i>" + stage_label(stage),
             short_time_text(sum.busy_seconds), decimal_text(100 * share, 0) + " %",
             sum.wait_seconds > 0 ? short_time_text(sum.wait_seconds) : "–",
             html_text(size_text(sum.bytes)),
             sum.bytes > 0 && sum.busy_seconds > 0
                 ? rate_text(static_cast<double>(sum.bytes) / sum.busy_seconds)
                 : "–"});
    }
    return section("Stages", html_table(rows));
}

std::string device_of(const Json& rank) { return rank.at("device").get<std::string>(); }

std::vector<RankTimeline> timelines(const Json& report) {
    std::vector<RankTimeline> all;
    for (const Json& rank : report.at("ranks")) {
        const auto timeline = rank.find("timeline");
        if (timeline == rank.end()) {
            continue;
        }
        const int number = rank.at("rank");
        RankTimeline one{number,
                         "rank " + std::to_string(number) + " on " +
                             rank.at("host").get<std::string>() + ", " + device_of(rank),
                         {}};
        for (const Json& bar : timeline->at("bars")) {
            const auto name = bar.at("stage").get<std::string>();
            const auto stage = std::find(stage_names.begin(), stage_names.end(), name);
            if (stage == stage_names.end()) {
                continue;
            }
            one.bars.push_back({bar.at("lane"), static_cast<Stage>(stage - stage_names.begin()),
                                bar.at("start"), bar.at("end"), bar.at("busy"), bar.at("events"),
                                bar.at("bytes"), bar.at("first")});
        }
        all.push_back(std::move(one));
    }
    return all;
}

/// What the timeline shows and leaves out.
std::string timeline_words(const Json& report, const std::vector<RankTimeline>& shown) {
    const std::size_t ranks = report.at("ranks").size();
    std::size_t bars = 0;
    std::int64_t events = 0;
    double merged = 0;
    for (const RankTimeline& rank : shown) {
        bars += rank.bars.size();
        for (const Bar& bar : rank.bars) {
            events += bar.events;
        }
    }
    for (const Json& rank : report.at("ranks")) {
        if (rank.contains("timeline")) {
            merged = std::max(merged, rank.at("timeline").at("merged_below_seconds").get<double>());
        }
    }
    std::string text = "<p class=\"small\">A bar is a chunk (or box, or some generations) in one "
                       "stage; under each other "
                       "stand the lanes. Every rank counts from its own first read.";
    if (shown.size() < ranks) {
        text += " Shown are " + std::to_string(shown.size()) + " of " + std::to_string(ranks) +
                " ranks.";
    }
    if (static_cast<std::size_t>(events) > bars) {
        text += " There were " + std::to_string(events) +
                " events; neighbours that together span less than " + short_time_text(merged) +
                " stand as one bar, paler the more of it was idle: " + std::to_string(bars) +
                " bars.";
    }
    return text + "</p>\n";
}

std::string timeline_section(const Json& report, const std::vector<RankTimeline>& shown) {
    if (shown.empty()) {
        return section("Timeline", "<p class=\"small\">None was kept.</p>\n");
    }
    return section("Timeline", timeline_html(shown) + timeline_words(report, shown)) +
           section("Throughput", throughput_html(shown) +
                                     (shown.size() < report.at("ranks").size()
                                          ? "<p class=\"small\">Of the ranks shown above.</p>\n"
                                          : ""));
}

std::string pictures_section(const std::vector<PagePicture>& pictures) {
    std::string text;
    for (const PagePicture& picture : pictures) {
        text += "<figure>";
        if (!picture.png.empty()) {
            text += "<img alt=\"" + html_text(picture.caption) + "\" src=\"data:image/png;base64," +
                    base64_text(picture.png) + "\">";
        }
        text += "<figcaption>" + html_text(picture.caption) + "</figcaption></figure>\n";
    }
    return text.empty() ? "" : section("Data", "<div class=\"pictures\">\n" + text + "</div>\n");
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

/// The report without its bars, which the page draws.
std::string data_element(Json report) {
    for (Json& rank : report.at("ranks")) {
        rank.erase("timeline");
    }
    return "<script type=\"application/json\" id=\"report\">" +
           script_json(report.dump(-1, ' ', false, Json::error_handler_t::replace)) + "</script>\n";
}

std::string page_of(const Json& report, const std::vector<PagePicture>& pictures) {
    const std::vector<RankTimeline> shown = timelines(report);
    return html_page(report.at("job").at("name").get<std::string>() + " – runner",
                     "<main>\n" + head(report) + tiles(report) + timeline_section(report, shown) +
                         stages_section(report) + pictures_section(pictures) +
                         memory_section(report) + ranks_section(report) + warnings_section(report) +
                         repeat_section(report) + "</main>\n" + data_element(report));
}

} // namespace

Error no_report(const std::string& name, const std::string& why) {
    return {ExitCode::input,
            {"this is no report of runner", name, why,
             "Name a file that --report FILE.json has written"}};
}

std::string report_page(const std::string& name, const std::string& report_json,
                        const std::vector<PagePicture>& pictures) {
    try {
        return page_of(Json::parse(report_json), pictures);
    } catch (const Json::exception& error) {
        throw no_report(name, error.what());
    }
}

} // namespace runner
