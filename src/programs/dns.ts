import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { ServerRecords } from '#egress/names/server-records.js';
import { dkimHost, dkimText, plainText } from '#engine/mail/dns-records.js';
import { platformRecords, zoneLine } from '#engine/mail/platform-zone.js';
import { SystemClock } from '#kernel/clock.js';
import { type Config, ConfigError, loadConfig } from '#kernel/config/config.js';
import { Keyring } from '#kernel/crypto/keyring.js';
import { KeyringStore } from '#kernel/crypto/keyring.store.js';
import { Vault } from '#kernel/crypto/vault.js';
import { Database } from '#kernel/database/database.js';
import { followDatabase } from '#kernel/database/database-time.js';
import { Notifications } from '#kernel/database/notifications.js';
import { Ids } from '#kernel/ids.js';
import { OperatorAudit } from '#modules/audit/operator-audit.js';
import { DkimKeys, type ListedDkimKey } from '#modules/domains/dkim-keys.js';
import { DkimKeysStore } from '#modules/domains/dkim-keys.store.js';
import { runOnDatabase } from '../bootstrap/command-database.js';
import { openDatabase } from '../bootstrap/data-source.js';
import { provideMasterKey } from '../bootstrap/master-key.js';
import { argumentsOf } from '../bootstrap/server-commands.js';
import { startFailure } from '../bootstrap/start-failure.js';

interface Options {
  isRotating: boolean;
  /** True to activate the key without checking that its DNS record is published. */
  isBlind: boolean;
}

async function run(config: Config, options: Options): Promise<string[]> {
  if (!config.platformDomain.includes('.'))
    throw new ConfigError('PLATFORM_DOMAIN is not set: set it to the domain whose zone you publish.');
  return runOnDatabase(config, (url) => runAt(url, config, options));
}

async function runAt(url: string, given: Config, options: Options): Promise<string[]> {
  const config = given.completedWith(url, provideMasterKey(given));
  const source = await openDatabase(url);
  const database = new Database(source, config);
  try {
    const clock = new SystemClock();
    const notifications = new Notifications(config, database, clock);
    const keyring = new Keyring(new KeyringStore(database), notifications, config, clock);
    await keyring.load();
    const keys = new DkimKeys(new DkimKeysStore(database), new Vault(keyring), notifications, clock);
    if (!options.isRotating) return await zone(config, keys);
    await followDatabase(clock, (text) => source.query(text));
    const audit = await OperatorAudit.open(database, new Ids(clock));
    return await database.unitOfWork(() => rotate(config, keys, audit, options));
  } finally {
    await database.close();
  }
}

async function zone({ platformDomain, platformAddresses, platformSpf }: Config, keys: DkimKeys): Promise<string[]> {
  const dkim = await keys.published();
  const current = dkim.find(({ state }) => state === 'current');
  return [
    `; Records to publish for Posthorn in the zone of ${platformDomain}. Mail is signed with ${current?.selector}; both keys stay published.`,
    ...(platformAddresses.length > 0
      ? []
      : ['; PLATFORM_ADDRESSES is not set: A and AAAA records are missing here, and SPF allows no sender.']),
    ...platformRecords({ domain: platformDomain, addresses: platformAddresses, spf: platformSpf, dkim }).map(zoneLine),
  ];
}

/**
 * Rotates the DKIM key in two calls, because receivers must be able to look up a key before it signs. The first call
 * stores a new key for the inactive selector and prints its record. The second call activates the key once name servers
 * have its record. Each call writes an audit entry in the transaction of its change. Returns the lines to print.
 */
async function rotate(config: Config, keys: DkimKeys, audit: OperatorAudit, { isBlind }: Options): Promise<string[]> {
  const noted = (selector: string, before: { state: string } | null, state: ListedDkimKey['state']): Promise<void> =>
    audit.record('posthorn dns --rotate-dkim', {
      resourceType: 'dkim-keys',
      resourceId: selector,
      before,
      after: { state },
    });
  const dkim = await keys.published();
  const current = dkim.find(({ state }) => state === 'current');
  const next = dkim.find(({ state }) => state === 'next');
  if (next === undefined) {
    const made = await keys.prepareNext();
    await noted(made.selector, null, 'next');
    return [
      `; A new key is on ${made.selector}. ${current?.selector} continues to sign until name servers have this record instead of the previous one:`,
      lineOf(config, { ...made, state: 'next' }),
      '; Publish it, wait until the previous record has expired from caches (an hour), and run this again.',
    ];
  }
  if (!isBlind) await seePublished(config, next);
  await keys.promote(next.selector);
  await noted(next.selector, { state: next.state }, 'current');
  return [
    `; Mail is signed with ${next.selector} from now on, in every process within five seconds. Keep ${current?.selector} published: mail that it signed is still in transit.`,
  ];
}

/** Checks that the new key is published. @throws ConfigError if the name servers do not return the key's record. */
async function seePublished(
  { platformDomain, dnsServers }: Config,
  { selector, publicKey }: ListedDkimKey,
): Promise<void> {
  const name = dkimHost(selector, platformDomain);
  const answer = await new ServerRecords({ servers: dnsServers }).txt(name, 'dns');
  const texts = 'found' in answer ? answer.found.map(plainText) : [];
  if (texts.length === 1 && texts[0] === dkimText(publicKey)) return;
  const seen =
    'unanswered' in answer
      ? `its name servers did not answer (${answer.unanswered})`
      : `it has ${texts.length === 0 ? 'no record' : 'another one'}`;
  throw new ConfigError(
    `The new key of ${name} is not published yet: ${seen}. Publish the output of \`posthorn dns\`; --now activates the key without this check.`,
  );
}

function lineOf({ platformDomain, platformAddresses, platformSpf }: Config, key: ListedDkimKey): string {
  const name = dkimHost(key.selector, platformDomain);
  const records = platformRecords({
    domain: platformDomain,
    addresses: platformAddresses,
    spf: platformSpf,
    dkim: [key],
  });
  return records
    .filter((record) => record.name === name)
    .map(zoneLine)
    .join('\n');
}

function optionsOf(given: string[]): Options {
  try {
    const { values } = parseArgs({
      args: given,
      options: { 'rotate-dkim': { type: 'boolean', default: false }, now: { type: 'boolean', default: false } },
    });
    if (values['rotate-dkim'] || !values.now) return { isRotating: values['rotate-dkim'], isBlind: values.now };
  } catch {
    // parseArgs throws for an unknown option. The error below covers this case too.
  }
  throw new ConfigError('The options are --rotate-dkim, optionally with --now.');
}

let config: Config | null = null;
try {
  const options = optionsOf(argumentsOf('dns'));
  config = loadConfig();
  process.stdout.write(`${(await run(config, options)).join('\n')}\n`);
} catch (error) {
  process.stderr.write(`Nothing was changed: ${startFailure(error, config)}\n`);
  process.exitCode = 1;
}
