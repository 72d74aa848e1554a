// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/convolve/taps.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/input/file_access.hpp"
#include "jobs/toml_text.hpp"
#include "kernels/convolve/convolve.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <utility>

namespace runner {
namespace {

constexpr int max_radius = Convolution::max_radius;
constexpr std::int64_t max_taps = 2 * max_radius + 1;

std::string wrong_count(std::int64_t count) {
    return fmt::format("there must be an odd number of taps, at most {}, got {}", max_taps, count);
}

bool is_count(std::int64_t count) { return count % 2 == 1 && count <= max_taps; }

std::optional<TapsChoice> parse_list(TableReader& table, std::string_view key) {
    std::optional<std::vector<double>> taps = table.numbers(key);
    if (!taps) {
        return std::nullopt;
    }
    if (const auto count = static_cast<std::int64_t>(taps->size()); !is_count(count)) {
        table.complain(key, wrong_count(count));
        return std::nullopt;
    }
    return TapsChoice(std::move(*taps));
}

/// A Gaussian of the usual radius; reports one that is too large for the key of this table.
std::optional<TapsChoice> usual_gaussian(TableReader& table, const std::string& key, double sigma,
                                         const char* otherwise) {
    const double reach = std::floor(4 * sigma + 0.5);
    if (reach > max_radius) {
        table.complain(key, fmt::format("a sigma of {} reaches farther than the largest radius, "
                                        "{}; {}",
                                        toml_text(sigma), max_radius, otherwise));
        return std::nullopt;
    }
    return GaussianTaps{sigma, static_cast<int>(reach)};
}

std::optional<TapsChoice> parse_gaussian(TableReader reader) {
    const bool has_sigma = reader.has("sigma");
    const std::optional<double> sigma = reader.number("sigma");
    const bool has_radius = reader.has("radius");
    const std::optional<std::int64_t> radius = reader.integer("radius", 0, max_radius);
    reader.finish();
    if (!has_sigma) {
        reader.missing("sigma", "sigma = 2.0 or another width in pixels");
    }
    if (!sigma) {
        return std::nullopt;
    }
    if (*sigma <= 0) {
        reader.complain("sigma", "must be greater than 0, got " + toml_text(*sigma));
        return std::nullopt;
    }
    if (has_radius) {
        return radius ? std::optional<TapsChoice>(GaussianTaps{*sigma, static_cast<int>(*radius)})
                      : std::nullopt;
    }
    return usual_gaussian(reader, "sigma", *sigma, "give a radius where it may be cut off");
}

std::optional<TapsChoice> parse_box(TableReader reader) {
    const bool has_radius = reader.has("radius");
    const std::optional<std::int64_t> radius = reader.integer("radius", 0, max_radius);
    reader.finish();
    if (!has_radius) {
        reader.missing("radius", "radius = 1 for three taps");
    }
    return radius ? std::optional<TapsChoice>(BoxTaps{static_cast<int>(*radius)}) : std::nullopt;
}

std::optional<TapsChoice> parse_file(TableReader& reader) {
    const std::optional<std::string> file = reader.text("file");
    const bool has_dataset = reader.has("dataset");
    const std::optional<std::string> dataset = reader.text("dataset");
    if (!has_dataset) {
        reader.missing("dataset", "dataset = \"/taps\", the place of the taps in the file");
    }
    for (const auto& [key, text] : {std::pair("file", &file), std::pair("dataset", &dataset)}) {
        if (*text && (*text)->empty()) {
            reader.complain(key, "must not be empty");
            return std::nullopt;
        }
    }
    return file && dataset ? std::optional<TapsChoice>(FileTaps{*file, *dataset}) : std::nullopt;
}

std::optional<TapsChoice> parse_named(TableReader& table, std::string_view key) {
    std::optional<TableReader> reader = table.table(key);
    if (!reader) {
        return std::nullopt;
    }
    const bool gaussian = reader->has("gaussian");
    const bool box = reader->has("box");
    const bool file = reader->has("file");
    if (int{gaussian} + int{box} + int{file} > 1) {
        table.complain(key, "takes one of gaussian, box and file, not several");
    }
    std::optional<TapsChoice> choice;
    if (file) {
        choice = parse_file(*reader);
    } else if (gaussian) {
        std::optional<TableReader> below = reader->table("gaussian");
        choice = below ? parse_gaussian(std::move(*below)) : std::nullopt;
    } else if (box) {
        std::optional<TableReader> below = reader->table("box");
        choice = below ? parse_box(std::move(*below)) : std::nullopt;
    }
    reader->finish();
    if (!gaussian && !box && !file) {
        table.complain(key, "write " + std::string(taps_to_write));
    }
    return choice;
}

std::optional<TapsChoice> parse_taps(TableReader& table, const std::string& key) {
    const TableValue* value = table.value(key);
    if (std::holds_alternative<TableArray>(value->data)) {
        return parse_list(table, key);
    }
    if (std::holds_alternative<TableEntries>(value->data)) {
        return parse_named(table, key);
    }
    table.complain(key, "expected an array or a table, got " + type_name(*value) + "; write " +
                            taps_to_write);
    return std::nullopt;
}

std::string taps_text(const TapsChoice& choice) {
    struct Text {
        std::string operator()(const std::vector<double>& taps) const {
            return toml_text(std::span<const double>(taps));
        }
        std::string operator()(const GaussianTaps& taps) const {
            return fmt::format("{{ gaussian = {{ sigma = {}, radius = {} }} }}",
                               toml_text(taps.sigma), taps.radius);
        }
        std::string operator()(const BoxTaps& taps) const {
            return fmt::format("{{ box = {{ radius = {} }} }}", taps.radius);
        }
        std::string operator()(const FileTaps& taps) const {
            return "{ file = " + toml_text(taps.file) + ", dataset = " + toml_text(taps.dataset) +
                   " }";
        }
    };
    return std::visit(Text{}, choice);
}

std::vector<double> gaussian_taps(const GaussianTaps& gaussian) {
    const auto radius = static_cast<std::size_t>(gaussian.radius);
    std::vector<double> half(radius + 1, 1.0); // the middle is 1 even where 2σ² underflows to 0
    for (std::size_t k = 1; k <= radius; ++k) {
        const auto square = static_cast<double>(k * k);
        half[k] = std::exp(-square / (2 * gaussian.sigma * gaussian.sigma));
    }
    double sum = 0;
    for (std::size_t k = radius; k >= 1; --k) {
        sum += 2 * half[k];
    }
    sum += half[0];
    std::vector<double> taps(2 * radius + 1);
    for (std::size_t k = 0; k <= radius; ++k) {
        taps[radius + k] = taps[radius - k] = half[k] / sum;
    }
    return taps;
}

std::vector<double> box_taps(const BoxTaps& box) {
    const auto count = 2 * static_cast<std::size_t>(box.radius) + 1;
    return std::vector<double>(count, 1.0 / static_cast<double>(count));
}

[[noreturn]] void refuse(const FileTaps& source, const std::string& why) {
    throw Error(
        ExitCode::input,
        {"cannot take the taps", source.file + ":" + source.dataset, why,
         fmt::format("Taps are one axis of finite numbers, an odd count of at most {}", max_taps)});
}

std::vector<double> file_taps(const FileTaps& source, FileAccess& files) {
    const std::unique_ptr<RowReader> reader = open_rows_of(files, source.file, source.dataset, 1);
    const ArrayInfo array = reader->info().array;
    if (array.shape.size() != 1) {
        refuse(source, "its shape is " + shape_text(array.shape));
    }
    if (!is_number(array.type)) {
        refuse(source, "its elements are " + type_text(array));
    }
    if (!is_count(array.shape[0])) {
        refuse(source, wrong_count(array.shape[0]));
    }
    std::vector<std::byte> bytes(static_cast<std::size_t>(byte_count(array)));
    reader->read(0, array.shape[0], bytes.data()); // of one axis each element is a row
    std::vector<double> taps(static_cast<std::size_t>(array.shape[0]));
    visit_element_type(array.type, [&](auto element) {
        for (std::size_t i = 0; i < taps.size(); ++i) {
            std::memcpy(&element, bytes.data() + i * sizeof(element), sizeof(element));
            taps[i] = static_cast<double>(element);
        }
    });
    const auto odd =
        std::find_if_not(taps.begin(), taps.end(), [](double tap) { return std::isfinite(tap); });
    if (odd != taps.end()) {
        refuse(source, fmt::format("tap {} (from 0) is {}", odd - taps.begin(), toml_text(*odd)));
    }
    return taps;
}

} // namespace

const char* const taps_to_write = "a list of numbers, { gaussian = { sigma = 2.0, radius = 8 } }, "
                                  "{ box = { radius = 1 } } or { file = \"taps.h5\", dataset = "
                                  "\"/taps\" }";

Form<TapsChoice> taps_form() {
    return {"taps",
            "a list, `{ gaussian = { sigma = 2.0 } }`, `{ box = { radius = 1 } }` or `{ file = "
            "\"taps.h5\", dataset = \"/taps\" }`",
            "Sequence[float] | Mapping[str, Any]", parse_taps, taps_text};
}

std::optional<std::vector<TapsChoice>> parse_sigmas(TableReader& table, const std::string& key) {
    const bool several = std::holds_alternative<TableArray>(table.value(key)->data);
    const std::optional<double> one = several ? std::nullopt : table.number(key);
    const std::optional<std::vector<double>> given =
        several ? table.numbers(key)
                : (one ? std::optional(std::vector<double>(2, *one)) : std::nullopt);
    if (!given) {
        return std::nullopt;
    }
    if (given->size() < 2 || given->size() > 3) {
        table.complain(key, fmt::format("must be a number, [y, x] or [z, y, x], got {} numbers",
                                        given->size()));
        return std::nullopt;
    }
    std::vector<TapsChoice> taps;
    for (const double sigma : *given) {
        if (sigma < 0) {
            table.complain(key, "must not be below 0, got " + toml_text(sigma));
            return std::nullopt;
        }
        const std::optional<TapsChoice> choice =
            sigma == 0
                ? std::optional<TapsChoice>(std::vector<double>{1.0})
                : usual_gaussian(table, key, sigma, "write row_taps and column_taps with a radius");
        if (!choice) {
            return std::nullopt;
        }
        taps.push_back(*choice);
    }
    return taps;
}

std::vector<double> make_taps(const TapsChoice& choice, FileAccess* files) {
    struct Make {
        FileAccess* files;
        std::vector<double> operator()(const std::vector<double>& taps) const { return taps; }
        std::vector<double> operator()(const GaussianTaps& taps) const {
            return gaussian_taps(taps);
        }
        std::vector<double> operator()(const BoxTaps& taps) const { return box_taps(taps); }
        std::vector<double> operator()(const FileTaps& taps) const {
            return file_taps(taps, *files);
        }
    };
    return std::visit(Make{files}, choice);
}

} // namespace runner
