import { frameOriginFault } from './web-origin.js';

describe('frameOriginFault', () => {
  it.each([
    'https://app.example.com',
    'https://app.example.com:8443',
    'https://xn--bcher-kva.example',
    'https://localhost',
  ])('%s may embed in both environments', (origin) => {
    expect([frameOriginFault(origin, 'live'), frameOriginFault(origin, 'test')]).toEqual([null, null]);
  });

  it.each(['http://localhost', 'http://localhost:3000', 'http://127.0.0.1:5173'])(
    '%s may embed only in test',
    (origin) => {
      expect(frameOriginFault(origin, 'test')).toBeNull();
      expect(frameOriginFault(origin, 'live')).toBe('begins with https://');
    },
  );

  it.each([
    '',
    '*',
    'https:',
    'https://',
    'https://*.example.com',
    'https://app.example.com/',
    'https://app.example.com/x',
    'https://APP.example.com',
    'https://app.example.com:443',
    'https://bücher.example',
    'https://a.example b',
    "https://a.example;script-src 'unsafe-inline'",
    'https://u:p@a.example',
    'https://[::1]',
    'ftp://a.example',
    'null',
    'data:text/html,x',
    'https://a.example,b.example',
    'https://a..example',
    'javascript:alert(1)',
    'http://app.example.com',
    'http://localhost.example.com',
    'http://192.168.0.1',
  ])('%j may not', (text) => {
    expect(frameOriginFault(text, 'test')).not.toBeNull();
  });
});
