import { Injectable } from '@nestjs/common';
import { type DnsAnswer, foreignMx, implicitMx, type SeenMx } from '#engine/mail/dns-records.js';
import { conflict } from '#kernel/errors.js';
import { DomainRecords } from './domain-records.js';
import { PlatformZone } from './platform-zone.js';

/** Protects customers from accidentally moving a domain's mail away from its current server. */
@Injectable()
export class MxGate {
  constructor(
    private readonly records: DomainRecords,
    private readonly zone: PlatformZone,
  ) {}

  /**
   * Throws 409 with `details.mx` if another server may receive the domain's mail and the caller has not confirmed it.
   */
  async pass(host: { environmentId: number; host: string }, isAcknowledged: boolean): Promise<void> {
    if (isAcknowledged) return;
    const foreign = await this.foreign(host);
    if ('unanswered' in foreign) {
      const message = `It can't be said where the mail of ${host.host} goes now: its name servers did not answer (${foreign.unanswered}).`;
      throw conflict(`${message} Try again, or set acknowledge_mx_conflict to true.`, { mx: null });
    }
    if (foreign.found.length === 0) return;
    const mx = foreign.found
      .toSorted((a, b) => a.priority - b.priority)
      .map(({ exchange, priority }) => ({ exchange: exchange.toLowerCase(), priority }));
    const message = `The mail of ${host.host} goes to ${mx[0]?.exchange} now. Publishing Posthorn's MX moves it away from there.`;
    throw conflict(`${message} Set acknowledge_mx_conflict to true if that is what you want.`, { mx });
  }

  /**
   * Returns MX records that point to other servers. If the domain has no MX record, returns its own addresses, which
   * then receive its mail.
   */
  private async foreign({ environmentId, host }: { environmentId: number; host: string }): Promise<DnsAnswer<SeenMx>> {
    const { mailHost } = this.zone;
    const mx = await this.records.mx({ environmentId, host });
    if ('unanswered' in mx) return mx;
    if (mx.found.length > 0) return { found: foreignMx(mx.found, mailHost) };
    const addresses = await this.records.addresses(environmentId, host);
    if ('unanswered' in addresses) return addresses;
    const ours = await this.records.addresses(environmentId, mailHost);
    return { found: implicitMx(host, addresses.found, 'found' in ours ? ours.found : []) };
  }
}
