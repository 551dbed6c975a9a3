"""`python -m rbt_ros.cli`: the same as `rbt`."""

from rbt_ros.cli import main

main()
