import { listeningLines } from './listening.js';

describe('listeningLines', () => {
  it.each([
    [
      'the loopback',
      [{ address: '127.0.0.1', port: 3000 }],
      null,
      ['http://127.0.0.1:3000'],
      'http://localhost:3000/docs',
    ],
    [
      'all IPv4 addresses',
      [{ address: '0.0.0.0', port: 3000 }],
      null,
      ['http://0.0.0.0:3000'],
      'http://localhost:3000/docs',
    ],
    [
      'all addresses of both families',
      [{ address: '::', port: 80 }],
      null,
      ['http://[::]:80'],
      'http://localhost:80/docs',
    ],
    [
      'both addresses of localhost',
      [
        { address: '127.0.0.1', port: 5 },
        { address: '::1', port: 5 },
      ],
      null,
      ['http://127.0.0.1:5', 'http://[::1]:5'],
      'http://localhost:5/docs',
    ],
    [
      'one network address, which localhost does not resolve to',
      [{ address: '192.0.2.7', port: 3000 }],
      null,
      ['http://192.0.2.7:3000'],
      'http://192.0.2.7:3000/docs',
    ],
    [
      'one IPv6 address',
      [{ address: '2001:db8::7', port: 3000 }],
      null,
      ['http://[2001:db8::7]:3000'],
      'http://[2001:db8::7]:3000/docs',
    ],
  ])('%s', (_, addresses, baseUrl, listening, docs) => {
    expect(listeningLines(addresses, baseUrl)).toEqual([
      ...listening.map((url) => `Posthorn is listening on ${url}`),
      `Base URL: http://localhost:${addresses[0]?.port}`,
      `Swagger UI: ${docs}`,
    ]);
  });

  it('BASE_URL is the base URL, and the Swagger UI is below it', () => {
    expect(listeningLines([{ address: '0.0.0.0', port: 3000 }], 'https://hooks.example.com/below')).toEqual([
      'Posthorn is listening on http://0.0.0.0:3000',
      'Base URL: https://hooks.example.com/below',
      'Swagger UI: https://hooks.example.com/below/docs',
    ]);
  });
});
