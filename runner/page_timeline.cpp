// SPDX-License-Identifier: BSD-3-Clause
#include "runner/page_timeline.hpp"

#include "runner/html.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace runner {
namespace {

constexpr double milliseconds = 1e3;
constexpr int stage_gap = 3;  // pixels between two stages
constexpr int open_ranks = 4; // that are shown without a click
constexpr double chart_height = 60;

std::string name_of(Stage stage) {
    return std::string(stage_names[static_cast<std::size_t>(stage)]);
}

std::string time_text(double seconds) { return decimal_text(seconds * milliseconds, 3); }

/// Thinner the more lanes there are.
int lane_height(std::size_t lanes) {
    constexpr int block = 28;
    return std::clamp(block / static_cast<int>(std::max<std::size_t>(lanes, 1)), 2, 12);
}

using Lanes = std::map<int, std::vector<const Bar*>>;

std::map<Stage, Lanes> by_stage(const std::vector<Bar>& bars) {
    std::map<Stage, Lanes> stages;
    for (const Bar& bar : bars) {
        stages[bar.stage][bar.lane].push_back(&bar);
    }
    return stages;
}

std::string bar_html(const Bar& bar, int height) {
    std::string text = "<rect x=\"" + time_text(bar.start) + "\" width=\"" +
                       time_text(std::max(0.0, bar.end - bar.start)) + "\" height=\"" +
                       std::to_string(height) + "\" data-name=\"" + html_text(bar.first) + "\"";
    if (bar.events > 1) {
        // Paler where it stands for gaps, too.
        const double share = bar.end > bar.start ? bar.busy / (bar.end - bar.start) : 1;
        text += " data-events=\"" + std::to_string(bar.events) + "\" data-busy=\"" +
                time_text(bar.busy) + "\" opacity=\"" + decimal_text(0.15 + 0.85 * share, 2) + "\"";
    }
    return text + "/>";
}

std::string rank_html(const RankTimeline& rank, std::size_t index, double end) {
    std::string labels;
    std::string groups;
    int top = 0;
    for (const auto& [stage, lanes] : by_stage(rank.bars)) {
        const int height = lane_height(lanes.size());
        const int block = std::max(height * static_cast<int>(lanes.size()), 14);
        labels += "<span style=\"height:" + std::to_string(block + stage_gap) + "px\">" +
                  stage_label(stage) + "</span>";
        int lane_top = top;
        for (const auto& [lane, bars] : lanes) {
            groups += "<g class=\"" + name_of(stage) + "\" data-rank=\"" +
                      std::to_string(rank.rank) + "\" data-stage=\"" + name_of(stage) +
                      "\" data-lane=\"" + std::to_string(lane) + "\" transform=\"translate(0 " +
                      std::to_string(lane_top) + ")\">";
            for (const Bar* bar : bars) {
                groups += bar_html(*bar, height - (height > 3 ? 1 : 0));
            }
            groups += "</g>\n";
            lane_top += height;
        }
        top += block + stage_gap;
    }
    return "<details" + std::string(index < open_ranks ? " open" : "") + "><summary>" +
           html_text(rank.title) + "</summary>\n<div class=\"plot\"><div class=\"labels\">" +
           labels + "</div><svg class=\"time\" viewBox=\"0 0 " + time_text(end) + " " +
           std::to_string(top) +
           "\" preserveAspectRatio=\"none\" style=\"height:" + std::to_string(top) +
           "px\" role=\"img\" aria-label=\"Timeline of " + html_text(rank.title) + "\">\n" +
           groups + "</svg></div></details>\n";
}

std::string axis_html(double end) {
    return "<div class=\"plot\"><div class=\"labels\"></div><div class=\"axis\"><span>0</span>"
           "<span style=\"left:100%\">" +
           html_text(short_time_text(end)) + "</span></div></div>\n";
}

} // namespace

std::string stage_label(Stage stage) {
    static constexpr std::array labels = {"reading",        "host to device", "kernels", "exchange",
                                          "device to host", "checksums",      "writing"};
    return labels.at(static_cast<std::size_t>(stage));
}

double end_of(const std::vector<RankTimeline>& ranks) {
    double end = 0;
    for (const RankTimeline& rank : ranks) {
        for (const Bar& bar : rank.bars) {
            end = std::max(end, bar.end);
        }
    }
    return end;
}

std::string timeline_html(const std::vector<RankTimeline>& ranks) {
    const double end = end_of(ranks);
    std::set<Stage> stages;
    for (const RankTimeline& rank : ranks) {
        for (const Bar& bar : rank.bars) {
            stages.insert(bar.stage);
        }
    }
    std::string text = "<p class=\"legend\">";
    for (const Stage stage : stages) {
        text += "<span><i class=\"" + name_of(stage) + "\"></i>" + stage_label(stage) + "</span>";
    }
    text +=
        "</p>\n<p class=\"zoom\" hidden><button data-zoom=\"in\">+</button>"
        "<button data-zoom=\"out\">&minus;</button><button data-zoom=\"left\">&larr;</button>"
        "<button data-zoom=\"right\">&rarr;</button><button data-zoom=\"all\">whole run</button>"
        "<span>or drag over a part</span></p>\n<output class=\"tip\" hidden></output>\n" +
        axis_html(end);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        text += rank_html(ranks[i], i, end);
    }
    return text;
}

std::vector<double> throughput(const std::vector<RankTimeline>& ranks, Stage stage, double end,
                               std::size_t steps) {
    std::vector<double> rates(steps, 0.0);
    const double step = end / static_cast<double>(steps);
    if (!(step > 0)) {
        return rates;
    }
    for (const RankTimeline& rank : ranks) {
        for (const Bar& bar : rank.bars) {
            if (bar.stage != stage || bar.bytes == 0) {
                continue;
            }
            // A bar of no length, too, moved its bytes: within the step it lies in.
            const double length = std::max(bar.end - bar.start, 1e-9);
            const double rate = static_cast<double>(bar.bytes) / length;
            const auto first = static_cast<std::size_t>(
                std::clamp(bar.start / step, 0.0, static_cast<double>(steps - 1)));
            for (std::size_t i = first; i < steps; ++i) {
                const double from = std::max(static_cast<double>(i) * step, bar.start);
                const double to = i + 1 == steps ? bar.start + length
                                                 : std::min(static_cast<double>(i + 1) * step,
                                                            bar.start + length);
                if (to <= from) {
                    break;
                }
                rates[i] += rate * (to - from) / step;
            }
        }
    }
    return rates;
}

std::string throughput_html(const std::vector<RankTimeline>& ranks) {
    constexpr std::size_t steps = 120;
    const double end = end_of(ranks);
    std::string text;
    for (const Stage stage : {Stage::read, Stage::write}) {
        const std::vector<double> rates = throughput(ranks, stage, end, steps);
        const double most = *std::max_element(rates.begin(), rates.end());
        if (!(most > 0)) {
            continue;
        }
        std::string path = "M0 " + decimal_text(chart_height, 0);
        for (std::size_t i = 0; i < steps; ++i) {
            const double x = end * static_cast<double>(i) / static_cast<double>(steps);
            path += "L" + time_text(x) + " " +
                    decimal_text(chart_height * (1 - rates[i] / most), 2) + "H" +
                    time_text(end * static_cast<double>(i + 1) / static_cast<double>(steps));
        }
        path += "V" + decimal_text(chart_height, 0) + "Z";
        text += "<div class=\"plot chart\"><div class=\"labels\"><span>" + stage_label(stage) +
                "<br><small>to " + rate_text(most) +
                "</small></span></div><svg class=\"time\" viewBox=\"0 0 " + time_text(end) + " " +
                decimal_text(chart_height, 0) +
                "\" preserveAspectRatio=\"none\" style=\"height:" + decimal_text(chart_height, 0) +
                "px\" role=\"img\" aria-label=\"Throughput of " + stage_label(stage) +
                "\"><g class=\"" + name_of(stage) + "\"><path d=\"" + path +
                "\"/></g></svg></div>\n";
    }
    return text.empty() ? text : text + axis_html(end);
}

} // namespace runner
