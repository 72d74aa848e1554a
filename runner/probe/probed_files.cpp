// SPDX-License-Identifier: BSD-3-Clause
#include "runner/probe/probed_files.hpp"

#include "base/error.hpp"
#include "io/formats/rows_format.hpp"
#include "io/input/check_dataset.hpp"
#include "io/input/layout_message.hpp"
#include "io/input/stack.hpp"
#include "io/metadata/content_message.hpp"
#include "io/metadata/metadata.hpp"
#include "io/rows/rows.hpp"
#include "runner/job_file/job_text.hpp"
#include "runner/probe/served_rows.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace runner {
namespace {

/// Nothing in it can bring the process down.
bool has_own_parser(const std::string& file) {
    const RowsFormat* format = rows_format_of(file);
    return format != nullptr && format->parser == RowsFormat::Parser::own;
}

/// Says what there is instead where nothing has the name.
void check_there(const std::string& file) {
    std::error_code failure;
    if (std::filesystem::status(file, failure).type() != std::filesystem::file_type::not_found ||
        failure != std::errc::no_such_file_or_directory || file.find("://") != std::string::npos ||
        is_stack(file)) {
        return; // of URLs there is more to say
    }
    const std::string near = std::filesystem::is_symlink(file, failure)
                                 ? "It is a link to what is not there"
                                 : nearest_files_text(file);
    throw Error(ExitCode::input, {"cannot open the file", file, errno_text(ENOENT),
                                  near.empty() ? "Check the spelling" : near});
}

/// What `decode` makes of a reply.
template <class Decode>
auto decoded(const std::string& reply, const std::string& where, Decode decode) {
    try {
        return decode(reply);
    } catch (const BadMessage& error) {
        throw_damaged(where, std::string("the process that read its structure gave an answer that "
                                         "is none: ") +
                                 error.what());
    }
}

} // namespace

const std::string& ProbedFiles::ask(const std::string& way, const std::string& file,
                                    const std::string& dataset) {
    const auto [entry, is_new] = known_.try_emplace({way, file, dataset});
    if (is_new) {
        try {
            check_there(file);
            entry->second = prober_.ask({way, file, dataset, rules_, {}});
        } catch (const Error& error) {
            known_.erase(entry);
            if (is_stack(file) && error.text().where.starts_with(file)) {
                ask_each(way, file, dataset); // which of its files the process was lost over
            }
            throw;
        } catch (...) {
            known_.erase(entry);
            throw;
        }
    }
    return entry->second;
}

void ProbedFiles::ask_each(const std::string& way, const std::string& stack,
                           const std::string& dataset) {
    for (const std::string& file : stack_files(stack)) {
        (void)prober_.ask({way, file, dataset, rules_, {}});
    }
}

DatasetLayout ProbedFiles::layout(const std::string& file, const std::string& dataset) {
    if (has_own_parser(file)) {
        check_there(file);
        return check_dataset(file, dataset, rules_);
    }
    DatasetLayout layout =
        decoded(ask("read", file, dataset), file_and_dataset(file, dataset), decode_layout);
    layout.file = file;
    if (!dataset.empty()) {
        layout.dataset = dataset;
    }
    check_layout(layout, rules_);
    return layout;
}

bool ProbedFiles::has_dataset(const std::string& file, const std::string& dataset) {
    return rows_format_of(file) == nullptr && ask("has", file, dataset) == "yes";
}

std::vector<std::string> ProbedFiles::object_names(const std::string& file) {
    return decoded(ask("list", file, ""), file, [](const std::string& reply) {
        MessageReader from(reply);
        std::vector<std::string> names = from.texts();
        from.end();
        return names;
    });
}

AttributeList ProbedFiles::root_attributes(const std::string& file) {
    if (rows_format_of(file) != nullptr) {
        return {};
    }
    return decoded(ask("attributes", file, ""), file, decode_attributes);
}

std::string ProbedFiles::record_facts(const std::string& file,
                                      const std::vector<std::string>& elsewhere) {
    MessageWriter names;
    names.texts(elsewhere);
    return decoded(prober_.ask({"record", file, "", rules_, names.take()}), file,
                   [](const std::string& reply) {
                       MessageReader from(reply);
                       (void)from.text();
                       (void)from.text();
                       from.end();
                       return reply;
                   });
}

FileContent ProbedFiles::content(const std::string& file, const std::string& dataset) {
    if (has_own_parser(file) && !is_stack(file)) {
        check_there(file);
        return file_content(file);
    }
    if (is_stack(file)) {
        return stack_content(layout(file, dataset));
    }
    FileContent content =
        decoded(ask("show", file, dataset), file_and_dataset(file, dataset), decode_content);
    if (!dataset.empty() && content.datasets.size() != 1) {
        throw_damaged(file, "the process that read its structure gave an answer that is none");
    }
    return content;
}

Metadata ProbedFiles::metadata(const std::string& file, const std::string& dataset) {
    if (rows_format_of(file) != nullptr || is_stack(file)) {
        return {};
    }
    return decoded(ask("metadata", file, dataset), file_and_dataset(file, dataset),
                   decode_metadata);
}

Metadata ProbedFiles::metadata_if_read(const std::string& file, const std::string& dataset) {
    try {
        return metadata(file, dataset);
    } catch (const Error& error) {
        if (error.code() != ExitCode::input) {
            throw;
        }
        Metadata none;
        none.left_out.push_back("all: " + error.text().why);
        return none;
    }
}

std::unique_ptr<RowReader> ProbedFiles::open(const DatasetLayout& layout, int threads) {
    return open_probed_rows(layout, rules_, threads);
}

void ProbedFiles::store_chunks(const std::string& file, const std::string& dataset,
                               const std::vector<PackedChunk>& chunks) {
    forget();
    (void)prober_.ask({"store", file, dataset, rules_, to_text(chunks)});
}

std::string ProbedFiles::answers() const {
    MessageWriter to;
    to.number(std::ssize(known_));
    for (const auto& [question, reply] : known_) {
        to.texts(question);
        to.text(reply);
    }
    return to.take();
}

void ProbedFiles::take_answers(const std::string& text) {
    MessageReader from(text);
    for (std::size_t left = from.count(2 * sizeof(std::int64_t)); left > 0; --left) {
        std::vector<std::string> question = from.texts();
        known_.insert_or_assign(std::move(question), from.text());
    }
}

} // namespace runner
