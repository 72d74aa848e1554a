// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace runner {

/// The start tags of an XML text, one after the other. Comments are passed over; so is the prefix
/// of a name.
class StartTags {
  public:
    explicit StartTags(std::string_view xml) : rest_(xml) {}

    /// Goes to the next tag that starts or ends an element; false where there is none.
    bool next() {
        for (;;) {
            const std::size_t begin = rest_.find('<');
            if (begin == std::string_view::npos) {
                return false;
            }
            rest_.remove_prefix(begin + 1);
            const bool comment = rest_.starts_with("!--");
            const std::size_t end = comment ? rest_.find("-->") : rest_.find('>');
            if (end == std::string_view::npos) {
                return false;
            }
            tag_ = rest_.substr(0, end);
            rest_.remove_prefix(end + 1);
            if (!comment && !tag_.empty() && tag_.front() != '?' && tag_.front() != '!') {
                return true;
            }
        }
    }

    /// Whether it starts an element, and does not end one.
    bool is_start() const { return tag_.front() != '/'; }

    /// The same of the tag that ends an element.
    std::string_view name() const {
        std::string_view name = tag_.substr(0, tag_.find_first_of(" \t\r\n/", 1));
        name.remove_prefix(is_start() ? 0 : 1);
        const std::size_t prefix = name.find(':');
        return prefix == std::string_view::npos ? name : name.substr(prefix + 1);
    }

    /// What stands between this tag and the next one, without space around it.
    std::string_view content() const {
        constexpr std::string_view space = " \t\r\n";
        std::string_view text = rest_.substr(0, rest_.find('<'));
        text.remove_prefix(std::min(text.find_first_not_of(space), text.size()));
        return text.substr(0, text.find_last_not_of(space) + 1);
    }

    std::optional<std::string_view> text(std::string_view key) const {
        for (std::size_t at = 0; (at = tag_.find(key, at)) != std::string_view::npos; ++at) {
            const std::string_view behind = tag_.substr(at + key.size());
            const bool whole =
                at > 0 && std::string_view(" \t\r\n").find(tag_[at - 1]) != std::string_view::npos;
            if (!whole || behind.size() < 3 || behind[0] != '=' ||
                (behind[1] != '"' && behind[1] != '\'')) {
                continue;
            }
            const std::size_t end = behind.find(behind[1], 2);
            return end == std::string_view::npos ? std::nullopt
                                                 : std::optional(behind.substr(2, end - 2));
        }
        return std::nullopt;
    }

    std::optional<std::int64_t> number(std::string_view key) const {
        const std::optional<std::string_view> value = text(key);
        std::int64_t number = 0;
        if (!value) {
            return std::nullopt;
        }
        const auto [end, failure] =
            std::from_chars(value->data(), value->data() + value->size(), number);
        return failure == std::errc{} && end == value->data() + value->size() && number >= 0
                   ? std::optional(number)
                   : std::nullopt;
    }

  private:
    std::string_view rest_;
    std::string_view tag_;
};

} // namespace runner
