"""The sensors that ship with the package, a file each."""
