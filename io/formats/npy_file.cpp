// SPDX-License-Identifier: BSD-3-Clause
#include "io/formats/npy_file.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/text.hpp"
#include "io/rows/file_elements.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace runner {
namespace {

using namespace std::string_view_literals;

constexpr const char* what_npy = "cannot read the .npy file";
constexpr const char* get_npy_again = "Get it again from where it was made";
constexpr std::string_view npy_magic = "\x93NUMPY"sv;
constexpr std::size_t version_at = 6;
constexpr std::size_t length_at = 8;

[[noreturn]] void refuse_npy(const std::string& file, std::size_t byte, const std::string& why,
                             const std::string& try_this) {
    throw Error(ExitCode::input, {what_npy, fmt::format("{}, byte {}", file, byte), why, try_this});
}

/// The header's text and where in the file it begins.
struct HeaderText {
    std::string_view text;
    std::size_t begin = 0;
};

HeaderText header_text(std::string_view head, const std::string& file) {
    if (!head.starts_with(npy_magic)) {
        refuse_npy(file, 0,
                   head.empty() ? "it is empty"
                                : "it does not begin with \\x93NUMPY, as such files do",
                   "Name a .npy file, or give this one the ending of what it is, as .h5");
    }
    if (head.size() < length_at) {
        refuse_npy(file, head.size(), "it ends there, within the version", get_npy_again);
    }
    const auto major = static_cast<unsigned char>(head[version_at]);
    if (major < 1 || major > 3) {
        refuse_npy(file, version_at, fmt::format("its version is {}, and 1 to 3 are known", major),
                   get_npy_again);
    }
    const std::size_t width = major == 1 ? 2 : 4;
    if (head.size() < length_at + width) {
        refuse_npy(file, head.size(), "it ends there, within the header's length", get_npy_again);
    }
    std::size_t length = 0;
    for (std::size_t i = width; i-- > 0;) {
        length = length << 8U | static_cast<unsigned char>(head[length_at + i]);
    }
    const std::size_t begin = length_at + width;
    if (length > head.size() - begin) {
        const bool whole = std::ssize(head) < npy_most_header;
        refuse_npy(
            file, whole ? head.size() : length_at,
            fmt::format("the header is to have {} bytes, and {}", length,
                        (whole ? "the file ends there"
                               : "one of an array of numbers has no more than some hundred")),
            get_npy_again);
    }
    return {head.substr(begin, length), begin};
}

/// What the header says.
struct Entries {
    std::optional<std::string> type;
    std::optional<bool> first_fastest;
    std::optional<std::vector<std::int64_t>> shape;
};

/// Reads the header: a dictionary as Python writes it, of a text, a truth value and a tuple.
class HeaderParser {
  public:
    HeaderParser(HeaderText header, const std::string& file)
        : text_(header.text), begin_(header.begin), file_(file) {}

    Entries parse() {
        Entries entries;
        take('{');
        while (!is_next('}')) {
            parse_entry(entries);
            if (!is_next('}')) {
                take(',');
            }
        }
        take('}');
        skip_space();
        if (at_ < text_.size() && text_[at_] != '\0') {
            fail("something follows the header's dictionary");
        }
        return entries;
    }

    /// Where the text of the type stands in the file.
    std::size_t type_at() const { return begin_ + type_at_; }

  private:
    void parse_entry(Entries& entries) {
        const std::size_t key_at = at_;
        const std::string key = take_text();
        take(':');
        if (key == "descr" && !entries.type) {
            skip_space();
            if (is_next('[')) {
                fail("its elements have fields",
                     "Save each field on its own: numpy.save(…, a[name])");
            }
            type_at_ = at_;
            entries.type = take_text();
        } else if (key == "fortran_order" && !entries.first_fastest) {
            entries.first_fastest = take_truth();
        } else if (key == "shape" && !entries.shape) {
            entries.shape = take_tuple();
        } else {
            at_ = key_at;
            fail("the header's key \"" + printable(key) + "\" is there twice or unknown");
        }
    }

    void skip_space() {
        while (at_ < text_.size() && " \t\r\n"sv.find(text_[at_]) != std::string_view::npos) {
            ++at_;
        }
    }

    bool is_next(char sign) {
        skip_space();
        return at_ < text_.size() && text_[at_] == sign;
    }

    void take(char sign) {
        if (!is_next(sign)) {
            fail(std::string("a ") + sign + " is missing in the header");
        }
        ++at_;
    }

    std::string take_text() {
        if (!is_next('\'') && !is_next('"')) {
            fail("a text in quotes is missing in the header");
        }
        const std::size_t end = text_.find(text_[at_], at_ + 1);
        if (end == std::string_view::npos) {
            fail("a text in the header has no end");
        }
        const std::string_view text = text_.substr(at_ + 1, end - at_ - 1);
        at_ = end + 1;
        return std::string(text);
    }

    bool take_truth() {
        skip_space();
        for (const auto& [word, value] : {std::pair{"True"sv, true}, std::pair{"False"sv, false}}) {
            if (text_.substr(at_).starts_with(word)) {
                at_ += word.size();
                return value;
            }
        }
        fail("fortran_order is neither True nor False");
    }

    std::vector<std::int64_t> take_tuple() {
        constexpr std::size_t most_axes = 32; // as HDF5 has
        std::vector<std::int64_t> extents;
        take('(');
        while (!is_next(')')) {
            std::int64_t extent = 0;
            const auto [stop, failure] =
                std::from_chars(text_.data() + at_, text_.data() + text_.size(), extent);
            if (failure != std::errc{} || extent < 0) {
                fail("an extent of the shape is no number from 0 to 2^63 - 1");
            }
            at_ = static_cast<std::size_t>(stop - text_.data());
            if (is_next('L')) {
                ++at_; // as Python 2 wrote it
            }
            extents.push_back(extent);
            if (extents.size() > most_axes) {
                fail(fmt::format("the shape has more than {} axes", most_axes));
            }
            if (!is_next(')')) {
                take(',');
            }
        }
        take(')');
        return extents;
    }

    [[noreturn]] void fail(const std::string& why,
                           const std::string& try_this = get_npy_again) const {
        refuse_npy(file_, begin_ + at_, why, try_this);
    }

    std::string_view text_;
    std::size_t begin_;
    const std::string& file_;
    std::size_t at_ = 0;
    std::size_t type_at_ = 0;
};

/// "f8" and the like, without the sign of the bytes' order.
std::optional<ElementType> type_of(std::string_view code) {
    struct Code {
        std::string_view code;
        ElementType type;
    };
    static constexpr std::array codes = {
        Code{"i1", ElementType::int8},    Code{"u1", ElementType::uint8},
        Code{"b1", ElementType::uint8},   Code{"i2", ElementType::int16},
        Code{"u2", ElementType::uint16},  Code{"i4", ElementType::int32},
        Code{"u4", ElementType::uint32},  Code{"i8", ElementType::int64},
        Code{"u8", ElementType::uint64},  Code{"f4", ElementType::float32},
        Code{"f8", ElementType::float64}, Code{"f2", ElementType::bytes2},
    };
    const auto* found = std::find_if(codes.begin(), codes.end(),
                                     [&](const Code& each) { return each.code == code; });
    return found == codes.end() ? std::nullopt : std::optional(found->type);
}

} // namespace

DenseLayout parse_npy(std::span<const std::byte> head, const std::string& file) {
    const HeaderText header =
        header_text({reinterpret_cast<const char*>(head.data()), head.size()}, file);
    HeaderParser parser(header, file);
    const Entries entries = parser.parse();
    for (const auto& [there, key] : {std::pair{entries.type.has_value(), "descr"},
                                     std::pair{entries.first_fastest.has_value(), "fortran_order"},
                                     std::pair{entries.shape.has_value(), "shape"}}) {
        if (!there) {
            refuse_npy(file, header.begin, std::string("the header lacks the key ") + key,
                       get_npy_again);
        }
    }
    const std::string& code = *entries.type;
    const bool ordered = !code.empty() && "<>|="sv.find(code.front()) != std::string_view::npos;
    const std::optional<ElementType> type = ordered ? type_of(code.substr(1)) : std::nullopt;
    if (!type || (code.front() == '|' && size_of(*type) > 1)) {
        refuse_npy(file, parser.type_at(),
                   "its elements are of the type \"" + printable(code.substr(0, 40)) + "\"",
                   "Supported are " + element_type_names() + ", " + float16_text +
                       " and bool: numpy.save(…, a.astype(…))");
    }
    DenseLayout layout;
    layout.array = {*type, *entries.shape};
    if (*type == ElementType::bytes2) {
        layout.array.stored.text = float16_text;
    }
    layout.offset = static_cast<std::int64_t>(header.begin + header.text.size());
    layout.bytes =
        code.front() == '>' ? DenseLayout::Bytes::big_endian : DenseLayout::Bytes::little_endian;
    layout.order = *entries.first_fastest ? DatasetInfo::Order::first_fastest
                                          : DatasetInfo::Order::last_fastest;
    layout.storage = *entries.first_fastest ? "npy, first axis fastest" : "npy";
    check_readable_shape(layout.array, file, what_npy);
    return layout;
}

std::string npy_header(const ArrayInfo& array) {
    if (!is_number(array.type)) {
        throw Error(ExitCode::usage, {"cannot make a .npy file", type_text(array),
                                      "it holds real numbers", "Make an HDF5 file"});
    }
    constexpr std::size_t alignment = 64;
    std::string code;
    switch (array.type) {
    case ElementType::float32:
    case ElementType::float64: code = "f"; break;
    case ElementType::uint8:
    case ElementType::uint16:
    case ElementType::uint32:
    case ElementType::uint64: code = "u"; break;
    default: code = "i";
    }
    const std::int64_t size = size_of(array.type);
    std::string text = fmt::format("{{'descr': '{}{}{}', 'fortran_order': False, 'shape': (",
                                   (size == 1 ? "|" : "<"), code, size);
    for (const std::int64_t extent : array.shape) {
        text += fmt::format("{}{}", extent, (array.shape.size() == 1 ? "," : ", "));
    }
    if (array.shape.size() > 1) {
        text.resize(text.size() - 2);
    }
    text += "), }";
    const std::size_t front = npy_magic.size() + 4;
    text.append(alignment - 1 - (front + text.size()) % alignment, ' ');
    text += '\n';
    if (text.size() > 0xffffU) {
        throw Error(ExitCode::usage, {"cannot make a .npy file", shape_text(array.shape),
                                      "it has too many axes", "Make an HDF5 file"});
    }
    return std::string(npy_magic) + '\1' + '\0' + static_cast<char>(text.size() & 0xffU) +
           static_cast<char>(text.size() >> 8U) + text;
}

std::unique_ptr<RowReader> open_npy_reader(const std::string& file, int threads) {
    std::unique_ptr<ByteSource> source = open_plain_source(file);
    std::vector<std::byte> head(
        static_cast<std::size_t>(std::min(*source->size(), npy_most_header)));
    source->read(0, std::ssize(head), head.data());
    DenseLayout layout = parse_npy(head, file);
    note_rest(layout, file, *source->size());
    return open_dense_rows(std::move(source), file, what_npy, std::move(layout), threads);
}

DataPlace npy_place(const ArrayInfo& array) {
    const auto begin = static_cast<std::int64_t>(npy_header(array).size());
    const std::int64_t bytes = byte_count(array);
    return {begin, bytes, begin + bytes};
}

void npy_structure(const ArrayInfo& array, const Axes& /*axes*/, const StructurePiece& piece) {
    const std::string header = npy_header(array);
    piece(0, std::as_bytes(std::span(header)));
}

} // namespace runner
