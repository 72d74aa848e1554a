// SPDX-License-Identifier: BSD-3-Clause
// The verbs on data as a program, for verbs_oracle.py:
//   verbs_tool compare FILE_A DATASET_A FILE_B DATASET_B   prints the comparison as JSON
//   verbs_tool inspect FILE DATASET                        prints the dataset as JSON
//   verbs_tool render FILE DATASET OUT.png SIZE
#include "base/error.hpp"
#include "io/input/open_rows.hpp"
#include "views/compare.hpp"
#include "views/inspect.hpp"
#include "views/render.hpp"

#include <iostream>

int main(int count, char** arguments) {
    const std::vector<std::string> words(arguments + 1, arguments + count);
    runner::OwnFiles files;
    try {
        if (words.size() == 5 && words[0] == "compare") {
            std::cout << runner::comparison_json(
                runner::compare(files, {words[1], words[2], words[3], words[4], 0, 2}));
        } else if (words.size() == 3 && words[0] == "inspect") {
            std::cout << runner::inspect_json(files, words[1], words[2]);
        } else if (words.size() == 5 && words[0] == "render") {
            runner::RenderRequest request;
            request.sources = {{words[1], words[2]}};
            request.picture = words[3];
            request.size = std::stoll(words[4]);
            runner::render(files, request);
        } else {
            std::cerr << "verbs_tool: see the source for its arguments\n";
            return 2;
        }
        return 0;
    } catch (const runner::Error& error) {
        std::cerr << error.what() << '\n';
        return static_cast<int>(error.code());
    }
}
