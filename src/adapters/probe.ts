import { Injectable } from '@nestjs/common';
import { EgressAgent, type EgressAnswer } from '#egress/agent.js';
import { EgressGate } from '#egress/gate.js';
import { USER_AGENT } from '#kernel/version.js';
import type { ProbeReport } from '#modules/destinations/contract.js';

const TIMEOUT_MS = 10_000;
const BYTES_MAX = 1024;

/** Checks whether a URL responds, with any status. */
@Injectable()
export class Probe {
  constructor(
    private readonly agent: EgressAgent,
    private readonly gate: EgressGate,
  ) {}

  /** Sends HEAD, or GET if the server breaks the connection on HEAD. Always returns a report and never throws. */
  async run(url: string): Promise<ProbeReport> {
    const verdict = this.gate.check(url);
    if (!verdict.ok) return { ok: false, check: 'connectivity', detail: verdict.reason };
    const head = await this.ask('HEAD', verdict.url, TIMEOUT_MS);
    const restMs = Math.floor(TIMEOUT_MS - head.durationMs);
    const mayKnowGet =
      head.kind === 'error' && (head.error === 'protocol' || head.error === 'connection') && restMs > 0;
    return report(mayKnowGet ? await this.ask('GET', verdict.url, restMs) : head);
  }

  private ask(method: 'HEAD' | 'GET', url: URL, timeoutMs: number): Promise<EgressAnswer> {
    const headers = { 'user-agent': USER_AGENT, accept: '*/*' };
    return this.agent.exchange({ method, url, headers, body: null, timeoutMs, bodyBytesMax: BYTES_MAX });
  }
}

function report(answer: EgressAnswer): ProbeReport {
  if (answer.kind === 'error') return { ok: false, check: 'connectivity', detail: answer.detail };
  return { ok: true, detail: `The target answered with status ${answer.status}.` };
}
