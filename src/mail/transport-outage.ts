import { Logger } from '@nestjs/common';
import type { EmailTransport } from '#kernel/config/email-transport.js';
import type { SubmissionReport } from '#modules/email/transport.contract.js';

/** Consecutive failures that count as an outage. */
const FAILURES_MIN = 3;

/**
 * Logs one line when the transport of EMAIL_TRANSPORT has become unreachable, and one when it is reachable again. The
 * transport `direct:` never reports that it is unreachable, because it sends to many mail servers.
 */
export class TransportOutage {
  private readonly logger = new Logger('Email');
  private readonly name: string;
  private failures = 0;

  constructor(transport: EmailTransport) {
    this.name = nameOf(transport);
  }

  note({ isUnreachable, replies }: Pick<SubmissionReport, 'isUnreachable' | 'replies'>): void {
    if (isUnreachable) {
      this.failures += 1;
      if (this.failures === FAILURES_MIN)
        this.logger.warn(`The mail transport ${this.name} is not reachable: ${replies[0]?.text ?? 'no reply'}`);
      return;
    }
    if (this.failures >= FAILURES_MIN) this.logger.warn(`The mail transport ${this.name} is reachable again.`);
    this.failures = 0;
  }
}

/** Returns the transport's name for the log, without credentials. */
function nameOf(transport: EmailTransport): string {
  switch (transport.kind) {
    case 'smtp':
      return `${transport.host}:${transport.port}`;
    case 'ses':
      return `ses:${transport.region}`;
    case 'extension':
      return `extension:${transport.name}`;
    case 'capture':
    case 'direct':
      return `${transport.kind}:`;
  }
}
