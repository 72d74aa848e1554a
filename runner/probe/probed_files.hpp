// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/input/file_access.hpp"
#include "io/metadata/metadata.hpp"
#include "runner/probe/prober.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace runner {

/// Files from outside: HDF5 reads them in processes that may be lost, which hand over what they
/// found as values; each value is checked against the file before it is used. Rows are read here by
/// plain reads, or, where HDF5 alone can decode them, by a process that serves them (ServedRows).
/// What is once known is not asked again. A format with a parser of our own is read here.
class ProbedFiles final : public FileAccess {
  public:
    /// `prober` outlives this.
    ProbedFiles(Prober& prober, const InputRules& rules) : prober_(prober), rules_(rules) {}

    DatasetLayout layout(const std::string& file, const std::string& dataset) override;
    bool has_dataset(const std::string& file, const std::string& dataset) override;
    std::vector<std::string> object_names(const std::string& file) override;
    AttributeList root_attributes(const std::string& file) override;
    std::string record_facts(const std::string& file,
                             const std::vector<std::string>& elsewhere) override;
    FileContent content(const std::string& file, const std::string& dataset) override;
    std::unique_ptr<RowReader> open(const DatasetLayout& layout, int threads) override;
    void store_chunks(const std::string& file, const std::string& dataset,
                      const std::vector<PackedChunk>& chunks) override;

    /// What the file says of a dataset beside its elements; nothing of another format than HDF5.
    Metadata metadata(const std::string& file, const std::string& dataset);
    /// The same; where the process that reads it is lost, the reason as what is left out. The
    /// elements may be good.
    Metadata metadata_if_read(const std::string& file, const std::string& dataset);

    /// All that is known, as text, for other ranks: they need not ask then.
    std::string answers() const;
    void take_answers(const std::string& text);

    /// The file has changed: what is known of it no longer counts.
    void forget() { known_.clear(); }

  private:
    /// The reply to a request, from what is known or from a process.
    const std::string& ask(const std::string& way, const std::string& file,
                           const std::string& dataset);
    /// Asks about every file of a stack by itself. @throws Error of the first that fails.
    void ask_each(const std::string& way, const std::string& stack, const std::string& dataset);

    Prober& prober_;
    InputRules rules_;
    std::map<std::vector<std::string>, std::string> known_; ///< replies by way, file and dataset
};

} // namespace runner
