import { ApiProperty } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { Examples } from '#http/openapi-examples.js';
import { CanBeNull, CanBeOmitted, IsArrayOf, IsDateTime, IsObjectOf } from '#http/validation.js';
import { showId } from '#kernel/ids.js';
import { PORTAL_PERMISSIONS, type PortalPermission } from '#kernel/tenant.js';
import type { OpenedPortal, PortalAsked } from './portal-links.js';
import type { PortalFacts, PortalKind, PortalSessionRow } from './portal-sessions.store.js';
import { PORTAL_FONTS, type PortalFont } from './portal-theme.js';

const SCHEMES = ['light', 'dark', 'system'] as const;
const KINDS = ['customer', 'preview'] as const;
const COLOUR = /^#[0-9A-Fa-f]{6}$/u;
const PICTURE = /^data:image\/(png|jpeg|webp|gif|svg\+xml);base64,[A-Za-z0-9+/]+={0,2}$/u;

/** Theme of the portal, as a fixed set of validated values. CSS is not accepted. */
export class PortalThemeBody {
  /** Color scheme: light, dark, or the setting of the customer's system. */
  @ApiProperty({ example: 'system' })
  @IsOptional()
  @IsIn(SCHEMES)
  scheme?: (typeof SCHEMES)[number] | null;

  /**
   * Accent color for buttons and links, as `#rrggbb`. If its contrast with the background is too low to read, the page
   * uses a lighter or darker shade.
   */
  @ApiProperty({ example: '#0a58b5' })
  @IsOptional()
  @IsString()
  @Matches(COLOUR)
  accent?: string | null;

  /** Corner radius in pixels. */
  @ApiProperty({ example: 6 })
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(24)
  radius?: number | null;

  /** Your logo, as a `data:` URL of an image of at most 24 KB. The page loads nothing from other hosts. */
  @ApiProperty({ example: 'data:image/png;base64,iVBORw0KGgo=' })
  @IsOptional()
  @IsString()
  @MaxLength(32_768)
  @Matches(PICTURE)
  logo?: string | null;

  /**
   * Font of the portal. The page uses fonts that are installed on the customer's device, and loads no font files. If a
   * font is not installed, the page uses a similar font.
   */
  @ApiProperty({ example: 'serif' })
  @IsOptional()
  @IsIn(PORTAL_FONTS)
  font?: PortalFont | null;
}

/** Settings of the portal to open. */
@Examples({
  whole: { summary: 'A portal for one hour, with all permissions', value: {} },
  looking: {
    summary: 'A portal to view and resend for ten minutes',
    value: { expires_in: 600, permissions: ['view', 'resend'] },
  },
  theme: {
    summary: 'A portal with your brand',
    value: {
      theme: { scheme: 'light', accent: '#0a58b5', radius: 6, font: 'serif' },
      locale: 'de',
      return_url: 'https://app.example.com/settings',
    },
  },
})
export class NewPortalBody {
  /** Lifetime of the portal's token in seconds. */
  @ApiProperty({ default: 3_600, example: 3_600 })
  @CanBeOmitted()
  @IsInt()
  @Min(60)
  @Max(86_400)
  expires_in?: number;

  /**
   * Permissions of the customer. `view` is always included, `secrets` reads and rotates signing secrets, `manage`
   * changes endpoints, and `resend` replays deliveries. Defaults to all permissions.
   */
  @ApiProperty({ example: ['view', 'manage', 'resend'] })
  @CanBeOmitted()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(4)
  @IsIn(PORTAL_PERMISSIONS, { each: true })
  permissions?: PortalPermission[];

  /** Theme of the portal. */
  @CanBeOmitted()
  @IsObjectOf(() => PortalThemeBody)
  theme?: PortalThemeBody;

  /**
   * Language of the page, also used to format times and numbers. Texts exist for `en` and `de`; for any other language
   * the page is in English.
   */
  @ApiProperty({ default: 'en', example: 'de' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(6)
  @Matches(/^[a-z]{2,3}(-[A-Z]{2})?$/u)
  locale?: string;

  /**
   * Target of the link that leads out of the portal. The URL must use https. In the test environment, http to the local
   * machine is also allowed.
   */
  @ApiProperty({ example: 'https://app.example.com/settings' })
  @IsOptional()
  @IsString()
  @MaxLength(2048)
  return_url?: string | null;
}

/** Settings for previewing a customer's portal. */
export class PortalPreviewBody {
  /** Theme of the portal. */
  @CanBeOmitted()
  @IsObjectOf(() => PortalThemeBody)
  theme?: PortalThemeBody;

  /** Language of the page. */
  @ApiProperty({ default: 'en', example: 'de' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(6)
  @Matches(/^[a-z]{2,3}(-[A-Z]{2})?$/u)
  locale?: string;
}

/** A newly opened portal. */
export class OpenedPortalItem {
  /** Id of the session. */
  @ApiProperty({ example: 'pls_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  id: string;

  /**
   * URL of the portal page, for a link, a redirect or a frame. The token is in the fragment after `#`, which browsers
   * do not send to servers.
   */
  @ApiProperty({ example: 'https://hooks.example.com/portal/pls_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1#pt_…' })
  @IsString()
  url: string;

  /**
   * The token by itself, for renewing the session of a portal that is already open. The API shows it only once and
   * stores only its SHA-256.
   */
  @ApiProperty({ example: 'pt_2vJ8kQm1Xc0Zr5Lw9Tn3Yb7Hd4Gf6Ks8Pa2Ue1Ri0oM' })
  @IsString()
  token: string;

  /** Time at which the session expires. */
  @ApiProperty({ example: '2026-11-21T10:30:00.000Z' })
  @IsDateTime()
  expires_at: string;
}

/** An active portal session. */
export class PortalSessionItem {
  /** Id of the session. */
  @ApiProperty({ example: 'pls_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  id: string;

  /** Id of the application that the portal shows. */
  @ApiProperty({ example: 'app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  application: string;

  /**
   * `customer`, or `preview` for a session in which a member of your organization sees the portal as the customer does.
   */
  @ApiProperty({ example: 'customer' })
  @IsIn(KINDS)
  kind: PortalKind;

  /** Permissions of the session. */
  @ApiProperty({ example: ['view', 'manage', 'resend'] })
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(4)
  @IsIn(PORTAL_PERMISSIONS, { each: true })
  permissions: PortalPermission[];

  /**
   * Id of the key or the member that opened the session. The session ends when the key is revoked or expires, or when
   * the member is removed.
   */
  @ApiProperty({ example: 'ek_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  opened_by: string;

  /** Time at which the session was opened. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  created_at: string;

  /** Time at which the session expires. */
  @ApiProperty({ example: '2026-11-21T10:30:00.000Z' })
  @IsDateTime()
  expires_at: string;
}

/** Page of the list of portal sessions. */
export class PortalSessionListQuery {
  /** Start of the page: the `next_cursor` of the previous page. */
  @ApiProperty({ example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(1024)
  cursor?: string;

  /** Maximum number of items to return. */
  @ApiProperty({ default: 50, example: 50 })
  @CanBeOmitted()
  @IsInt()
  @Min(1)
  @Max(100)
  limit?: number;
}

/** One page of portal sessions, newest first. */
export class PortalSessionPage {
  /** Portal sessions on this page. */
  @IsArrayOf(() => PortalSessionItem)
  data: PortalSessionItem[];

  /** Value for `cursor` to get the next page; `null` on the last page. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  next_cursor: string | null;
}

/** The application that a portal shows. */
export class PortalApplicationItem {
  /** Id of the application. */
  @ApiProperty({ example: 'app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  id: string;

  /** Human-readable name of the application. */
  @ApiProperty({ example: 'Customer 42' })
  @IsString()
  name: string;
}

/** Theme of the portal. */
export class PortalThemeItem {
  /** Color scheme: light, dark, or the setting of the customer's system. */
  @ApiProperty({ example: 'system' })
  @IsIn(SCHEMES)
  scheme: (typeof SCHEMES)[number];

  /** Accent color of buttons and links; `null` for the portal's default. */
  @ApiProperty({ example: '#0a58b5' })
  @CanBeNull()
  @IsString()
  accent: string | null;

  /** Corner radius in pixels; `null` for the portal's default. */
  @ApiProperty({ example: 6 })
  @CanBeNull()
  @IsInt()
  radius: number | null;

  /** Logo as a `data:` URL; `null` if there is none. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  logo: string | null;

  /** Font of the portal; `null` for the portal's default. */
  @ApiProperty({ example: 'serif' })
  @CanBeNull()
  @IsIn(PORTAL_FONTS)
  font: PortalFont | null;
}

/** The portal session of the caller. */
export class OwnPortalItem {
  /** Id of the session. */
  @ApiProperty({ example: 'pls_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  id: string;

  /**
   * `customer`, or `preview` for a session in which a member of the organization sees the portal as the customer does.
   */
  @ApiProperty({ example: 'customer' })
  @IsIn(KINDS)
  kind: PortalKind;

  /** Permissions of the session. */
  @ApiProperty({ example: ['view', 'manage', 'resend'] })
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(4)
  @IsIn(PORTAL_PERMISSIONS, { each: true })
  permissions: PortalPermission[];

  /** The application that the portal shows. */
  @IsObjectOf(() => PortalApplicationItem)
  application: PortalApplicationItem;

  /** Name of the organization that the portal belongs to. */
  @ApiProperty({ example: 'Acme' })
  @IsString()
  organization: string;

  /** Environment that the portal belongs to. */
  @ApiProperty({ example: 'live' })
  @IsIn(['live', 'test'])
  environment: 'live' | 'test';

  /** Theme of the portal. */
  @IsObjectOf(() => PortalThemeItem)
  theme: PortalThemeItem;

  /** Language of the page. */
  @ApiProperty({ example: 'en' })
  @IsString()
  locale: string;

  /** Target of the link that leads out of the portal; `null` if there is none. */
  @ApiProperty({ example: 'https://app.example.com/settings' })
  @CanBeNull()
  @IsString()
  return_url: string | null;

  /** Time at which the session expires. */
  @ApiProperty({ example: '2026-11-21T10:30:00.000Z' })
  @IsDateTime()
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
    theme: { ...facts.theme, font: facts.theme.font ?? null },
    locale: facts.locale,
    return_url: facts.return_url,
    expires_at: facts.expires_at.toISOString(),
  };
}
