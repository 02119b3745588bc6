import assert from 'node:assert/strict';
import { type Access, type ApiAnswer, Client } from './client.js';
import type { ConformanceCheck } from './conformance-check.js';
import type { DestinationScene } from './destination-scene.js';
import type { DestinationDraft } from './destination-under-test.js';

interface Refusal {
  error: { message: string; details: { check?: string; fields?: { path: string }[] } };
}

/** Returns checks that settings are validated, then probed, and only then stored. */
export function registrationChecks(scene: DestinationScene): ConformanceCheck[] {
  const { subject } = scene;
  return [
    { name: 'a reachable destination is created and valid', run: () => creates(scene) },
    {
      name: 'an unknown key in config is rejected',
      run: () => refuses(scene, withUnknownKey(subject.draft()), 'config.nobody_knows_this'),
    },
    ...subject.brokenDrafts.map(({ name, draft, path }) => ({
      name: `refused: ${name}`,
      run: () => refuses(scene, draft, path),
    })),
    {
      name: 'an unreachable target is rejected, and nothing is stored',
      run: () => refusesAfterProbe(scene, subject.unreachableDraft(), 'connectivity'),
    },
    ...(subject.refusedDraft
      ? [{ name: 'credentials that the target rejects are rejected', run: () => refusesSignIn(scene) }]
      : []),
    {
      name: 'credentials are never shown: not in the API, in an error, or in the log',
      run: () => hidesCredentials(scene),
    },
    { name: 'a private address is rejected unless the operator allows it', run: () => refusesPrivate(scene) },
  ];
}

async function creates(scene: DestinationScene): Promise<void> {
  const client = await scene.client();
  const made = await client.expect(201, 'POST', '/v1/destinations', scene.body());
  assert.equal(made['validation'], 'valid');
  const { checks } = await client.expect(200, 'POST', `/v1/destinations/${made['id'] as string}/validate`);
  assert.deepEqual(checks, { schema: true, credentials: true, connectivity: true });
}

async function refuses(scene: DestinationScene, draft: DestinationDraft, path: string): Promise<void> {
  const refusal = await refused(scene, draft);
  assert.equal(refusal.details.check, 'schema', refusal.message);
  const paths = refusal.details.fields?.map((field) => field.path) ?? [];
  assert.ok(paths.includes(path), `The fault is at ${paths.join(', ')} instead of ${path}: ${refusal.message}`);
}

async function refusesAfterProbe(scene: DestinationScene, draft: DestinationDraft, check: string): Promise<void> {
  const before = await listed(scene);
  const refusal = await refused(scene, draft);
  assert.equal(refusal.details.check, check, refusal.message);
  assert.ok(refusal.message.length > 0);
  assert.deepEqual(await listed(scene), before);
}

async function refusesSignIn(scene: DestinationScene): Promise<void> {
  await refusesAfterProbe(scene, scene.subject.refusedDraft?.() ?? {}, 'credentials');
}

async function hidesCredentials(scene: DestinationScene): Promise<void> {
  const client = await scene.client();
  const answers: ApiAnswer[] = [await client.call('POST', '/v1/destinations', scene.body())];
  const id = answers[0]?.json?.['id'] as string;
  answers.push(
    await client.call('GET', `/v1/destinations/${id}`),
    await client.call('GET', '/v1/destinations?limit=100'),
  );
  const failing = [scene.subject.unreachableDraft(), scene.subject.refusedDraft?.() ?? {}];
  for (const draft of failing) answers.push(await client.call('POST', '/v1/destinations', scene.body(draft)));
  const secrets = [scene.subject.draft(), ...failing].flatMap(secretsOf);
  const shown = [...answers.map(({ text }) => text), (await scene.service()).logs()].join('\n');
  for (const secret of secrets) assert.ok(!shown.includes(secret), 'A credential is shown.');
}

/** Checks that private addresses are rejected. Starts another service for this, because the first one allows them. */
async function refusesPrivate(scene: DestinationScene): Promise<void> {
  const connections = await scene.subject.connections?.();
  const service = await scene.subject.start({ EGRESS_ALLOW_CIDRS: '' });
  try {
    const refusal = await refused(scene, scene.subject.draft(), service);
    assert.match(refusal.message, /EGRESS_ALLOW_CIDRS/);
    assert.equal(await scene.subject.connections?.(), connections);
  } finally {
    await service.stop();
  }
}

async function refused(scene: DestinationScene, draft: DestinationDraft, service?: Access): Promise<Refusal['error']> {
  const client = service ? new Client(service) : await scene.client();
  return ((await client.expect(422, 'POST', '/v1/destinations', scene.body(draft))) as unknown as Refusal).error;
}

async function listed(scene: DestinationScene): Promise<unknown> {
  return (await (await scene.client()).expect(200, 'GET', '/v1/destinations?limit=100'))['data'];
}

/** Returns all credentials except user names and ids, which error messages may contain. */
function secretsOf({ credentials = {} }: DestinationDraft): string[] {
  return Object.entries(credentials).flatMap(([key, value]) => (/user|name|id$/i.test(key) ? [] : value));
}

function withUnknownKey(draft: DestinationDraft): DestinationDraft {
  return { ...draft, config: { ...draft.config, nobody_knows_this: true } };
}
