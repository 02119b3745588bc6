/** Origins that may show a portal session in a frame. */
export abstract class PortalFrames {
  /**
   * Returns the origins that the session's environment allows, by the `pls_` id of the session. Returns none for a
   * preview session and for an unknown id. The result comes from a cache that is at most five seconds old.
   */
  abstract originsOf(session: string): Promise<readonly string[]>;
}
