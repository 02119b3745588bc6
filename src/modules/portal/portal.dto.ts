import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Examples } from '#http/openapi-examples.js';
import { showId } from '#kernel/ids.js';
import { PORTAL_PERMISSIONS, type PortalPermission } from '#kernel/tenant.js';
import type { OpenedPortal, PortalAsked } from './portal-links.js';
import type { PortalFacts, PortalKind, PortalSessionRow } from './portal-sessions.store.js';

const PERMISSIONS = {
  type: 'array' as const,
  items: { type: 'string', enum: [...PORTAL_PERMISSIONS] as string[] },
  minItems: 1,
  maxItems: 4,
  example: ['view', 'manage', 'resend'],
};
const SCHEMES = ['light', 'dark', 'system'] as const;
const KINDS = ['customer', 'preview'] as const;
const LOCALE = {
  required: false,
  pattern: '^[a-z]{2,3}(-[A-Z]{2})?$',
  maxLength: 6,
  default: 'en',
  example: 'de',
} as const;
const COLOUR = '^#[0-9A-Fa-f]{6}$';
const PICTURE = '^data:image/(png|jpeg|webp|gif|svg\\+xml);base64,[A-Za-z0-9+/]+={0,2}$';

/** Theme of the portal, as a fixed set of validated values. CSS is not accepted. */
export class PortalThemeBody {
  /** Colour scheme: light, dark, or the setting of the customer's system. */
  @ApiProperty({ required: false, type: String, enum: [...SCHEMES, null], nullable: true, example: 'system' })
  scheme?: (typeof SCHEMES)[number] | null;

  /**
   * Accent colour for buttons and links, as `#rrggbb`. If its contrast with the background is too low to read, the page
   * uses a lighter or darker shade.
   */
  @ApiProperty({ required: false, type: String, pattern: COLOUR, nullable: true, example: '#0a58b5' })
  accent?: string | null;

  /** Corner radius in pixels. */
  @ApiProperty({ required: false, type: 'integer', minimum: 0, maximum: 24, nullable: true, example: 6 })
  radius?: number | null;

  /** Your logo, as a `data:` URL of an image of at most 24 KB. The page loads nothing from other hosts. */
  @ApiProperty({
    required: false,
    type: String,
    pattern: PICTURE,
    maxLength: 32_768,
    nullable: true,
    example: 'data:image/png;base64,iVBORw0KGgo=',
  })
  logo?: string | null;
}

/** Settings of the portal to open. */
@Examples({
  whole: { summary: 'A portal for one hour, with all permissions', value: {} },
  looking: {
    summary: 'A portal to view and resend for ten minutes',
    value: { expires_in: 600, permissions: ['view', 'resend'] },
  },
  theme: {
    summary: 'A portal in your colours',
    value: {
      theme: { scheme: 'light', accent: '#0a58b5', radius: 6 },
      locale: 'de',
      return_url: 'https://app.example.com/settings',
    },
  },
})
export class NewPortalBody {
  /** Lifetime of the portal's token in seconds. */
  @ApiProperty({ required: false, type: 'integer', minimum: 60, maximum: 86_400, default: 3_600, example: 3_600 })
  expires_in?: number;

  /**
   * Permissions of the customer. `view` is always included, `secrets` reads and rotates signing secrets, `manage`
   * changes endpoints, and `resend` replays deliveries. Defaults to all permissions.
   */
  @ApiProperty({ required: false, ...PERMISSIONS })
  permissions?: PortalPermission[];

  /** Theme of the portal. */
  @ApiPropertyOptional({ type: PortalThemeBody })
  theme?: PortalThemeBody;

  /**
   * Language of the page, also used to format times and numbers. Texts exist for `en` and `de`; for any other language
   * the page is in English.
   */
  @ApiProperty(LOCALE)
  locale?: string;

  /**
   * Target of the link that leads out of the portal. The URL must use https; in the test environment, http to the local
   * machine is also allowed.
   */
  @ApiProperty({
    required: false,
    type: String,
    maxLength: 2048,
    nullable: true,
    example: 'https://app.example.com/settings',
  })
  return_url?: string | null;
}

/** Settings for previewing a customer's portal. */
export class PortalPreviewBody {
  /** Language of the page. */
  @ApiProperty(LOCALE)
  locale?: string;
}

/** A newly opened portal. */
export class OpenedPortalItem {
  /** Id of the session. */
  @ApiProperty({ example: 'pls_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /**
   * URL of the portal page, for a link, a redirect or a frame. The token is in the fragment after `#`, which browsers
   * do not send to servers.
   */
  @ApiProperty({ example: 'https://hooks.example.com/portal/pls_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1#pt_…' })
  url: string;

  /**
   * The token by itself, for renewing the session of a portal that is already open. The API shows it only once and
   * stores only its SHA-256.
   */
  @ApiProperty({ example: 'pt_2vJ8kQm1Xc0Zr5Lw9Tn3Yb7Hd4Gf6Ks8Pa2Ue1Ri0oM' })
  token: string;

  /** Time at which the session expires. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T10:30:00.000Z' })
  expires_at: string;
}

/** An active portal session. */
export class PortalSessionItem {
  /** Id of the session. */
  @ApiProperty({ example: 'pls_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** Id of the application that the portal shows. */
  @ApiProperty({ example: 'app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  application: string;

  /**
   * `customer`, or `preview` for a session in which a member of your organization sees the portal as the customer does.
   */
  @ApiProperty({ enum: KINDS, example: 'customer' })
  kind: PortalKind;

  /** Permissions of the session. */
  @ApiProperty({ ...PERMISSIONS })
  permissions: PortalPermission[];

  /**
   * Id of the key or the member that opened the session. The session ends when the key is revoked or expires, or when
   * the member is removed.
   */
  @ApiProperty({ example: 'ek_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  opened_by: string;

  /** Time at which the session was opened. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  created_at: string;

  /** Time at which the session expires. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T10:30:00.000Z' })
  expires_at: string;
}

/** Page of the list of portal sessions. */
export class PortalSessionListQuery {
  /** Start of the page: the `next_cursor` of the previous page. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  cursor?: string;

  /** Maximum number of items to return. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 100, default: 50, example: 50 })
  limit?: number;
}

/** One page of portal sessions, newest first. */
export class PortalSessionPage {
  /** Portal sessions on this page. */
  @ApiProperty({ type: [PortalSessionItem] })
  data: PortalSessionItem[];

  /** Value for `cursor` to get the next page; `null` on the last page. */
  @ApiProperty({ type: String, nullable: true, example: null })
  next_cursor: string | null;
}

/** The application that a portal shows. */
export class PortalApplicationItem {
  /** Id of the application. */
  @ApiProperty({ example: 'app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** Human-readable name of the application. */
  @ApiProperty({ example: 'Customer 42' })
  name: string;
}

/** Theme of the portal. */
export class PortalThemeItem {
  /** Colour scheme: light, dark, or the setting of the customer's system. */
  @ApiProperty({ enum: SCHEMES, example: 'system' })
  scheme: (typeof SCHEMES)[number];

  /** Accent colour of buttons and links; `null` for the portal's default. */
  @ApiProperty({ type: String, nullable: true, example: '#0a58b5' })
  accent: string | null;

  /** Corner radius in pixels; `null` for the portal's default. */
  @ApiProperty({ type: 'integer', nullable: true, example: 6 })
  radius: number | null;

  /** Logo as a `data:` URL; `null` if there is none. */
  @ApiProperty({ type: String, nullable: true, example: null })
  logo: string | null;
}

/** The portal session of the caller. */
export class OwnPortalItem {
  /** Id of the session. */
  @ApiProperty({ example: 'pls_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /**
   * `customer`, or `preview` for a session in which a member of the organization sees the portal as the customer does.
   */
  @ApiProperty({ enum: KINDS, example: 'customer' })
  kind: PortalKind;

  /** Permissions of the session. */
  @ApiProperty({ ...PERMISSIONS })
  permissions: PortalPermission[];

  /** The application that the portal shows. */
  @ApiProperty({ type: PortalApplicationItem })
  application: PortalApplicationItem;

  /** Name of the organization that the portal belongs to. */
  @ApiProperty({ example: 'Acme' })
  organization: string;

  /** Environment that the portal belongs to. */
  @ApiProperty({ enum: ['live', 'test'], example: 'live' })
  environment: 'live' | 'test';

  /** Theme of the portal. */
  @ApiProperty({ type: PortalThemeItem })
  theme: PortalThemeItem;

  /** Language of the page. */
  @ApiProperty({ example: 'en' })
  locale: string;

  /** Target of the link that leads out of the portal; `null` if there is none. */
  @ApiProperty({ type: String, nullable: true, example: 'https://app.example.com/settings' })
  return_url: string | null;

  /** Time at which the session expires. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T10:30:00.000Z' })
  expires_at: string;
}

export function portalAsked({
  expires_in: lifetimeSeconds,
  permissions,
  theme,
  locale,
  return_url: returnUrl,
}: NewPortalBody): PortalAsked {
  return { lifetimeSeconds, permissions, theme, locale, returnUrl };
}

export function presentOpened({ id, url, token, expiresAt }: OpenedPortal): OpenedPortalItem {
  return { id: showId('pls', id), url, token, expires_at: expiresAt.toISOString() };
}

export function presentPortalSession(row: PortalSessionRow): PortalSessionItem {
  return {
    id: showId('pls', row.id),
    application: showId('app', row.application_id),
    kind: row.kind,
    permissions: row.permissions,
    opened_by: row.opened_by,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
  };
}

export function presentOwnPortal(facts: PortalFacts): OwnPortalItem {
  return {
    id: showId('pls', facts.id),
    kind: facts.kind,
    permissions: facts.permissions,
    application: { id: showId('app', facts.application_id), name: facts.application_name },
    organization: facts.organization_name,
    environment: facts.mode,
    theme: facts.theme,
    locale: facts.locale,
    return_url: facts.return_url,
    expires_at: facts.expires_at.toISOString(),
  };
}
