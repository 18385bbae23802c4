#include "core/request.hpp"

#include <gtest/gtest.h>

#include "chiplog/error.hpp"
#include "patterns/list.hpp"

namespace chiplog {
namespace {

std::string refusal(const std::string& line) {
  try {
    (void)parse_request(line, AllPatterns::facts);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing was refused";
}

std::string with_series(const std::string& series) { return R"({"type":"measure","series":[)" + series + "]}"; }

TEST(Request, IsReadWithAllItsFields) {
  const Request request = parse_request(
      R"({"type":"measure","id":12,"visit":3,"tag":{"purpose":"grid"},"check_payload":false,)"
      R"("stop":{"relative_half_width":0.1,"min_samples":5,"max_samples":50,"budget_ns":1000},)"
      R"("series":[{"pattern":"prtt","message_bytes":1024,"train":10,"delay_ns":"rtt2","operation":"send",)"
      R"("posting":"normal"},{"pattern":"late_receiver","message_bytes":1,"delay_ns":2.5}]})",
      AllPatterns::facts);
  EXPECT_FALSE(request.quit);
  const MeasureRequest& measure = request.measure;
  EXPECT_EQ(measure.id, 12);
  EXPECT_EQ(measure.visit, 3);
  EXPECT_EQ(measure.tag_json, R"({"purpose":"grid"})");
  EXPECT_FALSE(measure.check_payload);
  EXPECT_DOUBLE_EQ(measure.stop.relative_half_width, 0.1);
  EXPECT_EQ(measure.stop.budget_ns, 1000);
  ASSERT_EQ(measure.series.size(), 2U);
  EXPECT_EQ(measure.series[0].pattern, &patterns::Prtt::pattern);
  EXPECT_EQ(measure.series[0].train, 10);
  EXPECT_EQ(measure.series[0].delay_kind, DelayKind::two_message_round_trip);
  EXPECT_DOUBLE_EQ(measure.series[1].delay_ns, 2.5);
}

TEST(Request, QuitNeedsNothingElse) { EXPECT_TRUE(parse_request(R"({"type":"quit"})", AllPatterns::facts).quit); }

TEST(Request, NamesTheFieldAndWhatItAccepts) {
  EXPECT_EQ(refusal(with_series(R"({"pattern":"prtt","message_bytes":-1})")),
            "field 'series[0].message_bytes' accepts a whole number from 0 to 1099511627776, not -1");
  EXPECT_EQ(refusal(with_series(R"({"pattern":"prt","message_bytes":1})")),
            "field \'series[0].pattern\' accepts " + pattern_names(AllPatterns::facts) + ", not \"prt\"");
  EXPECT_EQ(refusal(with_series(R"({"pattern":"prtt","message_bytes":1,"size":2})")),
            "unknown field 'series[0].size'; there are pattern, message_bytes, train, peers, pairs, direction, window, "
            "between, delay_ns, operation, posting");
  EXPECT_EQ(refusal(R"({"type":"measure"})"), "field 'series' is missing");
  EXPECT_EQ(refusal(R"({"type":"mesure"})"), "field 'type' accepts measure or quit, not \"mesure\"");
}

TEST(Request, ListsDisjointPairsOfRanks) {
  const Request request = parse_request(
      with_series(R"({"pattern":"all_pairs","message_bytes":1,"links":[[3,0],[1,2]]})"), AllPatterns::facts);
  ASSERT_NE(request.measure.series[0].links, nullptr);
  EXPECT_EQ(*request.measure.series[0].links, (std::vector<Link>{{3, 0}, {1, 2}}));
  for (const char* links : {"[]", "1", "null", "[[0]]", "[[0,1,2]]", "[[0,0]]", "[[0,1],[1,2]]", "[[-1,2]]",
                            "[[0,1.5]]", "[[0,16777217]]", "[[0,18446744073709551615]]", "[\"ab\"]"}) {
    const std::string series = R"({"pattern":"all_pairs","message_bytes":1,"links":)" + std::string(links) + "}";
    EXPECT_EQ(refusal(with_series(series)),
              "field 'series[0].links' accepts a list of pairs of ranks, [client, server], "
              "each rank once, not " +
                  std::string(links))
        << links;
  }
  EXPECT_NE(refusal(with_series(R"({"pattern":"prtt","message_bytes":1,"links":[[0,1]]})")).find("unknown field"),
            std::string::npos);
}

TEST(Request, RefusesNumbersOutsideTheirRange) {
  for (const char* series : {
           R"({"pattern":"prtt","message_bytes":1,"train":0})",
           R"({"pattern":"prtt","message_bytes":1,"train":1000001})",
           R"({"pattern":"prtt","message_bytes":1,"train":18446744073709551615})",
           R"({"pattern":"prtt","message_bytes":1.5})",
           R"({"pattern":"prtt","message_bytes":"1"})",
           R"({"pattern":"prtt","message_bytes":1,"delay_ns":-1})",
           R"({"pattern":"prtt","message_bytes":1,"delay_ns":1e300})",
           R"({"pattern":"prtt","message_bytes":1,"delay_ns":"RTT"})",
           R"({"pattern":"prtt"})",
           R"([])",
       }) {
    EXPECT_NE(refusal(with_series(series)), "nothing was refused") << series;
  }
}

TEST(Request, RefusesWhatAPatternCanNotUse) {
  EXPECT_EQ(refusal(with_series(R"({"pattern":"ping_pong","message_bytes":1,"train":2})")),
            "field 'series[0].train' of ping_pong accepts 1, not 2");
  EXPECT_EQ(refusal(with_series(R"({"pattern":"receive_overhead","message_bytes":1})")),
            "field 'series[0].delay_ns' of receive_overhead must be above 0");
  EXPECT_EQ(refusal(with_series(R"({"pattern":"flood","message_bytes":1,"delay_ns":5})")),
            "field 'series[0].delay_ns' of flood accepts 0 only");
}

TEST(Request, RefusesWhatIsNoJsonObject) {
  for (const char* line : {"", "[]", "1", "{", "\"x\"", "{\"type\":1}", "{\"type\":\"measure\",\"series\":[]}"}) {
    EXPECT_NE(refusal(line), "nothing was refused") << line;
  }
}

TEST(Request, RefusesDeepNestingBeforeItParses) {
  EXPECT_EQ(refusal(std::string(100'000, '[')), "a request nests deeper than 32");
}

TEST(Request, RefusesFewerSamplesAtMostThanAtLeast) {
  EXPECT_EQ(refusal(R"({"type":"measure","stop":{"min_samples":10,"max_samples":5},"series":[]})"),
            "field 'stop.max_samples' must not be below stop.min_samples, 10");
}

class RequestAgainstTransport : public testing::Test {
 protected:
  std::string refusal_of(const std::string& series) {
    try {
      check_against(limits, parse_request(with_series(series), AllPatterns::facts).measure);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "nothing was refused";
  }

  std::vector<PairGroups> groups{{{"n0", "n1"}, {0, 1}, {2, 3}}, {{"n0", "n2"}, {0}, {4}}};
  RequestLimits limits{"tcp",
                       [] {
                         Capabilities capabilities;
                         capabilities.max_message_bytes = 1000;
                         return capabilities;
                       }(),
                       16,
                       4,
                       groups,
                       std::chrono::seconds(1)};
};

TEST_F(RequestAgainstTransport, RefusesMessagesThatAreTooLong) {
  EXPECT_EQ(refusal_of(R"({"pattern":"prtt","message_bytes":1001})"),
            "field 'series[0].message_bytes' accepts at most 1000 on tcp, not 1001");
}

TEST_F(RequestAgainstTransport, RefusesMorePostedSendsThanThereMayBe) {
  EXPECT_EQ(refusal_of(R"({"pattern":"send_overhead","message_bytes":1,"train":17})"),
            "field 'series[0].train' of send_overhead accepts at most 16 on tcp, not 17");
}

TEST_F(RequestAgainstTransport, RefusesMorePeersThanThereAre) {
  EXPECT_EQ(refusal_of(R"({"pattern":"one_to_many","message_bytes":1,"peers":4})"),
            "field 'series[0].peers' accepts at most 3 with 4 ranks, not 4");
  EXPECT_EQ(refusal_of(R"({"pattern":"prtt","message_bytes":1,"peers":2})"),
            "field 'series[0].peers' of prtt accepts 1, not 2");
  EXPECT_EQ(refusal_of(R"({"pattern":"send_overhead","message_bytes":1,"peers":2,"train":3})"),
            "field 'series[0].train' of send_overhead accepts multiples of peers, not 3");
}

TEST_F(RequestAgainstTransport, RefusesMorePairsThanTheirGroupsHave) {
  EXPECT_EQ(refusal_of(R"({"pattern":"pairs","message_bytes":1,"pairs":3})"),
            "field 'series[0].pairs' accepts at most 2 between n0 and n1, not 3");
  EXPECT_EQ(refusal_of(R"({"pattern":"pairs","message_bytes":1,"pairs":2,"between":["n0","n2"]})"),
            "field 'series[0].pairs' accepts at most 1 between n0 and n2, not 2");
  EXPECT_EQ(refusal_of(R"({"pattern":"pairs","message_bytes":1,"between":["n1","n2"]})"),
            "field 'series[0].between' accepts n0, n1; n0, n2, not n1, n2");
  EXPECT_EQ(refusal_of(R"({"pattern":"prtt","message_bytes":1,"between":["n0","n1"]})"),
            "field 'series[0].between' of prtt accepts 1 or null, not [\"n0\",\"n1\"]");
}

TEST_F(RequestAgainstTransport, RefusesWindowsLongerThanWhatMayBePosted) {
  EXPECT_EQ(refusal_of(R"({"pattern":"pairs","message_bytes":1,"direction":"one-way","window":17})"),
            "field 'series[0].train' of pairs accepts at most 16 on tcp, not 17");
  EXPECT_EQ(refusal_of(R"({"pattern":"pairs","message_bytes":1,"window":2})"),
            "field 'series[0].window' accepts a whole number from 1 to 1, not 2");
}

TEST_F(RequestAgainstTransport, RefusesListsWhereThereAreNone) {
  EXPECT_EQ(refusal_of(R"({"pattern":"one_to_many","message_bytes":1,"peers":2,"posting":"list"})"),
            "field 'series[0].posting' accepts normal on tcp, which posts no lists");
  EXPECT_EQ(refusal_of(R"({"pattern":"flood","message_bytes":1,"posting":"list"})"),
            "field 'series[0].posting' of flood accepts normal");
  EXPECT_EQ(refusal_of(R"({"pattern":"send_overhead","message_bytes":1,"train":4,"peers":2,"posting":"list"})"),
            "field 'series[0].train' of send_overhead posted as a list accepts the number of peers, 2, not 4");
}

TEST_F(RequestAgainstTransport, RefusesOperationsThatTheTransportLacks) {
  EXPECT_EQ(refusal_of(R"({"pattern":"prtt","message_bytes":1,"operation":"rdma-write"})"),
            "field 'series[0].operation' does not accept rdma-write on tcp, which does not write to a peer's memory");
  EXPECT_EQ(
      refusal_of(R"({"pattern":"prtt","message_bytes":1,"operation":"rdma-write-immediate"})"),
      "field 'series[0].operation' does not accept rdma-write-immediate on tcp, which has no writes with immediate "
      "data");
  EXPECT_EQ(refusal_of(R"({"pattern":"prtt","message_bytes":1,"operation":"rdma-read"})"),
            "field 'series[0].operation' does not accept rdma-read on tcp, which does not read a peer's memory");
  EXPECT_EQ(refusal_of(R"({"pattern":"prtt","message_bytes":8,"operation":"atomic"})"),
            "field 'series[0].operation' does not accept atomic on tcp, which has no atomic operations");
  EXPECT_EQ(refusal_of(R"({"pattern":"prtt","message_bytes":1,"posting":"inline"})"),
            "field 'series[0].posting' accepts normal on tcp, which posts nothing inline");
}

TEST_F(RequestAgainstTransport, RefusesOperationsThatMakeNoSense) {
  EXPECT_EQ(
      refusal_of(R"({"pattern":"prtt","message_bytes":1,"operation":"rdma"})"),
      "field 'series[0].operation' accepts send or rdma-write or rdma-write-immediate or rdma-read or atomic, not "
      "\"rdma\"");
  EXPECT_EQ(refusal_of(R"({"pattern":"prtt","message_bytes":4,"operation":"atomic"})"),
            "field 'series[0].message_bytes' of atomic accepts 8, not 4");
  EXPECT_EQ(refusal_of(R"({"pattern":"prtt","message_bytes":0,"operation":"rdma-write"})"),
            "field 'series[0].message_bytes' of rdma-write accepts 1 and more, not 0");
  EXPECT_EQ(refusal_of(R"({"pattern":"receive_overhead","message_bytes":8,"delay_ns":1,"operation":"rdma-read"})"),
            "field 'series[0].operation' of receive_overhead does not accept rdma-read");
  EXPECT_EQ(refusal_of(R"({"pattern":"prtt","message_bytes":8,"posting":"inline","operation":"rdma-read"})"),
            "field 'series[0].posting' of rdma-read accepts normal or list: no payload goes out");
}

TEST_F(RequestAgainstTransport, RefusesALateReceiverWhereNoSendWaits) {
  EXPECT_EQ(refusal_of(R"({"pattern":"late_receiver","message_bytes":1,"delay_ns":1})"),
            "field 'series[0].pattern' late_receiver: sends never wait for receives on tcp");
}

TEST_F(RequestAgainstTransport, RefusesDelaysThatOutlastTheTimeLimit) {
  EXPECT_EQ(refusal_of(R"({"pattern":"prtt","message_bytes":1,"train":100,"delay_ns":1e8})"),
            "field 'series[0].delay_ns' times train must stay below half of the time limit, 500000000 ns");
}

}  // namespace
}  // namespace chiplog
