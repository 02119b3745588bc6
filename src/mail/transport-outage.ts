import { Logger } from '@nestjs/common';
import type { EmailTransport } from '#kernel/config/email-transport.js';
import type { SubmissionReport } from '#modules/email/transport.contract.js';

/** Consecutive failures that count as an outage. One dead domain can cause several with `direct:`. */
const FAILURES_MIN = 3;
const FAILURES_MIN_DIRECT = 10;

/** Logs one line when the transport of EMAIL_TRANSPORT has become unreachable, and one when it is reachable again. */
export class TransportOutage {
  private readonly logger = new Logger('Email');
  private readonly name: string;
  private readonly failuresMin: number;
  private failures = 0;

  constructor(transport: EmailTransport) {
    this.name = nameOf(transport);
    this.failuresMin = transport.kind === 'direct' ? FAILURES_MIN_DIRECT : FAILURES_MIN;
  }

  note({ isUnreachable, replies }: Pick<SubmissionReport, 'isUnreachable' | 'replies'>): void {
    if (isUnreachable) {
      this.failures += 1;
      if (this.failures === this.failuresMin)
        this.logger.warn(`The mail transport ${this.name} is not reachable: ${replies[0]?.text ?? 'no reply'}`);
      return;
    }
    if (this.failures >= this.failuresMin) this.logger.warn(`The mail transport ${this.name} is reachable again.`);
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
