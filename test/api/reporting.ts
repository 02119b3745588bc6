import { dataSource } from '../../src/bootstrap/data-source.js';
import { fromBase32 } from '../../src/engine/base32.js';
import { SystemClock } from '../../src/kernel/clock.js';
import type { Config } from '../../src/kernel/config/config.js';
import { Database } from '../../src/kernel/database/database.js';
import { type Id, idFromBytes, Ids } from '../../src/kernel/ids.js';
import { Metrics } from '../../src/kernel/observability/metrics.js';
import { FeedbackMetrics } from '../../src/modules/feedback/feedback.metrics.js';
import { ReportsStore } from '../../src/modules/feedback/reports.store.js';
import { StoredReports } from '../../src/modules/feedback/stored-reports.js';
import type { PosthornServer } from '../support/server.js';

/** Accepts mail reports as the SMTP listener does, but directly on the database of a server. */
export interface ReportDoor {
  /** Accepts a report to the return path of an email. `returnPath` is the address in the email's envelope. */
  toReturnPath(returnPath: string, raw: string): Promise<void>;
  /** Accepts a report to the abuse address of the operator, which names no email. */
  toOperator(raw: string): Promise<void>;
  close(): Promise<void>;
}

export async function openReportDoor({ databaseUrl }: Pick<PosthornServer, 'databaseUrl'>): Promise<ReportDoor> {
  const source = await dataSource(databaseUrl, 2).initialize();
  const database = new Database(source, { databaseUrl, isPooled: false } as Config);
  const store = new ReportsStore(database);
  const reports = new StoredReports(store, new FeedbackMetrics(new Metrics(), store), new Ids(new SystemClock()));
  const envelope = { envelopeFrom: '', receivedFrom: '192.0.2.25' };
  return {
    toReturnPath: (returnPath, raw) =>
      reports.accept({ ...envelope, ...namedBy(returnPath), recipient: returnPath }, Buffer.from(raw, 'latin1')),
    toOperator: (raw) =>
      reports.accept(
        { ...envelope, environmentId: null, emailId: null, recipient: 'abuse@posthorn.example' },
        Buffer.from(raw, 'latin1'),
      ),
    close: () => database.close(),
  };
}

/** Returns the environment and the email id that one of Posthorn's return paths contains. */
function namedBy(returnPath: string): { environmentId: number; emailId: Id } {
  const local = returnPath.slice(2, returnPath.indexOf('@'));
  const token = local.startsWith('r') ? fromBase32(local.slice(1)) : Buffer.from(local, 'hex');
  return { environmentId: token.readUInt32BE(), emailId: idFromBytes(token.subarray(4, 20)) };
}

/** Returns a delivery report in the format of Postfix (RFC 3464). */
export function deliveryReport({
  recipient,
  action = 'failed',
  status = '5.1.1',
  diagnostic = `smtp; 550 5.1.1 <${recipient}>: User unknown`,
  returned = '',
}: {
  recipient: string;
  action?: string;
  status?: string;
  diagnostic?: string;
  returned?: string;
}): string {
  return [
    'From: MAILER-DAEMON@mx.example.net (Mail Delivery System)',
    'Subject: Undelivered Mail Returned to Sender',
    'Auto-Submitted: auto-replied',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status; boundary="=_r"',
    '',
    '--=_r',
    'Content-Type: text/plain',
    '',
    'This is the mail system at host mx.example.net.',
    '--=_r',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.example.net',
    '',
    `Final-Recipient: rfc822; ${recipient}`,
    `Action: ${action}`,
    `Status: ${status}`,
    `Diagnostic-Code: ${diagnostic}`,
    '',
    '--=_r',
    'Content-Type: message/rfc822',
    '',
    returned,
    '--=_r--',
    '',
  ].join('\r\n');
}

/** Returns an abuse report (RFC 5965) in which the mailbox provider hides the recipient. */
export function abuseReport(returned: string, type = 'abuse'): string {
  return [
    'From: feedback@fbl.example.net',
    'Subject: complaint',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=feedback-report; boundary="=_f"',
    '',
    '--=_f',
    'Content-Type: text/plain',
    '',
    'This is an email abuse report.',
    '--=_f',
    'Content-Type: message/feedback-report',
    '',
    `Feedback-Type: ${type}`,
    'User-Agent: FBL/1.0',
    'Version: 1',
    '',
    '--=_f',
    'Content-Type: message/rfc822',
    '',
    returned,
    '--=_f--',
    '',
  ].join('\r\n');
}
