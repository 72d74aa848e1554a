// SPDX-License-Identifier: BSD-3-Clause
#include "io/filters/member_checks.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "io/filters/crc32.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace runner {
namespace {

std::uint32_t checksum_of(const File& archive, const ArchiveMember& member) {
    constexpr std::int64_t piece_bytes = 256 * KiB;
    std::vector<std::byte> piece(
        static_cast<std::size_t>(std::min<std::int64_t>(member.bytes, piece_bytes)));
    std::uint32_t checksum = 0;
    for (std::int64_t at = 0; at < member.bytes;) {
        const std::int64_t bytes = std::min(std::ssize(piece), member.bytes - at);
        archive.read(member.offset + at, bytes, piece.data());
        checksum = crc32_of(std::span(piece).first(static_cast<std::size_t>(bytes)), checksum);
        at += bytes;
    }
    return checksum;
}

} // namespace

MemberChecks::MemberChecks(std::vector<ArchiveMember> members)
    : members_(std::move(members)), checked_(std::make_unique<std::once_flag[]>(members_.size())) {}

void MemberChecks::check(const File& archive, std::int64_t offset) {
    const auto behind = std::upper_bound(
        members_.begin(), members_.end(), offset,
        [](std::int64_t byte, const ArchiveMember& member) { return byte < member.offset; });
    if (behind == members_.begin()) {
        return;
    }
    const auto number = static_cast<std::size_t>(behind - members_.begin()) - 1;
    std::call_once(checked_[number], [&] {
        const ArchiveMember& member = members_[number];
        const std::uint32_t found = checksum_of(archive, member);
        if (found != member.checksum) {
            throw Error(ExitCode::input,
                        {"cannot read a member of the archive",
                         archive.path() + ": " + printable(member.name),
                         fmt::format("its CRC-32 is {:08x}, and the archive's directory has {:08x}",
                                     found, member.checksum),
                         "The archive is damaged: copy it again, or make it again"});
        }
    });
}

} // namespace runner
