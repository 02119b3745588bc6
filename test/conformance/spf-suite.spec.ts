import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { MessageLookups } from '../../src/modules/inbox/messages/message-lookups.js';
import { senderPolicy } from '../../src/modules/inbox/reading/authentication.js';
import { FixedRecords, type RecordsByName } from '../support/fixed-records.js';
import { publicSuite } from '../support/public-suites.js';

/** A scenario in the suite's format. */
interface Scenario {
  description: string;
  tests: Record<string, { helo: string; host: string; mailfrom: string; result: string | string[] }>;
  zonedata: Record<string, (string | Record<string, unknown>)[]>;
}

const file = publicSuite('spf');
const scenarios =
  file === null
    ? []
    : parseAllDocuments(readFileSync(file, 'latin1')).map((document) => document.toJS() as Scenario | null);

/**
 * Returns a zone's records by type and lower-case name. A record of type SPF becomes a TXT record if the name has none.
 */
function recordsOf(zone: Scenario['zonedata']): RecordsByName {
  const recordsByName: Record<string, string[] | 'silent'> = {};
  for (const [name, records] of Object.entries(zone)) {
    const add = (type: string, text: string): void => {
      const key = `${type} ${placeOf(type, name)}`;
      const known = recordsByName[key] ?? [];
      if (known !== 'silent') recordsByName[key] = [...known, text];
    };
    const hasText = records.some((record) => typeof record === 'object' && 'TXT' in record);
    for (const record of records) {
      if (typeof record === 'string') {
        for (const type of ['TXT', 'A', 'AAAA', 'MX', 'PTR'])
          recordsByName[`${type} ${placeOf(type, name)}`] ??= 'silent';
        continue;
      }
      for (const [type, value] of Object.entries(record)) {
        const kind = type === 'SPF' ? 'TXT' : type;
        if (value === 'NONE' || (type === 'SPF' && hasText)) continue;
        if (value === 'TIMEOUT') recordsByName[`${kind} ${placeOf(kind, name)}`] = 'silent';
        else add(kind, Array.isArray(value) ? value.join(kind === 'MX' ? ' ' : '') : String(value));
      }
    }
  }
  return recordsByName;
}

function placeOf(type: string, name: string): string {
  const plain = name.toLowerCase().replace(/\.$/, '');
  if (type !== 'PTR' || !plain.endsWith('.arpa')) return plain;
  const labels = plain
    .replace(/\.(?:in-addr|ip6)\.arpa$/, '')
    .split('.')
    .reverse();
  return labels.length === 4 ? labels.join('.') : (labels.join('').match(/.{1,4}/g) ?? []).join(':');
}

describe('SPF as openspf.org tests it (RFC 7208)', () => {
  const cases = scenarios.flatMap((scenario) =>
    scenario === null
      ? []
      : Object.entries(scenario.tests).map(([name, test]) => ({
          name,
          test,
          zone: scenario.zonedata,
          of: scenario.description,
        })),
  );

  const decide = cases.length > 0 ? it : it.skip;

  // One test for all cases, because they take milliseconds and a failure names its case.
  decide(`judges every one of ${cases.length} cases as the suite does`, async () => {
    const wrong: string[] = [];
    for (const { name, test, zone, of } of cases) {
      const lookups = new MessageLookups(new FixedRecords(recordsOf(zone)), 'test');
      const { verdict } = await senderPolicy(
        { clientIp: test.host, helo: test.helo, mailFrom: test.mailfrom, ownName: 'mx.example' },
        lookups,
      );
      lookups.close();
      if (![test.result].flat().includes(verdict))
        wrong.push(`${of}: ${name} is ${verdict}, not ${String(test.result)}`);
    }

    expect(cases.length).toBeGreaterThan(180);
    expect(wrong).toEqual([]);
  });
});
