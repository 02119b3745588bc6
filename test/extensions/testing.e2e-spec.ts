import { Client, startPosthorn } from 'posthorn/testing';

/** As an extension's own test has it: the package by its name, and no database but the one that is started for it. */
describe('posthorn/testing', () => {
  it('starts a service with a PostgreSQL of its own, whose two keys are two tenants, and stops it', async () => {
    const posthorn = await startPosthorn();
    const live = new Client(posthorn);
    await live.expect(201, 'POST', '/v1/destinations', { name: 'Pull', type: 'pull' });

    const [ours, theirs] = [
      await live.expect(200, 'GET', '/v1/destinations'),
      await new Client({ ...posthorn, apiKey: posthorn.testApiKey }).expect(200, 'GET', '/v1/destinations'),
    ];

    expect([ours['data'], theirs['data']]).toEqual([[expect.objectContaining({ name: 'Pull' })], []]);
    await posthorn.stop();
    await expect(fetch(`${posthorn.url}/health`)).rejects.toThrow();
  }, 120_000);

  it('says why a service did not start', async () => {
    await expect(
      startPosthorn({
        extensions: ['@acme/posthorn-nothing'],
        env: { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' },
      }),
    ).rejects.toThrow(/EXTENSIONS names @acme\/posthorn-nothing, which cannot be loaded/);
  }, 60_000);
});
