"""What the kernels' codes of failure mean, for people."""

from rbt_ros.core import types as t

FAILURES = {
    t.NON_FINITE: "non-finite state at hinge '{}'; the last good state is kept. Try a smaller step, or look at the "
    "inputs.",
    t.STEP_TOO_SMALL: "the steps at hinge '{}' become too small for the tolerance; the last good state is kept. Is "
    "something very stiff, or rtol below 1e-13?",
    t.TOO_MANY_STEPS: "more than ten million steps at hinge '{}' for one tick; the last good state is kept. Try a "
    "larger rtol, or shorter ticks.",
    t.TURNED_TOO_FAR: "hinge '{}' has turned by 1e12 rad, up to which the exact motion is right to round-off; the last "
    "good state is kept. Is omega in rad/s?",
    t.NON_FINITE_WORK: "the work of the inputs is not finite; the last good state is kept. Look at the inputs, or "
    "leave work_of_inputs out.",
    t.UNMET: "the constraints at hinge '{}' cannot be met any more; the last good state is kept. Does the mechanism "
    "lock or come apart there, or is the step too long?",
    t.CROWDED: "more than a thousand impacts within the step at hinge '{}'; the last good state is kept. Try a shorter "
    "step, or less restitution.",
}
