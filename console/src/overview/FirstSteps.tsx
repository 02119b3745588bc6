import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import { ClickSteps } from './ClickSteps';
import { CurlSteps } from './CurlSteps';
import type { StepsProps } from './Step';

const WAYS = ['click', 'curl'] as const;

/** Getting-started steps for an environment without events, in the console or with curl. */
export function FirstSteps({ destination, event, onClose }: StepsProps & { onClose: () => void }): ReactNode {
  const { environment: env } = useSigned();
  const [way, setWay] = useState<(typeof WAYS)[number]>('click');
  const Steps = way === 'click' ? ClickSteps : CurlSteps;
  return (
    <section className="first-steps empty" aria-labelledby="steps">
      <div className="heading">
        <h2 id="steps">{t('first-steps.title')}</h2>
        <span className="actions" role="group" aria-label={t('first-steps.ways')}>
          {WAYS.map((each) => (
            <button key={each} type="button" aria-pressed={each === way} onClick={() => setWay(each)}>
              {t(`first-steps.way.${each}`)}
            </button>
          ))}
        </span>
      </div>
      {way === 'click' && <p>{t('first-steps.intro')}</p>}
      <Steps destination={destination} event={event} />
      {event !== null && <p>{t('first-steps.next')}</p>}
      <p className="actions">
        <button type="button" className={event === null ? '' : 'primary'} onClick={onClose}>
          {t('first-steps.close')}
        </button>
        {event !== null && (
          <Link to="/$env/destinations" params={{ env }} className="button">
            {t('first-steps.next-link')}
          </Link>
        )}
      </p>
    </section>
  );
}
