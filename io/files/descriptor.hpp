// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cerrno>
#include <string>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace runner {

/// Makes a system call again for as long as a signal interrupts it. Not for close(): after EINTR
/// Linux has closed the descriptor, and another thread may have taken its number.
/// @returns what `call` did: negative, with errno, for any other failure.
template <class Call> auto uninterrupted(Call call) {
    for (;;) {
        const auto result = call();
        if (result >= 0 || errno != EINTR) {
            return result;
        }
    }
}

/// Opens a file that programs which are started do not get, and no terminal becomes this process's
/// own. A file that is made may be read and written by all whom umask lets.
inline int open_again(const std::string& path, int flags) {
    return uninterrupted([&] { return ::open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY, 0666); });
}

/// Closes the descriptor unless released; none where its number is negative.
class Descriptor {
  public:
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~Descriptor() {
        if (number_ >= 0) {
            ::close(number_);
        }
    }

    int get() const { return number_; }
    int release() { return std::exchange(number_, -1); }

  private:
    int number_;
};

} // namespace runner
