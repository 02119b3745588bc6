import type { ReactNode } from 'react';
import { t } from '../kit/messages/t';
import { PathLink } from '../kit/PathLink';
import { useSigned } from '../session/session';

/** Stands for the health of a pull destination: a link to its consumers, whose screen shows whether they keep up. */
export function PullConsumers(): ReactNode {
  const { environment } = useSigned();
  return <PathLink to={`/${environment}/pull`}>{t('destination.consumers')}</PathLink>;
}
