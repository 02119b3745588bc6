import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, type ReactNode, useId, useState } from 'react';
import { answered, type Schemas, UNLISTED } from '../api/client';
import { isHealthOfConsumers, useDestinationHealth } from '../destinations/destination-health';
import { Dialog } from '../kit/dialog/Dialog';
import { t } from '../kit/messages/t';
import { HealthPill } from '../kit/status/TargetHealth';
import { useSigned } from '../session/session';
import { type Place, placeOfId } from './jump';
import { SCREENS } from './navigation';

/** Entry of the command menu. It opens a screen, a single object or a dialog. */
interface Command {
  id: string;
  label: string;
  kind: string;
  to: Place | (() => void);
  search?: Record<string, string>;
  /** Destination whose health is shown. */
  destination?: Schemas['DestinationItem'];
}

const SHOWN_MAX = 12;

/** Menu that opens any screen, any object by its id, or a destination or application by its name. */
export function CommandMenu({ onCalls, onClose }: { onCalls: () => void; onClose: () => void }): ReactNode {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const navigate = useNavigate();
  const list = useId();
  const commands = useCommands(text, onCalls);
  const at = Math.min(chosen, commands.length - 1);
  const go = (command: Command | undefined): void => {
    if (command === undefined) return;
    onClose();
    if (typeof command.to === 'function') command.to();
    else void navigate({ to: command.to as '/', search: (command.search ?? {}) as never });
  };
  const press = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setChosen((at + step + commands.length) % Math.max(1, commands.length));
    else if (event.key === 'Enter') go(commands[at]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title={t('menu.title')} onClose={onClose}>
      <input
        className="menu-input"
        role="combobox"
        aria-label={t('menu.label')}
        aria-expanded="true"
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={commands.length > 0 ? `${list}-${at}` : undefined}
        autoFocus
        autoComplete="off"
        spellCheck={false}
        placeholder={t('menu.placeholder')}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setChosen(0);
        }}
        onKeyDown={press}
      />
      <ul className="menu-list" id={list} role="listbox" aria-label={t('menu.title')}>
        {commands.map((command, index) => (
          <li
            key={command.id}
            id={`${list}-${index}`}
            role="option"
            aria-selected={index === at}
            onClick={() => go(command)}
            onMouseMove={() => setChosen(index)}
          >
            <span>{command.label}</span>
            {command.destination && !isHealthOfConsumers(command.destination) && (
              <DestinationHealth of={command.destination} />
            )}
            <span className="quiet">{command.kind}</span>
          </li>
        ))}
      </ul>
      {commands.length === 0 && (
        <p className="quiet" role="status">
          {t('menu.nothing')}
        </p>
      )}
    </Dialog>
  );
}

function DestinationHealth({ of }: { of: Schemas['DestinationItem'] }): ReactNode {
  const { health } = useDestinationHealth(of);
  return health && <HealthPill of={health} />;
}

function useCommands(text: string, onCalls: () => void): Command[] {
  const { environment, api, can } = useSigned();
  const destinations = useQuery({
    queryKey: ['menu', 'destinations', environment],
    staleTime: 30_000,
    queryFn: () => answered(api.GET('/v1/destinations', { params: { query: { limit: 100 } }, ...UNLISTED })),
  });
  const applications = useQuery({
    queryKey: ['menu', 'applications', environment],
    staleTime: 30_000,
    queryFn: () => answered(api.GET('/v1/app', { params: { query: { limit: 100 } }, ...UNLISTED })),
  });
  const wanted = text.trim().toLowerCase();
  const place = placeOfId(text, environment);
  const all: Command[] = [
    ...SCREENS.filter(({ scope }) => can(scope)).map(({ id, path, label }): Command => ({
      id,
      label: t(label),
      kind: t('menu.screen'),
      to: path.replace('/$env', `/${environment}`) as Place,
    })),
    { id: 'calls', label: t('calls.title'), kind: t('menu.dialog'), to: onCalls },
    ...(destinations.data?.data ?? []).map((destination): Command => ({
      id: destination.id,
      label: destination.url === null ? destination.name : `${destination.name} · ${destination.url}`,
      kind: t('menu.destination'),
      to: `/${environment}/destinations/${destination.id}`,
      destination,
    })),
    ...(applications.data?.data ?? []).map(({ id, uid, name }): Command => ({
      id,
      label: [name, uid].filter(Boolean).join(' · '),
      kind: t('menu.application'),
      to: `/${environment}/applications/${id}`,
    })),
  ];
  const found = all.filter(({ label, id }) => label.toLowerCase().includes(wanted) || id.toLowerCase() === wanted);
  return [
    ...(place === null ? [] : [{ id: 'jump', label: text.trim(), kind: t('menu.id'), to: place }]),
    ...found,
  ].slice(0, SHOWN_MAX);
}
