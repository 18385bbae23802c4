"""NCCL's choices from runs of nccl-tests, as a file of the example tuner plug-in that NCCL comes with."""
