// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace runner {

/// Values as bytes, for another process of this program on this machine.
class MessageWriter {
  public:
    void number(std::int64_t value);
    void real(double value);
    void text(std::string_view value);
    void numbers(const std::vector<std::int64_t>& values);
    void texts(const std::vector<std::string>& values);
    void optional_number(const std::optional<std::int64_t>& value);

    std::string take() { return std::move(bytes_); }

  private:
    std::string bytes_;
};

/// A message that ends too soon, or holds what no writer puts there.
class BadMessage : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Takes a message apart in the order in which it was written. The process that wrote it may have
/// been led astray by a damaged file: nothing is read beyond the end, and no more memory is taken
/// than a small multiple of the message's bytes. Each call: @throws BadMessage.
class MessageReader {
  public:
    /// `bytes` outlive this.
    explicit MessageReader(std::string_view bytes) : rest_(bytes) {}

    std::int64_t number();
    /// A number from 0 up to `most`.
    std::int64_t number_up_to(std::int64_t most);
    double real();
    std::string text();
    std::vector<std::int64_t> numbers();
    std::vector<std::string> texts();
    /// Texts for people, each as printable() shows it.
    std::vector<std::string> printable_texts();
    std::optional<std::int64_t> optional_number();

    /// How many items follow, each of `least_bytes` ≥ 1 or more: no more than the message holds.
    std::size_t count(std::size_t least_bytes);

    /// That nothing is left.
    void end() const;

  private:
    std::string_view take(std::size_t bytes);

    std::string_view rest_;
};

} // namespace runner
