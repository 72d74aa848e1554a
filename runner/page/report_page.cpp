// SPDX-License-Identifier: BSD-3-Clause
#include "runner/page/report_page.hpp"

#include "base/json.hpp"
#include "runner/page/page_shell.hpp"
#include "runner/page/report_check.hpp"

#include <array>

namespace runner {
namespace {

std::string pictures_json(const std::vector<PagePicture>& pictures) {
    Json list = Json::array();
    for (const PagePicture& picture : pictures) {
        Json one = {{"caption", picture.caption}};
        if (!picture.png.empty()) {
            one["png"] = "data:image/png;base64," + base64_text(picture.png);
        }
        list.push_back(std::move(one));
    }
    return list.text();
}

} // namespace

std::string report_page(const std::string& name, const std::string& report_json,
                        const std::vector<PagePicture>& pictures) {
    check_report(name, report_json);
    return page_html(
        std::array{PageData{"report", report_json}, PageData{"pictures", pictures_json(pictures)}});
}

std::string batch_page(const std::string& report) {
    return page_html(std::array{PageData{"batch", report}});
}

} // namespace runner
