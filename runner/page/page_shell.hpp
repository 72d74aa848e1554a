// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace runner {

/// runner/page/report_page.html with its style sheet and its scripts, as they were when the program
/// was built.
extern const std::string_view page_shell;

/// JSON that the page's script reads from the element `id`.
struct PageData {
    std::string_view id; ///< letters only
    std::string json;    ///< valid JSON in UTF-8
};

/// A page that its script draws from `data`. It loads nothing, and its content security policy
/// forbids it to.
std::string page_html(std::span<const PageData> data);

/// The same JSON value in a form that cannot end a script element: `<` and `>`, which occur in
/// strings only, and the line separators U+2028 and U+2029 become \u escapes.
std::string script_json(std::string_view json);

std::string base64_text(std::span<const std::byte> bytes);

} // namespace runner
