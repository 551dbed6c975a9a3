// What is too little to be drawn: arrows show a direction, and that of round-off is chance.

/** A body that turns slower makes less than 0.1 mrad a day [rad/s]. */
export const SLOWEST = 1e-9;
const SHARE = 1e-9; // of the momenta that cancel in a sum; that of doubles is 1e-16, and it grows with time

/** The L of all about `com` that is nothing: as one rigid body they turned slower than SLOWEST, or parts cancel. */
export function faintMomentum(bodies, com) {
  let inertia = 0, parts = 0;
  for (const made of bodies) {
    const { moments, mass } = made.body;
    inertia += moments[2] + mass * ((made.com.x - com[0]) ** 2 + (made.com.y - com[1]) ** 2 + (made.com.z - com[2]) ** 2);
    parts += moments[2] * Math.hypot(...made.w);
  }
  return SLOWEST * inertia + SHARE * parts;
}

/** Numbers of one vector of float32: what is round-off beside the largest is 0. */
export function without(numbers) {
  const least = 1e-6 * Math.max(...numbers.map(Math.abs));
  return numbers.map((x) => (Math.abs(x) < least ? 0 : x));
}
