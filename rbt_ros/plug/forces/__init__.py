"""The forces that ship with the package, a file each."""
