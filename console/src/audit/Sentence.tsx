import { Fragment, type ReactNode } from 'react';
import { type MessageKey, t } from '../kit/messages/t';
import { IdLink } from '../kit/places';
import type { Entry } from './audit-queries';
import { renamed, sentenceKey, splitSentence } from './audit-sentence';

interface SentenceProps {
  of: Entry;
  names: ReadonlyMap<string, string>;
}

/** An entry as a sentence: the actor, the action, and the resource as a link. */
export function Sentence({ of, names }: SentenceProps): ReactNode {
  return (
    <>
      {splitSentence(t(sentenceKey(of))).map((part, index) =>
        'text' in part ? (
          <Fragment key={index}>{part.text}</Fragment>
        ) : (
          <Value key={index} name={part.value} of={of} names={names} />
        ),
      )}
    </>
  );
}

function Value({ name, of, names }: SentenceProps & { name: string }): ReactNode {
  if (name === 'actor') return <strong>{actorName(of.actor, names)}</strong>;
  if (name === 'action') return <code>{of.action}</code>;
  const change = renamed(of);
  if (name === 'before') return <strong className="resource">{change?.before}</strong>;
  const id = of.resource_id;
  if (id === null) return name === 'after' ? <strong className="resource">{change?.after}</strong> : null;
  const known = name === 'after' ? change?.after : names.get(id);
  return (
    <strong className="resource">
      <IdLink id={id}>{known}</IdLink>
    </strong>
  );
}

/** Returns an entry's sentence as text. */
export function sentenceText({ of, names }: SentenceProps): string {
  return t(sentenceKey(of), {
    actor: actorName(of.actor, names),
    action: of.action,
    ...renamed(of),
    name: of.resource_id === null ? '' : (names.get(of.resource_id) ?? of.resource_id),
  }).trim();
}

const ACTORS: Partial<Record<Entry['actor']['kind'], MessageKey>> = {
  key: 'audit.by-key',
  token: 'audit.by-token',
};

/** Returns the name of an actor: the current name of a member, and a key's name at the time of the entry. */
export function actorName({ kind, id, name }: Entry['actor'], names: ReadonlyMap<string, string>): string {
  if (kind === 'operator') return t('audit.by-operator');
  if (kind === 'unknown') return t('audit.someone');
  if (kind === 'portal') return t('audit.by-portal');
  const known = (kind === 'member' && id !== null ? names.get(id) : undefined) ?? name ?? id ?? t('audit.someone');
  const key = ACTORS[kind];
  return key === undefined ? known : t(key, { name: known });
}
