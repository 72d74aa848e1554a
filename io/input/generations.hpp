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

/// Stores a number for each frame (uint64, one axis) as a new dataset of an HDF5 file that this
/// process has made. `what`: for messages. @throws Error (output).
void write_frame_numbers(const std::string& file, const std::string& name,
                         std::span<const std::uint64_t> numbers, const std::string& what);

/// Stores the generations in an HDF5 output that has none yet. @throws Error (output).
void write_generations(const std::string& file, const std::string& dataset,
                       std::span<const std::uint64_t> generations);

} // namespace runner
