import { Injectable, Logger } from '@nestjs/common';
import { OwnServices } from '#egress/own-services.js';
import type { ScanVerdict } from '#engine/mail/mail-verdicts.js';
import { Config } from '#kernel/config/config.js';
import { clamdVerdict, scanWithClamd } from './clamd.js';
import { rspamdVerdict } from './rspamd-verdict.js';
import type { WaitingMessage } from './waiting-messages.store.js';

/** Maximum time of one scan. After this time, the message is processed without the scanner's verdict. */
const SCAN_MS_MAX = 30_000;
const ANSWER_BYTES_MAX = 1024 * 1024;

/** Scans messages for spam and viruses. A scanner that fails or takes too long yields `processing_failed`. */
@Injectable()
export class Scanners {
  private readonly logger = new Logger(Scanners.name);

  constructor(
    private readonly services: OwnServices,
    private readonly config: Config,
  ) {}

  async scan(message: WaitingMessage, raw: Buffer): Promise<{ spam: ScanVerdict; virus: ScanVerdict }> {
    const [spam, virus] = await Promise.all([
      this.guarded('rspamd', this.config.rspamdUrl, (url) => this.spam(url, message, raw)),
      this.guarded('clamd', this.config.clamdAddress, (address) => this.virus(address, raw)),
    ]);
    return { spam, virus };
  }

  private async guarded(
    name: string,
    where: string | null,
    scan: (where: string) => Promise<ScanVerdict>,
  ): Promise<ScanVerdict> {
    if (where === null) return 'disabled';
    try {
      return await scan(where);
    } catch (error) {
      this.logger.warn(`${name} did not scan a message: ${(error as Error).message}`);
      return 'processing_failed';
    }
  }

  private async spam(
    url: string,
    { envelopeFrom, envelopeTo, clientIp, helo, id }: WaitingMessage,
    raw: Buffer,
  ): Promise<ScanVerdict> {
    const headers = { from: envelopeFrom, rcpt: envelopeTo.join(','), ip: clientIp, helo, 'queue-id': id };
    const body = await this.services.post(new URL('checkv2', url.endsWith('/') ? url : `${url}/`), {
      headers,
      body: raw,
      timeoutMs: SCAN_MS_MAX,
      answerBytesMax: ANSWER_BYTES_MAX,
    });
    return rspamdVerdict(body.toString());
  }

  private async virus(address: string, raw: Buffer): Promise<ScanVerdict> {
    const { hostname, port } = new URL(`tcp://${address}`);
    const socket = await this.services.open(
      { hostname: hostname.replace(/^\[|\]$/g, ''), port: Number(port) },
      SCAN_MS_MAX,
    );
    return clamdVerdict(await scanWithClamd(socket, raw));
  }
}
