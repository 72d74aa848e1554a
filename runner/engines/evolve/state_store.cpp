// SPDX-License-Identifier: BSD-3-Clause
#include "runner/engines/evolve/state_store.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

namespace runner::evolve {

File make_scratch_file(const std::string& path, std::int64_t bytes) {
    File file(path, File::Mode::create);
    std::error_code failure;
    if (!std::filesystem::remove(path, failure)) {
        throw Error(ExitCode::output, {"cannot remove the name of the scratch file", path,
                                       failure ? failure.message() : "it is gone", ""});
    }
    try {
        file.resize(bytes);
        file.reserve(0, bytes);
    } catch (const Error& error) {
        ErrorText text = error.text();
        text.what = "the state does not fit in host memory, and its scratch file of " +
                    size_text(bytes) + " does not fit on the disk";
        text.try_this = "Free space there, use more ranks, or raise run.host_memory";
        throw Error(error.code(), std::move(text));
    }
    return file;
}

StateStore::StateStore(Buffer memory, RowRange held, std::int64_t margin, std::int64_t row_bytes)
    : memory_(std::move(memory)), held_(held), margin_(margin), row_bytes_(row_bytes) {}

StateStore::StateStore(File file, RowRange held, std::int64_t margin, std::int64_t row_bytes)
    : file_(std::move(file)), held_(held), margin_(margin), row_bytes_(row_bytes) {}

std::int64_t StateStore::offset(Version version, std::int64_t row) const {
    const std::int64_t origin = version == Version::current ? origin_ : margin_ - origin_;
    return (origin + row - held_.first) * row_bytes_;
}

const std::byte* StateStore::fetch(const RowRange& rows, std::byte* space) const {
    if (!file_) {
        return memory_.data() + offset(Version::current, rows.first);
    }
    file_->read(offset(Version::current, rows.first), bytes_of(rows), space);
    return space;
}

std::byte* StateStore::place(Version version, const RowRange& rows, std::byte* space) {
    return file_ ? space : memory_.data() + offset(version, rows.first);
}

void StateStore::put(Version version, const RowRange& rows, const std::byte* from) {
    if (file_) {
        file_->write(offset(version, rows.first), bytes_of(rows), from);
    }
}

} // namespace runner::evolve
