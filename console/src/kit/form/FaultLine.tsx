import { QueryClientContext } from '@tanstack/react-query';
import { type ReactNode, useContext } from 'react';
import { CopyButton } from '../CopyButton';
import { germanField } from '../messages/de-faults';
import { t } from '../messages/t';
import { usePreferences } from '../preferences';
import { useSecondsLeft } from '../time/use-seconds-left';
import { type FaultFields, headlineOf, usersOf } from './fault-headline';
import { type FaultGroup, groupFaults, type LoadedPart } from './group-faults';
import { isOfLoad, RetryQuery } from './RetryQuery';

/**
 * Shows why a call failed and what to do, in the user's language, with a button that loads failed data again. Renders
 * nothing without a fault.
 */
export function FaultLine({ fault }: { fault: unknown }): ReactNode {
  return fault === null || fault === undefined ? null : <FaultBox of={{ key: '', faults: [fault], names: [] }} />;
}

/** Shows the faults of a page whose parts are loaded by separate calls. Equal faults are shown once. */
export function FaultLines({ parts }: { parts: readonly LoadedPart[] }): ReactNode {
  return groupFaults(parts).map((group) => <FaultBox key={group.key} of={group} />);
}

function FaultBox({ of: { faults, names } }: { of: FaultGroup }): ReactNode {
  const { language } = usePreferences();
  const client = useContext(QueryClientContext);
  const [fault] = faults as FaultFields[];
  const { fields = [], details = {} } = fault ?? {};
  const waitSeconds = Math.max(...(faults as FaultFields[]).map(({ retryAfterSeconds }) => retryAfterSeconds ?? 0));
  const leftSeconds = useSecondsLeft(waitSeconds, fault);
  const { headline, original } = headlineOf(fault ?? {}, language, isOfLoad(client, faults));
  const requestIds = new Set((faults as FaultFields[]).flatMap(({ requestId }) => requestId ?? []));
  const request = [...requestIds].join(' ');
  return (
    <div className="fault" role="alert">
      <p>{headline}</p>
      {names.length > 0 && <p>{t('fault.parts', { names: names.join(', ') })}</p>}
      {fields.length > 0 && (
        <ul>
          {fields.map(({ path, message }) => (
            <li key={path + message}>
              <code>{path}</code> {language === 'de' ? germanField(message) : message}
            </li>
          ))}
        </ul>
      )}
      <Users of={usersOf(details)} />
      {original !== null && fields.length === 0 && (
        <p className="quiet">
          {t('fault.original')}: <span lang="en">{original}</span>
        </p>
      )}
      {leftSeconds > 0 && <p role="timer">{t('fault.wait', { seconds: leftSeconds })}</p>}
      {leftSeconds === 0 && waitSeconds > 0 && <p>{t('fault.wait-over')}</p>}
      <RetryQuery faults={faults} isOff={leftSeconds > 0} />
      {request !== '' && (
        <p className="quiet">
          {t('fault.request')} <code>{request}</code>{' '}
          <CopyButton text={request} name={`${t('copy')}: ${t('fault.request')}`} />
        </p>
      )}
    </div>
  );
}

/** Objects that use an object and prevent its deletion. */
function Users({ of }: { of: readonly string[] }): ReactNode {
  if (of.length === 0) return null;
  return (
    <ul>
      {of.map((user) => (
        <li key={user}>
          <code>{user}</code>
        </li>
      ))}
    </ul>
  );
}
