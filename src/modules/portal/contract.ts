export abstract class PortalFrames {
  /** Origins from a cache at most five seconds old. None for a preview session and for an unknown `pls_` id. */
  abstract originsOf(session: string): Promise<readonly string[]>;
}
