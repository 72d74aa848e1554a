// SPDX-License-Identifier: BSD-3-Clause
#include "runner/output/output_places.hpp"

#include "base/error.hpp"
#include "io/output/beside_record.hpp"
#include "io/output/journal.hpp"
#include "runner/prepare/prepare.hpp"

#include <filesystem>
#include <system_error>

namespace runner {

void check_place(const std::string& path, PlaceOf kind) {
    namespace fs = std::filesystem;
    std::error_code failure;
    const fs::file_type type = fs::status(path, failure).type();
    const fs::file_type wanted =
        kind == PlaceOf::file ? fs::file_type::regular : fs::file_type::directory;
    if (type == wanted || type == fs::file_type::not_found || type == fs::file_type::none) {
        return;
    }
    const std::string is = type == fs::file_type::directory ? "it is a folder"
                           : kind == PlaceOf::folder        ? "it is not a folder"
                                                            : "it is not a regular file";
    throw Error(ExitCode::output, {"cannot write the output", path, is,
                                   "Remove or rename it, or name another output.file"});
}

void check_places_beside(const std::string& output) {
    check_place(partial_name(output), PlaceOf::file);
    check_place(journal_folder(output), PlaceOf::folder);
    if (is_recorded_beside(output)) {
        check_place(beside_record_path(output), PlaceOf::file);
        check_beside_record(output);
    }
}

} // namespace runner
