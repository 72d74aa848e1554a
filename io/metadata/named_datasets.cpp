// SPDX-License-Identifier: BSD-3-Clause
#include "io/metadata/named_datasets.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>

namespace runner {

std::vector<std::string>
take_named_datasets(std::vector<NamedValue>& attributes,
                    const std::function<bool(const std::string& name)>& is_lost) {
    constexpr std::array<std::pair<const char*, const char*>, 4> kinds = {
        std::pair("coordinates", "the coordinates "), std::pair("uncertainties", errors_words),
        std::pair("ancillary_variables", "the variables "),
        std::pair("grid_mapping", "the mapping ")};
    std::vector<std::string> all;
    for (const auto& [attribute, words] : kinds) {
        const auto named = std::find_if(
            attributes.begin(), attributes.end(), [&called = attribute](const NamedValue& each) {
                return each.name == called && each.value.texts.size() == 1;
            });
        if (named == attributes.end()) {
            continue;
        }
        std::istringstream names(named->value.texts.front());
        std::string lost;
        std::string kept;
        for (std::string name; names >> name;) {
            std::string& list = is_lost(name) ? lost : kept;
            list.append(list.empty() ? "" : " ").append(name);
        }
        if (lost.empty()) {
            continue;
        }
        all.push_back(words + lost);
        named->value.texts.front() = kept;
        named->value.text_bytes = 0;
        if (kept.empty()) {
            attributes.erase(named);
        }
    }
    return all;
}

} // namespace runner
