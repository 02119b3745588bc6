import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTransport } from 'nodemailer';
import { type Relay, startRelay } from '../../api/relay.js';
import { startTargets, type TargetPath, type Targets } from '../../api/scene.js';
import { eventually } from '../processes.js';
import { RETRY, type Scene } from '../scene.js';
import { query } from '../storage.js';
import { type Emailed, judgeMail, type Letter, type MailVerdict } from './mail-verdict.js';

const HOST = 'mail.nemesis.example';
const CONCURRENCY = 3;
const PAUSE_MS = 60;
const AGAIN_MS = 100;
const TRY_MS_MAX = 10_000;
/** Interval of large messages: every ninth message is too large to be stored in its row. */
const LARGE_EVERY = 9;
const LARGE_BYTES = 400_000;
/** Duration of a lease. Another process takes over the mail of a dead process when the lease ends. */
const LEASE_MS = 10_000;
const WORK_MS = 20_000;
const RECIPIENT_DOMAINS = 20;

/** Mail traffic during a round: incoming mail to an alias, and outgoing emails through a relay. */
export class MailTraffic {
  private letters: Letter[] = [];
  private emails: Emailed[] = [];
  private isOver = true;
  private running: Promise<void>[] = [];
  private turn = 0;
  private alias = '';
  private scene: Scene | null = null;
  private apis: readonly string[] = [];

  private constructor(
    readonly relay: Relay,
    private readonly targets: Targets,
    private readonly target: TargetPath,
    readonly ports: readonly number[],
  ) {}

  /** Opens the relay. Call this before the processes start, because they need the relay's address at startup. */
  static async open(ports: readonly number[]): Promise<MailTraffic> {
    const [relay, targets] = await Promise.all([startRelay(), startTargets()]);
    return new MailTraffic(relay, targets, targets.open(), ports);
  }

  /** Returns the environment variables of a process. */
  env(place: number): Record<string, string> {
    return {
      SMTP_PORT: String(this.ports[place]),
      EMAIL_TRANSPORT: this.relay.url,
      PLATFORM_DOMAIN: 'platform.example',
    };
  }

  /** Creates a sender's domain, an alias and its destination. */
  async settle(scene: Scene, apis: readonly string[]): Promise<void> {
    const [first = ''] = apis;
    [this.scene, this.apis] = [scene, apis];
    await scene.call(first, 'POST', '/v1/domains', { domain: HOST, kind: 'email-send' });
    await query(
      scene.databaseUrl(),
      `update domains set state = 'verified', is_owner = true, sending_enabled = true, next_check_at = now() + interval '10 days', verified_at = now()`,
    );
    const { id } = (await scene.call(first, 'POST', '/v1/destinations', {
      name: 'Mail',
      type: 'https',
      url: this.target.url,
      retry: RETRY,
    })) as { id: string };
    const { address } = (await scene.call(first, 'POST', '/v1/aliases', {
      kind: 'platform',
      localPart: 'nemesis',
      destinationIds: [id],
    })) as { address: string };
    this.alias = address;
  }

  /** Sends mail until `stop` is called. Discards the records of earlier rounds. */
  start(): void {
    [this.letters, this.emails, this.isOver] = [[], [], false];
    this.running = Array.from({ length: CONCURRENCY }, () => [this.receiveOn(), this.sendOn()]).flat();
  }

  /** Starts no more mail. Resolves when all mail already started is answered, or at the timeout. */
  async stop(withinMs: number): Promise<void> {
    this.isOver = true;
    await Promise.race([Promise.all(this.running), sleep(withinMs, undefined, { ref: false })]);
  }

  /**
   * Returns the verdict once all accepted mail has arrived, or at a timeout. Mail that arrives late breaks a guarantee.
   */
  async verdict(withinMs: number, pace: number): Promise<MailVerdict> {
    const judged = (): MailVerdict =>
      judgeMail({ letters: this.letters, emails: this.emails, events: this.events(), relayed: this.relay.taken });
    const lateMs = LEASE_MS + WORK_MS * pace;
    const isInTime = await eventually(() => judged().lost === 0, lateMs, 500);
    if (isInTime) return judged();
    await eventually(() => judged().lost === 0, withinMs * pace, 500);
    const late = judged();
    return { ...late, wrongs: [...late.wrongs, `mail came later than ${(lateMs / 1_000).toFixed(1)} s after the end`] };
  }

  /** Stops all retries of mail, because the processes under test are stopped. */
  abandon(): void {
    [this.isOver, this.scene] = [true, null];
  }

  async close(): Promise<void> {
    this.isOver = true;
    await Promise.race([Promise.all(this.running), sleep(TRY_MS_MAX, undefined, { ref: false })]);
    await Promise.all([this.relay.close(), this.targets.close()]);
  }

  private events(): { id: string; subject: string; text: string; sizeBytes: number }[] {
    return this.target.posts().map(({ headers, rawBody }) => {
      const {
        subject,
        text,
        size_bytes: sizeBytes,
      } = JSON.parse(rawBody.toString()) as { subject: string; text: string; size_bytes: number };
      return { id: String(headers['webhook-id']), subject, text: text.trim(), sizeBytes };
    });
  }

  private async receiveOn(): Promise<void> {
    while (!this.isOver) {
      const n = (this.turn += 1);
      const subject = `letter-${n}-${randomUUID()}`;
      const text = createHash('sha256').update(subject).digest('hex');
      const filling =
        n % LARGE_EVERY === 0
          ? `\r\n--b\r\nContent-Type: application/octet-stream\r\nContent-Disposition: attachment; filename=x\r\n\r\n${`${'x'.repeat(900)}\r\n`.repeat(LARGE_BYTES / 902)}`
          : '';
      const raw = `From: a@b.example\r\nTo: ${this.alias}\r\nSubject: ${subject}\r\nMessage-ID: <${subject}@b.example>\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n${text}\r\n${filling}\r\n--b--\r\n`;
      const letter: Letter = { subject, text, sizeBytes: Buffer.byteLength(raw), isAccepted: false };
      this.letters.push(letter);
      for (let tries = 0; !letter.isAccepted && (tries === 0 || !this.isAbandoned()); tries += 1) {
        letter.isAccepted = await this.deliver(this.ports[(n + tries) % this.ports.length] as number, raw);
        await sleep(letter.isAccepted ? PAUSE_MS : AGAIN_MS);
      }
    }
  }

  private async deliver(port: number, raw: string): Promise<boolean> {
    const timeouts = { connectionTimeout: TRY_MS_MAX, greetingTimeout: TRY_MS_MAX, socketTimeout: TRY_MS_MAX };
    const transport = createTransport({
      host: '127.0.0.1',
      port,
      secure: false,
      ignoreTLS: true,
      name: 'mail.b.example',
      ...timeouts,
    });
    try {
      return (await transport.sendMail({ envelope: { from: 'a@b.example', to: this.alias }, raw })).response.startsWith(
        '250',
      );
    } catch {
      return false;
    } finally {
      transport.close();
    }
  }

  private async sendOn(): Promise<void> {
    while (!this.isOver) {
      const n = (this.turn += 1);
      const to = `r${n}-${randomUUID()}@d${n % RECIPIENT_DOMAINS}.example`;
      const text = createHash('sha256').update(to).digest('hex');
      const email: Emailed = { to, text, isAccepted: false, refusal: null };
      this.emails.push(email);
      const key = randomUUID();
      for (
        let tries = 0;
        !email.isAccepted && email.refusal === null && (tries === 0 || !this.isAbandoned());
        tries += 1
      ) {
        const status = await this.post(this.apis[(n + tries) % this.apis.length] as string, key, {
          from: `shop@${HOST}`,
          to,
          subject: to,
          text,
        });
        email.isAccepted = status === 202;
        if (status >= 400 && status < 500 && status !== 409) email.refusal = `${status}`;
        await sleep(email.isAccepted ? PAUSE_MS : AGAIN_MS);
      }
    }
  }

  private async post(api: string, key: string, body: object): Promise<number> {
    const { scene } = this;
    if (scene === null) return 0;
    const headers = {
      authorization: `Bearer ${scene.apiKey}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    };
    try {
      const response = await fetch(`${scene.member(api).url}/v1/emails`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(TRY_MS_MAX),
      });
      await response.arrayBuffer();
      return response.status;
    } catch {
      return 0;
    }
  }

  /** Returns whether `abandon` was called. Mail whose sending has begun is retried until then. */
  private isAbandoned(): boolean {
    return this.scene === null;
  }
}
