import http from 'node:http';
import { eventually } from '../processes.js';

const LOOK_MS = 250;
const ANSWER_MS_MAX = 2_000;
const SEEN_MS_MAX = 30_000;

/** A load balancer that sends only to nodes that are ready. */
export class Balancer {
  private readonly isReady = new Map<string, boolean>();
  private readonly timers: NodeJS.Timeout[] = [];

  constructor(private readonly urls: readonly string[]) {
    for (const url of urls) {
      this.isReady.set(url, true);
      this.timers.push(setInterval(() => this.look(url), LOOK_MS));
    }
  }

  ready(): readonly string[] {
    return this.urls.filter((url) => this.isReady.get(url));
  }

  /** Resolves once the balancer sends to the node. Resolves at once for a URL that does not belong to a node. */
  async sees(url: string): Promise<void> {
    await eventually(() => this.isReady.get(url) ?? true, SEEN_MS_MAX, 50);
  }

  stop(): void {
    for (const timer of this.timers) clearInterval(timer);
  }

  private look(url: string): void {
    const request = http.get(`${url}/health/ready`, { agent: false, timeout: ANSWER_MS_MAX }, (answer) => {
      answer.resume();
      this.isReady.set(url, answer.statusCode === 200);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => this.isReady.set(url, false));
  }
}
