// The command line of a program: --name VALUE, --name=VALUE, or --name alone.
#pragma once

#include <getopt.h>

#include <string>

#include "chiplog/error.hpp"

namespace chiplog {

// Calls apply(code, value) for each option in turn; `known` ends with an entry of zeros, and codes are above 255.
// UsageError for an option that is unknown or lacks its value, and for a word that is no option; `hint` ends each
// sentence, such as "; see --help".
template <class Apply>
void parse_long_options(int argc, char** argv, const option* known, const std::string& hint, Apply apply) {
  optind = 1;
  opterr = 0;
  while (true) {
    const int at = optind;
    const int code = getopt_long(argc, argv, "+:", known, nullptr);
    if (code == -1) break;
    if (code == ':') throw UsageError(std::string(argv[at]) + " needs a value" + hint);
    if (code == '?') throw UsageError("unknown option " + std::string(argv[at]) + hint);
    apply(code, std::string(optarg == nullptr ? "" : optarg));
  }
  if (optind < argc) throw UsageError("unexpected word '" + std::string(argv[optind]) + "'" + hint);
}

}  // namespace chiplog
