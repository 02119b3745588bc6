import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { type EventItem, type Schemas, SERVICE } from '../api/client';
import { CopyButton } from '../kit/CopyButton';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import { firstCommands } from './first-commands';
import { useFirstKey } from './overview-queries';

/** Props of `FirstSteps`: resources that already exist. */
interface FirstStepsProps {
  destination: Schemas['DestinationItem'] | null;
  event: EventItem | null;
  onClose: () => void;
}

/** Instructions for an environment without events. A step is ticked once it is done. */
export function FirstSteps({ destination, event, onClose }: FirstStepsProps): ReactNode {
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
    <section className="steps empty" aria-labelledby="steps">
      <h2 id="steps">{t('first-steps.title')}</h2>
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
          <p>{t('first-steps.next')}</p>
          <p className="actions">
            <button type="button" className="primary" onClick={onClose}>
              {t('first-steps.close')}
            </button>
            <Link to="/$env/destinations" params={{ env }} className="button">
              {t('first-steps.next-link')}
            </Link>
          </p>
        </>
      )}
    </section>
  );
}

function Step({
  title,
  text,
  command,
  isDone,
  children,
}: {
  title: string;
  text: string;
  command: string;
  isDone: boolean;
  children?: ReactNode;
}): ReactNode {
  return (
    <li className={isDone ? 'done' : ''}>
      <h3>
        <span aria-hidden="true" className="tick">
          {isDone ? '✓' : ''}
        </span>
        {title}{' '}
        <span className="offscreen" role="status">
          {t(isDone ? 'first-steps.done' : 'first-steps.open')}
        </span>
      </h3>
      <p>{text}</p>
      {children}
      <Command text={command} of={title} />
    </li>
  );
}

function Command({ text, of }: { text: string; of: string }): ReactNode {
  return (
    <div className="command">
      <pre tabIndex={0} aria-label={of}>
        {text}
      </pre>
      <CopyButton text={text} label={t('copy')} />
    </div>
  );
}
