#pragma once

#include <nanobind/nanobind.h>

void bind_barriers(nanobind::module_& module);
