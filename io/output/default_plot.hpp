// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace runner {

/// Marks a dataset of an HDF5 output, which has all else that it is to have, as what viewers show
/// of the file (docs/adr/0012): its group becomes a NeXus NXdata whose signal it is, with its
/// frames' generations as the first axis where there are some; groups above lead there by
/// `default`; and it is an image, as mark_image() says of so many channels. Bytes and place of the
/// dataset stay. @throws Error (output).
void write_default_plot(const std::string& file, const std::string& dataset, int channels = 1);

} // namespace runner
