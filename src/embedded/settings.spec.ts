import { serverSettings, sharedBuffersMib } from './settings.js';

const GIB = 1024 ** 3;

describe('serverSettings', () => {
  it('never switches off what makes a commit durable', () => {
    const settings = serverSettings({});

    expect(settings['synchronous_commit']).toBe('on');
    expect(settings).not.toHaveProperty('fsync');
    expect(settings).not.toHaveProperty('full_page_writes');
  });

  it('lets an override win', () => {
    expect(serverSettings({ max_connections: '20' })['max_connections']).toBe('20');
  });

  it.each([
    [64 * GIB, 64],
    [1 * GIB, 64],
    [1 * GIB - 1, 32],
    [0.5 * GIB, 32],
  ])('on a machine with %d bytes of memory takes %d MiB for shared buffers', (totalBytes, expected) => {
    expect(sharedBuffersMib(totalBytes)).toBe(expected);
  });
});
