// SPDX-License-Identifier: BSD-3-Clause
#include "runner/ranks/kept_rates.hpp"

#include "base/error.hpp"
#include "io/files/file_mark.hpp"
#include "io/files/text_file.hpp"
#include "kernels/queue/devices.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

namespace runner {
namespace {

namespace fs = std::filesystem;

constexpr const char* format = "runner device rates 1";
constexpr const char* measure = "runner devices --measure";

/// A rate as a file may hold it. @throws JsonError for one that is none.
double rate_of(const Json& value, std::string_view name) {
    const auto rate = value.at(name).get<double>();
    if (!(rate > 0)) {
        throw JsonError(std::string(name) + " is not above 0");
    }
    return rate;
}

DeviceRates rates_of(const Json& value) {
    DeviceRates rates;
    rates.uuid = value.at("uuid").get<std::string>();
    rates.name = value.at("device").get<std::string>();
    rates.versions = value.at("cuda").get<std::string>();
    rates.measured = value.at("measured").get<std::string>();
    rates.copy_bytes = rate_of(value, "copy_bytes");
    rates.float32_multiply_adds = rate_of(value, "float32_multiply_adds");
    rates.float64_multiply_adds = rate_of(value, "float64_multiply_adds");
    rates.upload_bytes = rate_of(value, "upload_bytes");
    rates.download_bytes = rate_of(value, "download_bytes");
    rates.both_ways_bytes = rate_of(value, "both_ways_bytes");
    for (const Json& peer : value.at("peers").values()) {
        rates.peers.push_back({peer.at("uuid").get<std::string>(), rate_of(peer, "bytes")});
    }
    return rates;
}

/// @throws Error (input) where it cannot be read, JsonError where it is damaged.
std::vector<DeviceRates> read_rates(const std::string& file) {
    constexpr std::int64_t most_bytes = 1 << 20;
    return parse_rates(read_text_file(file, most_bytes));
}

} // namespace

std::string rates_file() {
    const auto below = [](const char* name, const char* rest) {
        const char* const folder = std::getenv(name);
        return folder == nullptr || folder[0] == '\0' ? std::string() : folder + std::string(rest);
    };
    const std::string file = below("XDG_CACHE_HOME", "/runner/devices.json");
    return file.empty() ? below("HOME", "/.cache/runner/devices.json") : file;
}

Json rates_json(const DeviceRates& rates) {
    Json peers = Json::array();
    for (const PeerRate& peer : rates.peers) {
        peers.push_back({{"uuid", peer.uuid}, {"bytes", peer.bytes}});
    }
    return {{"uuid", rates.uuid},
            {"device", rates.name},
            {"cuda", rates.versions},
            {"measured", rates.measured},
            {"copy_bytes", rates.copy_bytes},
            {"float32_multiply_adds", rates.float32_multiply_adds},
            {"float64_multiply_adds", rates.float64_multiply_adds},
            {"upload_bytes", rates.upload_bytes},
            {"download_bytes", rates.download_bytes},
            {"both_ways_bytes", rates.both_ways_bytes},
            {"peers", std::move(peers)}};
}

std::string rates_text(const std::vector<DeviceRates>& all) {
    Json devices = Json::array();
    for (const DeviceRates& rates : all) {
        devices.push_back(rates_json(rates));
    }
    const Json json = {{"format", format}, {"devices", std::move(devices)}};
    return json.lines(2);
}

std::vector<DeviceRates> parse_rates(const std::string& text) {
    const Json json = Json::parse(text);
    if (json.at("format").get<std::string>() != format) {
        throw JsonError("it is of another version");
    }
    std::vector<DeviceRates> all;
    for (const Json& device : json.at("devices").values()) {
        all.push_back(rates_of(device));
    }
    return all;
}

KeptRates kept_rates(const std::string& uuid) {
    const std::string file = rates_file();
    KeptRates kept;
    kept.rates.uuid = uuid;
    if (!is_there(file)) {
        kept.why = std::string("not measured: ") + measure;
        return kept;
    }
    try {
        for (DeviceRates& rates : read_rates(file)) {
            if (rates.uuid != uuid) {
                continue;
            }
            if (rates.versions != cuda_versions()) {
                kept.why = "measured with " + rates.versions + ": " + measure + " again";
                return kept;
            }
            return {std::move(rates), ""};
        }
        kept.why = std::string("not measured: ") + measure;
    } catch (const JsonError& error) {
        kept.why = file + " is damaged (" + error.what() + "): " + measure + " makes it again";
    } catch (const Error& error) {
        kept.why = error.what();
    }
    return kept;
}

std::vector<DeviceRates> all_kept_rates() {
    const std::string file = rates_file();
    try {
        return is_there(file) ? read_rates(file) : std::vector<DeviceRates>();
    } catch (const JsonError&) { // `runner devices` reports these
    } catch (const Error&) {
    }
    return {};
}

void keep_rates(const std::vector<DeviceRates>& measured) {
    const std::string file = rates_file();
    if (file.empty()) {
        throw Error(ExitCode::output, {"cannot keep the rates", "", "HOME is not set", "Set it"});
    }
    std::vector<DeviceRates> all;
    if (is_there(file)) {
        try {
            all = read_rates(file);
        } catch (const JsonError&) { // what is damaged is of no use
        }
    }
    for (const DeviceRates& rates : measured) {
        std::erase_if(all, [&](const DeviceRates& other) { return other.uuid == rates.uuid; });
        all.push_back(rates);
    }
    const fs::path folder = fs::path(file).parent_path();
    std::error_code failure;
    fs::create_directories(folder, failure);
    if (failure) {
        throw Error(ExitCode::output, {"cannot make a folder", folder.string(), failure.message(),
                                       "Set XDG_CACHE_HOME to a folder that you can write to"});
    }
    write_text_file(file, rates_text(all));
}

} // namespace runner
