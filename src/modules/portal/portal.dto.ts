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

/** How the portal looks: values that are checked, and never CSS. */
export class PortalThemeBody {
  /** Light, dark, or as the customer's system has it. */
  @ApiProperty({ required: false, type: String, enum: [...SCHEMES, null], nullable: true, example: 'system' })
  scheme?: (typeof SCHEMES)[number] | null;

  /** Your colour, for buttons and links: `#rrggbb`. Where its contrast with the ground is too low to be read, the page takes a lighter or darker tone of it. */
  @ApiProperty({ required: false, type: String, pattern: COLOUR, nullable: true, example: '#0a58b5' })
  accent?: string | null;

  /** Of corners, in pixels. */
  @ApiProperty({ required: false, type: 'integer', minimum: 0, maximum: 24, nullable: true, example: 6 })
  radius?: number | null;

  /** Your logo, as a `data:` URL of a picture of at most 24 KB: the page asks no other host for anything. */
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

/** What to open a portal with. */
@Examples({
  whole: { summary: 'An hour, with everything', value: {} },
  looking: {
    summary: 'Looking and sending again, for ten minutes',
    value: { expires_in: 600, permissions: ['view', 'resend'] },
  },
  theme: {
    summary: 'In your colours',
    value: {
      theme: { scheme: 'light', accent: '#0a58b5', radius: 6 },
      locale: 'de',
      return_url: 'https://app.example.com/settings',
    },
  },
})
export class NewPortalBody {
  /** After how many seconds its token ends. */
  @ApiProperty({ required: false, type: 'integer', minimum: 60, maximum: 86_400, default: 3_600, example: 3_600 })
  expires_in?: number;

  /** What the customer may do: `view` is part of all, `secrets` reads and rotates signing secrets, `manage` changes endpoints, `resend` sends again. All when left out. */
  @ApiProperty({ required: false, ...PERMISSIONS })
  permissions?: PortalPermission[];

  /** How it looks. */
  @ApiPropertyOptional({ type: PortalThemeBody })
  theme?: PortalThemeBody;

  /** The language of the page, and how it writes times and numbers: `en` and `de` have texts, any other is shown in English. */
  @ApiProperty(LOCALE)
  locale?: string;

  /** Where a link leads out of the portal: https, or http on the own computer in the test environment. */
  @ApiProperty({
    required: false,
    type: String,
    maxLength: 2048,
    nullable: true,
    example: 'https://app.example.com/settings',
  })
  return_url?: string | null;
}

/** How to look at a customer's portal. */
export class PortalPreviewBody {
  /** The language of the page. */
  @ApiProperty(LOCALE)
  locale?: string;
}

/** A portal that was just opened. */
export class OpenedPortalItem {
  /** The session's id. */
  @ApiProperty({ example: 'pls_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** The page: for a link, a redirect or a frame. The token stands behind `#`, which browsers send to nobody. */
  @ApiProperty({ example: 'https://hooks.example.com/portal/pls_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1#pt_…' })
  url: string;

  /** The token alone, which renews a portal that is open. Shown this once; only its SHA-256 is stored. */
  @ApiProperty({ example: 'pt_2vJ8kQm1Xc0Zr5Lw9Tn3Yb7Hd4Gf6Ks8Pa2Ue1Ri0oM' })
  token: string;

  /** When it ends. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T10:30:00.000Z' })
  expires_at: string;
}

/** A session of a portal that is in force. */
export class PortalSessionItem {
  /** The session's id. */
  @ApiProperty({ example: 'pls_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** The application that it shows. */
  @ApiProperty({ example: 'app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  application: string;

  /** `customer`, or `preview` for somebody of yours who looks at what the customer sees. */
  @ApiProperty({ enum: KINDS, example: 'customer' })
  kind: PortalKind;

  /** What may be done there. */
  @ApiProperty({ ...PERMISSIONS })
  permissions: PortalPermission[];

  /** The key or the member that opened it; it ends with them. */
  @ApiProperty({ example: 'ek_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  opened_by: string;

  /** When it was opened. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  created_at: string;

  /** When it ends. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T10:30:00.000Z' })
  expires_at: string;
}

/** Where in the list of sessions of portals. */
export class PortalSessionListQuery {
  /** Where to go on: the `next_cursor` of the page before. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  cursor?: string;

  /** How many to return. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 100, default: 50, example: 50 })
  limit?: number;
}

/** One page of sessions of portals, newest first. */
export class PortalSessionPage {
  /** The sessions of this page. */
  @ApiProperty({ type: [PortalSessionItem] })
  data: PortalSessionItem[];

  /** Pass it as `cursor` for the next page; null on the last one. */
  @ApiProperty({ type: String, nullable: true, example: null })
  next_cursor: string | null;
}

/** The application that a portal shows. */
export class PortalApplicationItem {
  /** The application's id. */
  @ApiProperty({ example: 'app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** What it is called. */
  @ApiProperty({ example: 'Customer 42' })
  name: string;
}

/** How the portal looks. */
export class PortalThemeItem {
  /** Light, dark, or as the customer's system has it. */
  @ApiProperty({ enum: SCHEMES, example: 'system' })
  scheme: (typeof SCHEMES)[number];

  /** The colour of buttons and links; null for the portal's own. */
  @ApiProperty({ type: String, nullable: true, example: '#0a58b5' })
  accent: string | null;

  /** Of corners, in pixels; null for the portal's own. */
  @ApiProperty({ type: 'integer', nullable: true, example: 6 })
  radius: number | null;

  /** A picture as a `data:` URL; null without one. */
  @ApiProperty({ type: String, nullable: true, example: null })
  logo: string | null;
}

/** The session that a portal calls with. */
export class OwnPortalItem {
  /** The session's id. */
  @ApiProperty({ example: 'pls_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** `customer`, or `preview` for somebody of the company who looks at what its customer sees. */
  @ApiProperty({ enum: KINDS, example: 'customer' })
  kind: PortalKind;

  /** What may be done. */
  @ApiProperty({ ...PERMISSIONS })
  permissions: PortalPermission[];

  /** The application that it shows. */
  @ApiProperty({ type: PortalApplicationItem })
  application: PortalApplicationItem;

  /** Whose portal it is. */
  @ApiProperty({ example: 'Acme' })
  organization: string;

  /** The environment that it is in. */
  @ApiProperty({ enum: ['live', 'test'], example: 'live' })
  environment: 'live' | 'test';

  /** How it looks. */
  @ApiProperty({ type: PortalThemeItem })
  theme: PortalThemeItem;

  /** The language of the page. */
  @ApiProperty({ example: 'en' })
  locale: string;

  /** Where a link leads out of the portal; null without one. */
  @ApiProperty({ type: String, nullable: true, example: 'https://app.example.com/settings' })
  return_url: string | null;

  /** When it ends. */
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
