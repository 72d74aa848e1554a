// SPDX-License-Identifier: BSD-3-Clause
#include "base/format.hpp"
#include "runner/verify/verify.hpp"

#include "base/json.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>

namespace runner::verify {
namespace {

std::string wrong_text(const std::vector<WrongRows>& wrong, const ArrayInfo& array) {
    constexpr std::size_t most_told = 100;
    const std::vector<WrongRows> ranges = merged(wrong);
    std::string text;
    for (std::size_t i = 0; i < std::min(ranges.size(), most_told); ++i) {
        const std::string& stored_in = ranges[i].stored_in;
        text += "wrong: " + rows_text(ranges[i].rows, array) + ": " + printable(ranges[i].why) +
                (stored_in.empty() ? "" : " (" + printable(stored_in) + ")") + "\n";
    }
    if (ranges.size() > most_told) {
        text += fmt::format("wrong: and {} ranges more (--json lists all)\n",
                            ranges.size() - most_told);
    }
    return text;
}

Json wrong_json(const std::vector<WrongRows>& wrong) {
    Json json = Json::array();
    for (const WrongRows& each : merged(wrong)) {
        Json one{{"rows", Json::array(each.rows.first, each.rows.last)}, {"why", each.why}};
        if (!each.stored_in.empty()) {
            one["stored_in"] = each.stored_in;
        }
        json.push_back(std::move(one));
    }
    return json;
}

std::string wrong_files_text(const std::vector<WrongFile>& wrong) {
    std::string text;
    for (const WrongFile& each : wrong) {
        text += "wrong: " + printable(each.text()) + ": " + printable(each.why) + "\n";
    }
    return text;
}

Json wrong_file_json(const WrongFile& wrong) {
    Json json{{"file", wrong.name}, {"why", wrong.why}};
    if (wrong.first) {
        json["array"] = wrong.first->array;
        if (!wrong.first->shard.empty()) {
            json["shard"] = wrong.first->shard;
        }
        if (!wrong.first->chunk.empty()) {
            json["chunk"] = wrong.first->chunk;
        }
    }
    return json;
}

/// "3 runs compared, 12 KiB: all right".
std::string checked_text(std::int64_t runs, std::int64_t rows, const std::vector<WrongRows>& wrong,
                         const ArrayInfo& array) {
    return counted(runs, "run") + " compared, " + size_text(rows * row_bytes(array)) + ": " +
           (wrong.empty() ? "all right" : counted(std::ssize(wrong), "run") + " wrong") + "\n";
}

/// What became of the comparison of an image's coarser levels.
std::string levels_text(const Verification& v) {
    if (v.levels == 0) {
        return "";
    }
    if (!v.levels_are_checked) {
        return "levels: not compared, since rows of the image are wrong\n";
    }
    return "levels: " + counted(v.levels, "coarser one") + " compared: " +
           (v.wrong_files.empty()
                ? "all right"
                : counted(std::ssize(v.wrong_files), v.levels_are_files ? "file" : "level") +
                      " wrong") +
           "\n";
}

} // namespace

std::vector<WrongRows> merged(std::vector<WrongRows> rows) {
    std::vector<WrongRows> ranges;
    for (WrongRows& each : rows) {
        if (!ranges.empty() && ranges.back().rows.last == each.rows.first &&
            ranges.back().why == each.why) {
            ranges.back().rows.last = each.rows.last;
        } else {
            ranges.push_back(std::move(each));
        }
    }
    return ranges;
}

std::string rows_text(RowRange rows, const ArrayInfo& array) {
    const std::int64_t last = rows.last - 1;
    const auto range = [](std::int64_t from, std::int64_t to) {
        return from == to ? fmt::format("row {}", from) : fmt::format("rows {} to {}", from, to);
    };
    if (array.shape.size() < 3) {
        return range(rows.first, last);
    }
    const std::int64_t frame_rows = array.shape[array.shape.size() - 2];
    const auto frame = [&](std::int64_t row) {
        return fmt::format("frame {}, ", row / frame_rows);
    };
    if (rows.first / frame_rows == last / frame_rows) {
        return frame(last) + range(rows.first % frame_rows, last % frame_rows);
    }
    return fmt::format("{}row {} to {}row {}", frame(rows.first), rows.first % frame_rows,
                       frame(last), last % frame_rows);
}

std::string verification_text(const Verification& v) {
    std::string text = printable(v.file + ":" + v.dataset) + "  " + type_text(v.array) + " " +
                       shape_text(v.array.shape) + ", " + counted(v.runs, "run") + " of rows\n" +
                       wrong_text(v.wrong_rows, v.array) + wrong_text(v.wrong_recomputed, v.array) +
                       wrong_text(v.wrong_kept, v.array) + wrong_files_text(v.wrong_files);
    text += "checksums: " + checked_text(v.checked_runs, v.checked_rows, v.wrong_runs, v.array);
    if (v.kept_runs > 0) {
        text += "flats and darks: " +
                checked_text(v.checked_kept_runs, v.checked_kept_rows, v.wrong_kept, v.array);
    }
    text += levels_text(v);
    if (v.is_left_alone) {
        text += "no rows of it are right: it may be another file, which runner repair leaves as it "
                "is. Move it away and run the job again\n";
    } else if (!v.wrong_runs.empty() || !v.wrong_kept.empty() || !v.wrong_files.empty()) {
        text += "to compute them again: runner repair " + shell_word(v.file) + "\n";
    }
    if (!v.not_recomputed.empty()) {
        text += "not computed again: " + printable(v.not_recomputed) + "\n";
    } else if (v.recomputed_rows > 0) {
        text += "computed again: " + counted(v.recomputed_rows, "row") + ": " +
                (v.wrong_recomputed.empty()
                     ? "all right"
                     : counted(std::ssize(v.wrong_recomputed), "row") + " wrong") +
                "\n";
    }
    return text;
}

std::string verification_json(const Verification& v) {
    Json json;
    json["file"] = v.file;
    json["dataset"] = v.dataset;
    json["type"] = type_text(v.array);
    json["shape"] = v.array.shape;
    json["differs"] = v.differs();
    json["runs"] = v.runs;
    json["checked_runs"] = v.checked_runs;
    json["checked_rows"] = v.checked_rows;
    json["wrong_runs"] = v.wrong_runs.size();
    json["wrong"] = wrong_json(v.wrong_rows);
    if (v.kept_runs > 0) {
        json["kept_runs"] = v.kept_runs;
        json["checked_kept_runs"] = v.checked_kept_runs;
        json["wrong_kept"] = wrong_json(v.wrong_kept);
    }
    if (v.levels > 0) {
        json["levels"] = v.levels;
        json["levels_are_checked"] = v.levels_are_checked;
        Json wrong = Json::array();
        for (const WrongFile& each : v.wrong_files) {
            wrong.push_back(wrong_file_json(each));
        }
        json["wrong_files"] = std::move(wrong);
    }
    json["recomputed_rows"] = v.recomputed_rows;
    json["wrong_recomputed"] = wrong_json(v.wrong_recomputed);
    json["not_recomputed"] = v.not_recomputed.empty() ? Json() : Json(v.not_recomputed);
    return json.lines(2);
}

} // namespace runner::verify
