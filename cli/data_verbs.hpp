// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cli/verbs.hpp"
#include "views/render.hpp"

#include <span>
#include <string>

namespace runner::cli {

/// The command lines of the verbs that inspect data or make other files of them: Verb::parse.
Command parse_inspect(const Verb& verb, std::span<const std::string> arguments);
Command parse_compare(const Verb& verb, std::span<const std::string> arguments);
Command parse_render(const Verb& verb, std::span<const std::string> arguments);
Command parse_convert(const Verb& verb, std::span<const std::string> arguments);

/// What a command line for `render` asks for; inspects the first dataset's shape for what it leaves
/// open. @throws Error as render() says.
RenderRequest render_request(const RenderCommand& command, FileAccess& files, int threads);

} // namespace runner::cli
