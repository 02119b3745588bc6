export const PERMISSIONS = ['view', 'manage', 'secrets', 'resend'] as const;
export const EXPIRES_SECONDS = [600, 3_600, 28_800, 86_400] as const;
export const SCHEMES = ['system', 'light', 'dark'] as const;

/** A portal link to create, as the form edits it. */
export interface PortalDraft {
  permissions: readonly (typeof PERMISSIONS)[number][];
  expiresSeconds: (typeof EXPIRES_SECONDS)[number];
  locale: 'en' | 'de';
  scheme: (typeof SCHEMES)[number];
  /** Accent color as `#rrggbb`. Null for the color of the portal. */
  accent: string | null;
  returnUrl: string;
}

/** Returns the body of the request that creates the link. */
export function portalBodyOf({ permissions, expiresSeconds, locale, scheme, accent, returnUrl }: PortalDraft) {
  return {
    expires_in: expiresSeconds,
    permissions: PERMISSIONS.filter((each) => each === 'view' || permissions.includes(each)),
    locale,
    theme: { scheme, ...(accent !== null && { accent }) },
    ...(returnUrl.trim() !== '' && { return_url: returnUrl.trim() }),
  };
}
