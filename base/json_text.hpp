// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace runner {

/// A text whose bare NaN, Infinity and -Infinity, as Python's json writes them, are replaced by
/// numbers of the same length that JSON allows: each byte keeps its place.
class JsonText {
  public:
    /// `text`: outlives this.
    explicit JsonText(std::string_view text);
    ~JsonText() = default;
    JsonText(const JsonText&) = delete;
    JsonText(JsonText&&) = delete;
    JsonText& operator=(const JsonText&) = delete;
    JsonText& operator=(JsonText&&) = delete;

    std::string_view text() const { return text_; }

    /// What stood in place of a number, by how many numbers are before it; nothing where the number
    /// itself did.
    std::optional<double> replaced(std::size_t before) const;

  private:
    std::size_t end_of_string(std::size_t at) const;
    std::size_t end_of_word(std::size_t at) const;
    void copy(std::string_view part);

    std::string_view text_;
    std::string copy_;
    std::size_t numbers_ = 0; ///< in the copy
    std::unordered_map<std::size_t, double> replaced_;
};

} // namespace runner
