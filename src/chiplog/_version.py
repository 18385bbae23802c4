__version__ = "0.1.dev605+g0b5d2d38d.d20261124"
