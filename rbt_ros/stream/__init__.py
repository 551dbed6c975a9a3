"""What viewers see and say: samples in shared memory, a scene that tells what they mean, commands that come back.

No server is in here. The simulation pays one copy per update (`memory.Stream`); who looks on, and whether anybody does,
changes nothing of the motion.
"""
