import { type Config, loadConfig } from '#kernel/config/config.js';
import { startFailure } from './start-failure.js';

const ENV = {
  DATABASE_URL: 'postgres://ann:hunter%40two@db.example:6432/orders?sslrootcert=/etc/ca.pem',
  REDIS_URL: 'redis://:swordfish@cache.example:6379',
  MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  DATA_DIR: '/srv/posthorn',
  METRICS_PORT: '9090',
};

const failed = (message: string, fields: object = {}): Error => Object.assign(new Error(message), fields);
const refused = (code: string, message = 'no'): Error => failed(message, { code, severity: 'FATAL' });

describe('startFailure', () => {
  const config: Config = loadConfig(ENV);

  it.each<[string, unknown, string]>([
    [
      'a port that is in use',
      failed('x', { code: 'EADDRINUSE', syscall: 'listen', port: 3000 }),
      'Port 3000 of 0.0.0.0 is taken by another process: stop that one, or set another PORT.',
    ],
    [
      'a metrics port that is in use',
      failed('x', { code: 'EADDRINUSE', syscall: 'listen', port: 9090 }),
      'Port 9090 of 0.0.0.0 is taken by another process: stop that one, or set another METRICS_PORT.',
    ],
    [
      'a privileged port',
      failed('x', { code: 'EACCES', syscall: 'listen', port: 80 }),
      'Port 80 needs privileges that this user does not have: set a PORT from 1024 on.',
    ],
    [
      'an address of another machine',
      failed('x', { code: 'EADDRNOTAVAIL', syscall: 'listen', port: 3000 }),
      '0.0.0.0 is no address of this machine: correct HOST.',
    ],
    [
      'a submission port that is in use',
      failed('x', { code: 'EADDRINUSE', syscall: 'listen', port: 2587 }),
      'Port 2587 of 127.0.0.1 is taken by another process: stop that one, or set another SUBMISSION_PORT.',
    ],
    [
      'an address of another machine for submission',
      failed('x', { code: 'EADDRNOTAVAIL', syscall: 'listen', port: 2587 }),
      '127.0.0.1 is no address of this machine: correct SUBMISSION_HOST.',
    ],
    [
      'an unknown host for submission',
      failed('x', { code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname: '127.0.0.1' }),
      '127.0.0.1 is not known (ENOTFOUND): correct SUBMISSION_HOST.',
    ],
    [
      'a database server that is not running',
      failed('', {
        code: 'ECONNREFUSED',
        errors: [failed('connect ECONNREFUSED', { code: 'ECONNREFUSED', syscall: 'connect', port: 6432 })],
      }),
      'Nothing listens at db.example:6432: start PostgreSQL there, or correct DATABASE_URL.',
    ],
    [
      'an unknown host',
      failed('x', { code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname: 'db.example' }),
      'The host db.example in DATABASE_URL is not known (ENOTFOUND): correct DATABASE_URL, or the name server.',
    ],
    [
      'a database that does not respond',
      failed('timeout expired'),
      'PostgreSQL at db.example:6432 does not answer (timeout expired): check DATABASE_URL, the network and the firewalls.',
    ],
    [
      'a wrong password',
      refused('28P01'),
      'PostgreSQL at db.example:6432 refuses the password of the user ann: correct it in DATABASE_URL.',
    ],
    [
      'what TypeORM wraps',
      failed('x', { driverError: refused('28P01') }),
      'PostgreSQL at db.example:6432 refuses the password of the user ann: correct it in DATABASE_URL.',
    ],
    [
      'a user without access',
      refused('28000', 'role "ann" does not exist'),
      'PostgreSQL at db.example:6432 rejects the user ann (role "ann" does not exist): correct DATABASE_URL, or the server\'s pg_hba.conf.',
    ],
    [
      'a database that does not exist',
      refused('3D000'),
      'PostgreSQL at db.example:6432 has no database orders: create it, or correct DATABASE_URL.',
    ],
    [
      'a user without privileges',
      refused('42501', 'permission denied for schema public'),
      'The user ann has no permission to set up the database orders at db.example:6432 (permission denied for schema public): make it the owner of the database in DATABASE_URL.',
    ],
    [
      'a standby',
      refused('25006'),
      'PostgreSQL at db.example:6432 is read-only, as a standby server is: set DATABASE_URL to the primary.',
    ],
    [
      'an untrusted certificate',
      failed('self-signed', { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }),
      'The certificate of PostgreSQL at db.example:6432 is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT): add the file of its certificate authority to DATABASE_URL with sslrootcert=FILE.',
    ],
    [
      'a certificate for another host',
      failed('x', { code: 'ERR_TLS_CERT_ALTNAME_INVALID' }),
      'The certificate of PostgreSQL at db.example:6432 is not one for db.example: use the name of the certificate in DATABASE_URL.',
    ],
    [
      'a server without TLS',
      failed('The server does not support SSL connections'),
      'PostgreSQL at db.example:6432 does not speak TLS: take sslmode out of DATABASE_URL, or turn ssl on there.',
    ],
    [
      'a certificate file that does not exist',
      failed('x', { code: 'ENOENT', syscall: 'open', path: '/etc/ca.pem' }),
      "DATABASE_URL names the file /etc/ca.pem, which can't be read (ENOENT): correct the path, or make it readable.",
    ],
    [
      'a read-only directory',
      failed('x', { code: 'EROFS', syscall: 'open', path: '/srv/posthorn/master.key.7' }),
      "DATA_DIR /srv/posthorn can't be written to (EROFS at /srv/posthorn/master.key.7): make it writable for this user, or set another one.",
    ],
    [
      'a directory that cannot be created',
      failed('x', { code: 'EACCES', syscall: 'mkdir', path: '/srv' }),
      "DATA_DIR /srv/posthorn can't be written to (EACCES at /srv): make it writable for this user, or set another one.",
    ],
    [
      'a server that an extension uses',
      failed('connect ECONNREFUSED 127.0.0.1:4222', { code: 'ECONNREFUSED', syscall: 'connect', port: 4222 }),
      'connect ECONNREFUSED 127.0.0.1:4222',
    ],
    [
      'a message with many lines',
      failed("Nest can't resolve dependencies of the Audit (?).\n\nPotential solutions:\n- none"),
      "Nest can't resolve dependencies of the Audit (?).",
    ],
    ['a value that is not an error', 'gone', 'gone'],
  ])('reports in one line what to do about %s', (_what, error, line) => {
    expect(startFailure(error, config)).toBe(line);
  });

  it('shows no password, key or token, even if a library put it into a message', () => {
    const message = `at ${ENV.DATABASE_URL} with hunter@two, ${ENV.REDIS_URL}, ${ENV.MASTER_KEY}, amqp://guest:guestpass@queue`;

    const line = startFailure(new Error(message), config);

    for (const secret of ['hunter', 'swordfish', ENV.MASTER_KEY, 'guestpass']) expect(line).not.toContain(secret);
    expect(startFailure(new Error(message), null)).not.toContain('swordfish');
  });

  it('shows no part of a password that contains "@", or of one in a query', () => {
    const own = loadConfig({
      ...ENV,
      DATABASE_URL: 'postgres://ann:hunter2@two@db.example/orders?sslpassword=opensesame',
      OPERATOR_KEY: 'k'.repeat(32),
      EMAIL_TRANSPORT: 'smtps://ada:relaypass@mail.example',
    });
    const message = `at ${own.databaseUrl}, hunter2@two, opensesame, ${'k'.repeat(32)}, relaypass`;

    for (const line of [
      startFailure(new Error(message), own),
      startFailure(new Error('getaddrinfo ENOTFOUND at postgres://ann:hunter2@two#x@db.example'), null),
    ]) {
      for (const secret of ['hunter2', 'two', 'opensesame', 'kkkkkk', 'relaypass']) expect(line).not.toContain(secret);
    }
  });
});
