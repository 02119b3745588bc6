import { inspect } from 'node:util';
import { loadConfig } from './config.js';
import { ConfigError } from './config-values.js';
import { parseEmailTransport } from './email-transport.js';

const AWS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'hunter2' };
const SES = { kind: 'ses', region: 'eu-west-1', configurationSet: null, endpoint: null, credentials: AWS };
const RELAY = { kind: 'smtp', isImplicitTls: false, startTls: 'required', login: null };

describe('parseEmailTransport', () => {
  it.each<[string | null, object]>([
    [null, { kind: 'capture' }],
    ['capture:', { kind: 'capture' }],
    ['smtp://mail.example.com', { ...RELAY, host: 'mail.example.com', port: 587 }],
    [
      'smtp://mail.example.com:25?tls=opportunistic',
      { ...RELAY, host: 'mail.example.com', port: 25, startTls: 'opportunistic' },
    ],
    ['smtp://127.0.0.1:2525/?tls=off', { ...RELAY, host: '127.0.0.1', port: 2525, startTls: 'off' }],
    ['smtp://[::1]:25?tls=off', { ...RELAY, host: '::1', port: 25, startTls: 'off' }],
    [
      'smtps://ada:p%40ss%2Fw%3Frd@mail.example.com',
      {
        ...RELAY,
        host: 'mail.example.com',
        port: 465,
        isImplicitTls: true,
        login: { user: 'ada', password: 'p@ss/w?rd' },
      },
    ],
    [
      'smtp://ada%40example.com:x@mail.example.com:2587',
      { ...RELAY, host: 'mail.example.com', port: 2587, login: { user: 'ada@example.com', password: 'x' } },
    ],
    [
      'smtp://ada:x@localhost:25?tls=off',
      { ...RELAY, host: 'localhost', port: 25, startTls: 'off', login: { user: 'ada', password: 'x' } },
    ],
    ['direct:', { kind: 'direct', port: 25 }],
    ['extension:acme-mail', { kind: 'extension', name: 'acme-mail' }],
    ['direct:?port=2525', { kind: 'direct', port: 2525 }],
    ['ses:eu-west-1', SES],
    [
      'ses:us-gov-west-1?configuration_set=Posthorn_1',
      { ...SES, region: 'us-gov-west-1', configurationSet: 'Posthorn_1' },
    ],
    ['ses:eu-west-1?endpoint=http://127.0.0.1:5000', { ...SES, endpoint: 'http://127.0.0.1:5000' }],
  ])('reads %s', (text, transport) => {
    expect(parseEmailTransport(text, AWS)).toEqual(transport);
  });

  it.each([
    ['mail.example.com', 'must be `capture:`'],
    ['http://mail.example.com', 'must be `capture:`'],
    ['smtp://', 'must be|no host'],
    ['smtp://hunter2:@h', 'both a user'],
    ['smtp://:hunter2@h', 'both a user'],
    ['smtp://ada:hunter2@h?tls=off', 'plain text'],
    ['smtp://ada:hunter2@h?tls=opportunistic', 'plain text'],
    ['smtp://ada:hunter2@h?tls=maybe', 'must be required'],
    ['smtps://ada:hunter2@h?tls=off', 'always encrypted'],
    ['smtp://ada:hunter2@h?pool=1', 'one parameter'],
    ['smtp://ada:hunter2/x@h', 'percent-encode'],
    ['smtp://ada:hunter2#x@h', 'percent-encode'],
    ['smtp://ada:12#hunter2@h', 'percent-encode'],
    ['smtp://ada:a@hunter2?x@h', 'percent-encode'],
    ['smtp:ada:hunter2@h', 'no host'],
    ['smtp://ada:hunter2@h/x', 'no path'],
    ['smtp://ada:hunter2%zz@h', 'percent-encode'],
    ['direct:?port=0', 'one parameter'],
    ['direct://mail.example.com', 'one parameter'],
    ['ses:', 'requires a region'],
    ['ses:Europe', 'requires a region'],
    ['ses:eu-west-1?tls=off', 'accepts the parameters'],
    ['ses:eu-west-1?configuration_set=a b', '1 to 64'],
    ['ses:eu-west-1?endpoint=ftp://h', 'http or https'],
    ['ses:eu-west-1?endpoint=https://ada:hunter2@h', 'http or https'],
  ])('reports what is wrong with %s, without the password', (text, message) => {
    const parse = (): unknown => parseEmailTransport(text, AWS);

    expect(parse).toThrow(ConfigError);
    expect(parse).toThrow(new RegExp(message));
    expect(parse).not.toThrow(/hunter2/);
  });
});

describe('Config', () => {
  it("shows none of the transport's login", () => {
    const config = loadConfig({ EMAIL_TRANSPORT: 'smtps://ada:hunter2@mail.example.com' });

    expect(config.emailTransport).toMatchObject({ login: { password: 'hunter2' } });
    expect(JSON.stringify(config) + inspect(config)).not.toContain('hunter2');
  });

  const AWS_ENV = { AWS_ACCESS_KEY_ID: AWS.accessKeyId, AWS_SECRET_ACCESS_KEY: AWS.secretAccessKey };
  const BUCKET = { kind: 's3', bucket: 'mail', prefix: '', region: 'eu-west-1', endpoint: null, credentials: AWS };

  it('direct: requires PLATFORM_DOMAIN', () => {
    expect(() => loadConfig({ EMAIL_TRANSPORT: 'direct:' })).toThrow(/PLATFORM_DOMAIN/);
    expect(loadConfig({ EMAIL_TRANSPORT: 'direct:', PLATFORM_DOMAIN: 'mail.example.com' }).emailTransport.kind).toBe(
      'direct',
    );
  });

  it('SES and buckets require credentials, which are never shown', () => {
    expect(() => loadConfig({ EMAIL_TRANSPORT: 'ses:eu-west-1', AWS_ACCESS_KEY_ID: 'a' })).toThrow(
      /AWS_SECRET_ACCESS_KEY/,
    );
    expect(() => loadConfig({ BLOB_STORE: 's3://mail?region=eu-west-1' })).toThrow(/AWS_SECRET_ACCESS_KEY/);
    expect(
      JSON.stringify(
        loadConfig({ EMAIL_TRANSPORT: 'ses:eu-west-1', BLOB_STORE: 's3://mail?region=eu-west-1', ...AWS_ENV }),
      ),
    ).not.toContain('hunter2');
    expect(
      loadConfig({ EMAIL_TRANSPORT: 'ses:eu-west-1', ...AWS_ENV, AWS_SESSION_TOKEN: 't' }).emailTransport,
    ).toMatchObject({ credentials: { ...AWS, sessionToken: 't' } });
  });

  it.each<[string | undefined, object]>([
    ['postgres', { kind: 'postgres' }],
    [undefined, { kind: 'postgres' }],
    ['file:/var/lib/posthorn/blobs', { kind: 'file', directory: '/var/lib/posthorn/blobs' }],
    ['s3://mail?region=eu-west-1', BUCKET],
    ['s3://mail/a/b?region=eu-west-1', { ...BUCKET, prefix: 'a/b/' }],
    [
      's3://mail/a/?region=auto&endpoint=http://minio:9000',
      { ...BUCKET, prefix: 'a/', region: 'auto', endpoint: 'http://minio:9000' },
    ],
  ])('takes BLOB_STORE=%s', (blobStore, place) => {
    expect(loadConfig({ BLOB_STORE: blobStore, ...AWS_ENV }).blobStore).toEqual(place);
  });

  it.each([
    's3://bucket',
    'file:blobs',
    'file:',
    'file:/',
    's3:',
    's3://Bad_Name?region=a1',
    's3://mail/../x y?region=eu-west-1',
    's3://a:b@mail?region=eu-west-1',
    's3://mail?region=eu-west-1&acl=public',
    's3://mail?region=eu-west-1&endpoint=x',
  ])('refuses BLOB_STORE=%s', (blobStore) => {
    expect(() => loadConfig({ BLOB_STORE: blobStore, ...AWS_ENV })).toThrow(/BLOB_STORE/);
  });
});
