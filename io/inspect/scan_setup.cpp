// SPDX-License-Identifier: BSD-3-Clause
#include "io/inspect/scan_setup.hpp"

#include "base/array_info.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/units.hpp"
#include "io/hdf5/hdf5_type.hpp"
#include "io/inspect/nexus_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace runner {
namespace {

/// How far two numbers for the same may differ, and the beam may spread from the sample on.
constexpr double rounding = 1e-6;
constexpr double most_spread = 0.01;

double relative_difference(double a, double b) { return std::abs(a - b) / std::max(a, b); }

class SetupReader {
  public:
    SetupReader(const NexusFile& file, std::string detector)
        : file_(file), detector_(std::move(detector)), entry_(entry_of_scan(file, detector_)) {}

    ScanSetup read() const {
        ScanSetup setup;
        setup.energy =
            first_of({in_entry("instrument/beam/incident_energy"), in_entry("beam/incident_energy"),
                      in_entry("instrument/monochromator/energy")},
                     kev_in, "energy");
        setup.distance = length(in_entry("sample/propagation_distance"));
        setup.x_pixel_size = length(in_entry("sample/x_pixel_size"));
        setup.y_pixel_size = length(in_entry("sample/y_pixel_size"));
        const std::string spread = spread_of_beam();
        const std::string magnified = magnification();
        take_detector(setup.distance, "distance", spread);
        take_detector(setup.x_pixel_size, "x_pixel_size", spread.empty() ? magnified : spread);
        take_detector(setup.y_pixel_size, "y_pixel_size", spread.empty() ? magnified : spread);
        return setup;
    }

  private:
    std::string in_entry(const std::string& name) const { return path_below(entry_, name); }

    /// The number in the detector, where the file says no better one.
    void take_detector(ScanNumber& number, const std::string& name, const std::string& why) const {
        if (!number.path.empty()) {
            return;
        }
        for (const std::string& group : {detector_, in_entry("instrument/detector")}) {
            if (number.path.empty()) {
                number = length(path_below(group, name));
            }
        }
        if (number.usable()) {
            number.fault = why;
        }
    }

    /// Why numbers of the detector are not those of a parallel beam; empty where they are.
    std::string spread_of_beam() const {
        const ScanNumber source = number_at(in_entry("instrument/source/distance"));
        ScanNumber detector;
        take_detector(detector, "distance", "");
        const double metres = metres_in(source.unit).value_or(0) * std::abs(source.value);
        const double behind = metres_in(detector.unit).value_or(0) * detector.value;
        return detector.usable() && source.usable() && metres > 0 && behind > most_spread * metres
                   ? fmt::format("{} is {}, so the beam is not parallel", source.path,
                                 source.text())
                   : "";
    }

    /// Why it is open whether pixels of the detector are those at the sample; empty where not.
    std::string magnification() const {
        const ScanNumber number = number_at(path_below(detector_, "magnification"));
        return number.path.empty() || number.value == 1
                   ? ""
                   : fmt::format("{} is {}, and nothing says whether the pixels are those at the "
                                 "sample",
                                 number.path, number.text());
    }

    ScanNumber length(const std::string& path) const { return checked(path, metres_in, "length"); }

    /// The first number that is there; others there must be equal.
    ScanNumber first_of(const std::vector<std::string>& paths,
                        std::optional<double> (*in_unit)(std::string_view),
                        const char* quantity) const {
        ScanNumber first;
        for (const std::string& path : paths) {
            const ScanNumber other = checked(path, in_unit, quantity);
            if (first.path.empty()) {
                first = other;
            } else if (first.usable() && other.usable() &&
                       relative_difference(first.value * *in_unit(first.unit),
                                           other.value * *in_unit(other.unit)) > rounding) {
                first.fault = fmt::format("{} is {}, and {} is {}", first.path, first.text(),
                                          other.path, other.text());
            }
        }
        return first;
    }

    ScanNumber checked(const std::string& path, std::optional<double> (*in_unit)(std::string_view),
                       const char* quantity) const {
        ScanNumber number = number_at(path);
        if (!number.usable()) {
            return number;
        }
        if (!(number.value > 0) || std::isinf(number.value)) {
            number.fault = fmt::format("{} is {}, not above 0", path, number.value);
        } else if (number.unit.empty()) {
            number.fault = path + " has no units";
        } else if (!in_unit(number.unit)) {
            number.fault = fmt::format("{} has the units {}, which are none of {}", path,
                                       number.unit, quantity);
        }
        return number;
    }

    /// What is stored under this path.
    ScanNumber number_at(const std::string& path) const {
        ScanNumber number;
        try {
            const ObjectHandle object = file_.open(path);
            if (!object.valid() || H5Iget_type(object.get()) != H5I_DATASET) {
                return number;
            }
            number.path = path;
            const std::string why = why_not(path, object.get());
            const TypeHandle type(hdf5_must(H5Dget_type(object.get()), "H5Dget_type"));
            number.type = element_type_of(type.get()).value_or(ElementType::float64);
            number.fault = why.empty() ? "" : path + " " + why;
            if (why.empty() && H5Dread(object.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL,
                                       H5P_DEFAULT, &number.value) < 0) {
                number.fault = path + " cannot be read";
            }
            const auto units = file_.text(path, "units");
            number.unit = plain_unit(units ? *units : file_.text(path, "unit").value_or(""));
        } catch (const Error& error) {
            number.path = path;
            number.fault = path + " cannot be read: " + error.text().why;
        }
        return number;
    }

    /// Why a dataset is no number that can be read here; empty where it is one.
    std::string why_not(const std::string& path, hid_t dataset) const {
        const TypeHandle type(hdf5_must(H5Dget_type(dataset), "H5Dget_type"));
        const SpaceHandle space(hdf5_must(H5Dget_space(dataset), "H5Dget_space"));
        const PropertyHandle creation(hdf5_must(H5Dget_create_plist(dataset), "plist"));
        const std::optional<ElementType> element = element_type_of(type.get());
        if (!element || !is_number(*element) || !fits_its_bytes(type.get())) {
            return "is no number";
        }
        if (H5Sget_simple_extent_npoints(space.get()) != 1) {
            return "is not one number";
        }
        const H5D_layout_t layout = H5Pget_layout(creation.get());
        if ((layout != H5D_CONTIGUOUS && layout != H5D_COMPACT) ||
            H5Pget_external_count(creation.get()) != 0 || file_.real_path(path).empty()) {
            return "is stored in chunks, or in another file";
        }
        // HDF5 may read what a damaged file does not store from other memory.
        return H5Dget_storage_size(dataset) == H5Tget_size(type.get()) ? "" : "is not stored";
    }

    const NexusFile& file_;
    std::string detector_; ///< the group of the key
    std::string entry_;
};

std::string number_text(const ScanNumber& number) {
    return number.type == ElementType::float32 ? fmt::format("{}", static_cast<float>(number.value))
                                               : fmt::format("{}", number.value);
}

} // namespace

std::string ScanNumber::text() const {
    return number_text(*this) + (unit.empty() ? "" : " " + unit);
}

bool ScanSetup::known() const {
    const Named numbers = all();
    return std::any_of(numbers.begin(), numbers.end(),
                       [](const auto& each) { return !each.second->path.empty(); });
}

ScanSetup::Named ScanSetup::all() const {
    return {{{"energy", &energy},
             {"distance", &distance},
             {"y_pixel_size", &y_pixel_size},
             {"x_pixel_size", &x_pixel_size}}};
}

std::string ScanSetup::text() const {
    std::string text;
    for (const auto& [name, number] : all()) {
        if (!number->path.empty()) {
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name,
                                number->usable() ? number->text() : "of no use: " + number->fault);
        }
    }
    return text;
}

std::optional<double> kev_in(std::string_view unit) {
    static constexpr std::array<std::pair<std::string_view, double>, 6> units = {
        {{"keV", 1},
         {"kev", 1},
         {"KeV", 1},
         {"eV", 1e-3},
         {"MeV", 1e3},
         {"J", 1 / 1.602176634e-16}}};
    const auto* const found = std::find_if(units.begin(), units.end(),
                                           [&](const auto& each) { return each.first == unit; });
    return found == units.end() ? std::nullopt : std::optional(found->second);
}

std::string entry_above(const std::string& detector) {
    const std::string above = group_of_path(detector);
    return above.ends_with("/instrument") ? group_of_path(above) : above;
}

std::string entry_of_scan(const NexusFile& file, const std::string& detector) {
    for (std::string group = detector; group != "/"; group = group_of_path(group)) {
        const std::string nx_class = file.text(group, "NX_class").value_or("");
        if (nx_class == "NXentry" || nx_class == "NXsubentry") {
            return group;
        }
    }
    return entry_above(detector);
}

ScanSetup read_scan_setup(const FileHandle& handle, const std::string& file,
                          const std::string& dataset, const std::string& key,
                          const OutsideFiles& outside) {
    const NexusFile nexus(handle, file, outside);
    if (key.empty() || nexus.shape_of(path_below("/", dataset)).size() != 3) {
        return {};
    }
    return SetupReader(nexus, group_of_path(key)).read();
}

void space_pixels(const ScanSetup& setup, Axes& axes) {
    if (!setup.x_pixel_size.usable() && !setup.y_pixel_size.usable()) {
        return;
    }
    axes.each.resize(3);
    const auto space = [](Axis& axis, const char* name, const ScanNumber& size) {
        if (size.usable() && !axis.spacing && (axis.name.empty() || axis.name == name)) {
            axis = {name, size.unit, size.value};
        }
    };
    space(axes.each[1], "y", setup.y_pixel_size);
    space(axes.each[2], "x", setup.x_pixel_size);
}

} // namespace runner
