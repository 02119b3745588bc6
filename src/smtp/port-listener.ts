import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { Logger } from '@nestjs/common';
import type { SMTPServerOptions } from 'smtp-server';
import type { Clock } from '#kernel/clock.js';
import type { SmtpAnswer } from '#modules/inbox/contract.js';
import type { BoundedServer } from './bounded-server.js';
import type { Certificate, CertificateFiles } from './certificate.js';
import type { Conversations, Ending } from './conversations.js';
import type { SmtpLimits } from './limits.js';

export const DISABLED_COMMANDS: readonly string[] = ['WIZ', 'SHELL', 'KILL'];
const LOOK_EVERY_MS = 1_000;
const CERTIFICATE_EVERY_MS = 5_000;
const STOPPING: Ending = { code: 421, text: '4.3.2 The service is stopping, connect again.' };

export const TOO_MANY: SmtpAnswer = {
  code: 421,
  enhanced: '4.7.0',
  text: 'Too many connections, try again later.',
};

export const FAILED: SmtpAnswer = {
  code: 451,
  enhanced: '4.3.0',
  text: 'The message could not be accepted, try again later.',
};

/** Returns the options of smtp-server that all SMTP ports share. */
export function serverOptions(
  name: string,
  { messageBytes, idleMs, closeMs }: SmtpLimits,
  tls: Certificate | null,
): SMTPServerOptions {
  return {
    name,
    size: messageBytes,
    rejectOversized: true,
    authOptional: true,
    disableReverseLookup: true,
    hideENHANCEDSTATUSCODES: false,
    hideDSN: true,
    lenientAddressParsing: true,
    socketTimeout: idleMs,
    closeTimeout: closeMs,
    logger: false,
    useXClient: false,
    useXForward: false,
    ...(tls !== null && { cert: tls.cert, key: tls.key, minVersion: 'TLSv1.2' as const }),
  };
}

/** Returns an error that makes smtp-server send the reply. */
export function refusal({ code, enhanced, text }: SmtpAnswer): Error {
  return Object.assign(new Error(`${enhanced} ${text}`), { responseCode: code });
}

/**
 * An open SMTP port. Ends conversations that exceed their limits, renews the certificate, and lets messages in progress
 * finish when the process stops.
 */
export class PortListener {
  private looking: NodeJS.Timeout | null = null;
  private certificateSeenMs = -Infinity;
  private isStopping = false;

  constructor(
    private readonly server: BoundedServer,
    private readonly conversations: Conversations,
    private readonly certificate: CertificateFiles | null,
    private readonly connectionsMax: number,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  get isListening(): boolean {
    return this.server.server.listening;
  }

  /** Listens, and returns the port. Throws if `listen` fails, for example because the port is in use. */
  async open(port: number, host: string): Promise<number> {
    const { server } = this;
    // The code below handles errors from `listen`. Later errors belong to a single connection.
    server.on('error', () => undefined);
    // Connections above the limit get a reply. Above twice the limit, they are closed without one. `maxConnections` is
    // unsuitable, because a full process would pass the connection on to another process that shares the port.
    server.server.prependListener('connection', (socket: Socket) => {
      server.server.getConnections((_, count) => count > this.connectionsMax * 2 && socket.destroy());
    });
    server.listen(port, host);
    await Promise.race([
      once(server.server, 'listening'),
      once(server, 'error').then(([error]) => Promise.reject(error as Error)),
    ]);
    server.on('error', (error) => this.logger.debug(`A connection failed: ${error.message}`));
    this.looking = setInterval(() => this.look(), LOOK_EVERY_MS);
    return (server.server.address() as AddressInfo).port;
  }

  /** Ends the conversation if the process is stopping. Called after each message. */
  endIfStopping(id: string): void {
    if (this.isStopping) this.server.dismiss(id, STOPPING);
  }

  /** Stops accepting connections, closes idle ones with a temporary error, and lets messages in progress finish. */
  async close(): Promise<void> {
    this.isStopping = true;
    const closed = new Promise<void>((resolve) => this.server.close(resolve));
    this.dismissIdle();
    await closed;
    if (this.looking) clearInterval(this.looking);
  }

  private look(): void {
    for (const [id, ending] of this.conversations.overdue()) this.server.dismiss(id, ending);
    this.renewCertificate();
  }

  /**
   * While the files are being replaced, the certificate and the key may not match. Until they match, the previous ones
   * stay in use.
   */
  private renewCertificate(): void {
    const nowMs = this.clock.monotonicMs();
    if (this.certificate === null || nowMs - this.certificateSeenMs < CERTIFICATE_EVERY_MS) return;
    this.certificateSeenMs = nowMs;
    try {
      const changed = this.certificate.changed();
      if (changed === null) return;
      // Checks the new certificate and key first, because the server would drop the old certificate before it checks
      // the new one.
      createSecureContext(changed);
      this.server.updateSecureContext({ cert: changed.cert, key: changed.key });
      this.logger.log('The certificate was reloaded.');
    } catch (error) {
      this.certificate.forget();
      this.logger.warn(`The certificate can't be read, the previous one stays: ${(error as Error).message}`);
    }
  }

  private dismissIdle(): void {
    for (const { id, session } of [...this.server.connections]) {
      const conversation = this.conversations.find(id);
      const isBusy =
        conversation !== null &&
        (conversation.arriving !== null || conversation.isStoring || session.envelope?.mailFrom);
      if (!isBusy) this.server.dismiss(id, STOPPING);
    }
  }
}
