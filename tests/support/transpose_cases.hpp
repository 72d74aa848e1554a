// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/transpose/transpose.hpp"
#include "tests/support/queues.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace runner {

inline constexpr std::array<std::array<int, 3>, 6> all_permutations = {
    {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};

inline std::string describe(const Transposition& t) {
    std::ostringstream text;
    const auto list = [&](const char* name, const auto& values) {
        text << name << ' ' << values[0] << ' ' << values[1] << ' ' << values[2] << ", ";
    };
    list("shape", t.shape);
    list("permutation", t.permutation);
    list("in strides", t.in_strides);
    list("out strides", t.out_strides);
    text << t.element_bytes << " bytes";
    return text.str();
}

/// Bytes from the first element to the end of the last; 0 without elements.
inline std::int64_t span_bytes(const std::array<std::int64_t, 3>& shape,
                               const std::array<std::int64_t, 3>& strides, int element_bytes) {
    std::int64_t last = 0;
    for (std::size_t i = 0; i < 3; ++i) {
        if (shape[i] == 0) {
            return 0;
        }
        last += (shape[i] - 1) * strides[i];
    }
    return (last + 1) * element_bytes;
}

inline std::array<std::int64_t, 3> out_shape(const Transposition& t) {
    std::array<std::int64_t, 3> shape{};
    for (std::size_t i = 0; i < 3; ++i) {
        shape[i] = t.shape[static_cast<std::size_t>(t.permutation[i])];
    }
    return shape;
}

/// The transposition as its contract says it, an element after the other.
template <int element_bytes>
void transpose_slowly_by(const Transposition& t, const std::byte* in, std::byte* out) {
    const auto shape = out_shape(t);
    std::array<std::int64_t, 3> from{};
    for (std::size_t j = 0; j < 3; ++j) {
        from[j] = t.in_strides[static_cast<std::size_t>(t.permutation[j])];
    }
    for (std::int64_t i = 0; i < shape[0]; ++i) {
        for (std::int64_t j = 0; j < shape[1]; ++j) {
            for (std::int64_t k = 0; k < shape[2]; ++k) {
                const std::int64_t source = i * from[0] + j * from[1] + k * from[2];
                const std::int64_t target =
                    i * t.out_strides[0] + j * t.out_strides[1] + k * t.out_strides[2];
                std::memcpy(out + target * element_bytes, in + source * element_bytes,
                            element_bytes);
            }
        }
    }
}

inline void transpose_slowly(const Transposition& t, const std::byte* in, std::byte* out) {
    switch (t.element_bytes) {
    case 1: return transpose_slowly_by<1>(t, in, out);
    case 2: return transpose_slowly_by<2>(t, in, out);
    case 4: return transpose_slowly_by<4>(t, in, out);
    case 8: return transpose_slowly_by<8>(t, in, out);
    default: return transpose_slowly_by<16>(t, in, out);
    }
}

/// Draws transpositions and contents.
class TransposeCases {
  public:
    explicit TransposeCases(unsigned seed) : random_(seed) {}

    std::int64_t number(std::int64_t least, std::int64_t most) {
        return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
    }

    std::vector<std::byte> bytes(std::int64_t count) {
        std::vector<std::byte> result(static_cast<std::size_t>(count));
        for (std::size_t i = 0; i < result.size(); i += 8) {
            const std::uint64_t eight = random_();
            std::memcpy(result.data() + i, &eight, std::min<std::size_t>(8, result.size() - i));
        }
        return result;
    }

    /// Any, with `most` elements at most.
    Transposition any(std::int64_t most) {
        std::array<std::int64_t, 3> shape{};
        std::int64_t room = most;
        const auto first = static_cast<std::size_t>(number(0, 2));
        for (std::size_t i = 0; i < 3; ++i) {
            std::int64_t& extent = shape[(first + i) % 3];
            extent = this->extent(room);
            room /= extent;
        }
        const auto& permutation = all_permutations[static_cast<std::size_t>(number(0, 5))];
        Transposition t = dense_transposition(shape, permutation, 1 << number(0, 4));
        if (number(0, 1) == 0) {
            pad(t.shape, t.in_strides);
            pad(out_shape(t), t.out_strides);
        }
        return t;
    }

  private:
    /// Small ones and ones with many twos are as likely as large and odd ones.
    std::int64_t extent(std::int64_t most) {
        const std::int64_t limit = std::int64_t{1} << number(0, 12);
        std::int64_t value = number(1, limit);
        if (number(0, 1) == 0) {
            const std::int64_t step = std::int64_t{1} << number(0, 6);
            value = (value + step - 1) / step * step;
        }
        return std::clamp<std::int64_t>(value, 1, most);
    }

    /// Row-major strides with gaps after the rows of some axes.
    void pad(const std::array<std::int64_t, 3>& shape, std::array<std::int64_t, 3>& strides) {
        const std::int64_t step = std::int64_t{1} << number(0, 4);
        strides[2] = number(0, 9) == 0 ? 2 : 1;
        strides[1] = (shape[2] * strides[2] + number(0, 3) * step + step - 1) / step * step;
        strides[0] = (shape[1] * strides[1] + number(0, 3) * step + step - 1) / step * step;
    }

    std::mt19937_64 random_;
};

/// Contents for a transposition in the memory of a queue.
template <class Q> class TransposeBuffers {
  public:
    /// Input and output begin so many elements after an aligned place.
    TransposeBuffers(Q& queue, TransposeCases& cases, const Transposition& t,
                     std::int64_t in_offset, std::int64_t out_offset)
        : t_(t), in_offset_(in_offset * t.element_bytes), out_offset_(out_offset * t.element_bytes),
          in_bytes_(cases.bytes(in_offset_ + span_bytes(t.shape, t.in_strides, t.element_bytes))),
          out_bytes_(
              cases.bytes(out_offset_ + span_bytes(out_shape(t), t.out_strides, t.element_bytes))),
          in_(queue, in_bytes_), out_(queue, out_bytes_) {}

    const std::byte* in() const { return in_.data() + in_offset_; }
    std::byte* out() const { return out_.data() + out_offset_; }

    /// "" where the output is right, and nothing beside it has changed.
    std::string wrong() const {
        std::vector<std::byte> expected = out_bytes_;
        transpose_slowly(t_, in_bytes_.data() + in_offset_, expected.data() + out_offset_);
        const std::vector<std::byte> got = out_.fetch();
        const auto at = std::mismatch(expected.begin(), expected.end(), got.begin()).first;
        if (at == expected.end()) {
            return "";
        }
        return describe(t_) + ": byte " +
               std::to_string(at - expected.begin() - static_cast<std::ptrdiff_t>(out_offset_)) +
               " of the output differs; it begins at byte " + std::to_string(out_offset_) +
               ", the input at " + std::to_string(in_offset_);
    }

  private:
    Transposition t_;
    std::int64_t in_offset_;
    std::int64_t out_offset_;
    std::vector<std::byte> in_bytes_;
    std::vector<std::byte> out_bytes_;
    DeviceBytes<Q> in_;
    DeviceBytes<Q> out_;
};

} // namespace runner
