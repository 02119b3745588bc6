import { serverSettings } from './settings.js';

describe('serverSettings', () => {
  it('never turns off the settings for durability', () => {
    const settings = serverSettings({});

    expect(settings['synchronous_commit']).toBe('on');
    expect(settings).not.toHaveProperty('fsync');
    expect(settings).not.toHaveProperty('full_page_writes');
  });

  it('applies overrides', () => {
    expect(serverSettings({ max_connections: '20' })['max_connections']).toBe('20');
  });
});
