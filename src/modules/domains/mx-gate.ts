import { Injectable } from '@nestjs/common';
import { foreignMx } from '#engine/mail/dns-records.js';
import { conflict } from '#kernel/errors.js';
import { DomainRecords } from './domain-records.js';
import { PlatformZone } from './platform-zone.js';

/** Prevents customers from moving a domain's mail away from its current server by accident. */
@Injectable()
export class MxGate {
  constructor(
    private readonly records: DomainRecords,
    private readonly zone: PlatformZone,
  ) {}

  /** Throws 409 with `details.mx` if another server may receive the domain's mail, unless acknowledged. */
  async pass(host: { environmentId: number; host: string }, isAcknowledged: boolean): Promise<void> {
    if (isAcknowledged) return;
    const answer = await this.records.mx(host);
    if ('unanswered' in answer) {
      const message = `It can't be said where the mail of ${host.host} goes now: its name servers did not answer (${answer.unanswered}).`;
      throw conflict(`${message} Try again, or set acknowledge_mx_conflict to true.`, { mx: null });
    }
    const foreign = foreignMx(answer.found, this.zone.mailHost);
    if (foreign.length === 0) return;
    const mx = foreign
      .toSorted((a, b) => a.priority - b.priority)
      .map(({ exchange, priority }) => ({ exchange: exchange.toLowerCase(), priority }));
    const message = `The mail of ${host.host} goes to ${mx[0]?.exchange} now. Publishing Posthorn's MX moves it away from there.`;
    throw conflict(`${message} Set acknowledge_mx_conflict to true if that is what you want.`, { mx });
  }
}
