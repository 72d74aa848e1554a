// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fake_cuda/fake_device.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace fake_cuda {
namespace {

/// Errors after which real CUDA gives the same one to every call of the process.
const std::set<int> lasting_errors = {46,  214, 220, 226, 700, 702, 709, 710, 714,
                                      715, 716, 717, 718, 719, 721, 810, 911, 999};

} // namespace

FakeDevice& FakeDevice::get() {
    // Never destroyed: the runtime is called from other objects' static destructors.
    static FakeDevice& device = *new FakeDevice;
    return device;
}

FakeDevice::FakeDevice() {
    const char* text = std::getenv("FAKE_CUDA_FAIL");
    if (text == nullptr) {
        return;
    }
    const std::string wanted(text);
    const std::size_t at = wanted.find('@');
    const std::size_t equals = wanted.find('=');
    if (at == std::string::npos || equals == std::string::npos) {
        (void)std::fprintf(stderr, "FAKE_CUDA_FAIL must read FUNCTION@NTH=ERROR\n");
        std::abort();
    }
    failures_.insert(
        {wanted.substr(0, at),
         {std::stoll(wanted.substr(at + 1)), std::stoi(wanted.substr(equals + 1)), Again::no}});
    abort_on_violation_ = true;
}

int FakeDevice::call(const std::string& name, const Body& body, Work work) {
    const std::lock_guard lock(mutex_);
    ++calls_[name];
    const std::thread::id self = std::this_thread::get_id();
    if (lost_ != 0) {
        if (self == driver_ || !refused_.insert(self).second) {
            complain(name + " was called after error " + std::to_string(lost_));
        }
        return lost_;
    }
    const int error = due_error(name);
    if (error == 0) {
        run_a_little();
        return body(*this);
    }
    if (lasting_errors.contains(error)) {
        lost_ = error;
        refused_.insert(self);
    } else if (work == Work::release) {
        (void)body(*this);
    }
    return error;
}

void FakeDevice::run_a_little() {
    if (!random_ || streams_.empty()) {
        return;
    }
    // Mostly so little that much is waiting.
    if ((*random_)() % slowness_ == 0) {
        const auto skip = static_cast<std::ptrdiff_t>((*random_)() % streams_.size());
        Stream& stream = *std::next(streams_.begin(), skip)->second;
        run_to(stream, stream.done + (stream.waiting.empty() ? 0 : 1));
    }
}

int FakeDevice::due_error(const std::string& name) {
    const auto [begin, end] = failures_.equal_range(name);
    for (auto entry = begin; entry != end; ++entry) {
        const Failure& failure = entry->second;
        const std::int64_t count = calls_[name];
        if (count == failure.nth || (count > failure.nth && failure.again == Again::yes)) {
            return failure.error;
        }
    }
    return 0;
}

void FakeDevice::complain(const std::string& what) {
    violations_.push_back(what);
    if (abort_on_violation_) {
        (void)std::fprintf(stderr, "fake_cuda: %s\n", what.c_str());
        std::abort();
    }
}

void FakeDevice::linger() {
    std::chrono::microseconds time{0};
    {
        const std::lock_guard lock(mutex_);
        if (random_) {
            time = std::chrono::microseconds((*random_)() % 200);
        }
    }
    std::this_thread::sleep_for(time);
}

void FakeDevice::reset() {
    const std::lock_guard lock(mutex_);
    calls_.clear();
    failures_.clear();
    violations_.clear();
    refused_.clear();
    lost_ = 0;
    random_.reset();
    memory_ = std::int64_t{1} << 40;
    driver_ = std::this_thread::get_id();
}

void FakeDevice::fail(const std::string& function, std::int64_t nth, int error, Again again) {
    const std::lock_guard lock(mutex_);
    failures_.insert({function, {calls_[function] + nth, error, again}});
}

void FakeDevice::set_memory(std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    memory_ = bytes;
}

void FakeDevice::run_at_random(unsigned seed) {
    const std::lock_guard lock(mutex_);
    random_.emplace(seed);
    slowness_ = 1U << seed % 6;
}

std::int64_t FakeDevice::calls(const std::string& function) const {
    const std::lock_guard lock(mutex_);
    const auto entry = calls_.find(function);
    return entry == calls_.end() ? 0 : entry->second;
}

std::vector<std::string> FakeDevice::called() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> names;
    for (const auto& [name, count] : calls_) {
        names.push_back(name);
    }
    return names;
}

std::int64_t FakeDevice::live() const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::int64_t>(device_.size() + host_.size() + streams_.size() +
                                     events_.size());
}

std::vector<std::string> FakeDevice::violations() const {
    const std::lock_guard lock(mutex_);
    return violations_;
}

void* FakeDevice::take(Place place, std::int64_t bytes) {
    if (place == Place::device) {
        if (bytes > memory_free()) {
            return nullptr;
        }
        taken_ += bytes;
    }
    Block block{std::unique_ptr<std::byte[]>(new std::byte[static_cast<std::size_t>(bytes)]),
                bytes};
    std::byte* data = block.bytes.get();
    // What is never written shows; not all of it, since large blocks are taken only to see if they
    // can be.
    std::fill_n(data, std::min<std::int64_t>(bytes, 1 << 16), std::byte{0xa5});
    memory(place).emplace(data, std::move(block));
    return data;
}

void FakeDevice::give_back(Place place, void* data) {
    for (const auto& [key, stream] : streams_) {
        run(key);
    }
    const auto entry = memory(place).find(static_cast<const std::byte*>(data));
    if (entry == memory(place).end()) {
        complain("memory was given back that was not taken");
        return;
    }
    if (place == Place::device) {
        taken_ -= entry->second.size;
    }
    memory(place).erase(entry);
}

void FakeDevice::check_taken(Place place, const void* data, std::int64_t bytes) {
    const auto* begin = static_cast<const std::byte*>(data);
    auto after = memory(place).upper_bound(begin);
    const bool taken = after != memory(place).begin() &&
                       begin + bytes <= std::prev(after)->first + std::prev(after)->second.size;
    if (!taken) {
        complain("a copy reaches outside the memory that was taken");
    }
}

void* FakeDevice::make_stream() {
    auto stream = std::make_shared<Stream>();
    void* key = stream.get();
    streams_[key] = std::move(stream);
    return key;
}

void FakeDevice::destroy_stream(const void* stream) {
    run(stream);
    streams_.erase(stream);
}

void* FakeDevice::make_event() {
    auto event = std::make_unique<Mark>();
    void* key = event.get();
    events_[key] = std::move(event);
    return key;
}

void FakeDevice::destroy_event(const void* event) {
    if (events_.erase(event) == 0) {
        complain("an event was destroyed that there is not");
    }
}

void FakeDevice::put(const void* stream, std::function<void()> work) {
    streams_.at(stream)->waiting.push_back(std::move(work));
}

void FakeDevice::hold(const void* stream, const void* event) {
    const Mark mark = *events_.at(event);
    if (mark.stream) {
        put(stream, [mark] { run_to(*mark.stream, mark.position); });
    }
}

void FakeDevice::run(const void* stream) {
    const auto entry = streams_.find(stream);
    if (entry == streams_.end()) {
        complain("a stream was used that there is not");
        return;
    }
    Stream& all = *entry->second;
    run_to(all, all.done + static_cast<std::int64_t>(all.waiting.size()));
}

void FakeDevice::run_to(Stream& stream, std::int64_t position) {
    while (stream.done < position) {
        const std::function<void()> work = std::move(stream.waiting.front());
        stream.waiting.pop_front();
        ++stream.done;
        work();
    }
}

void FakeDevice::record(const void* event, const void* stream) {
    const std::shared_ptr<Stream>& on = streams_.at(stream);
    *events_.at(event) = {on, on->done + static_cast<std::int64_t>(on->waiting.size())};
}

void FakeDevice::reach(const void* event) {
    const Mark& mark = *events_.at(event);
    if (mark.stream) {
        run_to(*mark.stream, mark.position);
    }
}

bool FakeDevice::reached(const void* event) const {
    const Mark& mark = *events_.at(event);
    return mark.stream != nullptr && mark.stream->done >= mark.position;
}

void reset() { FakeDevice::get().reset(); }
void fail(const std::string& function, std::int64_t nth, int error, Again again) {
    FakeDevice::get().fail(function, nth, error, again);
}
void set_device_memory(std::int64_t bytes) { FakeDevice::get().set_memory(bytes); }
void run_at_random(unsigned seed) { FakeDevice::get().run_at_random(seed); }
std::int64_t calls(const std::string& function) { return FakeDevice::get().calls(function); }
std::vector<std::string> called() { return FakeDevice::get().called(); }
std::int64_t live() { return FakeDevice::get().live(); }
std::vector<std::string> violations() { return FakeDevice::get().violations(); }

} // namespace fake_cuda
