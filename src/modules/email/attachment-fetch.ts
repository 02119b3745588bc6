import { Injectable } from '@nestjs/common';
import { EgressAgent } from '#egress/agent.js';
import { EgressGate } from '#egress/gate.js';
import { type Fault, invalid } from '#kernel/errors.js';
import type { ComposedAttachment } from '#mail/compose.js';
import { type AttachmentDraft, TOO_LARGE } from './attachment-draft.js';

/** Maximum total time for all fetches of one email, in milliseconds. */
const FETCH_MS_MAX = 10_000;
const TYPE = /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+$/i;
const OCTETS = 'application/octet-stream';

/** Number of bytes that may still be fetched for a request. A request can contain several emails. */
export interface FetchAllowance {
  bytes: number;
}

/** Fetches attachments before an email is accepted, so that later changes at the URL have no effect. */
@Injectable()
export class AttachmentFetch {
  constructor(
    private readonly agent: EgressAgent,
    private readonly gate: EgressGate,
  ) {}

  /**
   * Fetches attachments from their URLs, and returns all attachments with their bytes. Subtracts the fetched bytes from
   * `allowed`. Throws 422 with the errors of all failed fetches.
   */
  async complete(drafts: readonly AttachmentDraft[], allowed: FetchAllowance): Promise<ComposedAttachment[]> {
    if (drafts.length === 0) return [];
    const cutOff = AbortSignal.timeout(FETCH_MS_MAX);
    const found = await Promise.all(drafts.map((draft, i) => this.one(draft, `attachments.${i}.url`, allowed, cutOff)));
    const faults = found.filter((each): each is { fault: Fault } => 'fault' in each).map(({ fault }) => fault);
    if (faults.length > 0) throw invalid(faults);
    return found as ComposedAttachment[];
  }

  private async one(
    { source, filename, contentType, contentId }: AttachmentDraft,
    path: string,
    allowed: FetchAllowance,
    signal: AbortSignal,
  ): Promise<ComposedAttachment | { fault: Fault }> {
    if ('bytes' in source) return { filename, contentType: contentType ?? OCTETS, contentId, content: source.bytes };
    const verdict = this.gate.check(source.url);
    if (!verdict.ok) return { fault: { path, message: verdict.reason, check: verdict.check } };
    const answer = await this.agent.exchange({
      method: 'GET',
      url: verdict.url,
      headers: { accept: '*/*' },
      body: null,
      timeoutMs: FETCH_MS_MAX,
      bodyBytesMax: Math.max(allowed.bytes, 0),
      signal,
    });
    if (answer.kind === 'error')
      return { fault: { path, message: `The file could not be fetched: ${answer.detail}`, check: 'connectivity' } };
    if (answer.status !== 200)
      return {
        fault: {
          path,
          message: `The file could not be fetched: its server answered ${answer.status}. Redirects are not followed.`,
          check: 'connectivity',
        },
      };
    if (answer.truncated || answer.body.length > allowed.bytes) return { fault: { path, message: TOO_LARGE } };
    allowed.bytes -= answer.body.length;
    const [said = ''] = (answer.headers['content-type'] ?? '').split(';');
    return {
      filename,
      contentType: contentType ?? (TYPE.test(said.trim()) && !/^multipart\//i.test(said) ? said.trim() : OCTETS),
      contentId,
      content: answer.body,
    };
  }
}
