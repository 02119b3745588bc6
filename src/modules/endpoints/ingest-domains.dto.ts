import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsString } from 'class-validator';
import { IsArrayOf } from '#http/validation.js';
import { showId } from '#kernel/ids.js';
import type { IngestDomain, ListedIngestDomain } from './ingest-domains.js';

/** A domain on which endpoints receive requests. */
export class IngestDomainItem {
  /** Id of the domain. */
  @ApiProperty({ example: 'pdom_00000000000000000000000001' })
  @IsString()
  id: string;

  /** Host name. Includes the port unless it is the default port of the scheme. */
  @ApiProperty({ example: 'hooks.example.com' })
  @IsString()
  host: string;

  /** `platform` is the host of this installation. `custom` is one of your verified domains. */
  @ApiProperty({ example: 'platform' })
  @IsIn(['platform', 'custom'])
  kind: 'platform' | 'custom';
}

/** An ingest domain as shown in the list. */
export class IngestDomainDetail extends IngestDomainItem {
  /** `true` if new endpoints are created on this domain unless another domain is given. */
  @ApiProperty({ example: true })
  @IsBoolean()
  default: boolean;

  /** Beginning of the URLs of endpoints on this domain. Append a slug to get an endpoint's URL. */
  @ApiProperty({ example: 'https://hooks.example.com/in/acme/' })
  @IsString()
  prefix: string;
}

/** All ingest domains of the organization. */
export class IngestDomainList {
  /** The ingest domains. */
  @IsArrayOf(() => IngestDomainDetail)
  data: IngestDomainDetail[];

  /**
   * Value of PLATFORM_DOMAIN, the name that DNS records of custom domains point to. `localhost` if the operator did not
   * set it.
   */
  @ApiProperty({ example: 'hooks.example.com' })
  @IsString()
  platform_domain: string;
}

export function presentDomain({ id, host, kind }: IngestDomain): IngestDomainItem {
  return { id: showId(kind === 'platform' ? 'pdom' : 'dom', id), host, kind };
}

export function presentDomains(domains: readonly ListedIngestDomain[], platformDomain: string): IngestDomainList {
  return {
    data: domains.map((domain) => ({ ...presentDomain(domain), default: domain.isDefault, prefix: domain.prefix })),
    platform_domain: platformDomain,
  };
}
