# conformance.sh TESTS: the native tests of transports over the two devices.
set -euo pipefail
. "$(dirname "$0")/two_devices.sh"
CHIPLOG_TEST_RDMA_DEVICES=rxe0+rxe1 exec "$1" --gtest_brief=1 --gtest_color=no "${@:2}"
