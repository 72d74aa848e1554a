// SPDX-License-Identifier: BSD-3-Clause
#include "io/metadata/read_metadata.hpp"

#include "base/array_info.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "io/files/input_rules.hpp"
#include "io/hdf5/hdf5_dataset.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/input/check_storage.hpp"
#include "io/inspect/attribute_list.hpp"
#include "io/inspect/axis_marks.hpp"
#include "io/inspect/exchange_names.hpp"
#include "io/inspect/inspect_dataset.hpp"
#include "io/inspect/links.hpp"
#include "io/metadata/named_datasets.hpp"
#include "io/metadata/read_value.hpp"
#include "io/metadata/scan_items.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <optional>
#include <utility>

namespace runner {
namespace {

constexpr const char* indices = "_indices";
constexpr const char* elsewhere = "its elements are in other files";

class MetadataReader {
  public:
    MetadataReader(const std::string& file, std::string dataset, const InputRules& rules)
        : file_(file), dataset_(std::move(dataset)), handle_(open_hdf5(file)),
          outside_(file, rules) {}

    Metadata read() {
        passed_ = check_links(handle_, file_, dataset_, outside_);
        add_mark(passed_, file_);
        const DatasetHandle dataset = open_dataset(handle_, file_, dataset_);
        found_.shape = extents_of(dataset);
        read_attributes(dataset.get(), dataset_, most_attributes, found_.dataset, found_.left_out);
        take_placement();
        const std::size_t slash = dataset_.rfind('/');
        group_path_ = slash == std::string::npos || slash == 0 ? "/" : dataset_.substr(0, slash);
        name_ = dataset_.substr(slash == std::string::npos ? 0 : slash + 1);
        const ObjectHandle group(H5Oopen(handle_.get(), group_path_.c_str(), H5P_DEFAULT));
        if (group.valid() && is_signal_of(group.get())) {
            read_group(group.get());
        }
        name_axes_by_dataset(group.valid() && is_signal_of(group.get()));
        add_scales(dataset.get());
        leave_out_beside();
        if (found_.shape.size() == 3) {
            found_.scan = read_scan(handle_, file_, dataset_, outside_, found_.left_out);
            add_angles();
        }
        if (found_.shape.size() > 1 && exchange_role(dataset_) == FrameRole::projection) {
            add_exchange_angles();
        }
        return std::move(found_);
    }

  private:
    /// The placement that this program wrote is no attribute as others are.
    void take_placement() {
        const auto text =
            std::find_if(found_.dataset.begin(), found_.dataset.end(), [](const NamedValue& each) {
                return each.name == placement_attribute && each.value.texts.size() == 1;
            });
        if (text == found_.dataset.end()) {
            return;
        }
        if (std::optional<Axes> placement =
                axes_of_text(text->value.texts.front(), found_.shape.size())) {
            found_.placement = std::move(*placement);
            found_.dataset.erase(text);
        }
    }

    /// Whether the group is an NXdata that has the dataset as its signal.
    bool is_signal_of(hid_t group) const {
        const std::optional<std::string> signal = text_of_attribute(group, "signal");
        return signal ? *signal == name_ : text_of_attribute(group, "NX_class") == "NXdata";
    }

    /// The angles of a scan are coordinates of its frames, whether or not they are named as such.
    void add_angles() {
        const auto angles =
            std::find_if(found_.scan.begin(), found_.scan.end(), [](const ScanItem& item) {
                return item.path == "sample/rotation_angle" &&
                       item.kind == ScanItem::Kind::of_frames;
            });
        const bool known =
            std::any_of(found_.coordinates.begin(), found_.coordinates.end(),
                        [](const Coordinates& each) { return each.name == "rotation_angle"; });
        if (angles == found_.scan.end() || known || found_.coordinates.size() == most_coordinates) {
            return;
        }
        found_.coordinates.push_back({"rotation_angle", 0, angles->value, angles->attributes});
        name_frames("rotation_angle");
    }

    /// The angles of a Data Exchange file are those of its frames, which are what the first axis
    /// counts unless another one is named for them. Without angles the axis is named all the same.
    void add_exchange_angles() {
        Axes named;
        for (const std::string& name : found_.axes) {
            named.each.push_back({name});
        }
        for (const NamedValue& each : found_.dataset) {
            const bool are_labels = each.name == "DIMENSION_LABELS" && named.each.empty();
            for (std::size_t i = 0; are_labels && i < each.value.texts.size(); ++i) {
                named.each.push_back({each.value.texts[i]});
            }
        }
        if (!counts_frames(named)) {
            return;
        }
        if (!has_coordinates(exchange_angles)) {
            add_coordinates(exchange_angles, 0);
        }
        // As many and one more are no edges of bins, as they may be elsewhere.
        const auto is_odd = [this](const Coordinates& each) {
            return each.name == exchange_angles && each.values.count() != found_.shape.front();
        };
        for (const Coordinates& each : found_.coordinates) {
            if (is_odd(each)) {
                found_.left_out.push_back(
                    fmt::format("{}: it has {} numbers, and there are {} frames", each.name,
                                each.values.count(), found_.shape.front()));
            }
        }
        std::erase_if(found_.coordinates, is_odd);
        name_axis(0, has_coordinates(exchange_angles) ? exchange_angles : "frame");
    }

    bool has_coordinates(const std::string& name) const {
        return std::any_of(found_.coordinates.begin(), found_.coordinates.end(),
                           [&](const Coordinates& each) { return each.name == name; });
    }

    /// Older files name the axes in one text of the dataset, "theta:y:x". Names that the group has
    /// are not overruled.
    void name_axes_by_dataset(bool is_signal) {
        const auto text =
            std::find_if(found_.dataset.begin(), found_.dataset.end(), [](const NamedValue& each) {
                return each.name == "axes" && each.value.texts.size() == 1;
            });
        if (text == found_.dataset.end()) {
            return;
        }
        const std::vector<std::string> names = names_in_text(text->value.texts.front());
        if (names.size() != found_.shape.size() || names.size() < 2) {
            return;
        }
        for (std::size_t axis = 0; axis < names.size(); ++axis) {
            const bool is_new = name_axis(axis, names[axis]);
            if (is_new && is_signal && !has_coordinates(names[axis])) {
                add_coordinates(names[axis], static_cast<std::int64_t>(axis));
            }
        }
    }

    /// The dimension scales of netCDF-4 and h5py, which may be in another group than the dataset.
    void add_scales(hid_t dataset) {
        const std::vector<DimensionScale> scales = dimension_scales(dataset, found_.shape.size());
        for (std::size_t axis = 0; axis < scales.size(); ++axis) {
            const std::string name = scales[axis].name();
            if (scales[axis].path.empty()) {
                continue;
            }
            name_axis(axis, name);
            if (scales[axis].has_numbers && !has_coordinates(name)) {
                add_coordinates(name, static_cast<std::int64_t>(axis), scales[axis].path);
            }
        }
    }

    /// Names an axis; false where it has a name, or this can be none.
    bool name_axis(std::size_t axis, const std::string& name) {
        if (!is_member_name(name) || name == ".") {
            return false;
        }
        if (found_.axes.empty()) {
            found_.axes.assign(found_.shape.size(), ".");
        }
        if (found_.axes[axis] != ".") {
            return false;
        }
        found_.axes[axis] = name;
        return true;
    }

    /// Names the first axis by its coordinates of this name, if there are such, and it has no name.
    void name_frames(const char* name) {
        if (has_coordinates(name)) {
            name_axis(0, name);
        }
    }

    void read_group(hid_t group) {
        // The root's attributes are about the file.
        std::vector<NamedValue> all;
        std::vector<std::string> left_out;
        read_attributes(group, group_path_, most_attributes, all, left_out);
        for (NamedValue& each : all) {
            const bool names_members = each.name == "axes" || each.name == "auxiliary_signals" ||
                                       each.name.ends_with(indices);
            if (each.name == "axes") {
                found_.axes = names_of(each.value);
            }
            for (const std::string& signal :
                 each.name == "auxiliary_signals" ? each.value.texts : std::vector<std::string>{}) {
                found_.left_out.push_back("the signal " + signal);
            }
            if (!names_members && group_path_ != "/") {
                found_.group.push_back(each);
            }
        }
        if (group_path_ != "/") {
            found_.left_out.insert(found_.left_out.end(), left_out.begin(), left_out.end());
        }
        if (found_.axes.size() != found_.shape.size()) {
            found_.axes.clear();
        }
        for (std::size_t axis = 0; axis < found_.axes.size(); ++axis) {
            add_coordinates(found_.axes[axis], static_cast<std::int64_t>(axis));
        }
        for (const NamedValue& each : all) {
            add_indexed(each);
        }
    }

    static std::vector<std::string> names_of(const PlainValue& axes) {
        if (axes.kind != PlainValue::Kind::text) {
            return {};
        }
        std::vector<std::string> names = axes.texts;
        for (std::string& name : names) {
            name.erase(name.find_last_not_of(' ') + 1);
        }
        return names;
    }

    /// What attributes name beside the dataset, and NeXus' errors, which have their name alone.
    void leave_out_beside() {
        std::vector<std::string> lost =
            take_named_datasets(found_.dataset, [this](const std::string& name) {
                return !has_coordinates(name) && is_beside(name);
            });
        for (const std::string& errors : {name_ + "_errors", std::string("errors")}) {
            const std::string words = errors_words + errors;
            if (is_beside(errors) && std::find(lost.begin(), lost.end(), words) == lost.end()) {
                lost.push_back(words);
            }
        }
        found_.left_out.insert(found_.left_out.end(), lost.begin(), lost.end());
    }

    /// Whether the dataset's group has a member of this name.
    bool is_beside(const std::string& name) const {
        const std::string path = (group_path_ == "/" ? "" : group_path_) + "/" + name;
        return is_member_name(name) && H5Lexists(handle_.get(), path.c_str(), H5P_DEFAULT) > 0;
    }

    /// Coordinates that only an attribute NAME_indices names; those of several axes are left out.
    void add_indexed(const NamedValue& each) {
        if (!each.name.ends_with(indices) || each.value.kind != PlainValue::Kind::number) {
            return;
        }
        const std::string name =
            each.name.substr(0, each.name.size() - std::string(indices).size());
        const bool known =
            std::find(found_.axes.begin(), found_.axes.end(), name) != found_.axes.end() ||
            name == name_;
        if (!known && each.value.count() > 1 && is_beside(name)) {
            found_.left_out.push_back(name + ": it lies along several axes");
        } else if (!known && each.value.count() == 1) {
            visit_element_type(each.value.type, [&](auto number) {
                std::copy_n(each.value.bytes.begin(), sizeof(number),
                            reinterpret_cast<std::byte*>(&number));
                if (number >= 0 && static_cast<double>(number) < 32) {
                    add_coordinates(name, static_cast<std::int64_t>(number));
                }
            });
        }
    }

    void add_coordinates(const std::string& name, std::int64_t axis) {
        add_coordinates(name, axis, (group_path_ == "/" ? "" : group_path_) + "/" + name);
    }

    void add_coordinates(const std::string& name, std::int64_t axis, const std::string& path) {
        if (name.empty() || name == "." || axis >= std::ssize(found_.shape)) {
            return;
        }
        const auto leave_out = [&](const std::string& why) {
            found_.left_out.push_back(path + ": " + why);
        };
        if (!is_member_name(name)) {
            return leave_out("it is not in the dataset's group");
        }
        if (std::any_of(found_.coordinates.begin(), found_.coordinates.end(),
                        [&](const Coordinates& each) { return each.name == name; })) {
            return leave_out("it is named for two axes");
        }
        if (found_.coordinates.size() == most_coordinates) {
            return leave_out("there are more than " + std::to_string(most_coordinates));
        }
        try {
            const FileMarks passed = check_links(handle_, file_, path, outside_);
            if (H5Lexists(handle_.get(), path.c_str(), H5P_DEFAULT) <= 0) {
                return; // a name for the axis, and no numbers
            }
            // No other files than the job's identity tells of.
            if (!std::all_of(passed.begin(), passed.end(),
                             [this](const auto& file) { return passed_.contains(file.first); })) {
                return leave_out(elsewhere);
            }
            const DatasetHandle dataset = open_dataset(handle_, file_, path);
            const std::string why = why_not(dataset, found_.shape[static_cast<std::size_t>(axis)]);
            if (!why.empty()) {
                return leave_out(why);
            }
            check_stored(dataset, file_, path);
            Coordinates made{name, axis, read_numbers(dataset.get()), {}};
            read_attributes(dataset.get(), path, most_coordinate_attributes, made.attributes,
                            found_.left_out);
            found_.coordinates.push_back(std::move(made));
        } catch (const Error& error) {
            leave_out(error.text().why);
        }
    }

    /// Why a dataset cannot be coordinates of an axis of so many elements; empty where it can.
    static std::string why_not(const DatasetHandle& dataset, std::int64_t extent) {
        const std::vector<std::int64_t> shape = extents_of(dataset);
        const TypeHandle type(hdf5_must(H5Dget_type(dataset.get()), "H5Dget_type"));
        const PropertyHandle creation = creation_of(dataset);
        const std::string storage = storage_of(creation);
        if (shape.size() != 1 || (shape[0] != extent && shape[0] != extent + 1)) {
            return "its shape is " + shape_text(shape) + ", and the axis has " +
                   std::to_string(extent) + " elements";
        }
        if (shape[0] > most_coordinate_values) {
            return "it has more than " + std::to_string(most_coordinate_values) + " numbers";
        }
        if (!is_number_type(type.get())) {
            return "its elements are no real numbers";
        }
        if (storage == "external" || storage == "virtual") {
            return elsewhere;
        }
        constexpr std::int64_t largest_chunk = std::int64_t{1} << 24; // elements
        std::int64_t chunk = 1;
        for (const std::int64_t each : chunk_of(creation)) {
            chunk *= each;
        }
        return chunk > largest_chunk ? "its chunks are too large" : "";
    }

    const std::string& file_;
    std::string dataset_;
    std::string group_path_;
    std::string name_;
    FileHandle handle_;
    OutsideFiles outside_;
    FileMarks passed_; ///< the file, and those that the way to the dataset leads into
    Metadata found_;
};

} // namespace

Metadata read_metadata(const std::string& file, const std::string& dataset,
                       const InputRules& rules) {
    return MetadataReader(file, dataset, rules).read();
}

} // namespace runner
