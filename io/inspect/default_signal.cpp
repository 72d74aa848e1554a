// SPDX-License-Identifier: BSD-3-Clause
#include "io/inspect/default_signal.hpp"

#include "base/error.hpp"
#include "io/hdf5/hdf5_dataset.hpp"
#include "io/inspect/attribute_list.hpp"
#include "io/inspect/links.hpp"

#include <algorithm>
#include <optional>
#include <variant>
#include <vector>

namespace runner {
namespace {

constexpr int deepest = 8;               ///< groups on the way from the root to the NXdata
constexpr std::size_t most_names = 4096; ///< of a group, that are looked at

class SignalSearch {
  public:
    SignalSearch(const FileHandle& handle, const std::string& file, const OutsideFiles& outside)
        : handle_(handle), file_(file), outside_(outside) {}

    DefaultSignal find() {
        std::string group = "/";
        for (int depth = 0; depth < deepest; ++depth) {
            if (const std::optional<std::string> dataset = signal_of(group)) {
                return {*dataset, image_key_for(*dataset, group)};
            }
            const std::optional<std::string> next = next_group(group);
            if (!next) {
                break;
            }
            group = *next;
        }
        throw Error(ExitCode::input,
                    {"cannot tell which dataset is the input", file_,
                     "it names no default (NeXus' attributes default and signal)",
                     "Name it in input.dataset; `runner inspect` lists the datasets"});
    }

  private:
    /// Opened after its links are checked; not valid where there is none.
    ObjectHandle open(const std::string& path) {
        if (path != "/") {
            check_links(handle_, file_, path, outside_);
        }
        return ObjectHandle(H5Oopen(handle_.get(), path.c_str(), H5P_DEFAULT));
    }

    bool is_dataset(const std::string& path) {
        const ObjectHandle object = open(path);
        return object.valid() && H5Iget_type(object.get()) == H5I_DATASET;
    }

    /// The attribute of an object as a text; nothing where it has none, or of another type.
    std::optional<AttributeValue> attribute(const std::string& path, const std::string& name) {
        const ObjectHandle object = open(path);
        if (!object.valid() || H5Aexists(object.get(), name.c_str()) <= 0) {
            return std::nullopt;
        }
        for (auto& [found, value] : attributes_of(object.get())) {
            if (found == name) {
                return value;
            }
        }
        return std::nullopt;
    }

    std::optional<std::string> text(const std::string& path, const std::string& name) {
        const ObjectHandle object = open(path);
        return object.valid() ? text_of_attribute(object.get(), name) : std::nullopt;
    }

    std::string below(const std::string& group, const std::string& name) const {
        return name.starts_with('/') ? name : (group == "/" ? "" : group) + "/" + name;
    }

    /// Names in a group, in their order.
    std::vector<std::string> names_in(const std::string& group) {
        std::vector<std::string> names;
        const ObjectHandle object = open(group);
        if (!object.valid() || H5Iget_type(object.get()) != H5I_GROUP) {
            return names;
        }
        const auto add = [](hid_t, const char* name, const H5L_info_t*, void* list) -> herr_t {
            auto& all = *static_cast<std::vector<std::string>*>(list);
            all.emplace_back(name);
            return all.size() < most_names ? 0 : 1;
        };
        (void)H5Literate(object.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &names);
        return names;
    }

    /// The dataset that a group marks as its signal. Only NXdata groups have one.
    std::optional<std::string> signal_of(const std::string& group) {
        if (const std::optional<std::string> name = text(group, "signal")) {
            const std::string path = below(group, *name);
            return is_dataset(path) ? std::optional(path) : std::nullopt;
        }
        if (text(group, "NX_class") != "NXdata") {
            return std::nullopt;
        }
        for (const std::string& name : names_in(group)) {
            const std::string path = below(group, name);
            if (is_dataset(path) && is_first(attribute(path, "signal"))) {
                return path;
            }
        }
        const std::string usual = below(group, "data");
        return is_dataset(usual) ? std::optional(usual) : std::nullopt;
    }

    /// signal = 1, as a number or a text.
    static bool is_first(const std::optional<AttributeValue>& value) {
        return value && (*value == AttributeValue(std::int64_t{1}) ||
                         *value == AttributeValue(std::string("1")) ||
                         *value == AttributeValue(std::vector<std::int64_t>{1}));
    }

    std::optional<std::string> next_group(const std::string& group) {
        if (const std::optional<std::string> name = text(group, "default")) {
            return below(group, *name);
        }
        for (const char* wanted : {"NXdata", "NXentry"}) {
            for (const std::string& name : names_in(group)) {
                const std::string path = below(group, name);
                if (text(path, "NX_class") == wanted) {
                    return path;
                }
            }
        }
        return std::nullopt;
    }

    std::string image_key_for(const std::string& dataset, const std::string& group) {
        const DatasetHandle opened = open_dataset(handle_, file_, dataset);
        const std::vector<std::int64_t> shape = extents_of(opened);
        if (shape.size() < 2) {
            return "";
        }
        std::vector<std::string> places = {group, dataset.substr(0, dataset.rfind('/'))};
        // What the signal is a link to: its name is that of where it really is.
        std::string name(1024, '\0');
        const ssize_t length = H5Iget_name(opened.get(), name.data(), name.size());
        if (length > 0 && length < std::ssize(name)) {
            name.resize(static_cast<std::size_t>(length));
            places.push_back(name.substr(0, name.rfind('/')));
        }
        const std::string entry = group.substr(0, group.rfind('/'));
        const std::string instrument = below(entry.empty() ? "/" : entry, "instrument");
        for (const std::string& detector : names_in(instrument)) {
            places.push_back(below(instrument, detector));
        }
        for (const std::string& place : places) {
            std::string key = below(place.empty() ? "/" : place, "image_key");
            if (is_dataset(key) && extents_of(open_dataset(handle_, file_, key)) ==
                                       std::vector<std::int64_t>{shape.front()}) {
                return key;
            }
        }
        return "";
    }

    const FileHandle& handle_;
    const std::string& file_;
    const OutsideFiles& outside_;
};

} // namespace

DefaultSignal default_signal(const FileHandle& handle, const std::string& file,
                             const OutsideFiles& outside) {
    return SignalSearch(handle, file, outside).find();
}

} // namespace runner
