"""What ReFrame needs to know to submit jobs to the Slurm of this cluster, for tests such as survey_reframe.py."""

site_configuration = {
    "systems": [
        {
            "name": "cluster",
            "hostnames": [".*"],
            "partitions": [
                {
                    "name": "nodes",
                    "scheduler": "squeue",  # or "slurm", which asks sacct, where jobs are accounted
                    "launcher": "srun",
                    "environs": ["builtin"],
                    "access": [],  # such as "--partition=all" and "--account=ops"
                }
            ],
        }
    ]
}
