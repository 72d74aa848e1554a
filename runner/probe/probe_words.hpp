// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "io/files/input_rules.hpp"
#include "io/hdf5/chunk_list.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace runner {

/// The verb of the process that reads many files for another, each in a process that it forks. It
/// takes ProbeRequests from its standard input until that ends. For each it writes a head of
/// message_head_bytes (the forked process' status, as waitpid gives it, and the answer's length, in
/// decimal and filled up with spaces) and the answer. For no person to use, and in no help.
inline constexpr std::string_view many_probes_verb = "probe-inputs";
inline constexpr std::size_t message_head_bytes = 32;

/// The verb of a process that reads rows of one dataset, behind which are the file, the dataset and
/// the rules; see served_rows.hpp.
inline constexpr std::string_view serve_rows_verb = "serve-rows";

/// What is asked about a file.
struct ProbeRequest {
    std::string way; ///< "read", "has", "list", "attributes", "record", "metadata",
                     ///< "show" or "store"
    std::string file;
    std::string dataset; ///< may be empty for "attributes" and "show"
    InputRules rules;
    std::string more; ///< of "store": to_text() of the chunks; of "record": paths, as a message

    /// FILE:/dataset, or the file.
    std::string where() const;
};

/// A request with its head, for the process' standard input.
std::string to_text(const ProbeRequest& request);

/// The next request of a descriptor; nothing at its end, or for what is none.
std::optional<ProbeRequest> read_request(int descriptor);

/// Rules as one word.
std::string to_text(const InputRules& rules);
InputRules rules_from_text(const std::string& text);

/// Chunks to store. chunks_from_text(): @throws BadMessage.
std::string to_text(const std::vector<PackedChunk>& chunks);
std::vector<PackedChunk> chunks_from_text(const std::string& text);

/// An answer: what was found, as bytes, or an error with its code and four parts.
std::string answer_text(const std::string& reply);
std::string answer_text(const Error& failure);

/// What an answer says was found; nothing where it holds an error, or is no answer.
std::optional<std::string> reply_of(const std::string& answer);

/// The error that an answer holds; nothing where it holds none or is no answer at all. The process
/// that wrote it may have been led astray: the code is input's, output's or launch's, and no
/// control character gets through.
std::optional<Error> error_of(const std::string& answer);

/// The head of an answer of so many bytes.
std::string answer_head(int status, std::size_t bytes);

} // namespace runner
