// The patterns of this build: one file and one line each. If several have the same name, a request finds the first of
// them.
#pragma once

#include "patterns/all_pairs.hpp"
#include "patterns/alone.hpp"
#include "patterns/barrier.hpp"
#include "patterns/exchange.hpp"
#include "patterns/flood.hpp"
#include "patterns/incast.hpp"
#include "patterns/late_receiver.hpp"
#include "patterns/one_to_many.hpp"
#include "patterns/overlap.hpp"
#include "patterns/pairs.hpp"
#include "patterns/pattern_list.hpp"
#include "patterns/ping_pong.hpp"
#include "patterns/prtt.hpp"
#include "patterns/receive_overhead.hpp"
#include "patterns/send_overhead.hpp"

namespace chiplog {

using AllPatterns = PatternList<  //
    patterns::PingPong,           //
    patterns::Prtt,               //
    patterns::SendOverhead,       //
    patterns::SendOverheadList,   //
    patterns::ReceiveOverhead,    //
    patterns::Flood,              //
    patterns::LateReceiver,       //
    patterns::OneToMany,          //
    patterns::OneToManyList,      //
    patterns::Incast,             //
    patterns::Pairs,              //
    patterns::PairsOneWay,        //
    patterns::Exchange,           //
    patterns::Overlap,            //
    patterns::OverlapReceive,     //
    patterns::Barrier,            //
    patterns::AllPairs,           //
    patterns::AllPairsOneWay,     //
    patterns::FixedWork,          //
    patterns::MemoryCopy,         //
    patterns::OtherProgramsTime>;

}  // namespace chiplog
