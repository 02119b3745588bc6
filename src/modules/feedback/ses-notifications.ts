import { Injectable, Logger } from '@nestjs/common';
import { EgressAgent } from '#egress/agent.js';
import { EgressGate } from '#egress/gate.js';
import { jsonOf, memberOf } from '#engine/inbound/body.js';
import type { ReceivedRequest } from '#engine/inbound/request.js';
import { snsConfirmUrl } from '#engine/inbound/sns.js';
import { publishedAt, verify } from '#engine/inbound/verify.js';
import { Clock } from '#kernel/clock.js';
import { Config } from '#kernel/config/config.js';
import { ApiError, badRequest, noSuch, unavailable } from '#kernel/errors.js';
import { USER_AGENT } from '#kernel/version.js';
import { Certificates } from '#modules/receiving/certificates.js';
import { StoredReports } from './stored-reports.js';

const SNS = { kind: 'sns' } as const;
const CONFIRM_TIMEOUT_MS = 5_000;
const CONFIRM_BYTES_MAX = 16_384;
const AGE_MS_MAX = 7 * 86_400_000;
const AHEAD_MS_MAX = 3_600_000;

/**
 * Accepts SES notifications from the topics in SES_TOPICS. The signature alone is not enough, because it only proves
 * that some AWS account sent the notification. A notification is stored before the response is sent, because SNS does
 * not resend an acknowledged notification.
 */
@Injectable()
export class SesNotifications {
  private readonly logger = new Logger('SesNotifications');

  constructor(
    private readonly certificates: Certificates,
    private readonly reports: StoredReports,
    private readonly agent: EgressAgent,
    private readonly gate: EgressGate,
    private readonly config: Config,
    private readonly clock: Clock,
  ) {}

  /**
   * Stores a notification. Throws 404 if no topics are configured, 401 for an invalid signature or topic, and 503 if it
   * cannot be verified or stored now.
   */
  async take(body: Buffer): Promise<void> {
    const { sesTopics } = this.config;
    if (sesTopics.length === 0) throw noSuch('page');
    const request: Omit<ReceivedRequest, 'ip'> = { method: 'POST', path: '', query: '', url: '', headers: [], body };
    const certificateUrl = publishedAt(SNS, request, sesTopics);
    if (certificateUrl === null) throw unsigned();
    const certificate = await this.certificates.ofOperator(certificateUrl);
    if (certificate === undefined)
      throw unavailable('The certificate of the signature is not available right now. Send it again.');
    if (verify(SNS, request, sesTopics, this.clock.nowMs(), certificate) !== 'verified' || !this.isOfThisWeek(request))
      throw unsigned();
    const [type, topicArn, messageId, message] = ['Type', 'TopicArn', 'MessageId', 'Message'].map((name) =>
      textOf(request, name),
    ) as [string, string, string, string];
    if (type === 'SubscriptionConfirmation') return this.confirm(request, topicArn);
    if (type === 'Notification') return this.reports.acceptSigned(messageId, topicArn, message);
    this.logger.warn(`The subscription of ${topicArn} was ended.`);
  }

  /**
   * Returns whether a notification is recent. SNS retries for only an hour, so old copies are rejected. A report is
   * deleted after 30 days, and a later copy of it could not be recognized as a duplicate.
   */
  private isOfThisWeek(request: Pick<ReceivedRequest, 'body'>): boolean {
    const ageMs = this.clock.nowMs() - Date.parse(textOf(request, 'Timestamp'));
    return ageMs < AGE_MS_MAX && ageMs > -AHEAD_MS_MAX;
  }

  private async confirm(request: Pick<ReceivedRequest, 'body'>, topicArn: string): Promise<void> {
    const url = snsConfirmUrl(request);
    const verdict = url === null ? null : this.gate.check(url);
    if (verdict?.ok !== true) throw badRequest('The confirmation names no URL of SNS that can be called.');
    const answer = await this.agent.exchange({
      method: 'GET',
      url: verdict.url,
      headers: { 'user-agent': USER_AGENT },
      body: null,
      timeoutMs: CONFIRM_TIMEOUT_MS,
      bodyBytesMax: CONFIRM_BYTES_MAX,
    });
    if (answer.kind !== 'response' || answer.status !== 200)
      throw unavailable('The subscription could not be confirmed right now. Send it again.');
    this.logger.log(`The subscription of ${topicArn} is confirmed.`);
  }
}

const unsigned = (): ApiError =>
  new ApiError('unauthenticated', 'This is not signed by Amazon SNS for one of the topics in SES_TOPICS.');

function textOf(request: Pick<ReceivedRequest, 'body'>, name: string): string {
  const value = memberOf(jsonOf(request), name);
  return typeof value === 'string' ? value : '';
}
