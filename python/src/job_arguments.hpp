// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "runner/memory/memory_files.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace runner {

using Bytes =
    nanobind::ndarray<std::uint8_t, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
using ConstBytes = nanobind::ndarray<const std::uint8_t, nanobind::ndim<1>, nanobind::c_contig,
                                     nanobind::device::cpu>;
using Shape = std::vector<std::int64_t>;
using TypeAndShape = std::pair<std::string, Shape>;
/// What describes an array that a job's text names: name, element type, extents, bytes.
using ArrayArgument = std::tuple<std::string, std::string, Shape, ConstBytes>;

/// Every type of element; names as numpy's, or "bytes16" for what is only moved.
/// @throws Error (usage).
ElementType type_named(const std::string& name);

std::vector<TypeAndShape> described(const std::vector<ArrayInfo>& arrays);

/// They point into the arguments. @throws Error (defect) for bytes that are not of the extents.
std::vector<NamedArray> named_arrays(std::span<const ArrayArgument> arguments);

} // namespace runner
