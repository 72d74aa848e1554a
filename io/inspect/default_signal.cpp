// SPDX-License-Identifier: BSD-3-Clause
#include "io/inspect/default_signal.hpp"

#include "base/error.hpp"
#include "io/inspect/exchange_names.hpp"
#include "io/inspect/nexus_file.hpp"

#include <optional>
#include <vector>

namespace runner {
namespace {

constexpr int deepest = 8;             ///< groups on the way from the root to a dataset
constexpr int most_looked_at = 10'000; ///< objects of a file without marks

class SignalSearch {
  public:
    explicit SignalSearch(const NexusFile& file) : file_(file) {}

    std::string find() {
        std::string group = "/";
        for (int depth = 0; depth < deepest; ++depth) {
            if (const std::optional<std::string> dataset = signal_of(group)) {
                return *dataset;
            }
            const std::optional<std::string> next = next_group(group);
            if (!next) {
                break;
            }
            group = *next;
        }
        if (const std::optional<std::string> dataset = only_scan()) {
            return *dataset;
        }
        if (file_.is_dataset(exchange_data)) {
            return exchange_data;
        }
        if (find_datasets("/", 0); datasets_.size() == 1) {
            return datasets_.front();
        }
        throw Error(
            ExitCode::input,
            {"cannot tell which dataset is the input", file_.file(),
             "it has several, and none by default (NeXus' attributes default and signal)",
             "Name it: " + file_.file() + ":" +
                 (datasets_.empty() ? "/dataset" : datasets_.front()) +
                 ", or by input.dataset in a job file; `runner inspect` lists the datasets"});
    }

  private:
    /// The dataset that a group marks as its signal. Only NXdata groups have one.
    std::optional<std::string> signal_of(const std::string& group) const {
        if (const std::optional<std::string> name = file_.text(group, "signal")) {
            const std::string path = path_below(group, *name);
            return file_.is_dataset(path) ? std::optional(path) : std::nullopt;
        }
        if (file_.text(group, "NX_class") != "NXdata") {
            return std::nullopt;
        }
        for (const std::string& name : file_.names_in(group)) {
            const std::string path = path_below(group, name);
            if (file_.is_dataset(path) && is_first_signal(file_.attribute(path, "signal"))) {
                return path;
            }
        }
        return dataset_below(group);
    }

    std::optional<std::string> dataset_below(const std::string& group) const {
        const std::string usual = path_below(group, "data");
        return file_.is_dataset(usual) ? std::optional(usual) : std::nullopt;
    }

    std::optional<std::string> next_group(const std::string& group) const {
        if (const std::optional<std::string> name = file_.text(group, "default")) {
            return path_below(group, *name);
        }
        for (const char* wanted : {"NXdata", "NXentry", "NXsubentry"}) {
            const std::vector<std::string> found = file_.groups_of_class(group, wanted);
            if (!found.empty()) {
                return found.front();
            }
        }
        return std::nullopt;
    }

    /// The one dataset named as those of an NXtomo scan, with an image_key in a detector of its
    /// entry, in a file without a mark of NeXus.
    std::optional<std::string> only_scan() const {
        std::vector<std::string> found;
        for (const std::string& entry : file_.names_in("/")) {
            const std::string instrument = path_below(path_below("/", entry), "instrument");
            for (const std::string& name : file_.names_in(instrument)) {
                const std::string detector = path_below(instrument, name);
                if (!file_.is_dataset(path_below(detector, "image_key"))) {
                    continue;
                }
                auto dataset = dataset_below(path_below(path_below("/", entry), "data"));
                dataset = dataset ? dataset : dataset_below(detector);
                if (dataset) {
                    found.push_back(*dataset);
                }
            }
        }
        return found.size() == 1 ? std::optional(found.front()) : std::nullopt;
    }

    /// Looks for datasets in a group and those below it until there are two.
    void find_datasets(const std::string& group, int depth) {
        for (const std::string& name : file_.names_in(group)) {
            if (datasets_.size() > 1 || ++looked_at_ > most_looked_at) {
                break;
            }
            const std::string path = path_below(group, name);
            if (!file_.is_dataset(path)) {
                if (depth < deepest) {
                    find_datasets(path, depth + 1);
                }
            } else if (datasets_.empty() || !file_.is_same(datasets_.front(), path)) {
                datasets_.push_back(path);
            }
        }
        if (looked_at_ > most_looked_at) {
            datasets_.clear(); // there may be others
        }
    }

    const NexusFile& file_;
    std::vector<std::string> datasets_; ///< of find_datasets()
    int looked_at_ = 0;
};

} // namespace

std::string default_signal(const FileHandle& handle, const std::string& file,
                           const OutsideFiles& outside) {
    const NexusFile nexus(handle, file, outside);
    return SignalSearch(nexus).find();
}

} // namespace runner
