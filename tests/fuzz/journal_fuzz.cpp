// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as a file of a journal. The checks of 32 bits would keep the fuzzer out, so the first
// byte says what is right about the rest:
//
//   bit 0  the bytes are an identity rather than records
//   bit 1  its last line, or the header, is given the right check
//   bit 2  a record whose last byte is odd is given the right check
//
// What is accepted has right checks, lies within the output and is nobody's invention.
#include "io/files/hash.hpp"
#include "io/output/journal.hpp"
#include "io/writers/shards.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

namespace {

using Bytes = std::vector<std::byte>;
constexpr std::size_t record_bytes = 32;
constexpr std::int64_t attempt = 3;

void expect(bool condition) {
    if (!condition) {
        std::abort();
    }
}

/// The check as io/output/journal.hpp documents it.
std::uint32_t check_of(const std::byte* record) {
    std::array<std::byte, 36> together{};
    std::memcpy(together.data(), record, 28);
    std::memcpy(together.data() + 28, &attempt, 8);
    return static_cast<std::uint32_t>(runner::hash_bytes(together.data(), 36));
}

void fuzz_records(Bytes bytes, unsigned right) {
    if ((right & 2U) != 0 && bytes.size() >= record_bytes) {
        std::memcpy(bytes.data(), "RNROWS1\n", 8);
        std::memcpy(bytes.data() + 8, &attempt, 8);
        const std::uint32_t check = check_of(bytes.data());
        std::memcpy(bytes.data() + 28, &check, 4);
    }
    std::vector<runner::RowHash> valid;
    for (std::size_t at = record_bytes; at + record_bytes <= bytes.size(); at += record_bytes) {
        const std::uint32_t check = check_of(&bytes[at]);
        if ((right & 4U) != 0 && (bytes[at + 31] & std::byte{1}) != std::byte{0}) {
            std::memcpy(&bytes[at + 28], &check, 4);
        }
        std::uint32_t there = 0;
        std::memcpy(&there, &bytes[at + 28], 4);
        if (there == check) {
            runner::RowHash row;
            std::memcpy(&row, &bytes[at], sizeof(row));
            valid.push_back(row);
        }
    }
    constexpr std::int64_t total = 1000;
    try {
        const runner::JournalRows journal = runner::parse_journal(bytes, attempt, total, "f");
        expect(bytes.size() < record_bytes ? journal.rows.empty() : journal.rows == valid);
        for (const runner::RowHash& row : journal.rows) {
            expect(row.first >= 0 && row.rows >= 1 && row.rows <= total - row.first);
        }
    } catch (const runner::Error& error) {
        expect(error.code() == runner::ExitCode::output);
    }
}

void fuzz_identity(std::string text, unsigned right) {
    if ((right & 2U) != 0) {
        text = "runner journal 1\n" + text + "\n";
        text += "check " +
                std::to_string(runner::hash_bytes(reinterpret_cast<const std::byte*>(text.data()),
                                                  std::ssize(text))) +
                "\n";
    }
    try {
        const runner::JournalIdentity identity = runner::parse_identity(text, "f");
        expect((right & 2U) != 0 && text.find("\n" + identity.text + "check ") != text.npos);
    } catch (const runner::Error& error) {
        expect(error.code() == runner::ExitCode::output);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    if ((data[0] & 1U) != 0) {
        fuzz_identity({reinterpret_cast<const char*>(data) + 1, size - 1}, data[0]);
    } else {
        const auto* first = reinterpret_cast<const std::byte*>(data);
        fuzz_records(Bytes(first + 1, first + size), data[0]);
    }
    return 0;
}
