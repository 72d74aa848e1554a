// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/json.hpp"
#include "runner/verify/dataset_digest.hpp"

#include <string>
#include <vector>

namespace runner::verify {

/// The version of the certificate's form.
inline constexpr int certificate_version = 1;

/// The datasets of a certificate as its JSON has them.
Json datasets_json(const std::vector<DatasetDigest>& datasets);

/// What a certificate says of elements.
struct CertifiedElements {
    std::vector<DatasetDigest> datasets;
    std::vector<DatasetDigest> levels; ///< coarser ones of the image; none of an output without
};

/// Reads them. It may come from anywhere: sizes, names and numbers are
/// checked, and that there are as many checksums as the shape requires; other members are not read.
/// `name`: of the certificate, for errors. @throws Error (usage) that names the first wrong member.
CertifiedElements parse_certificate(const std::string& name, const std::string& text);

} // namespace runner::verify
