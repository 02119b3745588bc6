import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { SERVICE } from '../api/client';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import { firstCommands } from './first-commands';
import { useFirstKey } from './overview-queries';
import { Command, Step, type StepsProps } from './Step';

/** Getting-started steps as commands for a terminal. */
export function CurlSteps({ destination, event }: StepsProps): ReactNode {
  const { environment: env, can } = useSigned();
  const makeKey = useFirstKey();
  const [key, setKey] = useState<string | null>(null);
  const [wasMade, setMade] = useState(false);
  const [fault, setFault] = useState<unknown>(null);
  const make = (): void => {
    setFault(null);
    makeKey().then((made) => {
      setKey(made);
      setMade(true);
    }, setFault);
  };
  const commands = firstCommands(SERVICE, env, key);
  const isSent = event !== null;
  return (
    <>
      <p>{t('first-steps.text')}</p>
      <ol>
        <Step
          title={t('first-steps.key')}
          text={can('admin') ? t('first-steps.key-text') : t('first-steps.key-ask')}
          command={commands.key}
          isDone={wasMade || destination !== null || isSent}
        >
          {can('admin') && (
            <p className="actions">
              {key === null ? (
                <button type="button" className={wasMade ? '' : 'primary'} onClick={make}>
                  {t('first-steps.key-make')}
                </button>
              ) : (
                <button type="button" onClick={() => setKey(null)}>
                  {t('first-steps.key-hide')}
                </button>
              )}
              <span className="quiet">{key === null ? t('first-steps.key-other') : t('key.once')}</span>
            </p>
          )}
          <FaultLine fault={fault} />
        </Step>
        <Step
          title={t('first-steps.destination')}
          text={t('first-steps.destination-text')}
          command={commands.destination}
          isDone={destination !== null || isSent}
        />
        <Step
          title={t('first-steps.event')}
          text={t('first-steps.event-text')}
          command={commands.event}
          isDone={isSent}
        >
          {isSent && (
            <p>
              <Link to="/$env/events/$id" params={{ env, id: event.id }}>
                {t('first-steps.look')}
              </Link>
            </p>
          )}
        </Step>
      </ol>
      {isSent && (
        <>
          <h3>{t('first-steps.collect')}</h3>
          <p>{t('first-steps.collect-text')}</p>
          <Command text={commands.collect} of={t('first-steps.collect')} />
        </>
      )}
    </>
  );
}
