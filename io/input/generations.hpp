// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace runner {

class FileAccess;

/// The dataset that numbers a dataset's frames: "generation", in the same group ("/run/generation"
/// of "/run/frames").
std::string generations_name(const std::string& dataset);

/// The generation of each of the `frames` frames of `dataset`; nothing where the file has none of
/// them, as in another format. @throws Error (input) when they are no list of so many numbers.
std::optional<std::vector<std::uint64_t>> read_generations(FileAccess& files,
                                                           const std::string& file,
                                                           const std::string& dataset,
                                                           std::int64_t frames);

/// Stores them (uint64, one axis) in an HDF5 output that has none yet. @throws Error (output).
void write_generations(const std::string& file, const std::string& dataset,
                       std::span<const std::uint64_t> generations);

} // namespace runner
