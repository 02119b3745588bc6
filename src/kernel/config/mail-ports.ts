import { ConfigError, type ConfigReader, HOST_NAME, isCidr, LISTENING_HOST } from './config-values.js';

/** Settings of the port that receives mail, with the certificate that all SMTP ports share. */
interface SmtpFields {
  smtpPort: number | null;
  isSmtpPortAsked: boolean;
  smtpName: string | null;
  smtpTls: { certFile: string; keyFile: string } | null;
  smtpTrustProxy: string[];
}

export function readSmtp(read: ConfigReader): SmtpFields {
  const isOff = read.text('SMTP_PORT') === 'off';
  const isForSubmission = ['SUBMISSION_PORT', 'SUBMISSIONS_PORT'].some((name) => (read.text(name) ?? 'off') !== 'off');
  if (isOff && read.text('ROLE') === 'smtp' && !isForSubmission)
    throw new ConfigError('SMTP_PORT must not be off if ROLE is smtp: the process would have nothing to do.');
  const certFile = read.text('SMTP_TLS_CERT');
  const keyFile = read.text('SMTP_TLS_KEY');
  if ((certFile === null) !== (keyFile === null))
    throw new ConfigError('SMTP_TLS_CERT requires SMTP_TLS_KEY and vice versa: set both, or neither.');
  return {
    // With PORT=0, the SMTP port is also a free port by default, so that several instances can run side by side.
    smtpPort: isOff ? null : (read.wholeNumber('SMTP_PORT', 0, 65535) ?? (read.text('PORT') === '0' ? 0 : 2525)),
    isSmtpPortAsked: read.text('SMTP_PORT') !== null || read.text('ROLE') === 'smtp',
    smtpName: read.matching('SMTP_NAME', HOST_NAME, 'a host name such as mx.example.com')?.toLowerCase() ?? null,
    smtpTls: certFile === null || keyFile === null ? null : { certFile, keyFile },
    smtpTrustProxy: read.listOf(
      'SMTP_TRUST_PROXY',
      isCidr,
      'a comma-separated list of networks such as 10.0.0.0/8 or fd00::/8',
    ),
  };
}

/** Settings of the ports on which mail clients submit emails. */
interface SubmissionFields {
  submissionPort: number | null;
  isSubmissionPortAsked: boolean;
  submissionsPort: number | null;
  submissionHost: string;
}

/**
 * Reads the settings of the submission ports. Uses `hostByDefault` if SUBMISSION_HOST is not set. Throws `ConfigError`.
 */
export function readSubmission(read: ConfigReader, hostByDefault: string): SubmissionFields {
  const port = read.text('SUBMISSION_PORT');
  const submissionsPort = read.wholeNumber('SUBMISSIONS_PORT', 0, 65535);
  if (submissionsPort !== null && read.text('SMTP_TLS_CERT') === null)
    throw new ConfigError('SUBMISSIONS_PORT requires SMTP_TLS_CERT and SMTP_TLS_KEY: it begins with TLS.');
  return {
    // With PORT=0, this port is also a free port by default, so that several instances can run side by side.
    submissionPort:
      port === 'off' ? null : (read.wholeNumber('SUBMISSION_PORT', 0, 65535) ?? (read.text('PORT') === '0' ? 0 : 2587)),
    isSubmissionPortAsked: port !== null,
    submissionsPort,
    submissionHost: read.matching('SUBMISSION_HOST', LISTENING_HOST, 'an IP address or a host name') ?? hostByDefault,
  };
}
