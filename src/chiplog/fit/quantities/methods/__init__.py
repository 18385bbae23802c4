"""The methods: which series each of them needs, and how it gets at the quantities of LogGP and pLogP."""
