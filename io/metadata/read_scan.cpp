// SPDX-License-Identifier: BSD-3-Clause
#include "io/metadata/scan_items.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/hdf5/hdf5_dataset.hpp"
#include "io/input/check_storage.hpp"
#include "io/inspect/frame_key.hpp"
#include "io/inspect/nexus_file.hpp"
#include "io/inspect/scan_setup.hpp"
#include "io/metadata/read_value.hpp"

#include <algorithm>
#include <utility>

namespace runner {
namespace {

constexpr int deepest_group = 5;
constexpr const char* usual_detector = "instrument/detector";
constexpr const char* angle = "rotation_angle";
constexpr const char* sample_angle = "sample/rotation_angle";
constexpr const char* in_other_file = "it is in another file";

PlainValue text_value(std::string text) {
    PlainValue value;
    value.kind = PlainValue::Kind::text;
    value.utf8 = true;
    value.texts.push_back(std::move(text));
    return value;
}

/// What the program records in its outputs (row_hashes_dataset), which is about that file.
constexpr std::string_view own_group = "/runner";

class ScanReader {
  public:
    ScanReader(const FileHandle& handle, const NexusFile& file, std::string dataset, FrameKey key,
               std::vector<std::string>& left_out)
        : handle_(handle), file_(file), dataset_(std::move(dataset)), key_(std::move(key)),
          left_out_(left_out), frames_(file_.shape_of(dataset_).front()),
          detector_(group_of_path(key_.key.empty() ? dataset_ : key_.key)),
          entry_(entry_of_scan(file, detector_)) {}

    std::vector<ScanItem> read() {
        add_group("", entry_);
        walk("", entry_, 0);
        for (const std::string& key : {key_.key, key_.control}) {
            if (!key.empty()) {
                try_dataset(std::string(usual_detector) + key.substr(key.rfind('/')), key);
            }
        }
        for (const std::string& path : key_.angles) {
            try_dataset(sample_angle, path);
        }
        erase("definition");
        if (has(usual_detector + key_.key.substr(key_.key.rfind('/'))) &&
            (!loses_angles_ || has(sample_angle))) { // without these it is none
            items_.push_back({"definition", {}, text_value("NXtomo"), {}, {}});
        }
        std::sort(items_.begin(), items_.end(),
                  [](const ScanItem& a, const ScanItem& b) { return a.path < b.path; });
        return std::move(items_);
    }

    /// What is lost of the scan where it cannot be taken over, for messages.
    std::string lost(const std::string& why) {
        constexpr std::size_t most = 16;
        walk("", entry_, 0);
        std::erase_if(items_,
                      [](const ScanItem& item) { return item.kind == ScanItem::Kind::group; });
        std::string names;
        for (std::size_t i = 0; i < std::min(items_.size(), most); ++i) {
            names += (i == 0 ? "" : ", ") + items_[i].path;
        }
        if (items_.size() > most) {
            names += fmt::format(" and {} more", items_.size() - most);
        }
        return fmt::format("what {} says of the scan{}: {}", entry_,
                           names.empty() ? "" : " (" + names + ")", why);
    }

  private:
    bool has(const std::string& path) const {
        return std::any_of(items_.begin(), items_.end(),
                           [&](const ScanItem& item) { return item.path == path; });
    }

    void erase(const std::string& path) {
        std::erase_if(items_, [&](const ScanItem& item) { return item.path == path; });
    }

    void leave_out(const std::string& path, const std::string& why) {
        loses_angles_ = loses_angles_ || path.ends_with(std::string("/") + angle);
        std::string text = path + ": " + why;
        if (std::find(left_out_.begin(), left_out_.end(), text) == left_out_.end()) {
            left_out_.push_back(std::move(text));
        }
    }

    /// Adds what is in a group, and in those below it.
    void walk(const std::string& below, const std::string& group, int depth) {
        for (const std::string& name : file_.names_in(group)) {
            const std::string path = path_below(group, name);
            std::string item = below;
            item.append(below.empty() ? "" : "/").append(name);
            if (path == detector_) {
                item = usual_detector;
            }
            if (path == dataset_ || path == own_group || has(item) ||
                items_.size() >= most_scan_items) {
                continue;
            }
            try {
                visit(item, path, depth);
            } catch (const Error& error) {
                leave_out(path, error.text().why);
            }
        }
    }

    void visit(const std::string& item, const std::string& path, int depth) {
        H5L_info_t link{};
        if (H5Lget_info(handle_.get(), path.c_str(), &link, H5P_DEFAULT) < 0) {
            return;
        }
        if (file_.is_dataset(path)) {
            add_dataset(item, path);
            return;
        }
        const std::string nx_class = file_.text(path, "NX_class").value_or("");
        const bool is_other = nx_class == "NXdata" || nx_class == "NXentry" ||
                              nx_class == "NXsubentry" || nx_class == "NXprocess";
        if (link.type == H5L_TYPE_EXTERNAL && !is_other) {
            leave_out(path, file_.is_group(path) ? in_other_file : "it leads to nothing");
        } else if (link.type == H5L_TYPE_HARD && !is_other && depth < deepest_group &&
                   file_.is_group(path)) {
            add_group(item, path);
            walk(item, path, depth + 1);
        }
    }

    void add_group(const std::string& item, const std::string& path) {
        ScanItem made{
            item, file_.text(path, "NX_class").value_or(""), {}, {}, ScanItem::Kind::group};
        if (path != "/") { // the root's are about the file
            const ObjectHandle group = file_.open(path);
            read_attributes(group.get(), path, most_coordinate_attributes, made.attributes,
                            left_out_);
        }
        std::erase_if(made.attributes, [](const NamedValue& each) {
            return each.name == "axes" || each.name.ends_with("_indices");
        });
        items_.push_back(std::move(made));
    }

    /// Whether what this is may be in another file, which is of the job's identity then.
    bool is_followed(const std::string& path) const {
        std::vector<std::string> followed = key_.angles;
        followed.insert(followed.end(), {key_.key, key_.control});
        return std::any_of(followed.begin(), followed.end(), [&](const std::string& each) {
            return !each.empty() && (each == path || file_.is_same(each, path));
        });
    }

    void try_dataset(const std::string& item, const std::string& path) {
        try {
            add_dataset(item, path);
        } catch (const Error& error) {
            leave_out(path, error.text().why);
        }
    }

    void add_dataset(const std::string& item, const std::string& path) {
        if (has(item) || !file_.is_dataset(path) || file_.is_same(path, dataset_)) {
            return;
        }
        const bool is_elsewhere = file_.real_path(path).empty() && !is_followed(path);
        ScanItem made{item, {}, {}, {}, ScanItem::Kind::fixed};
        if (const std::optional<std::string> text = file_.dataset_text(path)) {
            made.value = text_value(*text);
            if (is_elsewhere) {
                return leave_out(path, in_other_file);
            }
        } else {
            const DatasetHandle dataset(H5Dopen2(handle_.get(), path.c_str(), H5P_DEFAULT));
            if (!is_list_of_numbers(dataset)) {
                if (is_followed(path)) {
                    leave_out(path, "it is no list of numbers that is stored as such");
                } else if (dataset.valid() && has_several_of_frames(extents_of(dataset))) {
                    leave_out(path, "it has two axes");
                } else if (dataset.valid() && says_something(dataset)) {
                    leave_out(path, "it is neither one text nor a short list of numbers");
                }
                return;
            }
            if (is_elsewhere) {
                return leave_out(path, in_other_file);
            }
            if (extents_of(dataset).empty()) {
                check_number(dataset, path);
            } else {
                check_stored(dataset, file_.file(), path);
            }
            made.value = read_numbers(dataset.get());
            if (made.value.shape.size() == 2) {
                made.value.shape.pop_back(); // a column
            }
            if (made.value.shape == std::vector<std::int64_t>{frames_}) {
                made.kind = ScanItem::Kind::of_frames;
            }
        }
        const ObjectHandle object = file_.open(path);
        read_attributes(object.get(), path, most_coordinate_attributes, made.attributes, left_out_);
        items_.push_back(std::move(made));
    }

    /// One number, or as many as there are frames, or a few, stored in the file itself.
    bool is_list_of_numbers(const DatasetHandle& dataset) const {
        constexpr std::int64_t most_fixed = 1024;
        if (!dataset.valid()) {
            return false;
        }
        const std::vector<std::int64_t> shape = extents_of(dataset);
        const TypeHandle type(hdf5_must(H5Dget_type(dataset.get()), "H5Dget_type"));
        const SpaceHandle space(hdf5_must(H5Dget_space(dataset.get()), "H5Dget_space"));
        const std::string storage = storage_of(creation_of(dataset));
        const bool is_column = shape.size() == 2 && shape[1] == 1;
        const std::int64_t count = shape.empty() ? 1 : shape.front();
        const bool is_plain = is_number_type(type.get()) ||
                              (is_truth_type(type.get()) && (shape.empty() || count != frames_));
        return H5Sget_simple_extent_type(space.get()) != H5S_NULL && is_plain &&
               (shape.size() < 2 || is_column) && storage != "external" && storage != "virtual" &&
               count > 0 && count <= most_coordinate_values &&
               (count == frames_ || count <= most_fixed);
    }

    /// Whether it is no array of images, and holds something.
    static bool says_something(const DatasetHandle& dataset) {
        const std::vector<std::int64_t> shape = extents_of(dataset);
        const SpaceHandle space(hdf5_must(H5Dget_space(dataset.get()), "H5Dget_space"));
        return shape.size() < 2 && H5Sget_simple_extent_npoints(space.get()) > 0;
    }

    /// Whether an array has several numbers for each frame.
    bool has_several_of_frames(const std::vector<std::int64_t>& shape) const {
        return shape.size() == 2 && shape[0] == frames_ && shape[1] > 1;
    }

    /// A single number is stored, or HDF5 reads other memory for it. @throws Error (input).
    void check_number(const DatasetHandle& dataset, const std::string& path) const {
        const TypeHandle type(hdf5_must(H5Dget_type(dataset.get()), "H5Dget_type"));
        if (H5Dget_storage_size(dataset.get()) != H5Tget_size(type.get())) {
            throw Error(ExitCode::input,
                        {"cannot read the number", file_and_dataset(file_.file(), path),
                         "it is not stored", "Write it, or remove it"});
        }
    }

    const FileHandle& handle_;
    const NexusFile& file_;
    std::string dataset_;
    FrameKey key_;
    std::vector<std::string>& left_out_;
    std::int64_t frames_;
    std::string detector_; ///< the group of the key
    std::string entry_;
    std::vector<ScanItem> items_;
    bool loses_angles_ = false; ///< there are angles, and they are left out
};

} // namespace

std::vector<ScanItem> read_scan(const FileHandle& handle, const std::string& file,
                                const std::string& dataset, const OutsideFiles& outside,
                                std::vector<std::string>& left_out) {
    const FrameKey key = find_frame_key(handle, file, dataset, outside);
    const NexusFile nexus(handle, file, outside);
    if (key.key.empty()) {
        if (!key.fault.empty()) {
            std::vector<std::string> details;
            left_out.push_back(
                ScanReader(handle, nexus, path_below("/", dataset), key, details).lost(key.fault));
        }
        return {};
    }
    return ScanReader(handle, nexus, path_below("/", dataset), key, left_out).read();
}

} // namespace runner
