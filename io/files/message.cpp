// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/message.hpp"

#include "base/format.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace runner {

namespace {

constexpr std::size_t word = sizeof(std::int64_t);

} // namespace

void MessageWriter::number(std::int64_t value) {
    bytes_.append(reinterpret_cast<const char*>(&value), word);
}

void MessageWriter::real(double value) { number(std::bit_cast<std::int64_t>(value)); }

void MessageWriter::text(std::string_view value) {
    number(static_cast<std::int64_t>(value.size()));
    bytes_.append(value);
}

void MessageWriter::numbers(const std::vector<std::int64_t>& values) {
    number(static_cast<std::int64_t>(values.size()));
    for (const std::int64_t value : values) {
        number(value);
    }
}

void MessageWriter::texts(const std::vector<std::string>& values) {
    number(static_cast<std::int64_t>(values.size()));
    for (const std::string& value : values) {
        text(value);
    }
}

void MessageWriter::optional_number(const std::optional<std::int64_t>& value) {
    numbers(value ? std::vector<std::int64_t>{*value} : std::vector<std::int64_t>());
}

std::string_view MessageReader::take(std::size_t bytes) {
    if (bytes > rest_.size()) {
        throw BadMessage(fmt::format("it ends {} bytes too soon", bytes - rest_.size()));
    }
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
}

std::int64_t MessageReader::number() {
    std::int64_t value = 0;
    std::memcpy(&value, take(word).data(), word);
    return value;
}

std::int64_t MessageReader::number_up_to(std::int64_t most) {
    const std::int64_t value = number();
    if (value < 0 || value > most) {
        throw BadMessage(fmt::format("{} is not from 0 to {}", value, most));
    }
    return value;
}

double MessageReader::real() { return std::bit_cast<double>(number()); }

std::size_t MessageReader::count(std::size_t least_bytes) {
    const std::int64_t items = number();
    if (items < 0 || static_cast<std::uint64_t>(items) > rest_.size() / least_bytes) {
        throw BadMessage(fmt::format("it cannot hold {} items", items));
    }
    return static_cast<std::size_t>(items);
}

std::string MessageReader::text() { return std::string(take(count(1))); }

std::vector<std::int64_t> MessageReader::numbers() {
    std::vector<std::int64_t> values(count(word));
    for (std::int64_t& value : values) {
        value = number();
    }
    return values;
}

std::optional<std::int64_t> MessageReader::optional_number() {
    const std::vector<std::int64_t> values = numbers();
    if (values.size() > 1) {
        throw BadMessage(fmt::format("one number stands for {}", values.size()));
    }
    return values.empty() ? std::nullopt : std::optional(values.front());
}

std::vector<std::string> MessageReader::texts() {
    std::vector<std::string> values(count(word));
    for (std::string& value : values) {
        value = text();
    }
    return values;
}

std::vector<std::string> MessageReader::printable_texts() {
    std::vector<std::string> values = texts();
    std::transform(values.begin(), values.end(), values.begin(),
                   [](const std::string& text) { return printable(text); });
    return values;
}

void MessageReader::end() const {
    if (!rest_.empty()) {
        throw BadMessage(fmt::format("{} bytes are left over", rest_.size()));
    }
}

} // namespace runner
