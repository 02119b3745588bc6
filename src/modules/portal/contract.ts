export abstract class PortalFrames {
  /** Returns the origins that may embed the portal, at most five seconds old. Empty for a preview or an unknown id. */
  abstract originsOf(session: string): Promise<readonly string[]>;
}
