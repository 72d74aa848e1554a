// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace runner {

/// Has the TCP connections that this process has now send each message at once (TCP_NODELAY). Open
/// MPI 4.1 leaves that out for a rank's connection to its launcher: the second of two messages
/// waits for the launcher's host to acknowledge the first, which Linux delays by 40 ms.
/// MPI_Finalize always sends two.
void send_without_delay() noexcept;

} // namespace runner
