// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/frame_marks.hpp"

#include "base/error.hpp"
#include "base/format.hpp"

#include <cmath>
#include <cstring>
#include <memory>

namespace runner {

std::vector<std::int64_t> read_frame_marks(const std::string& file, const std::string& dataset,
                                           std::int64_t frames, FileAccess& files) {
    const auto refuse = [&](const std::string& why) {
        throw Error(ExitCode::input, {"cannot choose frames by that dataset", file + ":" + dataset,
                                      why, "Name a dataset with one integer for each frame"});
    };
    const std::unique_ptr<RowReader> reader = open_rows_of(files, file, dataset, 1);
    const ArrayInfo array = reader->info().array;
    if (array.shape != std::vector<std::int64_t>{frames}) {
        refuse(fmt::format("its shape is {}, and there are {} frames", shape_text(array.shape),
                           frames));
    }
    if (!is_number(array.type)) {
        refuse("its elements are " + type_text(array));
    }
    std::vector<std::byte> bytes(static_cast<std::size_t>(byte_count(array)));
    reader->read(0, frames, bytes.data()); // of one axis each element is a row
    constexpr double most = 2147483648.0;
    std::vector<std::int64_t> marks(static_cast<std::size_t>(frames));
    visit_element_type(array.type, [&](auto element) {
        for (std::size_t i = 0; i < marks.size(); ++i) {
            std::memcpy(&element, bytes.data() + i * sizeof(element), sizeof(element));
            const double number = static_cast<double>(element);
            if (!(std::abs(number) <= most) || std::trunc(number) != number) {
                refuse(fmt::format("the number of frame {} is no integer up to 2^31", i));
            }
            marks[i] = static_cast<std::int64_t>(number);
        }
    });
    return marks;
}

} // namespace runner
