import { t } from '../kit/messages/t';
import { PERIODS } from './alias-actions-draft';

/** Returns a period in words, or the duration itself if the form does not offer this period. */
export function periodWord(period: string): string {
  const known = PERIODS.find((each) => each === period);
  return known === undefined ? period : t(`alias.period.${known}`);
}
