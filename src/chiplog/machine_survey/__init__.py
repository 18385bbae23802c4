"""Every pair of a machine measured in three stages, and who is slow by them: nodes, uplinks, pairs, CPUs and memory.

| question | module |
|---|---|
| which rounds are measured, and which again | `plan`, `rounds`; `choice` |
| what was measured | `pair_values` |
| what explains a pair's figure | `slowness_model`, `slowness_terms` |
| the stages' figures | `sweep`, `confirmation` with `confirmation_pairs`, `isolation` |
| who is slow | `judge`: a file for each kind of suspect; `verdict` joins them, `machine_verdict` adds leaves |
| which number decides | `settings` |
| what is shown | `result`, `page`, `operators` |
"""
