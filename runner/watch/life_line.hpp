// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <netinet/in.h>

namespace runner {

/// How a process hears that another one lives, and what that one does, before the ranks have a
/// folder in common: by datagrams (UDP, IPv4) to a port of its own. Where these do not come
/// through, nothing is heard, and nothing else happens. For one thread, once both sides know each
/// other.
class LifeLine {
  public:
    /// Takes a port. Where there is none contact() is empty.
    LifeLine();
    LifeLine(const LifeLine&) = delete;
    LifeLine& operator=(const LifeLine&) = delete;
    ~LifeLine();

    /// The port and the addresses of this host, for the process that is to call it.
    std::string contact() const;

    /// From now on tell() goes to the process of this contact, and hear() takes what begins with
    /// `key`, which nobody else knows.
    void connect(const std::string& contact, std::uint64_t key);

    void tell(const std::string& text) const;

    /// The last of the texts that have come since; nothing where none has.
    std::optional<std::string> hear() const;

  private:
    int socket_ = -1;
    std::uint64_t key_ = 0;
    std::vector<sockaddr_in> peers_;
};

} // namespace runner
