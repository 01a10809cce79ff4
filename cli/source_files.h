// The source files that results of `coalprof run --lines` name, found on this machine.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/program/array_names.h"
#include "core/program/site.h"
#include "core/write/table_style.h"

namespace coalprof {

// The text of the file that lies below one of `folders` by its last names. A result may come from
// anybody and its page go to anybody: no other file is read, and none without a suffix of source
// code.
SourceText find_source(const std::vector<std::string>& folders, const std::string& file);

// Names the arrays of instructions as their source does, where it is found.
class SourceNames {
 public:
    explicit SourceNames(std::vector<std::string> folders) : folders_(std::move(folders)) {}
    // A kernel's parameters, by its symbol; empty: not found.
    const std::vector<SourceParameter>& parameters(const std::string& file,
                                                   const std::string& symbol);
    void name_array(PtxSite& site);

 private:
    std::vector<std::string> folders_;
    std::map<std::pair<std::string, std::string>, std::vector<SourceParameter>> known_;
};

}  // namespace coalprof
