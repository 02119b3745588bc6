import { isIP } from 'node:net';
import { type FoundRecords, type MxRecord, NameRecords } from '../../src/egress/name-records.js';

/** Records by type and name, such as `TXT example.com`. `silent` never answers in time. */
export type Told = Readonly<Record<string, readonly string[] | 'silent'>>;

/** DNS records that a test sets. All other names do not exist. */
export class ToldRecords extends NameRecords {
  /** The queries in order. */
  readonly asked: string[] = [];

  constructor(private readonly told: Told) {
    super();
  }

  override txt(name: string): Promise<FoundRecords<string>> {
    return this.tell('TXT', name);
  }

  override cname(name: string): Promise<FoundRecords<string>> {
    return this.tell('CNAME', name);
  }

  override async mx(name: string): Promise<FoundRecords<MxRecord>> {
    const told = await this.tell('MX', name);
    if ('unanswered' in told) return told;
    return {
      found: told.found
        .map((record) => record.split(' '))
        .map(([priority, exchange = '']) => ({ priority: Number(priority), exchange })),
    };
  }

  override async addresses(name: string): Promise<FoundRecords<string>> {
    const told = [await this.tell('A', name), await this.tell('AAAA', name)];
    return (
      told.find((answer) => 'unanswered' in answer) ?? {
        found: told.flatMap((answer) => ('found' in answer ? answer.found : [])),
      }
    );
  }

  override pointers(address: string): Promise<FoundRecords<string>> {
    if (isIP(address) === 0) throw new Error(`${address} is no address.`);
    return this.tell('PTR', address);
  }

  private async tell(type: string, name: string): Promise<FoundRecords<string>> {
    this.asked.push(`${type} ${name.toLowerCase()}`);
    const plain = name.toLowerCase().replace(/\.$/, '');
    const told = this.told[`${type} ${plain}`];
    const [alias] = told === undefined && type !== 'CNAME' ? [this.told[`CNAME ${plain}`] ?? []].flat() : [];
    if (alias !== undefined && alias !== 'silent') return this.tell(type, alias);
    return told === 'silent' ? { unanswered: 'ETIMEOUT' } : { found: [...(told ?? [])] };
  }
}
