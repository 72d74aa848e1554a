// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/record_facts.hpp"

#include "io/files/message.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/object_names.hpp"
#include "io/rows/rows.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <sstream>
#include <utility>

namespace runner {
namespace {

constexpr const char* seal_group = "/runner";

[[noreturn]] void fail_at(const std::string& where) {
    throw_hdf5(ExitCode::input, "cannot read what the output says of itself", where,
               "Check it with h5ls -r");
}

template <class Result> Result must(Result result, const std::string& where) {
    if (result < 0) {
        fail_at(where);
    }
    return result;
}

/// The path without doubled slashes, "." and the one at the end.
std::string plain_path(const std::string& path) {
    std::string plain;
    std::istringstream names(path);
    for (std::string name; std::getline(names, name, '/');) {
        if (!name.empty() && name != ".") {
            plain += "/" + name;
        }
    }
    return plain;
}

/// Checks the attribute that a seal is, which no checksum covers: readers refuse a text of an
/// unknown character set. Does nothing where there is none.
void check_seal_type(hid_t object, const std::string& object_where) {
    const std::string where = object_where + "@" + record_checksum_attribute;
    if (must(H5Aexists(object, record_checksum_attribute), where) == 0) {
        return;
    }
    const AttributeHandle seal(
        must(H5Aopen(object, record_checksum_attribute, H5P_DEFAULT), where));
    const TypeHandle type(must(H5Aget_type(seal.get()), where));
    const TypeHandle written = text_type();
    if (H5Tis_variable_str(type.get()) <= 0 ||
        H5Tget_cset(type.get()) != H5Tget_cset(written.get()) ||
        H5Tget_strpad(type.get()) != H5Tget_strpad(written.get())) {
        throw Error(ExitCode::input,
                    {"the output's record is damaged", where,
                     "its type is not the one that this program writes", "Make the output again"});
    }
}

/// Names of links or attributes as they are found.
struct FoundNames {
    std::vector<std::pair<std::string, H5L_type_t>> all;
    std::function<bool(const std::string&)> is_listed;
};

herr_t add_found(FoundNames& found, const char* name, H5L_type_t type) {
    try { // an exception must not pass through HDF5's C code
        if (found.is_listed(name)) {
            found.all.emplace_back(name, type);
        }
    } catch (const std::exception&) {
        return -1;
    }
    return 0;
}

herr_t add_attribute_name(hid_t /*object*/, const char* name, const H5A_info_t* /*info*/,
                          void* found) {
    return add_found(*static_cast<FoundNames*>(found), name, H5L_TYPE_ERROR);
}

herr_t add_link_name(hid_t /*root*/, const char* name, const H5L_info_t* info, void* found) {
    return add_found(*static_cast<FoundNames*>(found), name, info->type);
}

void add_type(MessageWriter& to, hid_t type, const std::string& where);

void add_members(MessageWriter& to, hid_t type, H5T_class_t kind, const std::string& where) {
    const int count = must(H5Tget_nmembers(type), where);
    to.number(count);
    for (unsigned i = 0; std::cmp_less(i, count); ++i) {
        char* const name = H5Tget_member_name(type, i);
        to.text(name == nullptr ? "" : name);
        (void)H5free_memory(name);
        if (kind == H5T_COMPOUND) {
            to.number(static_cast<std::int64_t>(H5Tget_member_offset(type, i)));
            add_type(to, TypeHandle(must(H5Tget_member_type(type, i), where)).get(), where);
        } else {
            std::string value(H5Tget_size(type), '\0');
            must(H5Tget_member_value(type, i, value.data()), where);
            to.text(value);
        }
    }
}

void add_array(MessageWriter& to, hid_t type, const std::string& where) {
    std::array<hsize_t, H5S_MAX_RANK> extents{};
    const int axes = must(H5Tget_array_dims2(type, extents.data()), where);
    to.numbers({extents.begin(), extents.begin() + axes});
}

/// Everything that tells how the bytes of a value are to be understood.
void add_type(MessageWriter& to, hid_t type, const std::string& where) {
    const H5T_class_t kind = H5Tget_class(type);
    to.number(kind);
    to.number(static_cast<std::int64_t>(H5Tget_size(type)));
    switch (kind) {
    case H5T_STRING:
        to.number(H5Tis_variable_str(type));
        to.number(H5Tget_cset(type));
        to.number(H5Tget_strpad(type));
        return;
    case H5T_COMPOUND: return add_members(to, type, kind, where);
    case H5T_ENUM: add_members(to, type, kind, where); break;
    case H5T_ARRAY: add_array(to, type, where); break;
    case H5T_VLEN: break;
    case H5T_FLOAT: {
        std::array<std::size_t, 5> fields{};
        must(H5Tget_fields(type, &fields[0], &fields[1], &fields[2], &fields[3], &fields[4]),
             where);
        to.numbers({fields.begin(), fields.end()});
        to.number(static_cast<std::int64_t>(H5Tget_ebias(type)));
        to.number(H5Tget_norm(type));
        [[fallthrough]];
    }
    default:
        to.number(H5Tget_order(type));
        to.number(static_cast<std::int64_t>(H5Tget_precision(type)));
        to.number(H5Tget_offset(type));
        to.number(kind == H5T_INTEGER ? H5Tget_sign(type) : 0);
        return;
    }
    add_type(to, TypeHandle(must(H5Tget_super(type), where)).get(), where);
}

void add_space(MessageWriter& to, hid_t space, const std::string& where) {
    to.number(H5Sget_simple_extent_type(space));
    std::array<hsize_t, H5S_MAX_RANK> extents{};
    std::array<hsize_t, H5S_MAX_RANK> largest{};
    const int axes = must(H5Sget_simple_extent_dims(space, extents.data(), largest.data()), where);
    to.numbers({extents.begin(), extents.begin() + axes});
    to.numbers({largest.begin(), largest.begin() + axes});
}

using ReadValues = std::function<herr_t(hid_t type, void* to)>;

/// Texts of any length.
std::vector<std::string> read_texts(hid_t type, hid_t space, std::size_t count,
                                    const ReadValues& read, const std::string& where) {
    std::vector<char*> pointers(count, nullptr);
    must(read(type, pointers.data()), where);
    std::vector<std::string> texts;
    texts.reserve(count);
    for (const char* const text : pointers) {
        texts.emplace_back(text == nullptr ? "" : text);
    }
    must(H5Dvlen_reclaim(type, space, H5P_DEFAULT, pointers.data()), where);
    return texts;
}

/// Values as they are stored. This program writes none of the kinds that are left out.
void add_values(MessageWriter& to, hid_t type, hid_t space, const ReadValues& read,
                const std::string& where) {
    const hssize_t points = must(H5Sget_simple_extent_npoints(space), where);
    const auto count = static_cast<std::size_t>(points);
    const H5T_class_t kind = H5Tget_class(type);
    if (count == 0) {
        return;
    }
    if (H5Tis_variable_str(type) > 0) {
        to.texts(read_texts(type, space, count, read, where));
    } else if (kind == H5T_INTEGER || kind == H5T_FLOAT || kind == H5T_ENUM || kind == H5T_STRING) {
        std::string bytes(count * H5Tget_size(type), '\0');
        must(read(type, bytes.data()), where);
        to.text(bytes);
    }
}

class RecordWalk {
  public:
    RecordWalk(std::string file, const std::vector<std::string>& elsewhere)
        : file_(std::move(file)), handle_(open_hdf5(file_)) {
        for (const std::string& path : elsewhere) {
            elsewhere_.insert(plain_path(path));
        }
    }

    std::string facts() {
        const ObjectHandle root(must(H5Oopen(handle_.get(), "/", H5P_DEFAULT), file_));
        list(root.get());
        add_object(root.get(), "/", "/");
        FoundNames links;
        links.is_listed = [&](const std::string& name) {
            return listed_.contains("/" + object_line(name));
        };
        must(H5Lvisit(root.get(), H5_INDEX_NAME, H5_ITER_INC, add_link_name, &links), file_);
        for (const auto& [name, type] : links.all) {
            add_link(root.get(), name, type);
        }
        MessageWriter message;
        message.text(seal());
        message.text(facts_.take());
        return message.take();
    }

  private:
    /// A text of an open object; "" where it has none of that name.
    static std::string text_of(hid_t object, const char* name, const std::string& object_where) {
        const std::string where = std::string(object_where).append("@").append(name);
        if (must(H5Aexists(object, name), where) == 0) {
            return "";
        }
        const AttributeHandle attribute(must(H5Aopen(object, name, H5P_DEFAULT), where));
        const TypeHandle type(must(H5Aget_type(attribute.get()), where));
        const SpaceHandle space(must(H5Aget_space(attribute.get()), where));
        if (H5Tis_variable_str(type.get()) <= 0 ||
            H5Sget_simple_extent_type(space.get()) != H5S_SCALAR) {
            return "";
        }
        return read_texts(type.get(), space.get(), 1, values_of(attribute), where).front();
    }

    std::string seal() const {
        if (must(H5Lexists(handle_.get(), seal_group, H5P_DEFAULT), file_) == 0) {
            return "";
        }
        const std::string where = file_and_dataset(file_, seal_group);
        const ObjectHandle group(must(H5Oopen(handle_.get(), seal_group, H5P_DEFAULT), where));
        check_seal_type(group.get(), where);
        return text_of(group.get(), record_checksum_attribute, where);
    }

    /// What the attribute `objects` lists; nothing where there is none.
    void list(hid_t root) {
        check_seal_type(root, file_ + ":/");
        std::istringstream lines(text_of(root, objects_attribute, file_ + ":/"));
        for (std::string line; std::getline(lines, line);) {
            listed_.insert(line);
        }
        listed_.insert(std::string("/@") + objects_attribute);
        for (const std::string& name : seal_names()) {
            listed_.erase(name);
        }
    }

    void add_link(hid_t root, const std::string& name, H5L_type_t type) {
        const std::string path = "/" + name;
        facts_.text(path);
        facts_.number(type);
        if (type != H5L_TYPE_HARD) {
            return; // this program makes none
        }
        const ObjectHandle object(
            must(H5Oopen(root, name.c_str(), H5P_DEFAULT), file_and_dataset(file_, path)));
        add_object(object.get(), path, "/" + object_line(name));
    }

    void add_object(hid_t object, const std::string& path, const std::string& line) {
        const std::string where = file_and_dataset(file_, path);
        // Looks at the whole index of a group, as readers do that visit all objects.
        H5O_info_t info{};
        must(H5Oget_info2(object, &info, H5O_INFO_ALL), where);
        const H5I_type_t kind = H5Iget_type(object);
        facts_.number(kind == H5I_DATASET ? 1 : kind == H5I_GROUP ? 0 : 2);
        if (kind == H5I_DATASET) {
            const TypeHandle type(must(H5Dget_type(object), where));
            const SpaceHandle space(must(H5Dget_space(object), where));
            add_type(facts_, type.get(), where);
            add_space(facts_, space.get(), where);
            if (!elsewhere_.contains(path)) {
                add_values(
                    facts_, type.get(), space.get(),
                    [object](hid_t memory, void* to) {
                        return H5Dread(object, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, to);
                    },
                    where);
            }
        }
        FoundNames attributes;
        attributes.is_listed = [&](const std::string& name) {
            return listed_.contains(line + "@" + object_line(name));
        };
        must(H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, add_attribute_name,
                         &attributes),
             where);
        for (const auto& [name, type] : attributes.all) {
            add_attribute(object, name, std::string(where).append("@").append(name));
        }
    }

    void add_attribute(hid_t object, const std::string& name, const std::string& where) {
        const AttributeHandle attribute(must(H5Aopen(object, name.c_str(), H5P_DEFAULT), where));
        const TypeHandle type(must(H5Aget_type(attribute.get()), where));
        const SpaceHandle space(must(H5Aget_space(attribute.get()), where));
        facts_.text(name);
        add_type(facts_, type.get(), where);
        add_space(facts_, space.get(), where);
        add_values(facts_, type.get(), space.get(), values_of(attribute), where);
    }

    static ReadValues values_of(const AttributeHandle& attribute) {
        return [id = attribute.get()](hid_t memory, void* to) { return H5Aread(id, memory, to); };
    }

    std::string file_;
    FileHandle handle_;
    std::set<std::string> elsewhere_;
    std::set<std::string> listed_;
    MessageWriter facts_;
};

} // namespace

std::vector<std::string> seal_names() {
    return {std::string("/@") + record_checksum_attribute,
            std::string(seal_group) + "@" + record_checksum_attribute};
}

void write_seal(const std::string& file, const std::string& checksum) {
    FileHandle handle = update_hdf5(file);
    {
        const ObjectHandle group(hdf5_read(H5Oopen(handle.get(), seal_group, H5P_DEFAULT),
                                           handle.get(), ExitCode::output));
        write_text(group.get(), file, record_checksum_attribute, seal_names().front());
    }
    write_text(handle.get(), file, record_checksum_attribute, checksum);
    close_hdf5(std::move(handle), file);
}

std::string record_facts(const std::string& file, const std::vector<std::string>& elsewhere) {
    return RecordWalk(file, elsewhere).facts();
}

} // namespace runner
