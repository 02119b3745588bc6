import { expectInvalid, expectRefusal } from '../api/answers.js';
import { inbound, json, provide, requestsOf, setSecret } from '../api/receiving.js';
import { expectStatus } from '../api/scene.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { type PosthornServer, startServer } from '../support/server.js';
import { type InlineExtension, inlineExtension } from './inline-extension.js';

/** Code of a preset. The request header `act` selects the behavior of its verifier. */
const ODD = `
import { Module } from '@nestjs/common';
import { InboundPreset, ProviderPreset } from 'posthorn';

const ACTS = {
  verify: () => true,
  refuse: () => false,
  throw: () => { throw new Error('a bug'); },
  reject: () => Promise.reject(new Error('a bug')),
  nothing: () => undefined,
  text: () => 'yes',
  never: () => new Promise(() => undefined),
};

export class OddPreset extends ProviderPreset {
  id = 'odd';
  title = 'Odd';
  secret = 'Any text.';
  retries = 'Odd retries.';
  secretHeaders = ['X-Odd-Token'];
  verify(request) { return ACTS[request.headers.find(([name]) => name === 'act')?.[1] ?? 'refuse'](); }
}
InboundPreset()(OddPreset);

export default class OddModule {}
Module({ providers: [OddPreset] })(OddModule);
`;

const BUILT_IN_ID = `
import { Module } from '@nestjs/common';
import { InboundPreset, ProviderPreset } from 'posthorn';

export class WrongPreset extends ProviderPreset {
  id = 'stripe';
  title = 'Acme';
  secret = 'Any text.';
  retries = 'Never.';
  verification = 'hmac-sha256';
}
InboundPreset()(WrongPreset);

export default class WrongModule {}
Module({ providers: [WrongPreset] })(WrongModule);
`;

describe('presets of extensions', () => {
  let odd: InlineExtension;
  let database: TestDatabase;
  let server: PosthornServer;

  beforeAll(async () => {
    odd = inlineExtension(ODD);
    database = await createDatabase();
    server = await startServer({ EXTENSIONS: odd.file, DATABASE_URL: database.url });
  });

  afterAll(async () => {
    await server?.stop();
    await database?.drop();
    odd?.remove();
  });

  it.each(['throw', 'reject', 'nothing', 'text', 'never'])(
    '503: a request is not accepted if the verifier fails (%s), so that the provider sends it again',
    async (act) => {
      const endpoint = await inbound(server, { preset: 'odd' });
      await setSecret(server, endpoint, 's3cret');

      const answer = await provide(server, endpoint.at, json({ type: 'a' }, { act }));
      const again = await provide(server, endpoint.at, json({ type: 'a' }, { act: 'verify' }));

      expect(answer.status).toBe(503);
      expect(answer.text).not.toContain('a bug');
      expect(again.status).toBe(200);
      expect(await requestsOf(server, endpoint)).toMatchObject([{ verified: true }]);
      expect(server.logs()).not.toContain('s3cret');
    },
  );

  it('401: a refused request is quarantined with the reason', async () => {
    const endpoint = await inbound(server, { preset: 'odd' });
    await setSecret(server, endpoint, 's3cret');

    const answer = await provide(server, endpoint.at, json({ type: 'a' }, { act: 'refuse' }));

    expect(answer.status).toBe(401);
    expect(await requestsOf(server, endpoint)).toMatchObject([{ verified: false }]);
  });

  it('401: without a secret nothing is verified', async () => {
    const endpoint = await inbound(server, { preset: 'odd' });

    expect((await provide(server, endpoint.at, json({}, { act: 'verify' }))).status).toBe(401);
  });

  it('422: a sample cannot be signed for a verifier, and an unknown preset is refused', async () => {
    const endpoint = await inbound(server, { preset: 'odd' });
    await setSecret(server, endpoint, 's3cret');

    expectRefusal(await server.api('POST', `/v1/endpoints/${endpoint.id}/test`), 422);
    expectInvalid(await server.api('POST', '/v1/endpoints', { slug: 'b', preset: 'odder' }), 'schema', 'preset');
  });

  it('the service does not start, and names the extension, if a preset has the id of a built-in one', async () => {
    const extension = inlineExtension(BUILT_IN_ID);

    const start = startServer({ ...server.env, EXTENSIONS: extension.file }).finally(() => extension.remove());

    await expect(start).rejects.toThrow(
      /The extension WrongModule \(.+\) failed: There is already a preset "stripe": rename that of WrongPreset\./,
    );
  });

  it('when the extension is removed, its endpoints answer 503 and can be changed, and it can come back', async () => {
    const endpoint = await inbound(server, { preset: 'odd' });
    await setSecret(server, endpoint, 's3cret');
    const { EXTENSIONS: _gone, ...bare } = server.env;
    await server.stop();
    const plain = await startServer(bare);

    const answer = await provide(plain, endpoint.at, json({}, { act: 'verify' }));
    const shown = expectStatus(await plain.api('GET', `/v1/endpoints/${endpoint.id}`), 200);
    expectStatus(await plain.api('PATCH', `/v1/endpoints/${endpoint.id}`, { name: 'Still here' }), 200);
    await plain.stop();
    server = await startServer(server.env);

    expect(answer.status).toBe(503);
    expect(shown.json).toMatchObject({ preset: 'odd', verification: 'preset' });
    expect((await provide(server, endpoint.at, json({}, { act: 'verify' }))).status).toBe(200);
  });
});
