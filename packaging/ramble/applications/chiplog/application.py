"""How Ramble runs chiplog, and which figures it takes: those of `chiplog measure --fom`."""

from ramble.appkit import *


class Chiplog(ExecutableApplication):
    """Measures how a machine really communicates."""

    name = "chiplog"

    tags("network", "benchmark")

    software_spec("chiplog", pkg_spec="chiplog@main", package_manager="spack*")
    required_package("chiplog", package_manager="spack*")

    # chiplog starts the ranks itself, by what {launcher} says.
    executable(
        "measure",
        "chiplog measure {target} --pattern {pattern} --sizes {sizes} --no-refine {launcher}"
        " --fom -o {experiment_run_dir}/run.jsonl",
        use_mpi=False,
    )
    workload("ping_pong", executable="measure")
    workload("flood", executable="measure")
    for workload_name in ("ping_pong", "flood"):
        workload_variable(
            "pattern",
            default=workload_name,
            description="What is measured",
            workloads=[workload_name],
        )
    workload_variable(
        "target",
        default="shm",
        description="Transport with its options",
        workloads=["ping_pong", "flood"],
    )
    workload_variable(
        "sizes",
        default="8,1KiB,1MiB",
        description="Message sizes",
        workloads=["ping_pong", "flood"],
    )
    workload_variable(
        "launcher",
        default="",
        description="What starts the ranks, such as --launcher 'srun -N 2'",
        workloads=["ping_pong", "flood"],
    )

    figure_of_merit_context(
        "message size",
        regex=r"\S+\.(?P<bytes>\d+)B\.\S+ \S+ (us|MB/s)$",
        output_format="{bytes} B",
    )
    for figure, unit in (("half_round_trip", "us"), ("bandwidth", "MB/s"), ("gap", "us")):
        figure_of_merit(
            figure,
            fom_regex=rf"\S+\.\d+B\.{figure} (?P<value>\S+) {unit}$",
            group_name="value",
            units=unit,
            contexts=["message size"],
        )

    success_criteria("has figures", mode="string", match=r"\S+\.\d+B\.\S+ \S+ us$")
