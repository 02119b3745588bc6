import { createPublicKey, sign, verify } from 'node:crypto';
import { dataSource } from '../../src/bootstrap/data-source.js';
import { SystemClock } from '../../src/kernel/clock.js';
import { type Config, loadConfig } from '../../src/kernel/config/config.js';
import { Keyring } from '../../src/kernel/crypto/keyring.js';
import { KeyringStore } from '../../src/kernel/crypto/keyring.store.js';
import { Vault } from '../../src/kernel/crypto/vault.js';
import { Database } from '../../src/kernel/database/database.js';
import { Notifications } from '../../src/kernel/database/notifications.js';
import { DkimKeys } from '../../src/modules/domains/dkim-keys.js';
import { DkimKeysStore } from '../../src/modules/domains/dkim-keys.store.js';
import { DomainKeys } from '../../src/modules/domains/domain-keys.js';
import { DomainKeysStore } from '../../src/modules/domains/domain-keys.store.js';
import { PlatformZone } from '../../src/modules/domains/platform-zone.js';
import { ReceivingDomains, SendingDomains } from '../../src/modules/domains/verified-domains.js';
import { VerifiedDomainsStore } from '../../src/modules/domains/verified-domains.store.js';
import { run } from '../support/program.js';
import { type DomainsScene, PLATFORM, recordsOf, startDomainsScene } from './domains.js';
import { until } from './polling.js';
import { expectStatus, uuidOf } from './scene.js';

/** Queries of the email modules about domains, on the database of a running server. */
describe('domains for email', () => {
  let scene: DomainsScene;
  let database: Database;
  let notifications: Notifications;
  let sending: SendingDomains;
  let sendingWithoutPlatform: SendingDomains;
  let receiving: ReceivingDomains;
  let environment: number;

  beforeAll(async () => {
    scene = await startDomainsScene();
    const config = loadConfig(scene.server.env);
    database = new Database(await dataSource(config.databaseUrl, 2).initialize(), config);
    const clock = new SystemClock();
    notifications = new Notifications(config, database, clock);
    await notifications.onApplicationBootstrap();
    const keyring = new Keyring(new KeyringStore(database), notifications, config, clock);
    await keyring.load();
    const keys = new DkimKeys(new DkimKeysStore(database), new Vault(keyring), notifications, clock);
    const ownKeys = new DomainKeys(new DomainKeysStore(database), new Vault(keyring), clock);
    const store = new VerifiedDomainsStore(database);
    const sender = (zoneOf: Config): SendingDomains =>
      new SendingDomains(store, new PlatformZone(zoneOf, keys), keys, ownKeys, notifications, clock);
    sending = sender(config);
    sendingWithoutPlatform = sender(loadConfig({ ...scene.server.env, PLATFORM_DOMAIN: 'localhost' }));
    receiving = new ReceivingDomains(store);
    const { id } = await scene.create('webhook');
    const [row] = await scene.sql.rows<{ environment_id: number }>('select environment_id from domains where id = $1', [
      uuidOf(id),
    ]);
    environment = row?.environment_id ?? 0;
  });

  afterAll(async () => {
    notifications.onApplicationShutdown();
    await database.close();
    await scene.close();
  });

  it('email can be sent from a verified domain of the environment, but not from its subdomains or parent domains', async () => {
    const { id, domain } = await scene.verified('email-send');

    expect(await sending.find(environment, domain)).toMatchObject({ id: uuidOf(id), domain });
    for (const host of [`sub.${domain}`, domain.slice(domain.indexOf('.') + 1), 'example.com', ''])
      expect(await sending.find(environment, host)).toBeNull();
    expect(await sending.find(environment + 1, domain)).toBeNull();
  });

  it('email cannot be sent from a pending domain, a webhook domain, or one that permanently lost its verification', async () => {
    const [pending, webhook, lost] = [
      await scene.create('email-send'),
      await scene.verified('webhook'),
      await scene.verified('email-send'),
    ];
    scene.withdraw(recordsOf(lost, 'ownership'));
    await scene.verify(lost.id);
    expect(await sending.find(environment, lost.domain)).not.toBeNull();
    await scene.letPass(lost.id, 73);
    await scene.verify(lost.id);
    // The change reaches this process a moment later.
    await until(
      () => sending.find(environment, lost.domain),
      (found) => found === null,
    );

    for (const { domain } of [pending, webhook, lost]) expect(await sending.find(environment, domain)).toBeNull();
  });

  it('the return path uses the domain itself once its records are found, otherwise the platform domain; without a platform domain there is none', async () => {
    const domain = await scene.create('email-send');
    scene.publish(recordsOf(domain, 'ownership', 'dkim'));
    await scene.verify(domain.id);
    const before = await sending.find(environment, domain.domain);
    scene.publish(recordsOf(domain, 'mail_from', 'spf'));
    await scene.verify(domain.id);
    const after = await until(
      () => sending.find(environment, domain.domain),
      (found) => found?.returnPathHost !== before?.returnPathHost,
    );
    scene.zone.trouble(`bounce.${domain.domain}`, 'fails');
    await scene.verify(domain.id);
    const silent = await sending.find(environment, domain.domain);

    expect([before, after, silent].map((each) => each?.returnPathHost)).toEqual([
      `bounce.${PLATFORM}`,
      `bounce.${domain.domain}`,
      `bounce.${domain.domain}`,
    ]);
    expect((await sendingWithoutPlatform.find(environment, domain.domain))?.returnPathHost).toBeNull();
  });

  it('signatures verify with the record that the operator publishes', async () => {
    const { selector, privateKey } = await sending.signingKey();
    const { out } = await run('dns', scene.server.env);

    const line = out.split('\n').find((each) => each.startsWith(`${selector}._domainkey.`)) ?? '';
    const text = [...line.matchAll(/"([^"]*)"/g)].map(([, part]) => part).join('');
    const publicKey = createPublicKey({
      key: Buffer.from(/p=(\S+)/.exec(text)?.[1] ?? '', 'base64'),
      format: 'der',
      type: 'spki',
    });

    expect(privateKey.asymmetricKeyDetails?.modulusLength).toBe(2048);
    expect(verify('sha256', Buffer.from('mail'), publicKey, sign('sha256', Buffer.from('mail'), privateKey))).toBe(
      true,
    );
  });

  it('email is received on verified domains of kind email, in all environments, and on no others', async () => {
    const [email, sends, pending] = [
      await scene.verified('email'),
      await scene.verified('email-send'),
      await scene.create('email'),
    ];
    const place = { environmentId: environment, domainId: uuidOf(email.id) };

    expect(await receiving.find(email.domain)).toEqual(place);
    expect(await receiving.ofEnvironment(environment, place.domainId)).toEqual({ domain: email.domain });
    expect(await receiving.ofEnvironment(environment + 1, place.domainId)).toBeNull();
    for (const { id, domain } of [sends, pending]) {
      expect([await receiving.find(domain), await receiving.ofEnvironment(environment, uuidOf(id))]).toEqual([
        null,
        null,
      ]);
    }
    expectStatus(await scene.server.api('PATCH', `/v1/domains/${email.id}`, { kind: 'email-send' }), 200);
    expect([await receiving.find(email.domain), await receiving.ofEnvironment(environment, place.domainId)]).toEqual([
      null,
      null,
    ]);
  });

  it('a transaction that uses a domain blocks its conversion until the transaction ends', async () => {
    const { id } = await scene.verified('email');
    let converted: Promise<number> = Promise.resolve(0);
    let isDone = false;

    await database.unitOfWork(() =>
      database.transaction(async () => {
        expect(await receiving.ofEnvironment(environment, uuidOf(id))).not.toBeNull();
        converted = scene.server.api('PATCH', `/v1/domains/${id}`, { kind: 'email-send' }).then((answer) => {
          isDone = true;
          return answer.status;
        });
        // Waits until the change of the domain's kind is blocked by the lock of this transaction.
        for (let looks = 0; looks < 200; looks += 1) {
          const [row] = await scene.sql.rows<{ waiting: number }>(
            `select count(*)::int as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
          );
          if ((row?.waiting ?? 0) > 0) break;
        }
        expect(isDone).toBe(false);
      }),
    );

    expect(await converted).toBe(200);
  });
});
