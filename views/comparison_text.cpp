// SPDX-License-Identifier: BSD-3-Clause
#include "base/format.hpp"
#include "views/compare.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "views/pictures/array_name.hpp"

#include <sstream>

namespace runner {
namespace {

std::string number(double value) {
    std::ostringstream text;
    text.precision(9);
    text << value;
    return text.str();
}

std::string dataset_line(const char* name, const std::string& file, const std::string& dataset,
                         const ArrayInfo& array) {
    return std::string(name) + "  " + printable(array_name(file, dataset)) + "  " +
           type_text(array) + " " + shape_text(array.shape) + "\n";
}

std::string extreme_line(const char* name, const Extreme& extreme) {
    return std::string(name) + number(extreme.value) + " at " + shape_text(extreme.position) +
           ": " + number(extreme.a) + " and " + number(extreme.b) + "\n";
}

std::string optional_line(const char* name, std::optional<double> value, const char* unit) {
    return name + (value ? number(*value) + unit : std::string("none")) + "\n";
}

std::string decades_text(const std::map<int, std::int64_t>& decades, std::int64_t infinite) {
    std::string text;
    for (const auto& [decade, count] : decades) {
        text += fmt::format("  1e{} to 1e{}  {}\n", decade, decade + 1, count);
    }
    if (infinite > 0) {
        text += fmt::format("  infinite  {}\n", infinite);
    }
    return text;
}

std::string divided_text(const CompareRequest& request, const DividedDifferences& divided) {
    return "differences divided by " + printable(array_name(request.file_by, request.dataset_by)) +
           "\n" + decades_text(divided.decades, divided.infinite) + "  mean  " +
           number(divided.mean) + "\n";
}

Json optional_json(std::optional<double> value) { return value ? Json(*value) : Json(); }

Json dataset_json(const std::string& file, const std::string& dataset, const ArrayInfo& array) {
    return {
        {"file", file}, {"dataset", dataset}, {"type", type_text(array)}, {"shape", array.shape}};
}

Json extreme_json(const Extreme& extreme) {
    Json json;
    json["value"] = extreme.value;
    if (!extreme.position.empty()) {
        json["position"] = extreme.position;
        json["a"] = extreme.a;
        json["b"] = extreme.b;
    }
    return json;
}

Json decades_json(const std::map<int, std::int64_t>& decades) {
    Json json = Json::array();
    for (const auto& [decade, count] : decades) {
        json.push_back({{"from", fmt::format("1e{}", decade)}, {"count", count}});
    }
    return json;
}

} // namespace

std::string comparison_text(const Comparison& comparison) {
    const CompareRequest& request = comparison.request;
    std::string text = dataset_line("A", request.file_a, request.dataset_a, comparison.a) +
                       dataset_line("B", request.file_b, request.dataset_b, comparison.b);
    if (comparison.different == 0) {
        return fmt::format("{}equal: all {} elements\n", text, comparison.elements);
    }
    text +=
        fmt::format("different: {} of {} elements\n", comparison.different, comparison.elements);
    if (comparison.as_bytes) {
        return text + "first difference at " + shape_text(comparison.first.position) +
               ", byte by byte\n";
    }
    text += extreme_line("first difference  ", comparison.first);
    text += extreme_line("largest absolute difference  ", comparison.absolute);
    text += extreme_line("largest relative difference  ", comparison.relative);
    text += "RMSE  " + number(comparison.rmse) + "\n";
    text += optional_line("PSNR  ", comparison.psnr, " dB");
    text += optional_line("SSIM  ", comparison.ssim, "");
    text += "range taken for PSNR and SSIM  " + number(comparison.peak) + "\n";
    text += "differences by size\n" + decades_text(comparison.decades, comparison.infinite);
    if (comparison.divided) {
        text += divided_text(request, *comparison.divided);
    }
    if (request.tolerance == 0) {
        return text + "not equal; --tolerance allows absolute differences\n";
    }
    return text + "the largest absolute difference is " +
           (comparison.differs() ? "beyond" : "within") + " the tolerance of " +
           number(request.tolerance) + "\n";
}

std::string comparison_json(const Comparison& comparison) {
    const CompareRequest& request = comparison.request;
    Json json;
    json["a"] = dataset_json(request.file_a, request.dataset_a, comparison.a);
    json["b"] = dataset_json(request.file_b, request.dataset_b, comparison.b);
    json["tolerance"] = request.tolerance;
    json["differs"] = comparison.differs();
    json["elements"] = comparison.elements;
    json["different"] = comparison.different;
    json["infinite"] = comparison.infinite;
    json["first"] = extreme_json(comparison.first);
    json["largest_absolute"] = extreme_json(comparison.absolute);
    json["largest_relative"] = extreme_json(comparison.relative);
    json["rmse"] = comparison.rmse;
    json["peak"] = comparison.peak;
    json["psnr"] = optional_json(comparison.psnr);
    json["ssim"] = optional_json(comparison.ssim);
    json["decades"] = decades_json(comparison.decades);
    if (comparison.divided) {
        json["divided"] = {{"by", {{"file", request.file_by}, {"dataset", request.dataset_by}}},
                           {"mean", comparison.divided->mean},
                           {"infinite", comparison.divided->infinite},
                           {"decades", decades_json(comparison.divided->decades)}};
    }
    return json.lines(2);
}

} // namespace runner
