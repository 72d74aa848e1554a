// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

namespace runner {

/// A new folder for one test's files, removed with all in it at the end.
class ScratchFolder {
  public:
    ScratchFolder() : path_((std::filesystem::temp_directory_path() / "runner_XXXXXX").string()) {
        if (::mkdtemp(path_.data()) == nullptr) {
            throw std::runtime_error("cannot make a scratch folder");
        }
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    ~ScratchFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    std::string operator/(const std::string& name) const { return path_ + "/" + name; }
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

/// The Error that `f` throws, if it does.
template <class F> std::optional<Error> error_of(F&& f) {
    try {
        f();
    } catch (const Error& error) {
        return error;
    }
    return std::nullopt;
}

} // namespace runner
