import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { parseMailbox } from '#engine/mail/addresses.js';
import { SystemClock } from '#kernel/clock.js';
import { type Config, ConfigError, loadConfig } from '#kernel/config/config.js';
import { Keyring } from '#kernel/crypto/keyring.js';
import { KeyringStore } from '#kernel/crypto/keyring.store.js';
import { Vault } from '#kernel/crypto/vault.js';
import { Cursors } from '#kernel/cursors.js';
import { Database } from '#kernel/database/database.js';
import { followDatabase } from '#kernel/database/database-time.js';
import { Notifications } from '#kernel/database/notifications.js';
import { ApiError } from '#kernel/errors.js';
import { type Id, Ids, parseId, showId } from '#kernel/ids.js';
import { OperatorAudit } from '#modules/audit/operator-audit.js';
import { KeyIssuer } from '#modules/auth/keys/key-issuer.js';
import { KeysStore } from '#modules/auth/keys/keys.store.js';
import { MembersStore } from '#modules/auth/members/members.store.js';
import { OrganizationFounder } from '#modules/auth/organizations/organization-founder.js';
import { OrgsService } from '#modules/auth/organizations/organizations.service.js';
import { OrgsStore } from '#modules/auth/organizations/organizations.store.js';
import { OrganizationsStore } from '#modules/auth/organizations/own-organization.store.js';
import { runOnDatabase } from '../bootstrap/command-database.js';
import { openDatabase } from '../bootstrap/data-source.js';
import { provideMasterKey } from '../bootstrap/master-key.js';
import { argumentsOf } from '../bootstrap/server-commands.js';
import { startFailure } from '../bootstrap/start-failure.js';

type Wish =
  | { verb: 'list' }
  | { verb: 'create'; slug: string; name: string; admin: { email: string; name: string } }
  | { verb: 'remove'; id: Id };

const USAGE =
  'The commands are `orgs list`, `orgs remove org_…`, and `orgs create` with --slug, --name and --admin-email.';
const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

async function runAt(url: string, given: Config, wish: Wish): Promise<string[]> {
  const config = given.completedWith(url, provideMasterKey(given));
  const source = await openDatabase(url);
  const database = new Database(source, config);
  try {
    const clock = new SystemClock();
    await followDatabase(clock, (text) => source.query(text));
    const ids = new Ids(clock);
    const notifications = new Notifications(config, database, clock);
    const keyring = new Keyring(new KeyringStore(database), notifications, config, clock);
    await keyring.load();
    const [organizations, keys] = [new OrganizationsStore(database), new KeysStore(database)];
    const founder = new OrganizationFounder(organizations, new Vault(keyring), ids, clock);
    const orgs = new OrgsService(
      new OrgsStore(database),
      organizations,
      founder,
      new MembersStore(database),
      keys,
      new KeyIssuer(keys, ids, clock),
      database,
      notifications,
      new Cursors(keyring, clock),
      ids,
      config,
    );
    const audit = await OperatorAudit.open(database, ids);
    return await database.unitOfWork(() => fulfil(wish, orgs, audit));
  } catch (error) {
    throw error instanceof ApiError ? new ConfigError(error.message) : error;
  } finally {
    await database.close();
  }
}

/** Makes the requested change and writes its audit entry in one transaction. Returns the lines to print. */
async function fulfil(wish: Wish, orgs: OrgsService, audit: OperatorAudit): Promise<string[]> {
  const noted = (command: string, id: Id, after: Record<string, unknown> | null): Promise<void> =>
    audit.record(command, { resourceType: 'orgs', resourceId: showId('org', id), after });
  switch (wish.verb) {
    case 'list': {
      const { rows } = await orgs.list({ limit: 10_000 });
      return rows.map(
        ({ id, slug, name, removed_at }) =>
          `${showId('org', id)}  ${slug}  ${name}${removed_at === null ? '' : `  (removed ${removed_at.toISOString()})`}`,
      );
    }
    case 'create': {
      const { organization, admin, keys } = await orgs.create(wish);
      await noted('posthorn orgs create', organization.id, { slug: wish.slug, name: wish.name, admin: admin.email });
      return [
        `${showId('org', organization.id)}  ${wish.slug}  ${wish.name}`,
        `Admin: ${admin.email}`,
        `Live admin key: ${keys.live}`,
        `Test admin key: ${keys.test}`,
        'The keys are not shown again.',
      ];
    }
    case 'remove':
      await orgs.remove(wish.id);
      await noted('posthorn orgs remove', wish.id, null);
      return [
        `${showId('org', wish.id)} is removed: its users can no longer sign in. The service erases its configuration; accepted data is removed by retention.`,
      ];
  }
}

/** Returns the change that the command line requests. @throws ConfigError for invalid input. */
function wishOf(given: string[]): Wish {
  const [verb, ...rest] = given;
  if (verb === 'list' && rest.length === 0) return { verb };
  const id = verb === 'remove' && rest.length === 1 ? parseId('org', rest[0] ?? '') : null;
  if (id !== null) return { verb: 'remove', id };
  if (verb !== 'create') throw new ConfigError(USAGE);
  const { slug, name, 'admin-email': email, 'admin-name': adminName } = optionsOf(rest);
  if (slug === undefined || name === undefined || email === undefined) throw new ConfigError(USAGE);
  if (!SLUG.test(slug)) throw new ConfigError('--slug must have 1 to 63 lower-case letters, digits and "-".');
  const mailbox = parseMailbox(email);
  if ('refusal' in mailbox || mailbox.name !== '')
    throw new ConfigError('--admin-email must be a plain address, such as ada@example.com.');
  const address = mailbox.address.toLowerCase();
  return { verb, slug, name, admin: { email: address, name: adminName ?? address } };
}

function optionsOf(args: string[]): Partial<Record<'slug' | 'name' | 'admin-email' | 'admin-name', string>> {
  try {
    const text = { type: 'string' } as const;
    return parseArgs({ args, options: { slug: text, name: text, 'admin-email': text, 'admin-name': text } }).values;
  } catch {
    throw new ConfigError(USAGE);
  }
}

let config: Config | null = null;
try {
  const wish = wishOf(argumentsOf('orgs'));
  config = loadConfig();
  const lines = await runOnDatabase(config, (url, given) => runAt(url, given, wish));
  process.stdout.write(`${lines.join('\n')}\n`);
} catch (error) {
  process.stderr.write(`Nothing was changed: ${startFailure(error, config)}\n`);
  process.exitCode = 1;
}
