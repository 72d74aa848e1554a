// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/input_rules.hpp"

#include <optional>
#include <string>

namespace runner {
class Prober;
} // namespace runner

namespace runner::verify {

/// `runner certify OUT.h5`.
struct CertifyRequest {
    std::string file;
    int threads = 1; ///< that read, ≥ 1
};

/// The certificate of a finished output: JSON for a person and a program (docs/certificate.md). All
/// its rows are read, and compared with the checksums that the output lists.
/// @throws Error (input) for a file that is no finished output with checksums, or cannot be read;
/// (differs) naming the first rows whose checksum differs.
std::string certify(const CertifyRequest& request, Prober& prober);

/// `runner certify --check C.json FILE`.
struct CertificateCheck {
    std::string certificate; ///< the file's name
    std::string file;
    std::string dataset; ///< in place of the certificate's only one; empty: its own
    InputRules rules;    ///< how `file` is read
    int threads = 1;
};

/// How a file differs from a certificate's result.
struct CertificateResult {
    std::string certificate;
    std::string file;
    std::string datasets;   ///< those of the certificate: "/image float32 [3, 4]"
    std::string difference; ///< the first; empty where there is none

    bool differs() const { return !difference.empty(); }
};

/// Compares every dataset of the certificate with the file, which may be of any format that is read
/// and need not be an output of this program.
/// @throws Error (usage) for a bad certificate; (input) where the file cannot be read.
CertificateResult check_certificate(const CertificateCheck& request, Prober& prober);

/// The result for people, ending with a line break.
std::string certificate_text(const CertificateResult& result);

} // namespace runner::verify
