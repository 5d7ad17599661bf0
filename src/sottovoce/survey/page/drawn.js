export function randomSet() { throw new Error("todo"); }
