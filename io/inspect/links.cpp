// SPDX-License-Identifier: BSD-3-Clause
#include "io/inspect/links.hpp"

#include "base/array_info.hpp"
#include "base/format.hpp"
#include "io/hdf5/hdf5_dataset.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_type.hpp"

#include <deque>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

namespace runner {
namespace {

constexpr const char* what = "cannot open the dataset";

/// HDF5 itself follows 16.
constexpr int most_links = 16;

std::vector<std::string> parts_of(const std::string& path) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin < path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        if (end > begin && path.substr(begin, end - begin) != ".") {
            parts.push_back(path.substr(begin, end - begin));
        }
        begin = end + 1;
    }
    return parts;
}

class LinkWalk {
  public:
    LinkWalk(std::string where, const OutsideFiles& outside)
        : where_(std::move(where)), outside_(outside) {}

    void walk(const FileHandle& handle, const std::string& file, const std::string& path) {
        std::string done; // hard links only, so that HDF5 follows none other on the way
        const std::vector<std::string> parts = parts_of(path);
        std::deque<std::string> rest(parts.begin(), parts.end());
        while (!rest.empty()) {
            const std::string next = done + "/" + rest.front();
            rest.pop_front();
            H5L_info_t link{};
            if (H5Lget_info(handle.get(), next.c_str(), &link, H5P_DEFAULT) < 0) {
                return;
            }
            if (link.type == H5L_TYPE_HARD) {
                done = next;
                continue;
            }
            count_link();
            const std::string target = value_of(handle, next, link);
            if (link.type == H5L_TYPE_EXTERNAL) {
                return walk_outside(target, file, rest);
            }
            if (target.starts_with('/')) {
                done.clear();
            }
            const std::vector<std::string> targets = parts_of(target);
            rest.insert(rest.begin(), targets.begin(), targets.end());
        }
    }

    /// The files that links led into.
    FileMarks passed() { return std::move(passed_); }

  private:
    [[noreturn]] void refuse(const std::string& why, const std::string& try_this) const {
        throw Error(ExitCode::input, {what, where_, why, try_this});
    }

    void count_link() {
        if (++links_ > most_links) {
            refuse(fmt::format("its links lead in a circle, or through more than {} links",
                               most_links),
                   "Name the dataset where it is itself: runner inspect lists them");
        }
    }

    std::string value_of(const FileHandle& handle, const std::string& path,
                         const H5L_info_t& link) const {
        if (link.type != H5L_TYPE_SOFT && link.type != H5L_TYPE_EXTERNAL) {
            refuse(path + " is a link of a kind that only the program that made it can follow",
                   "Name the dataset where it is itself");
        }
        std::string value(link.u.val_size, '\0');
        if (value.empty() ||
            H5Lget_val(handle.get(), path.c_str(), value.data(), value.size(), H5P_DEFAULT) < 0) {
            refuse(path + " is a link that cannot be read", "The file may be damaged");
        }
        return link.type == H5L_TYPE_SOFT ? value.substr(0, value.find('\0')) : value;
    }

    /// Continues in the file that an external link names, by HDF5's packed text of the two names.
    void walk_outside(const std::string& packed, const std::string& file,
                      const std::deque<std::string>& rest) {
        unsigned flags = 0;
        const char* named = nullptr;
        const char* object = nullptr;
        if (H5Lunpack_elink_val(packed.data(), packed.size(), &flags, &named, &object) < 0) {
            refuse("it is a link into another file that cannot be read", "The file may be damaged");
        }
        const std::optional<std::filesystem::path> found = outside_.allowed(named, file, where_);
        if (!found) {
            refuse("it is a link into " + std::string(named) + ", which is not there",
                   "Put that file where the link looks for it, beside " + file);
        }
        std::string path = object;
        for (const std::string& part : rest) {
            path.append("/").append(part);
        }
        OutsideFiles::refuse_clash(named, file, where_);
        OutsideFiles::add_marks(passed_, named, file);
        const std::string there = found->string();
        walk(open_hdf5(there), there, path);
    }

    std::string where_;
    const OutsideFiles& outside_;
    FileMarks passed_;
    int links_ = 0;
};

struct FoundLink {
    std::string path;
    H5L_type_t type = H5L_TYPE_ERROR;
    std::size_t bytes = 0; ///< of its value
};

herr_t collect_link(hid_t /*root*/, const char* name, const H5L_info_t* info, void* list) {
    if (info->type != H5L_TYPE_HARD) {
        static_cast<std::vector<FoundLink>*>(list)->push_back(
            {"/" + std::string(name), info->type, info->u.val_size});
    }
    return 0;
}

/// "other.h5:/dataset", or a path in the same file.
std::string target_of(const FileHandle& handle, const FoundLink& link) {
    std::string value(link.bytes, '\0');
    if (value.empty() ||
        H5Lget_val(handle.get(), link.path.c_str(), value.data(), value.size(), H5P_DEFAULT) < 0) {
        return "";
    }
    if (link.type == H5L_TYPE_SOFT) {
        return value.substr(0, value.find('\0'));
    }
    unsigned flags = 0;
    const char* file = nullptr;
    const char* object = nullptr;
    if (H5Lunpack_elink_val(value.data(), value.size(), &flags, &file, &object) < 0) {
        return "";
    }
    return std::string(file) + ":" + object;
}

/// What the link leads to: a dataset's type and shape, "group", or why there is nothing.
std::string followed(const FileHandle& handle, const std::string& file, const std::string& path,
                     LinkContent& link) {
    try {
        check_links(handle, file, path, OutsideFiles(file, {}));
        const ObjectHandle object(H5Oopen(handle.get(), path.c_str(), H5P_DEFAULT));
        if (!object.valid()) {
            return "dangling";
        }
        const H5I_type_t kind = H5Iget_type(object.get());
        if (kind != H5I_DATASET) {
            return kind == H5I_GROUP ? "group" : "stored type";
        }
        const DatasetHandle dataset = open_dataset(handle, file, path);
        const TypeHandle type(hdf5_must(H5Dget_type(dataset.get()), "H5Dget_type"));
        link.is_dataset = true;
        return describe_type(type.get()) + " " + shape_text(extents_of(dataset));
    } catch (const Error& error) {
        return "dangling: " + error.text().why;
    }
}

} // namespace

FileMarks check_links(const FileHandle& handle, const std::string& file, const std::string& path,
                      const OutsideFiles& outside) {
    LinkWalk walk(file_and_dataset(file, path), outside);
    walk.walk(handle, file, path);
    return walk.passed();
}

std::vector<LinkContent> links_of(const FileHandle& handle, const std::string& file) {
    std::vector<FoundLink> found;
    if (H5Lvisit(handle.get(), H5_INDEX_NAME, H5_ITER_INC, collect_link, &found) < 0) {
        throw_hdf5(ExitCode::input, "cannot list the file's links", file, "Check it with h5ls");
    }
    std::vector<LinkContent> links;
    for (const FoundLink& each : found) {
        LinkContent link;
        link.path = each.path;
        link.kind = each.type == H5L_TYPE_SOFT
                        ? "soft link"
                        : (each.type == H5L_TYPE_EXTERNAL ? "external link" : "link");
        const bool readable = each.type == H5L_TYPE_SOFT || each.type == H5L_TYPE_EXTERNAL;
        link.target = readable ? target_of(handle, each) : "";
        link.leads_to = followed(handle, file, each.path, link);
        links.push_back(std::move(link));
    }
    return links;
}

} // namespace runner
