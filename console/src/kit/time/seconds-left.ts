/** Returns the whole seconds until `endMs`, at least 0 and at most `seconds`, the length of the wait. */
export function secondsLeft(seconds: number, endMs: number, nowMs: number): number {
  return Math.min(seconds, Math.max(0, Math.ceil((endMs - nowMs) / 1_000)));
}
