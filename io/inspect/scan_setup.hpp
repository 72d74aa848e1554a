// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/element_type.hpp"
#include "io/files/input_rules.hpp"
#include "io/hdf5/hdf5_handle.hpp"
#include "io/rows/axes.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace runner {

class NexusFile;

/// A number that a file says of a scan, as it is stored.
struct ScanNumber {
    std::string path = {}; ///< of its dataset; empty where there is none
    double value = 0;      ///< which `type` has too
    ElementType type = ElementType::float64;
    std::string unit = {};
    std::string fault = {}; ///< why it is of no use; empty where it is

    bool usable() const { return !path.empty() && fault.empty(); }
    /// "0.65 um".
    std::string text() const;

    bool operator==(const ScanNumber&) const = default;
};

/// What an NXtomo entry says of the beam and the camera. A number that is usable() is above 0, of a
/// unit that kev_in() or metres_in() knows.
struct ScanSetup {
    ScanNumber energy = {};       ///< of the photons
    ScanNumber distance = {};     ///< from the sample to the detector, of a parallel beam
    ScanNumber x_pixel_size = {}; ///< along the columns, at the sample
    ScanNumber y_pixel_size = {}; ///< along the rows

    /// Whether the file has any of them.
    bool known() const;
    /// The numbers with their names.
    using Named = std::array<std::pair<const char*, const ScanNumber*>, 4>;
    Named all() const;
    /// "energy 25 keV, distance 0.5 m, …"; what is of no use with the reason.
    std::string text() const;

    bool operator==(const ScanSetup&) const = default;
};

/// Kiloelectronvolts in a unit of energy: "keV", "eV", "MeV" or "J".
std::optional<double> kev_in(std::string_view unit);

/// The entry that holds a scan, by the path of its detector alone: two groups above it where that
/// is in "instrument", else one.
std::string entry_above(const std::string& detector);

/// The group that holds a scan: the nearest entry that a detector's group is in, where the file
/// says which that is; else entry_above().
std::string entry_of_scan(const NexusFile& file, const std::string& detector);

/// Reads the setup of the scan whose frames a dataset of three axes holds. `key`: its image_key;
/// without one nothing is known. docs/phase.md says where numbers are looked for. No link leads
/// further than `outside` allows. In a process that may be lost. @throws Error (input).
ScanSetup read_scan_setup(const FileHandle& handle, const std::string& file,
                          const std::string& dataset, const std::string& key,
                          const OutsideFiles& outside);

/// Gives the rows and the columns of a scan's frames the sizes of pixels as their spacing, where
/// `axes` say neither a spacing nor another name than y and x. Sizes that are not usable() are
/// left.
void space_pixels(const ScanSetup& setup, Axes& axes);

} // namespace runner
