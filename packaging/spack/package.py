# SPDX-License-Identifier: BSD-3-Clause
"""How Spack 1.0 or later builds chiplog from a checkout; see docs/how-to/install.md."""

from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *


class Chiplog(PythonPackage):
    """Measures how a machine really communicates, fits the LogP family of models, and puts them to work."""

    license("BSD-3-Clause")

    # There is no release yet: build a checkout, by `spack develop --path CHECKOUT chiplog@=main`.
    version("main")

    variant("mpi", default=True, description="An MPI, so that `chiplog probe build` finds one")
    variant("ofi", default=False, description="Measure over libfabric")
    variant("ucx", default=False, description="Measure over UCX")
    variant("verbs", default=False, description="Measure over RDMA verbs")
    variant("history", default=False, description="Keep surveys, by `chiplog history`")
    variant("plot", default=False, description="Plots in Python")

    depends_on("cxx", type="build")
    depends_on("gmake", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")

    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-scikit-build-core@0.11:", type="build")
    depends_on("py-setuptools-scm@8:", type="build")
    depends_on("py-nanobind@2.4:", type="build")
    # The probe is built again for an MPI, with this header.
    depends_on("nlohmann-json@3.11:", type=("build", "run"))

    depends_on("py-numpy@1.26:", type=("build", "run"))
    depends_on("py-scipy@1.12:", type=("build", "run"))
    depends_on("py-click@8.1:", type=("build", "run"))
    depends_on("py-rich@13.7:", type=("build", "run"))

    depends_on("mpi", when="+mpi", type=("build", "run"))
    depends_on("libfabric", when="+ofi")
    depends_on("ucx", when="+ucx")
    depends_on("rdma-core", when="+verbs")
    depends_on("py-pyarrow@15:", when="+history", type="run")
    depends_on("py-matplotlib@3.8:", when="+plot", type="run")

    def setup_build_environment(self, env):
        env.prepend_path("PYTHONPATH", join_path(self.stage.path, "headers"))

    @run_before("install")
    def make_headers_importable(self):
        self._write_header_package(join_path(self.stage.path, "headers"))

    @run_after("install")
    def install_header_package(self):
        self._write_header_package(python_purelib)

    def _write_header_package(self, folder):
        """chiplog looks for nlohmann-json as the Python package of that name, which Spack does not have."""
        package = join_path(folder, "nlohmann_json")
        mkdirp(package)
        touch(join_path(package, "__init__.py"))
        symlink(self.spec["nlohmann-json"].prefix.include, join_path(package, "include"))

    def patch(self):
        filter_file(r', "nlohmann-json>=3\.11"', "", "pyproject.toml")
        filter_file(r'^  "nlohmann-json>=3\.11",$', "", "pyproject.toml")

    def test_simulated_network(self):
        """chiplog measures what was put into a simulated network"""
        chiplog = Executable(join_path(self.prefix.bin, "chiplog"))
        figures = chiplog(
            "measure", "sim:L=5us,o=1us,g=2us,G=0.5ns", "--pattern", "ping_pong", "--sizes", "1",
            "--no-refine", "--fom", "-o", "run.jsonl", output=str.split,
        )
        assert "sim.ping_pong.1B.half_round_trip 7 us" in figures.splitlines()
