// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as a certificate. What is accepted has the checksums that its shapes require, and is
// written and read again unchanged.
#include "runner/verify/certificate.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

void expect(bool condition) {
    if (!condition) {
        std::abort();
    }
}

void check_accepted(const runner::verify::DatasetDigest& digest) {
    expect(!digest.dataset.empty() && digest.rows_per_checksum >= 1);
    expect(std::ranges::all_of(digest.shape, [](std::int64_t extent) { return extent >= 1; }));
    expect((std::ssize(digest.row_checksums) - 1) * digest.rows_per_checksum < digest.rows());
    expect(std::ssize(digest.row_checksums) >= digest.rows() / digest.rows_per_checksum);
}

bool same(const runner::verify::DatasetDigest& one, const runner::verify::DatasetDigest& other) {
    return one.dataset == other.dataset && one.type == other.type && one.shape == other.shape &&
           one.rows_per_checksum == other.rows_per_checksum &&
           one.row_checksums == other.row_checksums && one.checksum == other.checksum;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    try {
        const auto datasets = runner::verify::parse_certificate("f", text).datasets;
        std::ranges::for_each(datasets, check_accepted);
        const runner::Json json{{"certificate", runner::verify::certificate_version},
                                {"datasets", runner::verify::datasets_json(datasets)}};
        expect(std::ranges::equal(
            datasets, runner::verify::parse_certificate("f", json.text()).datasets, same));
    } catch (const runner::Error& error) {
        expect(error.code() == runner::ExitCode::usage);
        expect(error.text().where == "f");
    }
    return 0;
}
