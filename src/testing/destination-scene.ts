import { Client, until } from './client.js';
import type {
  DestinationDraft,
  DestinationUnderTest,
  PosthornUnderTest,
  ReceivedMessage,
} from './destination-under-test.js';

type Json = Record<string, unknown>;

export interface AttemptView {
  status: number | null;
  error: string | null;
  duration_ms: number;
}

export interface EventView extends Json {
  status: string;
  attempts: AttemptView[];
}

/**
 * Retry policy with 19 retries, one every second. With short delays, a check waits for its target and not for retries.
 */
const PERSISTENT = { schedule: [0, ...Array.from({ length: 19 }, () => 1)] };

/** Runs the service with one destination type for the checks. The first check starts the service. */
export class DestinationScene {
  private starting: Promise<PosthornUnderTest> | null = null;
  private count = 0;

  constructor(readonly subject: DestinationUnderTest) {}

  service(): Promise<PosthornUnderTest> {
    return (this.starting ??= this.subject.start());
  }

  async client(): Promise<Client> {
    return new Client(await this.service());
  }

  body({ url, config, credentials }: DestinationDraft = this.subject.draft(), settings: Json = {}): Json {
    return {
      name: 'Conformance',
      type: this.subject.type,
      url,
      credentials,
      ...settings,
      config: { ...config, ...(settings['config'] as Json) },
    };
  }

  /** Creates a destination and returns its id. Its circuit breaker stays closed unless `settings` override that. */
  async destination(settings: Json = {}): Promise<string> {
    const config = { circuit_breaker: { failure_threshold: 1000 }, ...(settings['config'] as Json) };
    const made = await (
      await this.client()
    ).expect(201, 'POST', '/v1/destinations', this.body(undefined, { retry: PERSISTENT, ...settings, config }));
    return made['id'] as string;
  }

  /** Sends to a destination and returns the message's id. `payload` is JSON text that is sent unchanged. */
  async send(destination: string, payload = `{"n": ${(this.count += 1)}}`): Promise<string> {
    const body = `{"destination": ${JSON.stringify(destination)}, "event_type": "conformance.sent", "payload": ${payload}}`;
    return (await (await this.client()).expect(202, 'POST', '/v1/send', body))['message_id'] as string;
  }

  async event(id: string): Promise<EventView> {
    return (await (await this.client()).expect(200, 'GET', `/v1/events/${id}`)) as EventView;
  }

  attempted(id: string, count: number): Promise<EventView> {
    return until(
      () => this.event(id),
      ({ attempts }) => attempts.length >= count,
    );
  }

  delivered(id: string): Promise<EventView> {
    return until(
      () => this.event(id),
      ({ status }) => status === 'delivered',
    );
  }

  arrived(id: string, count: number): Promise<ReceivedMessage[]> {
    return until(
      () => this.receivedOf(id),
      (messages) => messages.length >= count,
    );
  }

  async receivedOf(id: string): Promise<ReceivedMessage[]> {
    return (await this.subject.received()).filter(({ headers }) => headers['webhook-id'] === id);
  }

  async end(): Promise<void> {
    const service = await this.starting?.catch(() => null);
    this.starting = null;
    await service?.stop();
  }
}
