// What became of a rank, in words that a test can compare.
#pragma once

#include <cstring>
#include <exception>
#include <string>
#include <utility>

#include "chiplog/error.hpp"

namespace chiplog::testing {

// "PeerLost: rank 1 closed the connection", or "" if `body` returned.
template <class Body>
std::string outcome_of(Body&& body) {
  const auto named = [](const char* type, const std::exception& error) {
    return std::string(type) + ": " + error.what();
  };
  try {
    std::forward<Body>(body)();
    return {};
  } catch (const PeerLost& error) {
    return named("PeerLost", error);
  } catch (const TimedOut& error) {
    return named("TimedOut", error);
  } catch (const Truncated& error) {
    return named("Truncated", error);
  } catch (const UsageError& error) {
    return named("UsageError", error);
  } catch (const Corrupt& error) {
    return named("Corrupt", error);
  } catch (const Error& error) {
    return named("Error", error);
  } catch (const std::exception& error) {
    return named("failure", error);
  }
}

// "PeerLost" of "PeerLost: rank 1 closed the connection".
inline std::string kind_of(const std::string& outcome) { return outcome.substr(0, outcome.find(':')); }

}  // namespace chiplog::testing
