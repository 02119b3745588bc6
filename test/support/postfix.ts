import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually, freePort, noteForReaper } from '../durability/processes.js';
import { hasTool, isAtLeast, printed } from './optional-tools.js';

const START_MS_MAX = 60_000;

/** Returns whether Postfix is installed and may be started. Its services run as separate users, which requires root. */
export const isPostfixInstalled = (): boolean =>
  hasTool(
    {
      skipped: 'the tests over Postfix',
      tool: 'Postfix 3.5 or newer that root may start',
      install: 'apt-get install postfix, and run the tests as root',
    },
    () =>
      process.getuid?.() === 0 &&
      isAtLeast(printed('postconf', '-d', 'mail_version'), [3, 5]) &&
      /^inline$/m.test(printed('postconf', '-m') ?? '') &&
      printed('id', '-u', 'postfix') !== null,
  );

/** A third-party relay that accepts mail for all recipients that are not listed, and delivers it to one local port. */
export class Postfix {
  private constructor(
    readonly port: number,
    private readonly directory: string,
    private readonly starter: ChildProcess,
  ) {}

  /**
   * Starts Postfix. `answers`: replies that reject a recipient. `routes`: domains whose mail goes to other ports.
   * `login`: user and password for the local port, sent over STARTTLS.
   */
  static async start(
    sinkPort: number,
    answers: Record<string, string>,
    routes: Record<string, number> = {},
    login: { user: string; password: string } | null = null,
  ): Promise<Postfix> {
    const port = await freePort();
    const directory = await mkdtemp(path.join(tmpdir(), 'posthorn-postfix-'));
    await chmod(directory, 0o755);
    for (const name of ['etc', 'queue', 'data']) await mkdir(path.join(directory, name));
    spawnSync('chown', ['postfix', path.join(directory, 'data')]);
    await writeFile(path.join(directory, 'etc/main.cf'), mainCf(directory, sinkPort, answers, routes, login));
    await writeFile(path.join(directory, 'etc/master.cf'), masterCf(port));
    const starter = spawn('postfix', ['-c', path.join(directory, 'etc'), 'start-fg'], { stdio: 'ignore' });
    const postfix = new Postfix(port, directory, starter);
    if (!(await eventually(() => postfix.listens(), START_MS_MAX))) throw new Error('Postfix does not listen.');
    starter.once('exit', noteForReaper(await postfix.masterPid()));
    return postfix;
  }

  async stop(): Promise<void> {
    if (this.starter.exitCode === null) {
      // Signals the mail server itself. A signal to the start script would end the script without stopping the server.
      process.kill(await this.masterPid(), 'SIGTERM');
      await once(this.starter, 'exit');
    }
    await rm(this.directory, { recursive: true, force: true });
  }

  private async masterPid(): Promise<number> {
    return Number(await readFile(path.join(this.directory, 'queue/pid/master.pid'), 'utf8'));
  }

  private listens(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = net.connect(this.port, '127.0.0.1');
      socket
        .once('data', () => resolve(true))
        .once('error', () => resolve(false))
        .once('close', () => resolve(false));
      socket.once('data', () => socket.end('QUIT\r\n'));
    });
  }
}

const mainCf = (
  directory: string,
  sinkPort: number,
  answers: Record<string, string>,
  routes: Record<string, number>,
  login: { user: string; password: string } | null,
): string => `
compatibility_level = 3.6
queue_directory = ${directory}/queue
data_directory = ${directory}/data
command_directory = /usr/sbin
daemon_directory = /usr/lib/postfix/sbin
mail_owner = postfix
setgid_group = postdrop
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
myhostname = relay.example.com
mydestination =
mynetworks = 127.0.0.0/8
message_size_limit = 200000
smtpd_recipient_restrictions = check_recipient_access inline:{ ${Object.entries(answers)
  .map(([address, text]) => `{${address} = ${text}}`)
  .join(' ')} }, permit_mynetworks, reject
smtp_dns_support_level = disabled
relayhost = [127.0.0.1]:${sinkPort}
transport_maps =${
  Object.entries(routes).length === 0
    ? ''
    : ` inline:{ ${Object.entries(routes)
        .map(([domain, port]) => `{${domain} = smtp:[127.0.0.1]:${port}}`)
        .join(' ')} }`
}
${
  login === null
    ? ''
    : `smtp_sasl_auth_enable = yes
smtp_sasl_security_options = noanonymous
smtp_sasl_password_maps = inline:{ {[127.0.0.1]:${sinkPort} = ${login.user}:${login.password}} }
smtp_tls_security_level = encrypt`
}
maillog_file = ${directory}/log
maillog_file_prefixes = ${directory}
`;

const masterCf = (port: number): string => `
${port} inet n - n - - smtpd
postlog unix-dgram n - n - 1 postlogd
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
smtp unix - - n - - smtp
relay unix - - n - - smtp
error unix - - n - - error
retry unix - - n - - error
scache unix - - n - 1 scache
anvil unix - - n - 1 anvil
proxymap unix - - n - - proxymap
tlsmgr unix - - n 1000? 1 tlsmgr
`;
