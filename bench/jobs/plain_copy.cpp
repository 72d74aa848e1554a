// SPDX-License-Identifier: BSD-3-Clause
// The peer of a whole job: copies a file with several threads, each of which reads a block and
// writes it, and computes nothing: plain_copy IN OUT THREADS BLOCK_BYTES [FILES [sync]]
// With several FILES the blocks go to OUT.0, OUT.1, ... in turn, as to an output in parts.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

[[noreturn]] void stop(const char* what) {
    std::perror(what);
    std::exit(4);
}

/// Bytes `begin` to `end` of `from`, to `at` in `to`.
void copy_block(int from, int to, char* buffer, std::int64_t begin, std::int64_t end,
                std::int64_t at) {
    while (begin < end) {
        const ssize_t got = ::pread(from, buffer, static_cast<std::size_t>(end - begin), begin);
        if (got <= 0) {
            stop("pread");
        }
        for (ssize_t put = 0; put < got;) {
            const ssize_t now =
                ::pwrite(to, buffer + put, static_cast<std::size_t>(got - put), at + put);
            if (now <= 0) {
                stop("pwrite");
            }
            put += now;
        }
        begin += got;
        at += got;
    }
}

/// New files for `bytes` each, their space reserved where there are several.
std::vector<int> make_files(const std::string& name, int count, std::int64_t bytes) {
    std::vector<int> files;
    for (int i = 0; i < count; ++i) {
        const std::string own = count == 1 ? name : name + "." + std::to_string(i);
        const int file = ::open(own.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
        if (file < 0 || ::ftruncate(file, bytes) != 0 ||
            (count > 1 && ::posix_fallocate(file, 0, bytes) != 0)) {
            stop("open");
        }
        files.push_back(file);
    }
    return files;
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 5) {
        std::fprintf(stderr, "usage: plain_copy IN OUT THREADS BLOCK_BYTES [FILES [sync]]\n");
        return 2;
    }
    const auto start = std::chrono::steady_clock::now();
    const int from = ::open(argv[1], O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (from < 0 || ::fstat(from, &status) != 0) {
        stop("open");
    }
    const std::int64_t block = std::atoll(argv[4]);
    const int parts = argc > 5 ? std::max(1, std::atoi(argv[5])) : 1;
    const std::int64_t rounds = (status.st_size + block * parts - 1) / (block * parts);
    const std::vector<int> to =
        make_files(argv[2], parts, parts == 1 ? status.st_size : rounds * block);
    std::atomic<std::int64_t> next{0};
    const int count = std::max(1, std::atoi(argv[3]));
    std::vector<std::thread> threads;
    threads.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
        threads.emplace_back([&] {
            const auto bytes = static_cast<std::size_t>(block);
            void* buffer =
                ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (buffer == MAP_FAILED) {
                stop("mmap");
            }
            for (std::int64_t begin = next.fetch_add(block); begin < status.st_size;
                 begin = next.fetch_add(block)) {
                const std::int64_t index = begin / block;
                copy_block(from, to[static_cast<std::size_t>(index % parts)],
                           static_cast<char*>(buffer), begin,
                           std::min<std::int64_t>(begin + block, status.st_size),
                           index / parts * block);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (const int file : to) {
        if (argc > 6 && ::fsync(file) != 0) {
            stop("fsync");
        }
        if (::close(file) != 0) {
            stop("close");
        }
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::printf("%.4f\n", took.count());
    return 0;
}
