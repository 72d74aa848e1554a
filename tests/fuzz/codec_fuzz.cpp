// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as a chunk that one filter packed: FUZZED_FILTER, a target each. With 0, a chain of
// filters. The first bytes are numbers of two bytes, the low one first: of a chunk's bytes; the
// mask of filters that were left out; then for each filter its place in the table of codecs where
// there is a chain, how many parameters it has, and these. The chunk follows.
//
// Nothing is read or written outside the memory that was given, which lies between guards of the
// sanitizer; the same bytes unpack to the same elements whatever lay in that memory before.
#include "base/error.hpp"
#include "io/filters/codec.hpp"
#include "io/filters/unpacker.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <vector>

namespace {

using runner::Filter;

void expect(bool condition) {
    if (!condition) {
        std::abort();
    }
}

/// Numbers from the front of the input; 0 behind its end.
class Numbers {
  public:
    Numbers(const unsigned char* data, std::size_t size) : data_(data), size_(size) {}

    unsigned next() {
        unsigned value = 0;
        for (unsigned shift = 0; shift < 16 && size_ > 0; shift += 8, ++data_, --size_) {
            value |= static_cast<unsigned>(*data_) << shift;
        }
        return value;
    }

    /// In memory that ends where they end.
    std::vector<std::byte> rest() const {
        std::vector<std::byte> bytes;
        bytes.reserve(size_);
        std::transform(data_, data_ + size_, std::back_inserter(bytes),
                       [](unsigned char byte) { return static_cast<std::byte>(byte); });
        return bytes;
    }

  private:
    const unsigned char* data_;
    std::size_t size_;
};

Filter filter_of(Numbers& numbers, int id) {
    constexpr unsigned most_parameters = 8;
    Filter filter{id, "", std::vector<unsigned>(numbers.next() % most_parameters)};
    std::generate(filter.parameters.begin(), filter.parameters.end(),
                  [&] { return numbers.next(); });
    return filter;
}

std::vector<Filter> filters_of(Numbers& numbers) {
    if (FUZZED_FILTER != 0) {
        return {filter_of(numbers, FUZZED_FILTER)};
    }
    constexpr unsigned longest_chain = 5;
    std::vector<Filter> filters;
    const auto all = runner::codecs();
    for (unsigned left = numbers.next() % longest_chain; left > 0; --left) {
        const unsigned place = numbers.next() % static_cast<unsigned>(all.size() + 1);
        filters.push_back(filter_of(numbers, place == all.size() ? runner::filter_id::fletcher32
                                                                 : all[place].id));
    }
    return filters;
}

/// The elements, into memory that held `before`; nothing where the bytes are refused.
std::optional<std::vector<std::byte>> unpacked(runner::Unpacker& unpacker, std::size_t chunk,
                                               const std::vector<std::byte>& packed, unsigned mask,
                                               std::byte before) {
    std::vector<std::byte> elements(chunk, before);
    try {
        unpacker.unpack_to(packed, mask, "here", elements);
        return elements;
    } catch (const runner::Error& error) {
        expect(error.code() == runner::ExitCode::input && error.text().where == "here");
        return std::nullopt;
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    Numbers numbers(data, size);
    const std::size_t chunk = numbers.next() + 1;
    const unsigned mask = numbers.next();
    const std::vector<Filter> filters = filters_of(numbers);
    if (!runner::Unpacker::knows(filters)) {
        return 0;
    }
    const std::vector<std::byte> packed = numbers.rest();
    runner::Unpacker unpacker(filters, static_cast<std::int64_t>(chunk));
    const auto first = unpacked(unpacker, chunk, packed, mask, std::byte{0});
    expect(first == unpacked(unpacker, chunk, packed, mask, std::byte{0xff}));
    return 0;
}
