// SPDX-License-Identifier: BSD-3-Clause
// The published kernels that the benchmark compares to give the right bytes too.
#include "bench/kernels/baselines/transpose_ladder.hpp"

#include "tests/support/transpose_cases.hpp"

namespace runner {
namespace {

using TransposeLadder = QueueTest<CudaQueue>;

TEST_F(TransposeLadder, GivesTheRightBytes) {
    TransposeCases cases(31);
    for (const auto& permutation : all_permutations) {
        for (const int element_bytes : {4, 8}) {
            const std::array<std::int64_t, 3> shape = {cases.number(1, 20), cases.number(1, 40),
                                                       cases.number(1, 50)};
            const Transposition t = dense_transposition(shape, permutation, element_bytes);
            for (const TransposeBaseline baseline :
                 {TransposeBaseline::simple, TransposeBaseline::simple_template,
                  TransposeBaseline::tile, TransposeBaseline::tile_template,
                  TransposeBaseline::tile_padded}) {
                TransposeBuffers<CudaQueue> buffers(queue(), cases, t, 0, 0);
                transpose_baseline(queue(), baseline, shape, permutation, element_bytes,
                                   buffers.in(), buffers.out());
                EXPECT_EQ("", buffers.wrong()) << "baseline " << static_cast<int>(baseline);
            }
        }
    }
}

TEST_F(TransposeLadder, CopiesAreCopies) {
    TransposeCases cases(32);
    for (const int element_bytes : {4, 8}) {
        const Transposition t = dense_transposition({5, 9, 17}, {0, 1, 2}, element_bytes);
        for (const TransposeBaseline baseline :
             {TransposeBaseline::copy, TransposeBaseline::copy_through_shared}) {
            TransposeBuffers<CudaQueue> buffers(queue(), cases, t, 0, 0);
            transpose_baseline(queue(), baseline, t.shape, t.permutation, element_bytes,
                               buffers.in(), buffers.out());
            EXPECT_EQ("", buffers.wrong());
        }
    }
}

TEST_F(TransposeLadder, MatricesComeOutRight) {
    TransposeCases cases(33);
    for (const int element_bytes : {4, 8}) {
        for (const int tile : {8, 32}) {
            const Transposition t = dense_transposition({1, 45, 77}, {0, 2, 1}, element_bytes);
            TransposeBuffers<CudaQueue> buffers(queue(), cases, t, 0, 0);
            transpose_matrix_baseline(queue(), tile, 45, 77, element_bytes, buffers.in(),
                                      buffers.out());
            EXPECT_EQ("", buffers.wrong()) << "tile " << tile;
        }
    }
}

} // namespace
} // namespace runner
