/** Who may show the portal of a session in a frame. */
export abstract class PortalFrames {
  /**
   * The origins that the session's environment names, by the `pls_` id of a session; none for a session that is only looked through, and
   * for an id that nobody has. From a cache that is never older than five seconds.
   */
  abstract originsOf(session: string): Promise<readonly string[]>;
}
