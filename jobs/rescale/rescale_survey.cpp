// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/rescale/rescale_survey.hpp"

#include "kernels/elements/elements.hpp"
#include "kernels/elements/ordered_key.hpp"
#include "kernels/queue/thread_counts.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>

namespace runner {
namespace {

using Range = tbb::blocked_range<std::int64_t>;
constexpr std::int64_t grain = 1 << 16;

/// Which elements have no rank: NaN, and those equal to the value where there is one.
template <class T> struct LeftOut {
    bool has_value = false;
    T value = {};

    bool operator()(T element) const { return is_nan(element) || (has_value && element == value); }
};

/// The findings of no elements.
const Findings no_findings = {
    {}, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};

/// The least and the greatest key, which Findings takes as they are.
template <class T> class ExtremesSurvey final : public Survey {
  public:
    ExtremesSurvey(std::int64_t row_elements, LeftOut<T> left_out)
        : row_elements_(row_elements), left_out_(left_out) {}

    std::int64_t step() const override { return 1; }

    void add(CpuQueue& queue, std::int64_t /*first*/, std::int64_t rows,
             const std::byte* in) override {
        const auto* elements = reinterpret_cast<const T*>(in);
        tbb::enumerable_thread_specific<Extremes> parts;
        queue.run([&] {
            tbb::parallel_for(Range(0, rows * row_elements_, grain), [&](const Range& range) {
                Extremes& part = parts.local();
                for (std::int64_t i = range.begin(); i < range.end(); ++i) {
                    part.add(elements[i], left_out_);
                }
            });
        });
        for (const Extremes& part : parts) {
            findings_.least = std::min<std::int64_t>(findings_.least, part.least);
            findings_.most = std::max<std::int64_t>(findings_.most, part.most);
        }
    }

    Findings& findings() override { return findings_; }

  private:
    struct Extremes {
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        std::int64_t most = std::numeric_limits<std::int64_t>::min();

        void add(T element, const LeftOut<T>& left_out) {
            const auto key = std::int64_t{ordered_key(element)};
            const bool number = !left_out(element);
            least = std::min(least, number ? key : least);
            most = std::max(most, number ? key : most);
        }
    };

    std::int64_t row_elements_;
    LeftOut<T> left_out_;
    Findings findings_ = no_findings;
};

/// Two ranks of the keys' order. Each pass counts the next 16 bits of those keys that begin with
/// the bits found before, for either rank.
template <class T> class RanksSurvey final : public Survey {
  public:
    RanksSurvey(std::int64_t row_elements, std::array<double, 2> percentiles, LeftOut<T> left_out)
        : row_elements_(row_elements), percentiles_(percentiles), left_out_(left_out),
          findings_(no_findings) {
        findings_.counts.assign(2 * bins, 0);
    }

    std::int64_t step() const override { return 1; }

    void add(CpuQueue& queue, std::int64_t /*first*/, std::int64_t rows,
             const std::byte* in) override {
        const auto* elements = reinterpret_cast<const T*>(in);
        queue.run([&] {
            tbb::parallel_for(Range(0, rows * row_elements_, grain), [&](const Range& range) {
                std::uint64_t* counts = thread_counts_.own();
                for (std::int64_t i = range.begin(); i < range.end(); ++i) {
                    count(elements[i], counts);
                }
            });
        });
    }

    Findings& findings() override {
        if (findings_.counts.size() == 2 * bins) {
            thread_counts_.move_to(findings_.counts.data());
        }
        return findings_;
    }

    bool needs_another_pass() override {
        (void)findings();
        if (shift_ == first_shift) {
            std::uint64_t numbers = 0;
            for (std::size_t bin = 0; bin < bins; ++bin) {
                numbers += findings_.counts[bin];
            }
            if (numbers == 0) {
                findings_.counts.clear();
                return false;
            }
            for (std::size_t i = 0; i < 2; ++i) {
                found_.at(i).rest = percentile_rank(percentiles_.at(i), numbers);
            }
            std::copy_n(findings_.counts.begin(), bins, findings_.counts.begin() + bins);
        }
        for (std::size_t i = 0; i < 2; ++i) {
            found_.at(i).take_bin(findings_.counts.data() + i * bins);
        }
        if (shift_ == 0) {
            findings_.counts = {found_[0].bits, found_[1].bits};
            return false;
        }
        shift_ -= digit;
        findings_.counts.assign(2 * bins, 0);
        return true;
    }

  private:
    using Bits = std::make_unsigned_t<SignedOf<sizeof(T)>>;
    static constexpr int digit = sizeof(T) == 1 ? 8 : 16;
    static constexpr int first_shift = static_cast<int>(8 * sizeof(T)) - digit;
    static constexpr std::ptrdiff_t bins = std::ptrdiff_t{1} << digit;

    /// The leading bits of the key of a rank, and its rank among the keys that begin with them.
    struct Found {
        std::uint64_t bits = 0;
        std::uint64_t rest = 0;

        void take_bin(const std::uint64_t* counts) {
            std::uint64_t bin = 0;
            for (; counts[bin] < rest; ++bin) {
                rest -= counts[bin];
            }
            bits = bits << static_cast<unsigned>(digit) | bin;
        }
    };

    void count(T element, std::uint64_t* counts) const {
        if (left_out_(element)) {
            return;
        }
        // Unsigned, so that they order as the keys.
        const auto key = static_cast<std::uint64_t>(static_cast<Bits>(
            ordered_key(element) ^ std::numeric_limits<SignedOf<sizeof(T)>>::min()));
        const std::uint64_t leading = key >> static_cast<unsigned>(shift_);
        const std::uint64_t bin = leading & (bins - 1);
        if (shift_ == first_shift) {
            ++counts[bin];
            return;
        }
        const std::uint64_t before = leading >> static_cast<unsigned>(digit);
        counts[bin] += before == found_[0].bits ? 1 : 0;
        counts[bins + bin] += before == found_[1].bits ? 1 : 0;
    }

    std::int64_t row_elements_;
    std::array<double, 2> percentiles_;
    LeftOut<T> left_out_;
    int shift_ = first_shift;
    std::array<Found, 2> found_;
    Findings findings_;
    ThreadCounts thread_counts_{2 * bins};
};

template <class T> double value_of_bits(std::uint64_t bits) {
    using Key = SignedOf<sizeof(T)>;
    const auto key = static_cast<Key>(static_cast<Key>(bits) ^ std::numeric_limits<Key>::min());
    return static_cast<double>(element_of_key<T>(key));
}

} // namespace

std::uint64_t percentile_rank(double percent, std::uint64_t count) {
    // The shortest text that reads back to it, as digits · 10^−scale.
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), percent,
                                   std::chars_format::scientific)
                         .ptr;
    const std::string_view number(text.data(), static_cast<std::size_t>(end - text.data()));
    const std::size_t exponent_at = number.find('e');
    int exponent = 0;
    const std::size_t digits_at = exponent_at + (number[exponent_at + 1] == '+' ? 2 : 1);
    std::from_chars(number.data() + digits_at, end, exponent);
    __extension__ using Wide = unsigned __int128;
    Wide digits = 0;
    int scale = 2 - exponent; // 2: percent
    for (std::size_t i = 0; i < exponent_at; ++i) {
        if (number[i] != '.') {
            digits = digits * 10 + static_cast<Wide>(number[i] - '0');
            scale += i > 0 ? 1 : 0;
        }
    }
    Wide rank = digits * count; // below 10^17 · 2^64
    bool rest = false;
    for (; scale > 0; --scale) {
        rest = rest || rank % 10 != 0;
        rank /= 10;
    }
    rank += rest ? 1 : 0;
    return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(rank), 1, count);
}

std::unique_ptr<Survey> make_range_survey(ElementType type, std::int64_t row_elements,
                                          std::optional<std::array<double, 2>> percentiles,
                                          std::optional<double> invalid) {
    return visit_element_type(type, [&](auto zero) -> std::unique_ptr<Survey> {
        using T = decltype(zero);
        const LeftOut<T> left_out{invalid.has_value(), converted<T>(invalid.value_or(0))};
        if (percentiles) {
            return std::make_unique<RanksSurvey<T>>(row_elements, *percentiles, left_out);
        }
        return std::make_unique<ExtremesSurvey<T>>(row_elements, left_out);
    });
}

std::optional<std::array<double, 2>> found_range(ElementType type, const Findings& findings) {
    return visit_element_type(type, [&](auto zero) -> std::optional<std::array<double, 2>> {
        using T = decltype(zero);
        using Key = SignedOf<sizeof(T)>;
        if (findings.counts.size() == 2) {
            return {{value_of_bits<T>(findings.counts[0]), value_of_bits<T>(findings.counts[1])}};
        }
        if (findings.least > findings.most) {
            return std::nullopt;
        }
        return {{static_cast<double>(element_of_key<T>(static_cast<Key>(findings.least))),
                 static_cast<double>(element_of_key<T>(static_cast<Key>(findings.most)))}};
    });
}

} // namespace runner
