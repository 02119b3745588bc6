import { inspect } from 'node:util';
import { loadConfig } from './config.js';
import { ConfigError } from './config-values.js';
import { parseEmailTransport } from './email-transport.js';

const RELAY = { kind: 'smtp', isImplicitTls: false, startTls: 'required', login: null };

describe('parseEmailTransport', () => {
  it.each<[string | null, object]>([
    [null, { kind: 'capture' }], ['capture:', { kind: 'capture' }],
    ['smtp://mail.example.com', { ...RELAY, host: 'mail.example.com', port: 587 }],
    ['smtp://mail.example.com:25?tls=opportunistic', { ...RELAY, host: 'mail.example.com', port: 25, startTls: 'opportunistic' }],
    ['smtp://127.0.0.1:2525/?tls=off', { ...RELAY, host: '127.0.0.1', port: 2525, startTls: 'off' }],
    ['smtp://[::1]:25?tls=off', { ...RELAY, host: '::1', port: 25, startTls: 'off' }],
    ['smtps://ada:p%40ss%2Fw%3Frd@mail.example.com', { ...RELAY, host: 'mail.example.com', port: 465, isImplicitTls: true, login: { user: 'ada', password: 'p@ss/w?rd' } }],
    ['smtp://ada%40example.com:x@mail.example.com:2587', { ...RELAY, host: 'mail.example.com', port: 2587, login: { user: 'ada@example.com', password: 'x' } }],
    ['smtp://ada:x@localhost:25?tls=off', { ...RELAY, host: 'localhost', port: 25, startTls: 'off', login: { user: 'ada', password: 'x' } }],
  ])('reads %s', (text, transport) => {
    expect(parseEmailTransport(text)).toEqual(transport);
  });

  it.each([
    ['mail.example.com', 'must be `capture:`'], ['http://mail.example.com', 'must be `capture:`'], ['smtp://', 'must be|no host'], ['smtp://hunter2:@h', 'both a user'],
    ['smtp://:hunter2@h', 'both a user'], ['smtp://ada:hunter2@h?tls=off', 'plain text'], ['smtp://ada:hunter2@h?tls=opportunistic', 'plain text'], ['smtp://ada:hunter2@h?tls=maybe', 'must be required'],
    ['smtps://ada:hunter2@h?tls=off', 'always encrypted'], ['smtp://ada:hunter2@h?pool=1', 'one parameter'], ['smtp://ada:hunter2/x@h', 'must be|no path'], ['smtp://ada:hunter2@h/x', 'no path'],
    ['smtp://ada:hunter2%zz@h', 'percent-encoded'],
  ])('says what is wrong with %s, and nothing of the password', (text, message) => {
    const parse = (): unknown => parseEmailTransport(text);

    expect(parse).toThrow(ConfigError);
    expect(parse).toThrow(new RegExp(message));
    expect(parse).not.toThrow(/hunter2/);
  });
});

describe('Config', () => {
  it('shows nothing of the transport\'s login', () => {
    const config = loadConfig({ EMAIL_TRANSPORT: 'smtps://ada:hunter2@mail.example.com' });

    expect(config.emailTransport).toMatchObject({ login: { password: 'hunter2' } });
    expect(JSON.stringify(config) + inspect(config)).not.toContain('hunter2');
  });

  it.each([['postgres', null], [undefined, null], ['file:/var/lib/posthorn/blobs', '/var/lib/posthorn/blobs']])('takes BLOB_STORE=%s', (BLOB_STORE, directory) => {
    expect(loadConfig({ BLOB_STORE }).blobDirectory).toBe(directory);
  });

  it.each(['s3://bucket', 'file:blobs', 'file:', 'file:/'])('refuses BLOB_STORE=%s', (BLOB_STORE) => {
    expect(() => loadConfig({ BLOB_STORE })).toThrow(/BLOB_STORE/);
  });
});
