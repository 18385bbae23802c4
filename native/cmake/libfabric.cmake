# Sets CHIPLOG_WITH_OFI if there are headers of libfabric >= 1.17, in CHIPLOG_LIBFABRIC_INCLUDE.
include(CheckCXXSourceCompiles)

find_path(CHIPLOG_LIBFABRIC_INCLUDE rdma/fabric.h)
set(CHIPLOG_WITH_OFI OFF)
if(CHIPLOG_LIBFABRIC_INCLUDE)
  set(CMAKE_REQUIRED_INCLUDES "${CHIPLOG_LIBFABRIC_INCLUDE}")
  check_cxx_source_compiles("
    #include <rdma/fabric.h>
    static_assert(FI_MAJOR_VERSION > 1 || FI_MINOR_VERSION >= 17);
    int main() { return 0; }" CHIPLOG_LIBFABRIC_IS_NEW_ENOUGH)
  unset(CMAKE_REQUIRED_INCLUDES)
  set(CHIPLOG_WITH_OFI ${CHIPLOG_LIBFABRIC_IS_NEW_ENOUGH})
endif()
if(CHIPLOG_WITH_OFI)
  message(STATUS "transport ofi: libfabric in ${CHIPLOG_LIBFABRIC_INCLUDE}")
else()
  message(STATUS "transport ofi: left out, no headers of libfabric >= 1.17")
endif()
