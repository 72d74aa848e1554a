// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace runner::trial {

/// The values of a key between one that is too weak and one that is too strong.
struct HalvedKey {
    std::string key; ///< "denoise.strength"
    double weak = 0;
    double strong = 0;     ///< may be less than `weak`, where less is stronger
    bool is_whole = false; ///< integers alone, since both ends are written as integers

    /// A value as TOML has it: "3", or "0.25", or "2.0".
    std::string text(double value) const;
    std::string setting(double value) const { return key + "=" + text(value); }
};

/// "denoise.strength=0.2..0.8". @throws Error (usage) for a text of another form, ends that are
/// equal, not finite, or too large to halve.
HalvedKey parse_halved_key(const std::string& text);

/// What a value of the halved key does to the data.
enum class Strength { too_weak, right, too_strong };

/// Looks for the strongest value that is not too strong, by halving the range between the ends.
/// Pure: somebody else tries each value.
class Bisection {
  public:
    explicit Bisection(const HalvedKey& key) : key_(key), weak_(key.weak), strong_(key.strong) {}

    /// The value between what was too weak and what was too strong; nothing at the end: one was
    /// right, no integer is left, or the range is a 32nd of what it was.
    std::optional<double> next() const;

    /// What next() has turned out to be.
    void judge(Strength strength);

    /// The strongest value that was not too strong, which may be the weak end.
    double chosen() const { return weak_; }
    /// The weakest value that was too strong, which may be the strong end.
    double too_strong() const { return strong_; }

  private:
    HalvedKey key_;
    double weak_;
    double strong_;
    bool done_ = false;
};

} // namespace runner::trial
