// SPDX-License-Identifier: BSD-3-Clause
#include "runner/report_page.hpp"

#include "base/sizes.hpp"
#include "runner/html.hpp"
#include "runner/page_sections.hpp"
#include "runner/page_timeline.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>

#include <nlohmann/json.hpp>

namespace runner {
namespace {

using Json = nlohmann::ordered_json;

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
