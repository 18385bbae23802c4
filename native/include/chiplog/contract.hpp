// Compile-time checks of every transport and clock: what it declares exists, and what exists is declared.
#pragma once

#include "chiplog/abilities.hpp"
#include "chiplog/clock.hpp"
#include "chiplog/remote_memory.hpp"
#include "chiplog/transport.hpp"

namespace chiplog {

// A transport states `static_assert(TransportContract<MyTransport>::holds);` below its class. An endpoint states it
// again, so that no transport can go without.
template <Transport T>
struct TransportContract {
  static_assert(provides_what_it_lists<T>,
                "an ability in T::Abilities has no such function in T: it is missing, misspelt or of another type");
  static_assert(lists_what_it_provides<T>, "T has a function of an ability that is not in T::Abilities");

  static constexpr Capabilities declared = T::declared_capabilities();
  static_assert(declared.two_sided, "Messaging and declared_capabilities().two_sided must agree");
  static_assert(declared.remote_write == WritesRemotely<T>,
                "WritesRemotely and declared_capabilities().remote_write must agree");
  static_assert(declared.remote_read == ReadsRemotely<T>,
                "ReadsRemotely and declared_capabilities().remote_read must agree");
  static_assert(declared.write_with_immediate == WritesWithImmediate<T>,
                "WritesWithImmediate and declared_capabilities().write_with_immediate must agree");
  static_assert(declared.atomics == AtomicOperations<T>,
                "AtomicOperations and declared_capabilities().atomics must agree");
  static_assert(declared.inline_send == SendsInline<T>,
                "SendsInline and declared_capabilities().inline_send must agree");
  static_assert(declared.posts_receives == PostsReceives<T>,
                "PostsReceives and declared_capabilities().posts_receives must agree");
  static_assert(declared.list_posting == PostsLists<T>,
                "PostsLists and declared_capabilities().list_posting must agree");

  static_assert((declared.inline_send && declared.remote_write) == WritesInline<T>,
                "T sends inline and writes remotely, so it must have post_write_inline");
  static_assert((declared.inline_send && declared.write_with_immediate) == WritesImmediateInline<T>,
                "T sends inline and writes with immediate, so it must have post_write_immediate_inline");

  static constexpr bool holds = true;
};

template <Clock C>
struct ClockContract {
  static_assert(provides_what_it_lists<C>,
                "an ability in C::Abilities has no such function in C: it is missing, misspelt or of another type");
  static_assert(lists_what_it_provides<C>, "C has a function of an ability that is not in C::Abilities");

  static constexpr bool holds = true;
};

}  // namespace chiplog
