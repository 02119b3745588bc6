/** Returns a time in the format of a Date header (RFC 5322, section 3.3), in UTC. */
export function mailDate(at: Date): string {
  return at.toUTCString().replace('GMT', '+0000');
}
