// SPDX-License-Identifier: BSD-3-Clause
#include "runner/page/report_page.hpp"

#include "runner/page/page_shell.hpp"
#include "runner/page/report_check.hpp"

#include <array>

#include <nlohmann/json.hpp>

namespace runner {
namespace {

using Json = nlohmann::ordered_json;

std::string pictures_json(const std::vector<PagePicture>& pictures) {
    Json list = Json::array();
    for (const PagePicture& picture : pictures) {
        Json one = {{"caption", picture.caption}};
        if (!picture.png.empty()) {
            one["png"] = "data:image/png;base64," + base64_text(picture.png);
        }
        list.push_back(std::move(one));
    }
    return list.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace

std::string report_page(const std::string& name, const std::string& report_json,
                        const std::vector<PagePicture>& pictures) {
    check_report(name, report_json);
    return page_html(
        std::array{PageData{"report", report_json}, PageData{"pictures", pictures_json(pictures)}});
}

} // namespace runner
