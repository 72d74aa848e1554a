// SPDX-License-Identifier: BSD-3-Clause
#include "io/writers/record_seal.hpp"

#include "io/files/hash.hpp"
#include "io/files/message.hpp"
#include "io/hdf5/hdf5_handle.hpp"
#include "io/hdf5/object_names.hpp"
#include "io/hdf5/record_facts.hpp"
#include "io/input/file_access.hpp"
#include "io/writers/row_hashes.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

namespace runner {
namespace {

/// The datasets whose elements the seal is not of: those that rows have checksums of, and these.
std::vector<std::string> with_row_hashes(std::vector<std::string> datasets) {
    datasets.emplace_back(row_hashes_dataset);
    return datasets;
}

std::string digest_of_text(const std::string& facts) {
    return digest_of(std::as_bytes(std::span(facts)));
}

/// A text among the attributes; null where there is none.
const std::string* text_of(const AttributeList& record, std::string_view name) {
    const auto found = std::find_if(record.begin(), record.end(),
                                    [&](const auto& entry) { return entry.first == name; });
    return found == record.end() ? nullptr : std::get_if<std::string>(&found->second);
}

/// What is in the output, and the seal that its group has.
struct Found {
    std::string seal; ///< "" for none
    std::string digest;
};

Found found_in(const std::string& facts) {
    MessageReader from(facts);
    std::string seal = from.text();
    std::string digest = digest_of_text(from.text());
    from.end();
    return {std::move(seal), std::move(digest)};
}

} // namespace

std::vector<std::string> datasets_of(const OutputDataset& output) {
    std::vector<std::string> names;
    for (const OutputField& field : output.fields) {
        names.push_back(field.dataset);
    }
    return names.empty() ? std::vector{output.dataset} : names;
}

void seal_record(const std::string& file, const std::vector<std::string>& datasets) {
    record_object_names(file, seal_names());
    const std::string facts =
        of_output([&] { return record_facts(file, with_row_hashes(datasets)); });
    write_seal(file, found_in(facts).digest);
}

void seal_record(const OutputDataset& output) { seal_record(output.file, datasets_of(output)); }

std::string record_damage(FileAccess& files, const std::string& file, const AttributeList& record,
                          const std::vector<std::string>& datasets) {
    const Found found = found_in(files.record_facts(file, with_row_hashes(datasets)));
    const std::string* const wanted = text_of(record, record_checksum_attribute);
    const std::string name = std::string("the attribute ") + record_checksum_attribute;
    if (wanted == nullptr && found.seal.empty()) {
        return ""; // of an earlier version
    }
    if (wanted == nullptr || found.seal.empty()) {
        return name + " is gone";
    }
    return *wanted == found.digest && found.seal == seal_names().front()
               ? ""
               : "it does not match its checksum, " + name + ": the file is damaged";
}

} // namespace runner
