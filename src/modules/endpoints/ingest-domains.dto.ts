import { ApiProperty } from '@nestjs/swagger';
import { showId } from '#kernel/ids.js';
import type { IngestDomain, ListedIngestDomain } from './ingest-domains.js';

/** An ingest domain. */
export class IngestDomainItem {
  /** The domain's id. */
  @ApiProperty({ example: 'pdom_00000000000000000000000001' })
  id: string;

  /** Its host, with the port where it is not the scheme's own. */
  @ApiProperty({ example: 'hooks.example.com' })
  host: string;

  /** `platform` is this installation's own host, `custom` a verified domain of yours. */
  @ApiProperty({ enum: ['platform', 'custom'], example: 'platform' })
  kind: 'platform' | 'custom';
}

/** An ingest domain in the list. */
export class IngestDomainDetail extends IngestDomainItem {
  /** Whether endpoints live on it that name no other. */
  @ApiProperty({ example: true })
  default: boolean;

  /** What URLs of endpoints on it begin with; a slug behind it makes one. */
  @ApiProperty({ example: 'https://hooks.example.com/in/acme/' })
  prefix: string;
}

/** Every ingest domain of the organization. */
export class IngestDomainList {
  /** The ingest domains. */
  @ApiProperty({ type: [IngestDomainDetail] })
  data: IngestDomainDetail[];

  /** PLATFORM_DOMAIN: what the records of custom domains lead to. `localhost` where the operator set none. */
  @ApiProperty({ example: 'hooks.example.com' })
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
