import { isIP } from 'node:net';
import { type FoundRecords, type MxRecord, NameRecords } from '../../src/egress/name-records.js';

/** Records by type and name, such as `TXT example.com`. `silent` never answers in time. */
export type RecordsByName = Readonly<Record<string, readonly string[] | 'silent'>>;

/** DNS records that a test sets. All other names do not exist. */
export class FixedRecords extends NameRecords {
  /** The queries in order. */
  readonly asked: string[] = [];

  constructor(private readonly records: RecordsByName) {
    super();
  }

  override txt(name: string): Promise<FoundRecords<string>> {
    return this.find('TXT', name);
  }

  override cname(name: string): Promise<FoundRecords<string>> {
    return this.find('CNAME', name);
  }

  override async mx(name: string): Promise<FoundRecords<MxRecord>> {
    const records = await this.find('MX', name);
    if ('unanswered' in records) return records;
    return {
      found: records.found
        .map((record) => record.split(' '))
        .map(([priority, exchange = '']) => ({ priority: Number(priority), exchange })),
    };
  }

  override async addresses(name: string): Promise<FoundRecords<string>> {
    const records = [await this.find('A', name), await this.find('AAAA', name)];
    return (
      records.find((answer) => 'unanswered' in answer) ?? {
        found: records.flatMap((answer) => ('found' in answer ? answer.found : [])),
      }
    );
  }

  override pointers(address: string): Promise<FoundRecords<string>> {
    if (isIP(address) === 0) throw new Error(`${address} is no address.`);
    return this.find('PTR', address);
  }

  private async find(type: string, name: string): Promise<FoundRecords<string>> {
    this.asked.push(`${type} ${name.toLowerCase()}`);
    const plain = name.toLowerCase().replace(/\.$/, '');
    const records = this.records[`${type} ${plain}`];
    const [alias] = records === undefined && type !== 'CNAME' ? [this.records[`CNAME ${plain}`] ?? []].flat() : [];
    if (alias !== undefined && alias !== 'silent') return this.find(type, alias);
    return records === 'silent' ? { unanswered: 'ETIMEOUT' } : { found: [...(records ?? [])] };
  }
}
