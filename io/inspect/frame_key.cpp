// SPDX-License-Identifier: BSD-3-Clause
#include "io/inspect/frame_key.hpp"

#include "base/array_info.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/text.hpp"
#include "io/inspect/nexus_file.hpp"
#include "io/inspect/scan_setup.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace runner {
namespace {

constexpr const char* key_name = "image_key";
constexpr const char* control_name = "image_key_control";
constexpr const char* scan_definition = "NXtomo";
constexpr std::size_t most_frame_groups = 8;

std::string name_in_path(const std::string& path) { return path.substr(path.rfind('/') + 1); }

class KeySearch {
  public:
    KeySearch(const NexusFile& file, std::string dataset)
        : file_(file), dataset_(std::move(dataset)), real_(file_.real_path(dataset_)),
          shape_(file_.shape_of(dataset_)) {
        is_signal_ = is_signal(dataset_) || (!real_.empty() && is_signal(real_));
    }

    FrameKey find() {
        const std::string name = name_in_path(real_.empty() ? dataset_ : real_);
        if (shape_.size() < 2 || (shape_.size() == 2 && !is_signal_) || name == key_name ||
            name == control_name) {
            return {};
        }
        std::string fault;
        for (const std::string& place : places()) {
            FrameKey found = key_in(place);
            if (!found.key.empty()) {
                found = found.control.empty() ? with_control(std::move(found)) : found;
                found.groups = groups_of_frames(found.key);
                add_angles(found);
                return found;
            }
            fault = fault.empty() ? found.fault : fault;
        }
        if (fault.empty() && is_signal_ && !has_other_key_) {
            fault = missing_key();
        }
        return {"", "", fault, {}, {}, {}};
    }

  private:
    /// Whether a dataset is what its group is for, and not one of the other things in it.
    bool is_signal(const std::string& path) const {
        const std::string name = name_in_path(path);
        return name == "data" || file_.text(group_of_path(path), "signal") == name ||
               is_first_signal(file_.attribute(path, "signal"));
    }

    /// The groups that the dataset lies in, by its name and by where it is itself: the nearest
    /// first.
    std::vector<std::string> entries() const {
        std::vector<std::string> all;
        for (const std::string& path : {dataset_, real_}) {
            for (std::string group = path; !group.empty() && group != "/";) {
                group = group_of_path(group);
                if (std::find(all.begin(), all.end(), group) == all.end()) {
                    all.push_back(group);
                }
            }
        }
        return all;
    }

    /// The group of an entry that has this name, and those of this class.
    std::vector<std::string> groups_in(const std::string& entry, const std::string& name,
                                       const char* nx_class) const {
        std::vector<std::string> groups = {path_below(entry, name)};
        if (is_entry(entry)) {
            for (std::string& group : file_.groups_of_class(entry, nx_class)) {
                groups.push_back(std::move(group));
            }
        }
        return groups;
    }

    void add_detectors(const std::string& entry, std::vector<std::string>& places) const {
        for (const std::string& instrument : groups_in(entry, "instrument", "NXinstrument")) {
            for (const std::string& name : names_in(instrument)) {
                places.push_back(path_below(instrument, name));
            }
        }
    }

    /// The NXdata groups that have a link to the dataset.
    void add_plots(const std::string& entry, std::vector<std::string>& places) const {
        for (const std::string& group : groups_in(entry, "data", "NXdata")) {
            try {
                const std::string name = file_.text(group, "signal").value_or("data");
                if (file_.is_group(group) && file_.is_same(path_below(group, name), dataset_)) {
                    places.push_back(group);
                }
            } catch (const Error&) { // it is behind a link that cannot be followed
            }
        }
    }

    bool is_entry(const std::string& group) const {
        const std::optional<std::string> nx_class = file_.text(group, "NX_class");
        return nx_class == "NXentry" || nx_class == "NXsubentry";
    }

    /// A group that cannot be listed, as behind a link to a file that is not there, has no key.
    std::vector<std::string> names_in(const std::string& group) const {
        try {
            return file_.names_in(group);
        } catch (const Error&) {
            return {};
        }
    }

    std::vector<std::string> subentries_of(const std::string& entry) const {
        return is_entry(entry) ? file_.groups_of_class(entry, "NXsubentry")
                               : std::vector<std::string>();
    }

    /// Where a key may be, the likeliest first.
    std::vector<std::string> places() const {
        std::vector<std::string> all = {group_of_path(dataset_)};
        if (!real_.empty()) {
            all.push_back(group_of_path(real_));
        }
        const std::vector<std::string> groups = entries();
        for (const std::string& entry : groups) {
            add_detectors(entry, all);
            add_plots(entry, all);
        }
        for (const std::string& entry : groups) {
            for (const std::string& subentry : subentries_of(entry)) {
                add_detectors(subentry, all);
            }
        }
        return all;
    }

    /// As many numbers as `count`, in one column.
    static bool is_list(const std::vector<std::int64_t>& shape, std::int64_t count) {
        return shape == std::vector<std::int64_t>{count} ||
               shape == std::vector<std::int64_t>{count, 1};
    }

    /// Whether a group has a dataset, other than this one, that has so many frames.
    bool has_dataset_of(const std::string& group, std::int64_t frames) const {
        const std::vector<std::string> names = names_in(group);
        return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
            try {
                const std::string path = path_below(group, name);
                if (name == key_name || name == control_name || !file_.is_dataset(path) ||
                    file_.is_same(path, dataset_)) {
                    return false;
                }
                const std::vector<std::int64_t> shape = file_.shape_of(path);
                return shape.size() > 2 && shape.front() == frames;
            } catch (const Error&) {
                return false; // behind a link that cannot be followed
            }
        });
    }

    FrameKey key_in(const std::string& place) {
        FrameKey found;
        std::string key = path_below(place, key_name);
        const std::string control = path_below(place, control_name);
        try {
            const bool has_control = is_there(control);
            if (!is_there(key)) {
                if (!has_control) {
                    return found;
                }
                key = control;
            }
            for (const std::string& each : {key, has_control ? control : key}) {
                const std::vector<std::int64_t> shape = file_.shape_of(each);
                if (is_list(shape, shape_.front())) {
                    continue;
                }
                const std::int64_t count = shape.empty() ? 1 : shape.front();
                if (has_dataset_of(place, count) ||
                    has_dataset_of(group_of_path(dataset_), count)) {
                    has_other_key_ = true;
                    return found;
                }
                const std::int64_t numbers = std::accumulate(shape.begin(), shape.end(),
                                                             std::int64_t{1}, std::multiplies<>());
                found.fault = fmt::format("{} has {}, its shape is {}, and {} has {} of shape {}",
                                          each, counted(numbers, "number"), shape_text(shape),
                                          dataset_, counted(shape_.front(), "frame"),
                                          shape_text({shape_.begin() + 1, shape_.end()}));
                return found;
            }
            found.key = std::move(key);
            found.control = has_control ? control : "";
        } catch (const Error& error) {
            found = {};
            found.fault = fmt::format("{} cannot be read: {}", key, error.text().why);
        }
        return found;
    }

    /// The same with the control that stands beside the dataset itself, or beside the same key: a
    /// group of links may have the key alone.
    FrameKey with_control(FrameKey found) {
        for (const std::string& place : places()) {
            if (!is_there(path_below(place, control_name))) {
                continue;
            }
            if (is_of_frames(place, found.key)) {
                FrameKey other = key_in(place);
                if (!other.fault.empty()) {
                    return {"", "", std::move(other.fault), {}, {}, {}};
                }
                found.control = std::move(other.control);
                return found;
            }
        }
        return found;
    }

    /// Whether a group has the dataset itself, or this key.
    bool is_of_frames(const std::string& group, const std::string& key) const {
        const std::string name = name_in_path(real_.empty() ? dataset_ : real_);
        const auto has = [&](const std::string& path, const std::string& other) {
            return is_there(path) && is_same(path, other);
        };
        return (!real_.empty() && group == group_of_path(real_)) ||
               has(path_below(group, key_name), key) || has(path_below(group, name), dataset_);
    }

    /// The groups that have the dataset or its key, that of the key first.
    std::vector<std::string> groups_of_frames(const std::string& key) const {
        std::vector<std::string> groups = {group_of_path(key)};
        for (const std::string& place : places()) {
            const bool is_new = std::find(groups.begin(), groups.end(), place) == groups.end();
            if (is_new && groups.size() < most_frame_groups && is_of_frames(place, key)) {
                groups.push_back(place);
            }
        }
        return groups;
    }

    /// Angles may be behind links into other files, as the frames themselves are in a master file.
    void add_angles(FrameKey& key) const {
        std::vector<std::string> groups = key.groups;
        groups.push_back(path_below(entry_of_scan(file_, group_of_path(key.key)), "sample"));
        groups.push_back(group_of_path(dataset_));
        for (const std::string& group : groups) {
            key.angles.push_back(path_below(group, "rotation_angle"));
            try {
                key.files.merge(file_.files_of(key.angles.back()));
            } catch (const Error&) { // who reads them says why not
            }
        }
    }

    bool is_same(const std::string& one, const std::string& other) const {
        try {
            return file_.is_same(one, other);
        } catch (const Error&) {
            return false; // behind a link that cannot be followed
        }
    }

    /// Whether there is something of that name: a dataset, or a link that cannot be followed.
    bool is_there(const std::string& path) const {
        const std::vector<std::string> names = names_in(group_of_path(path));
        return std::find(names.begin(), names.end(), name_in_path(path)) != names.end();
    }

    std::optional<std::string> text_in(const std::string& path) const {
        try {
            return file_.dataset_text(path);
        } catch (const Error&) {
            return std::nullopt; // behind a link that cannot be followed
        }
    }

    /// Says that the file is a scan without a key, if it is one; else nothing.
    std::string missing_key() const {
        std::vector<std::string> scans = entries();
        for (const std::string& entry : entries()) {
            for (std::string& subentry : subentries_of(entry)) {
                scans.push_back(std::move(subentry));
            }
        }
        for (const std::string& entry : scans) {
            const std::string definition = path_below(entry, "definition");
            if (text_in(definition) == scan_definition) {
                return fmt::format("{} says {}, and there is no image_key beside {} nor in a "
                                   "detector of {}",
                                   definition, scan_definition, dataset_, entry);
            }
        }
        return "";
    }

    const NexusFile& file_;
    std::string dataset_;
    std::string real_; ///< where it is itself; "" in another file
    std::vector<std::int64_t> shape_;
    bool is_signal_ = false;
    bool has_other_key_ = false; ///< there is one, of another dataset
};

} // namespace

FrameKey find_frame_key(const FileHandle& handle, const std::string& file,
                        const std::string& dataset, const OutsideFiles& outside) {
    const NexusFile nexus(handle, file, outside);
    return KeySearch(nexus, path_below("/", dataset)).find();
}

} // namespace runner
