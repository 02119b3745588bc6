import { accessOf, serviceOf, type Sessions, usableKey } from './sessions.js';

const kept = (key: string | null = null): Sessions =>
  ({
    current: () => null,
    find: () => (key === null ? null : { api_key: key, scope: null, created_at: '', is_granted: true }),
  }) as unknown as Sessions;

describe('selecting key and service', () => {
  it.each(['ek_live_hun\nter2', 'ek_live_hun\rter2', 'ek_live_hun ter2', 'ek_live_hun\0ter2', 'ek_live_hun\u2028ter2'])(
    'rejects a key like %j, and names its source without any part of the key',
    (key) => {
      const ways: [() => unknown, RegExp][] = [
        [
          () => accessOf({ url: 'http://localhost' }, kept(), { POSTHORN_API_KEY: key }),
          /^POSTHORN_API_KEY has a line break/,
        ],
        [
          () => accessOf({ url: 'http://localhost' }, kept(key), {}),
          /^The key of the login at http:\/\/localhost has a line break/,
        ],
        [() => usableKey(key, 'The key from standard input'), /^The key from standard input has a line break/],
      ];

      for (const [read, message] of ways) {
        expect(read).toThrow(expect.objectContaining({ exitCode: 3, message: expect.stringMatching(message) }));
        expect(read).not.toThrow(/hun|ter2/);
      }
    },
  );

  it('ignores a line break after a key', () => {
    expect(accessOf({ url: 'http://localhost' }, kept(), { POSTHORN_API_KEY: 'ek_live_x\n' })).toMatchObject({
      apiKey: 'ek_live_x',
      source: 'POSTHORN_API_KEY',
    });
  });

  it.each(['https://ann:hunter2@host', 'https://ann:hunter2#x@host', 'ftp://ann:hunter2@host', 'ann:hunter2@host'])(
    'rejects a service URL like %s without repeating the password',
    (url) => {
      for (const read of [() => serviceOf({ url }, kept(), {}), () => serviceOf({}, kept(), { POSTHORN_URL: url })]) {
        expect(read).toThrow(expect.objectContaining({ exitCode: 2 }));
        expect(read).not.toThrow(/hunter2/);
      }
    },
  );
});
