import type { ScanVerdict } from '#engine/mail/mail-verdicts.js';

const VERDICTS: Readonly<Record<string, ScanVerdict>> = {
  'no action': 'pass',
  greylist: 'pass',
  'add header': 'gray',
  'rewrite subject': 'gray',
  'soft reject': 'gray',
  quarantine: 'gray',
  reject: 'fail',
  discard: 'fail',
};

/** Returns the verdict in the response of rspamd's `/checkv2`. */
export function rspamdVerdict(answer: string): ScanVerdict {
  const action = actionOf(answer);
  return VERDICTS[action ?? ''] ?? 'processing_failed';
}

function actionOf(answer: string): string | null {
  try {
    const { action } = JSON.parse(answer) as { action?: unknown };
    return typeof action === 'string' ? action.toLowerCase() : null;
  } catch {
    return null;
  }
}
