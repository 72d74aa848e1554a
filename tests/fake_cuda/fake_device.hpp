// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tests/fake_cuda/fake_cuda.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace fake_cuda {

/// A release is done even where it is asked to fail.
enum class Work { usual, release };

/// The one device behind fake_cuda.hpp: its memory, streams, events, and what is to fail. All but
/// get() and call() is for the body of a call, which has the device to itself.
class FakeDevice {
  public:
    enum class Place { device, host };
    using Body = std::function<int(FakeDevice&)>;

    /// The device of this process.
    static FakeDevice& get();

    /// One call of the runtime: counted, then failed or done. Gives its CUDA error.
    int call(const std::string& name, const Body& body, Work work);

    /// Before a call that waits: where work runs at random, gives the other threads some time, as a
    /// GPU that is busy does.
    void linger();

    /// The contract of fake_cuda.hpp.
    void reset();
    void fail(const std::string& function, std::int64_t nth, int error, Again again);
    void set_memory(std::int64_t bytes);
    void run_at_random(unsigned seed);
    std::int64_t calls(const std::string& function) const;
    std::vector<std::string> called() const;
    std::int64_t live() const;
    std::vector<std::string> violations() const;

    std::int64_t memory_free() const { return memory_ - taken_; }
    std::int64_t memory_total() const { return memory_; }

    /// Null where there is not as much. What is given back waits for all work, as in CUDA.
    void* take(Place place, std::int64_t bytes);
    void give_back(Place place, void* data);
    /// A violation unless [data, data + bytes) lies in one allocation.
    void check_taken(Place place, const void* data, std::int64_t bytes);

    void* make_stream();
    void destroy_stream(const void* stream);
    void* make_event();
    void destroy_event(const void* event);

    /// Adds work to a stream.
    void put(const void* stream, std::function<void()> work);
    /// Adds waiting for what the event marks now.
    void hold(const void* stream, const void* event);
    /// Does all work of a stream.
    void run(const void* stream);
    void record(const void* event, const void* stream);
    /// Does the work before the mark.
    void reach(const void* event);
    bool reached(const void* event) const;

  private:
    struct Stream {
        std::deque<std::function<void()>> waiting;
        std::int64_t done = 0;
    };
    struct Mark {
        std::shared_ptr<Stream> stream; ///< null: marks nothing yet
        std::int64_t position = 0;
    };
    struct Failure {
        std::int64_t nth;
        int error;
        Again again;
    };
    struct Block {
        std::unique_ptr<std::byte[]> bytes;
        std::int64_t size = 0;
    };
    using Memory = std::map<const std::byte*, Block>;

    FakeDevice();
    void run_a_little();
    int due_error(const std::string& name);
    void complain(const std::string& what);
    Memory& memory(Place place) { return place == Place::device ? device_ : host_; }
    static void run_to(Stream& stream, std::int64_t position);

    mutable std::mutex mutex_;
    std::map<std::string, std::int64_t> calls_;
    std::multimap<std::string, Failure> failures_;
    std::vector<std::string> violations_;
    std::thread::id driver_;
    int lost_ = 0;                      ///< the error that ended it
    std::set<std::thread::id> refused_; ///< threads that have had that error
    bool abort_on_violation_ = false;
    std::optional<std::mt19937> random_; ///< nothing: work is done when it is waited for
    unsigned slowness_ = 1;              ///< calls to one piece of work
    Memory device_;
    Memory host_;
    std::int64_t memory_ = std::int64_t{1} << 40;
    std::int64_t taken_ = 0;
    std::map<const void*, std::shared_ptr<Stream>> streams_;
    std::map<const void*, std::unique_ptr<Mark>> events_;
};

} // namespace fake_cuda
