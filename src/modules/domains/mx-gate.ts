import { Injectable } from '@nestjs/common';
import { foreignMx } from '#engine/mail/dns-records.js';
import { conflict } from '#kernel/errors.js';
import { DomainRecords } from './domain-records.js';
import { PlatformZone } from './platform-zone.js';

/** Keeps anybody from taking a domain's mail away from where it goes today without having meant it. */
@Injectable()
export class MxGate {
  constructor(
    private readonly records: DomainRecords,
    private readonly zone: PlatformZone,
  ) {}

  /**
   * Throws 409 with `details.mx` while the mail of the host goes elsewhere, or nobody can tell, unless that is
   * acknowledged.
   */
  async pass(host: { environmentId: number; host: string }, isAcknowledged: boolean): Promise<void> {
    if (isAcknowledged) return;
    const answer = await this.records.mx(host);
    if ('unanswered' in answer) {
      const message = `Where the mail of ${host.host} goes now can't be said: its name servers did not answer (${answer.unanswered}).`;
      throw conflict(`${message} Try again, or set acknowledge_mx_conflict to true.`, { mx: null });
    }
    const foreign = foreignMx(answer.found, this.zone.mailHost);
    if (foreign.length === 0) return;
    const mx = foreign
      .toSorted((a, b) => a.priority - b.priority)
      .map(({ exchange, priority }) => ({ exchange: exchange.toLowerCase(), priority }));
    const message = `The mail of ${host.host} goes to ${mx[0]?.exchange} now, and publishing our MX takes it away from there.`;
    throw conflict(`${message} Set acknowledge_mx_conflict to true if that is what you want.`, { mx });
  }
}
