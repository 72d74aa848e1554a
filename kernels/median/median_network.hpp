// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace runner {

/// The minimum or the maximum of two values, of which there are inputs first and then the results
/// of the steps before.
struct MedianStep {
    std::int16_t a = 0;
    std::int16_t b = 0;
    bool is_max = false;
};

/// A program of minima and maxima without branches, the same for every backend.
struct MedianNetwork {
    static constexpr int most_steps = 6000;
    static constexpr int most_outputs = 256;

    int inputs = 0;
    int steps = 0;
    int outputs = 0;
    std::array<MedianStep, most_steps> step{};
    std::array<std::int16_t, most_outputs> output{};
};

namespace median_network {

/// Values of a network, by their numbers; mostly in rising order.
struct List {
    int size = 0;
    std::array<std::int16_t, MedianNetwork::most_outputs> at{};

    constexpr void add(std::int16_t value) { at[static_cast<std::size_t>(size++)] = value; }
    constexpr std::int16_t operator[](int i) const { return at[static_cast<std::size_t>(i)]; }
    /// Those at `first`, `first` + `stride`, … before `end`.
    constexpr List part(int first, int end, int stride = 1) const {
        List list;
        for (int i = first; i < end; i += stride) {
            list.add((*this)[i]);
        }
        return list;
    }
};

constexpr std::int16_t add_step(MedianNetwork& net, std::int16_t a, std::int16_t b, bool is_max) {
    net.step[static_cast<std::size_t>(net.steps)] = {a, b, is_max};
    return static_cast<std::int16_t>(net.inputs + net.steps++);
}

/// Two sorted lists as one, by Batcher's odd-even merge.
constexpr List merge(MedianNetwork& net, const List& a, const List& b) {
    if (a.size == 0 || b.size == 0) {
        return a.size == 0 ? b : a;
    }
    List all;
    if (a.size == 1 && b.size == 1) {
        all.add(add_step(net, a[0], b[0], false));
        all.add(add_step(net, a[0], b[0], true));
        return all;
    }
    const List even = merge(net, a.part(0, a.size, 2), b.part(0, b.size, 2));
    const List odd = merge(net, a.part(1, a.size, 2), b.part(1, b.size, 2));
    all.add(even[0]);
    for (int i = 0; i < odd.size || i + 1 < even.size; ++i) {
        if (i < odd.size && i + 1 < even.size) {
            all.add(add_step(net, odd[i], even[i + 1], false));
            all.add(add_step(net, odd[i], even[i + 1], true));
        } else {
            all.add(i < odd.size ? odd[i] : even[i + 1]);
        }
    }
    return all;
}

constexpr List sort(MedianNetwork& net, const List& list) {
    if (list.size < 2) {
        return list;
    }
    const int half = list.size / 2;
    return merge(net, sort(net, list.part(0, half)), sort(net, list.part(half, list.size)));
}

/// The value of rank `rank`, from 1, of two sorted lists: the least of what is the greater of the
/// i-th of one and the (rank − i)-th of the other.
constexpr std::int16_t select(MedianNetwork& net, const List& a, const List& b, int rank) {
    std::int16_t least = -1;
    for (int i = 0; i <= rank; ++i) {
        const int j = rank - i;
        if (i > a.size || j > b.size) {
            continue;
        }
        const std::int16_t most = i == 0   ? b[j - 1]
                                  : j == 0 ? a[i - 1]
                                           : add_step(net, a[i - 1], b[j - 1], true);
        least = least < 0 ? most : add_step(net, least, most, false);
    }
    return least;
}

/// Without the steps on which no output depends.
constexpr MedianNetwork pruned(const MedianNetwork& net) {
    std::array<std::int16_t, MedianNetwork::most_steps> name{}; // of live steps, from 1
    for (int i = 0; i < net.outputs; ++i) {
        const int value = net.output[static_cast<std::size_t>(i)] - net.inputs;
        if (value >= 0) {
            name[static_cast<std::size_t>(value)] = 1;
        }
    }
    for (int i = net.steps - 1; i >= 0; --i) {
        const MedianStep step = net.step[static_cast<std::size_t>(i)];
        for (const int value : {step.a - net.inputs, step.b - net.inputs}) {
            if (name[static_cast<std::size_t>(i)] != 0 && value >= 0) {
                name[static_cast<std::size_t>(value)] = 1;
            }
        }
    }
    MedianNetwork result;
    result.inputs = net.inputs;
    const auto renamed = [&](std::int16_t value) {
        return value < net.inputs
                   ? value
                   : static_cast<std::int16_t>(
                         net.inputs + name[static_cast<std::size_t>(value - net.inputs)] - 1);
    };
    for (int i = 0; i < net.steps; ++i) {
        if (name[static_cast<std::size_t>(i)] != 0) {
            const MedianStep step = net.step[static_cast<std::size_t>(i)];
            add_step(result, renamed(step.a), renamed(step.b), step.is_max);
            name[static_cast<std::size_t>(i)] = static_cast<std::int16_t>(result.steps);
        }
    }
    result.outputs = net.outputs;
    for (int i = 0; i < net.outputs; ++i) {
        result.output[static_cast<std::size_t>(i)] =
            renamed(net.output[static_cast<std::size_t>(i)]);
    }
    return result;
}

constexpr List numbered(int first, int count) {
    List list;
    for (int i = 0; i < count; ++i) {
        list.add(static_cast<std::int16_t>(first + i));
    }
    return list;
}

/// The values of rank `rank`, from 1, of `common` with `first`, and with `last`, as outputs. All
/// are sorted; only ranks that either may have are kept of `common`.
constexpr void add_medians(MedianNetwork& net, const List& common, const List& first,
                           const List& last, int rank) {
    const int count = first.size;
    const int below = rank - count > 1 && common.size > 0 ? rank - count - 1 : 0;
    const List core = common.part(below, common.size < rank ? common.size : rank);
    net.outputs = 2;
    net.output[0] = select(net, core, first, rank - below);
    net.output[1] = select(net, core, last, rank - below);
}

} // namespace median_network

/// Sorts `count` inputs.
constexpr MedianNetwork sorting_network(int count) {
    using namespace median_network;
    MedianNetwork net;
    net.inputs = count;
    const List sorted = sort(net, numbered(0, count));
    net.outputs = count;
    net.output = sorted.at;
    return pruned(net);
}

/// The inputs are lines + 1 sorted lists of `count`. Two medians come out: of all lists but the
/// last, and of all but the first. What both have in common is merged once, and only ranks that a
/// median of either may have are kept of it.
constexpr MedianNetwork pair_network(int count, int lines) {
    using namespace median_network;
    MedianNetwork net;
    net.inputs = count * (lines + 1);
    const auto line = [count](int i) { return numbered(i * count, count); };
    std::array<List, 16> lists{};
    int left = 0;
    for (int i = 1; i < lines; ++i) {
        lists[static_cast<std::size_t>(left++)] = line(i);
    }
    while (left > 1) {
        int made = 0;
        for (int i = 0; i + 1 < left; i += 2) {
            lists[static_cast<std::size_t>(made++)] = merge(net, lists[static_cast<std::size_t>(i)],
                                                            lists[static_cast<std::size_t>(i) + 1]);
        }
        if (left % 2 == 1) {
            lists[static_cast<std::size_t>(made++)] = lists[static_cast<std::size_t>(left - 1)];
        }
        left = made;
    }
    add_medians(net, lists[0], line(0), line(lines), (count * lines + 1) / 2);
    return pruned(net);
}

/// The sorted lists of `columns` windows side by side in one row, which share what they have in
/// common. Inputs: for each of columns + x − 1 columns its z elements. Outputs: for each window its
/// z · x elements in rising order.
constexpr MedianNetwork row_network(int z, int x, int columns) {
    using namespace median_network;
    MedianNetwork net;
    const int all = columns + x - 1;
    net.inputs = z * all;
    std::array<List, 16> column{};
    for (int i = 0; i < all; ++i) {
        column[static_cast<std::size_t>(i)] = sort(net, numbered(i * z, z));
    }
    // Columns 1 and 2, 3 and 4, …: two windows side by side have (x − 1) / 2 such pairs in common.
    std::array<List, 16> pair{};
    for (int i = 1; i + 1 < all; i += 2) {
        pair[static_cast<std::size_t>(i)] = merge(net, column[static_cast<std::size_t>(i)],
                                                  column[static_cast<std::size_t>(i) + 1]);
    }
    for (int first = 0; first < columns; first += 2) {
        List common;
        for (int i = first + 1; i < first + x; i += 2) {
            common = merge(net, common, pair[static_cast<std::size_t>(i)]);
        }
        for (int side = 0; side < 2 && first + side < columns; ++side) {
            const List window =
                merge(net, common, column[static_cast<std::size_t>(side == 0 ? first : first + x)]);
            for (int i = 0; i < window.size; ++i) {
                net.output[static_cast<std::size_t>(net.outputs++)] = window[i];
            }
        }
    }
    return pruned(net);
}

/// Two sorted lists of `count` as one.
constexpr MedianNetwork merge_network(int count) {
    using namespace median_network;
    MedianNetwork net;
    net.inputs = 2 * count;
    const List merged = merge(net, numbered(0, count), numbered(count, count));
    net.outputs = merged.size;
    net.output = merged.at;
    return pruned(net);
}

/// The two medians of pair_network(), where the rows in between are given as two sorted lists.
/// Inputs: the first row's list of `count`, the two lists of count · (lines − 1) / 2, the last
/// row's list.
constexpr MedianNetwork half_network(int count, int lines) {
    using namespace median_network;
    MedianNetwork net;
    const int half = count * (lines - 1) / 2;
    net.inputs = 2 * (count + half);
    const List first = numbered(0, count);
    const List all = merge(net, numbered(count, half), numbered(count + half, half));
    const List last = numbered(count + 2 * half, count);
    add_medians(net, all, first, last, (count * lines + 1) / 2);
    return pruned(net);
}

/// The medians of two windows of `extent` rows and columns, one row apart. Inputs: the sorted list
/// of the first row; the rows that both windows have, two by two as sorted lists of 2 · extent; the
/// last row's list. Of a list only ranks are kept that a median may have.
constexpr MedianNetwork window_network(int extent) {
    using namespace median_network;
    MedianNetwork net;
    const int pairs = (extent - 1) / 2;
    net.inputs = 2 * extent * (pairs + 1);
    int elements = extent * extent;
    int rank = elements / 2 + 1;
    // An element of rank i in its list has a rank from i to i + (elements − list.size) in a window.
    const auto kept = [&](const List& list) {
        const int below = rank - 1 - (elements - list.size);
        const List part = list.part(below > 0 ? below : 0, list.size < rank ? list.size : rank);
        rank -= below > 0 ? below : 0;
        elements -= list.size - part.size;
        return part;
    };
    std::array<List, 16> lists{};
    for (int i = 0; i < pairs; ++i) {
        lists[static_cast<std::size_t>(i)] = numbered(extent * (2 * i + 1), 2 * extent);
    }
    for (int left = pairs; left > 1;) {
        int made = 0;
        for (int i = 0; i + 1 < left; i += 2) {
            const List first = kept(lists[static_cast<std::size_t>(i)]);
            const List second = kept(lists[static_cast<std::size_t>(i) + 1]);
            lists[static_cast<std::size_t>(made++)] = kept(merge(net, first, second));
        }
        if (left % 2 == 1) {
            lists[static_cast<std::size_t>(made++)] = lists[static_cast<std::size_t>(left - 1)];
        }
        left = made;
    }
    add_medians(net, lists[0], numbered(0, extent), numbered(net.inputs - extent, extent), rank);
    return pruned(net);
}

/// The networks that are compiled in: of sorted lists of `count` elements, from `lines` rows.
template <int count, int lines> struct MedianNetworks {
    static constexpr MedianNetwork sorting = sorting_network(count);
    static constexpr MedianNetwork pair = pair_network(count, lines);
};

/// Whether MedianNetworks<count, lines> is used; other windows are searched bit by bit.
constexpr bool has_networks(int count, int lines) {
    return (lines == 1 && count > 1 && count <= 9) || (lines == 3 && count <= 9) ||
           (lines == 5 && count <= 5);
}

} // namespace runner
