export abstract class PortalFrames {
  /** Returns origins from a cache at most five seconds old. Returns none for a preview or an unknown `pls_` id. */
  abstract originsOf(session: string): Promise<readonly string[]>;
}
