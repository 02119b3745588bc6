import { serverSettings } from './settings.js';

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
});
