// SPDX-License-Identifier: BSD-3-Clause
#include "runner/trial/page_folder.hpp"

#include "base/error.hpp"

#include <filesystem>
#include <system_error>

namespace runner {

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
