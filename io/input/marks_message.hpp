// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file_mark.hpp"
#include "io/files/message.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace runner {

/// The marks of files within a message between processes.
inline void put_marks(MessageWriter& to, const FileMarks& files) {
    to.number(std::ssize(files));
    for (const auto& [path, mark] : files) {
        to.text(path);
        to.number(mark.bytes);
        to.number(mark.modified);
    }
}

/// @throws BadMessage.
inline FileMarks take_marks(MessageReader& from) {
    FileMarks files;
    for (std::size_t left = from.count(3 * sizeof(std::int64_t)); left > 0; --left) {
        std::string path = from.text();
        const std::int64_t bytes = from.number();
        files.insert_or_assign(std::move(path), FileMark{bytes, from.number()});
    }
    return files;
}

} // namespace runner
