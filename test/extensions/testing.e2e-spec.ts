import { Client, startPosthorn } from 'posthorn/testing';

/** Uses the package as an extension's own test does, with the database that the package starts. */
describe('posthorn/testing', () => {
  it('starts a service with its own PostgreSQL and two keys of two tenants, and stops it', async () => {
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
  });

  it('reports why a service did not start', async () => {
    await expect(
      startPosthorn({
        extensions: ['@acme/posthorn-nothing'],
        env: { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' },
      }),
    ).rejects.toThrow(/EXTENSIONS names @acme\/posthorn-nothing, which cannot be loaded/);
  });
});
