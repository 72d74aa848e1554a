// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cli/command_line.hpp"
#include "cli/verbs.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace CLI { // NOLINT(readability-identifier-naming): CLI11 calls it so
class App;
} // namespace CLI

namespace runner::cli {

/// One verb's options and arguments: declared in CLI11, read by it, and their values checked here.
/// Every member that checks throws Error (usage) naming the verb and the option.
class VerbParser {
  public:
    VerbParser(const Verb& verb, const std::string& example);
    VerbParser(const VerbParser&) = delete;
    VerbParser& operator=(const VerbParser&) = delete;
    ~VerbParser();

    enum class Presence { optional, required };
    /// A positional argument.
    void add_argument(const std::string& name, std::string& value, const std::string& meaning,
                      Presence presence = Presence::required);
    /// One argument or more.
    void add_arguments(const std::string& name, std::vector<std::string>& values,
                       const std::string& meaning);
    /// An option with a value; `type` stands for the value in the help.
    void add_option(const std::string& name, std::string& value, const std::string& type,
                    const std::string& meaning, Presence presence = Presence::optional);
    /// An option that may be given several times, with one value each time.
    void add_repeatable(const std::string& name, std::vector<std::string>& values,
                        const std::string& type, const std::string& meaning);
    void add_flag(const std::string& name, bool& value, const std::string& meaning);
    /// A flag that also takes =false: "" where it is not given, else "true" or the value.
    void add_switch(const std::string& name, std::string& value, const std::string& meaning);
    /// The job file, --set, and the options that are settings: --input, --output and --until.
    void add_job(std::string& job, std::vector<std::string>& settings);
    /// --trust-input and --missing, for rules().
    void add_trust();
    /// --backend, for backend().
    void add_backend();

    /// --frame and --frames, for frames(); --palette, for palette().
    void add_frames();
    void add_palette();

    /// Reads the arguments; returns the help if it was asked for.
    std::optional<PrintCommand> parse(std::span<const std::string> arguments);

    bool is_given(const std::string& option) const;
    std::optional<BackendChoice> backend() const;
    InputRules rules() const;
    /// Nothing where neither is given.
    std::optional<FrameChoice> frames() const;
    std::optional<Palette> palette() const;

    /// What the option's text means, by its position in `names`; nothing where it is not given.
    template <class T, std::size_t N>
    std::optional<T> choice(const std::string& option, const std::string& given,
                            const std::vector<std::string>& names,
                            const std::array<T, N>& meanings) const {
        return is_given(option) ? std::optional(meanings.at(index_of(option, given, names)))
                                : std::nullopt;
    }
    std::size_t index_of(const std::string& option, const std::string& given,
                         const std::vector<std::string>& names) const;
    /// A size in bytes; a share has nothing to be a share of.
    std::optional<std::int64_t> size(const std::string& option, const std::string& given) const;
    /// Seconds; nothing where the option is not given.
    std::optional<double> duration(const std::string& option, const std::string& given) const;
    std::int64_t integer(const std::string& option, const std::string& given, std::int64_t least,
                         std::int64_t most = std::numeric_limits<std::int64_t>::max()) const;
    /// Extents, each at least 1: "Z,Y,X".
    std::vector<std::int64_t> extents(const std::string& option, const std::string& given) const;
    ElementType element(const std::string& option, const std::string& given) const;
    /// A number of at least 0.
    double amount(const std::string& option, const std::string& given) const;
    /// "FILE" or "FILE:/dataset", cut at the last ":/".
    DatasetName dataset(const std::string& argument, const std::string& given) const;

    [[noreturn]] void refuse(const std::string& why, const std::string& try_this = "") const;

  private:
    VerbUsage usage() const;
    /// The options of add_job() that are settings.
    void add_settings();

    std::string verb_;
    std::string example_;
    std::unique_ptr<CLI::App>
        app_; ///< CLI11's headers take seconds: verb_parser.cpp alone has them
    std::string input_;
    std::string output_;
    std::string until_;
    std::vector<std::string>* settings_ = nullptr; ///< those of add_job()
    std::string backend_;
    bool trusted_ = false;
    std::string missing_;
    std::string frame_;
    std::string frames_;
    std::string palette_;
};

} // namespace runner::cli
