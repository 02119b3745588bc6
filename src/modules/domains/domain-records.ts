import { Injectable } from '@nestjs/common';
import { NameRecords } from '#egress/name-records.js';
import {
  type DnsAnswer,
  type DnsRecord,
  judge,
  type Judgement,
  type ObservedRecords,
  type PlatformNames,
  type PublishedKeys,
  questionsOf,
  recordsOf,
  type SeenMx,
} from '#engine/mail/dns-records.js';
import type { DomainEntity } from './domains.entities.js';
import { PlatformZone } from './platform-zone.js';

export type JudgedDnsRecord = DnsRecord & Judgement;

@Injectable()
export class DomainRecords {
  constructor(
    private readonly names: NameRecords,
    private readonly zone: PlatformZone,
  ) {}

  /** Checks all DNS records of a domain concurrently, and returns the results. */
  async look(
    row: Pick<DomainEntity, 'environmentId' | 'host' | 'kind' | 'token'>,
    published: PublishedKeys,
  ): Promise<JudgedDnsRecord[]> {
    const platform = await this.zone.names();
    const records = recordsOf(row, platform, published);
    const keys = [...platform.dkim, ...published.own];
    return Promise.all(
      records.map(async (record) => ({
        ...record,
        ...judge(record, await this.seen(record, platform, shareOf(row)), keys),
      })),
    );
  }

  mx({ environmentId, host }: Pick<DomainEntity, 'environmentId' | 'host'>): Promise<DnsAnswer<SeenMx>> {
    return this.names.mx(host, shareOf({ environmentId }));
  }

  addresses(environmentId: number, host: string): Promise<DnsAnswer<string>> {
    return this.names.addresses(host, shareOf({ environmentId }));
  }

  private async seen(record: DnsRecord, { ingestHost }: PlatformNames, share: string): Promise<ObservedRecords> {
    const { name } = record;
    const ask: { [Q in keyof ObservedRecords]-?: () => Promise<ObservedRecords[Q]> } = {
      txt: () => this.names.txt(name, share),
      cname: () => this.names.cname(name, share),
      mx: () => this.names.mx(name, share),
      addresses: () => this.names.addresses(name, share),
      ourAddresses: () => this.names.addresses(ingestHost, share),
    };
    const entries = await Promise.all(
      questionsOf(record).map(async (question) => [question, await ask[question]()] as const),
    );
    return Object.fromEntries(entries);
  }
}

/**
 * Returns the name of an environment's DNS query quota. The quotas are separate, so that no environment can delay the
 * queries of other environments.
 */
function shareOf({ environmentId }: Pick<DomainEntity, 'environmentId'>): string {
  return `environment ${environmentId}`;
}
