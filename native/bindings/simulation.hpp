#pragma once

#include <nanobind/nanobind.h>

void bind_simulation(nanobind::module_& module);
