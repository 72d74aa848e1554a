// SPDX-License-Identifier: BSD-3-Clause
#include "runner/watch/life_line.hpp"

#include "base/format.hpp"
#include "io/files/descriptor.hpp"

#include <array>
#include <sstream>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <sys/socket.h>
#include <unistd.h>

namespace runner {
namespace {

/// One datagram is whole to its reader.
constexpr std::size_t most_bytes = 512;

const sockaddr* plain(const sockaddr_in& address) {
    return reinterpret_cast<const sockaddr*>(&address);
}

/// Addresses of all interfaces that are up, the loopback too: the other may be on this host.
std::string own_addresses() {
    std::string text;
    ifaddrs* all = nullptr;
    if (::getifaddrs(&all) != 0) {
        return text;
    }
    for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
        if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET) {
            continue;
        }
        std::array<char, INET_ADDRSTRLEN> name{};
        const auto* address = reinterpret_cast<const sockaddr_in*>(each->ifa_addr);
        if (::inet_ntop(AF_INET, &address->sin_addr, name.data(), name.size()) != nullptr) {
            text += std::string(" ") + name.data();
        }
    }
    ::freeifaddrs(all);
    return text;
}

} // namespace

LifeLine::LifeLine() : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_in any{};
    any.sin_family = AF_INET;
    if (socket_ >= 0 && ::bind(socket_, plain(any), sizeof(any)) != 0) {
        ::close(socket_);
        socket_ = -1;
    }
}

LifeLine::~LifeLine() {
    if (socket_ >= 0) {
        ::close(socket_);
    }
}

std::string LifeLine::contact() const {
    sockaddr_in own{};
    socklen_t length = sizeof(own);
    if (socket_ < 0 || ::getsockname(socket_, reinterpret_cast<sockaddr*>(&own), &length) != 0) {
        return "";
    }
    return std::to_string(ntohs(own.sin_port)) + own_addresses();
}

void LifeLine::connect(const std::string& contact, std::uint64_t key) {
    key_ = key;
    std::istringstream words(contact);
    std::uint16_t port = 0;
    words >> port;
    for (std::string name; words >> name;) {
        sockaddr_in peer{};
        peer.sin_family = AF_INET;
        peer.sin_port = htons(port);
        if (::inet_pton(AF_INET, name.c_str(), &peer.sin_addr) == 1) {
            peers_.push_back(peer);
        }
    }
}

void LifeLine::tell(const std::string& text) const {
    const std::string message = fmt::format("{} {}", key_, text).substr(0, most_bytes);
    for (const sockaddr_in& peer : peers_) { // one of them is the right one
        (void)uninterrupted([&] {
            return ::sendto(socket_, message.data(), message.size(), MSG_NOSIGNAL, plain(peer),
                            sizeof(peer));
        });
    }
}

std::optional<std::string> LifeLine::hear() const {
    const std::string key = std::to_string(key_) + " ";
    std::optional<std::string> last;
    std::array<char, most_bytes> bytes{};
    for (;;) {
        const ssize_t got = socket_ < 0 ? -1 : uninterrupted([&] {
            return ::recv(socket_, bytes.data(), bytes.size(), 0);
        });
        if (got < 0) {
            return last;
        }
        const std::string text(bytes.data(), static_cast<std::size_t>(got));
        if (text.starts_with(key)) {
            last = text.substr(key.size());
        }
    }
}

} // namespace runner
