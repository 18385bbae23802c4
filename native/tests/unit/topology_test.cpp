#include "core/topology.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace chiplog {
namespace {

namespace fs = std::filesystem;

// What Linux shows below /sys/devices/system, as files of a directory of its own.
class System : public testing::Test {
 protected:
  ~System() override { fs::remove_all(root); }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text << '\n';
  }

  fs::path root = fs::temp_directory_path() / ("chiplog-topology-" + std::to_string(getpid()));
};

TEST_F(System, TellsSocketNumaNodeCacheAndThread) {
  write("cpu/cpu9/topology/physical_package_id", "1");
  write("cpu/cpu9/topology/thread_siblings_list", "1,9");
  write("cpu/cpu9/cache/index0/level", "1");
  write("cpu/cpu9/cache/index0/shared_cpu_list", "1,9");
  write("cpu/cpu9/cache/index3/level", "3");
  write("cpu/cpu9/cache/index3/shared_cpu_list", "0-3,8-11");
  fs::create_directories(root / "cpu/cpu9/node2");
  const Cpu cpu = read_topology({9}, root).front();
  EXPECT_EQ(cpu.number, 9);
  EXPECT_EQ(cpu.socket, 1);
  EXPECT_EQ(cpu.numa_node, 2);
  EXPECT_EQ(cpu.cache, 0);
  EXPECT_EQ(cpu.thread, 1);
}

TEST_F(System, ThatTellsNothingIsOneSocket) {
  write("cpu/cpu3/topology/physical_package_id", "-1");
  const std::vector<Cpu> cpus = read_topology({3, 4}, root);
  EXPECT_EQ(cpus[0].socket, 0);
  EXPECT_EQ(cpus[1].number, 4);
  EXPECT_EQ(cpus[1].numa_node, 0);
}

TEST(CpuList, IsReadAsTheKernelWritesIt) {
  EXPECT_EQ(parse_cpu_list("0-2,8"), (std::vector<int>{0, 1, 2, 8}));
  EXPECT_EQ(parse_cpu_list("5"), (std::vector<int>{5}));
  EXPECT_TRUE(parse_cpu_list("").empty());
  EXPECT_TRUE(parse_cpu_list("x").empty());
}

}  // namespace
}  // namespace chiplog
