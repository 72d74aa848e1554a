// SPDX-License-Identifier: BSD-3-Clause
#include "runner/recovery/sand_record.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/sizes.hpp"
#include "io/files/file.hpp"
#include "io/files/file_mark.hpp"
#include "io/files/text_file.hpp"
#include "io/output/intact_rows.hpp"
#include "io/output/journal.hpp"
#include "io/rows/row_geometry.hpp"
#include "runner/recovery/identity.hpp"

#include <filesystem>
#include <numeric>
#include <system_error>
#include <vector>

namespace runner {
namespace {

/// An identity has what a job file of at most 1 MiB says.
constexpr std::int64_t longest_record = 16 * MiB;

/// What the record of this very file begins with.
std::string head_of(const std::string& file) {
    const FileMark mark = mark_of(file);
    return fmt::format("runner .sand output 1\nbytes = {}\nmodified = {} ns\n", mark.bytes,
                       mark.modified);
}

} // namespace

std::string sand_record_path(const std::string& file) { return file + ".identity"; }

std::optional<std::string> recorded_sand_identity(const std::string& file) {
    const std::string path = sand_record_path(file);
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) {
        return std::nullopt;
    }
    try {
        const std::string text = read_text_file(path, longest_record);
        const std::string head = head_of(file);
        return text.starts_with(head) ? std::optional(text.substr(head.size())) : std::nullopt;
    } catch (const Error&) { // nothing that this program wrote
        return std::nullopt;
    }
}

void record_sand_identity(const PreparedJob& prepared, const std::string& identity) {
    const std::string& file = prepared.file.output.file;
    const std::string path = sand_record_path(file);
    write_text_file(path, head_of(file) + identity);
    if (prepared.file.output.sync) {
        File(path, File::Mode::update).sync();
        sync_folder_of(path);
    }
}

bool is_published_sand(const PreparedJob& prepared, const std::string& identity) {
    const std::string& file = prepared.file.output.file;
    const std::string folder = journal_folder(file);
    std::error_code ignored;
    if (std::filesystem::exists(partial_name(file), ignored)) {
        return false;
    }
    const std::optional<JournalIdentity> journal = read_identity(folder);
    if (!journal || without_layout(journal->text) != identity) {
        return false;
    }
    OutputDataset output = output_dataset(prepared);
    output.file = file;
    const std::int64_t total = row_count(output.array);
    const std::vector<RowHash> rows = read_journal(folder, journal->generation, total).rows;
    const std::int64_t listed =
        std::accumulate(rows.begin(), rows.end(), std::int64_t{0},
                        [](std::int64_t sum, const RowHash& run) { return sum + run.rows; });
    return listed == total && // no row is listed twice
           intact_rows(output, rows, prepared.file.run.resume_check).size() == rows.size();
}

} // namespace runner
