// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/transpose_choice.hpp"

#include "tests/support/transpose_cases.hpp"

namespace runner {
namespace {

using TransposeCuda = QueueTest<CudaQueue>;

TEST_F(TransposeCuda, EveryWayThatFitsGivesTheSame) {
    TransposeCases cases(21);
    for (int i = 0; i < 60; ++i) {
        const Transposition t = cases.any(40000);
        const std::int64_t in_offset = cases.number(0, 2);
        const std::int64_t out_offset = cases.number(0, 2);
        TransposeBuffers<CudaQueue> buffers(queue(), cases, t, in_offset, out_offset);
        const TransposeAxes axes = reduce_axes(t, buffers.in(), buffers.out());
        if (axes.count == 0) {
            continue;
        }
        for (const TransposeChoice& choice :
             all_transpose_choices(axes, buffers.in(), buffers.out())) {
            TransposeBuffers<CudaQueue> own(queue(), cases, t, in_offset, out_offset);
            transpose_as(queue(), choice, axes, own.in(), own.out());
            EXPECT_EQ("", own.wrong()) << choice_text(choice);
        }
    }
}

TEST_F(TransposeCuda, EveryTileFormGivesTheSame) {
    TransposeCases cases(22);
    for (const TransposeTileForm& form : transpose_tile_forms()) {
        for (const std::int64_t b : {160, 336}) {
            const Transposition t =
                dense_transposition({2, b, 272}, {0, 2, 1}, form.element_bytes);
            TransposeBuffers<CudaQueue> buffers(queue(), cases, t, 0, 0);
            const TransposeAxes axes = reduce_axes(t, buffers.in(), buffers.out());
            ASSERT_TRUE(tile_form_fits(form, axes, buffers.in(), buffers.out()));
            transpose_by_tiles(queue(), form, 2, axes, buffers.in(), buffers.out());
            EXPECT_EQ("", buffers.wrong()) << choice_text(MoveTiles{form, 2});
        }
    }
}

} // namespace
} // namespace runner
