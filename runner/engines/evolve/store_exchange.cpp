// SPDX-License-Identifier: BSD-3-Clause
#include "runner/engines/evolve/store_exchange.hpp"

#include <cstddef>
#include <vector>

namespace runner::evolve {

void StoreExchange::exchange() {
    std::byte* space = staging_.data();
    std::vector<Message<const std::byte>> sends;
    for (const HaloRows& send : plan_.sends) {
        const std::int64_t bytes = store_.bytes_of(send.rows);
        sends.push_back({send.rank, store_.fetch(send.rows, space), bytes});
        space += bytes;
    }
    std::vector<Message<std::byte>> receives;
    for (const HaloRows& receive : plan_.receives) {
        const std::int64_t bytes = store_.bytes_of(receive.rows);
        receives.push_back(
            {receive.rank, store_.place(StateStore::Version::current, receive.rows, space), bytes});
        space += bytes;
    }
    ranks_.exchange(sends, receives);
    for (std::size_t i = 0; i < receives.size(); ++i) {
        store_.put(StateStore::Version::current, plan_.receives[i].rows, receives[i].data);
        bytes_ += receives[i].bytes;
    }
}

} // namespace runner::evolve
