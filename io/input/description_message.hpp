// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "io/files/file_mark.hpp"
#include "io/files/message.hpp"
#include "io/inspect/scan_setup.hpp"
#include "io/rows/axes.hpp"
#include "io/rows/frame_roles.hpp"

namespace runner {

/// Roles as a part of a message.
void put_roles(MessageWriter& to, const FrameRoles& roles);

/// The roles of the frames of a dataset, of each or of none. @throws BadMessage.
FrameRoles take_roles(MessageReader& from, const ArrayInfo& array);

/// A scan's setup as a part of a message.
void put_setup(MessageWriter& to, const ScanSetup& setup);

/// A setup whose numbers are of use, or have a fault. @throws BadMessage.
ScanSetup take_setup(MessageReader& from);

/// Axes as a part of a message.
void put_axes(MessageWriter& to, const Axes& axes);

/// The axes of a dataset, as far as they fit it. @throws BadMessage.
Axes take_axes(MessageReader& from, const ArrayInfo& array);

/// The marks of files as a part of a message.
void put_marks(MessageWriter& to, const FileMarks& files);

/// @throws BadMessage.
FileMarks take_marks(MessageReader& from);

} // namespace runner
