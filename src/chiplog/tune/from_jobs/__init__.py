"""Choices of algorithms from measurements that are there: jobs of other people, or launches of earlier races."""
