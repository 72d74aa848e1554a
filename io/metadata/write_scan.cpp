// SPDX-License-Identifier: BSD-3-Clause
#include "io/metadata/scan_items.hpp"

#include "base/error.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/inspect/nexus_file.hpp"
#include "io/metadata/write_value.hpp"

#include <algorithm>
#include <utility>

namespace runner {
namespace {

constexpr const char* detector_group = "instrument/detector";

/// Where the entry of the output is: above the group of its dataset.
std::string entry_for(const std::string& dataset) {
    const std::string group = group_of_path(dataset);
    const std::string ending = std::string("/") + detector_group;
    if (group.size() > ending.size() && group.ends_with(ending)) {
        return group.substr(0, group.size() - ending.size());
    }
    const std::string entry = group_of_path(group);
    return group == "/" ? "/entry" : (entry == "/" ? group : entry);
}

class ScanWriter {
  public:
    ScanWriter(const std::string& file, const std::string& dataset)
        : file_(file), dataset_(dataset), entry_(entry_for(dataset)), handle_(update_hdf5(file)) {}

    void write(const std::vector<ScanItem>& scan) {
        make_group("", "NXentry");
        make_group("instrument", "NXinstrument");
        make_group(detector_group, "NXdetector");
        for (const ScanItem& item : scan) {
            if (item.kind == ScanItem::Kind::group) {
                make_group(item.path, item.nx_class);
                const ObjectHandle group = open(item.path);
                write_values(group.get(), file_, item.attributes);
            } else {
                write_dataset(item);
            }
        }
        link_frames();
    }

    void close() { close_hdf5(std::move(handle_), file_); }

  private:
    std::string place_of(const std::string& item) const {
        return item.empty() ? entry_ : entry_ + "/" + item;
    }

    bool is_there(const std::string& path) const {
        return H5Lexists(handle_.get(), path.c_str(), H5P_DEFAULT) > 0;
    }

    ObjectHandle open(const std::string& item) const {
        return ObjectHandle(hdf5_read(H5Oopen(handle_.get(), place_of(item).c_str(), H5P_DEFAULT),
                                      handle_.get(), ExitCode::output));
    }

    [[noreturn]] void fail(const std::string& path) const {
        throw_hdf5(ExitCode::output, "cannot write " + path, file_,
                   "Check the space on that file system");
    }

    /// Makes the group and those above it that are not there; a class that it has stays.
    void make_group(const std::string& item, const std::string& nx_class) {
        const std::string path = place_of(item);
        for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
            const std::string part = path.substr(0, end);
            if (!is_there(part)) {
                const ObjectHandle made(
                    H5Gcreate2(handle_.get(), part.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
                if (!made.valid()) {
                    fail(part);
                }
            }
            if (end == std::string::npos) {
                break;
            }
        }
        const ObjectHandle group = open(item);
        const bool is_detector_of_data =
            item == detector_group && group_of_path(dataset_) == path; // marked as NXdata till now
        if (!nx_class.empty() && (is_detector_of_data || H5Aexists(group.get(), "NX_class") <= 0)) {
            write_text(group.get(), file_, "NX_class", nx_class);
        }
    }

    void write_dataset(const ScanItem& item) {
        const std::string path = place_of(item.path);
        make_group(item.path.rfind('/') == std::string::npos
                       ? ""
                       : item.path.substr(0, item.path.rfind('/')),
                   "");
        if (is_there(path)) {
            return;
        }
        write_value(handle_.get(), file_, path, item.value, item.attributes);
    }

    /// The detector's data are the output's elements.
    void link_frames() {
        const std::string path = place_of(std::string(detector_group) + "/data");
        if (!is_there(path) && H5Lcreate_soft(dataset_.c_str(), handle_.get(), path.c_str(),
                                              H5P_DEFAULT, H5P_DEFAULT) < 0) {
            fail(path);
        }
    }

    const std::string& file_;
    std::string dataset_;
    std::string entry_;
    FileHandle handle_;
};

} // namespace

void write_scan(const std::string& file, const std::string& dataset,
                const std::vector<ScanItem>& scan) {
    ScanWriter writer(file, path_below("/", dataset));
    writer.write(scan);
    writer.close();
}

} // namespace runner
