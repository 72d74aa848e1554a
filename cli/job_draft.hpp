// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace runner::cli {

/// A job file in the making, from what a command line says.
class JobDraft {
  public:
    /// `name`: what messages call the job. `kinds`: of its steps; of one alone, it is a job of that
    /// kind unless `steps` says otherwise.
    enum class Form { kind, steps };
    JobDraft(std::string name, std::vector<std::string> kinds, Form form);

    /// Sets `table.key=value`; a key of the table of step N, from 1, is `step.N.key`. A later value
    /// replaces an earlier one. `called`: what messages call it; empty: "--set table.key=value".
    void set(const std::string& setting, const std::string& called);

    /// Sets a key of the kind's table, or of the step's of this number, from 0.
    void set_key(std::size_t step, const std::string& key, const std::string& value,
                 const std::string& called);

    const std::string& name() const { return name_; }

    /// The job file. @throws Error (usage) naming the arguments that are wrong.
    std::string text() const;

  private:
    /// A table as the text will have it; `title` is its first line, empty at the top.
    struct Table {
        std::string name;
        std::string title;
        std::vector<std::pair<std::string, std::string>> entries;
    };

    std::string skeleton() const;
    std::vector<Table> tables() const;

    std::string name_;
    std::vector<std::string> kinds_;
    Form form_;
    std::vector<std::string> settings_;
    std::vector<std::string> called_;
};

/// A step as a command line has it.
struct ListedStep {
    std::string kind;
    std::vector<std::pair<std::string, std::string>> keys; ///< and what is given for them
};

/// Reads "correct, median size=3,3, rescale dtype=uint16": steps with commas between them, each a
/// kind and its keys, with blanks or commas between them. Another comma is of a value. @throws
/// std::invalid_argument saying what is wrong.
std::vector<ListedStep> parse_steps_text(std::string_view text);

} // namespace runner::cli
