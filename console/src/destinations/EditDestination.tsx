import './destinations.css';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { Crumbs } from '../kit/Crumbs';
import { deliveryChangesOf, deliveryDraftOf, deliveryFaultOf } from '../kit/delivery/delivery-draft';
import { DeliveryFields } from '../kit/delivery/DeliveryFields';
import { FaultLine } from '../kit/form/FaultLine';
import { PageState } from '../kit/load/PageState';
import type { SkeletonPart } from '../kit/load/Skeleton';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import { type DestinationDetail, useDestination } from './destination-queries';
import { targetChangesOf, type TargetDraft, targetDraftOf, targetFaultOf } from './target-draft';
import { TargetFields } from './TargetFields';
import { UrlCheck } from './UrlCheck';

const PARTS: readonly SkeletonPart[] = ['title', 'heading', ['fields', 6]];

const FORWARDED = ['method', 'path', 'query'] as const;

/** Page that edits all settings of a destination. */
export function EditDestination(): ReactNode {
  const { id } = useParams({ from: '/$env/destinations/$id/edit' });
  const { environment: env, can } = useSigned();
  const { data, error } = useDestination(id);
  return (
    <div className="page">
      <title>{`${t('edit.title', { name: data?.name ?? id })} · Posthorn`}</title>
      <Crumbs to={`/${env}/destinations/${id}`} label={data?.name ?? id} />
      <PageState name={id} isLoaded={data !== undefined} fault={error} parts={PARTS} />
      {data && <h1>{t('edit.title', { name: data.name })}</h1>}
      {data && (can('write') ? <Form of={data} /> : <p>{t('needs-write')}</p>)}
    </div>
  );
}

function Form({ of }: { of: DestinationDetail }): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const navigate = useNavigate();
  // The query refetches regularly. The form keeps the state from when it was opened, and sends only what was edited.
  const [before] = useState(() => ({ name: of.name, target: targetDraftOf(of), delivery: deliveryDraftOf(of) }));
  const [draft, setDraft] = useState(before);
  const [fault, setFault] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const setTarget = (changes: Partial<TargetDraft>): void =>
    setDraft((now) => ({ ...now, target: { ...now.target, ...changes } }));
  const deliveryFault = deliveryFaultOf(draft.delivery);
  const { config, credentialsLine } = targetFaultOf(of.type, draft.target, '');
  const isWrong = deliveryFault !== null || config !== null || credentialsLine !== null;
  const changes = isWrong
    ? {}
    : {
        ...(draft.name !== before.name && { name: draft.name }),
        ...targetChangesOf(of.type, draft.target, before.target),
        ...deliveryChangesOf(draft.delivery, before.delivery),
      };
  const save = async (): Promise<void> => {
    await answered(api.PATCH('/v1/destinations/{id}', { params: { path: { id: of.id } }, body: changes as never }));
    await queries.invalidateQueries({ queryKey: ['destination', env, of.id] });
    await queries.invalidateQueries({ queryKey: ['destinations', env] });
    await queries.invalidateQueries({ queryKey: ['destination-names', env] });
    await navigate({ to: '/$env/destinations/$id', params: { env, id: of.id } });
  };
  const submit = (): void => {
    setBusy(true);
    setFault(null);
    save().catch((error: unknown) => {
      setFault(error);
      setBusy(false);
    });
  };
  const hasUrl = of.type === 'https' || of.type === 'mirror';
  return (
    <form
      className="stacked narrow"
      onChange={() => setFault(null)}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <h2>{t('destination.target')}</h2>
      <label>
        {t('destination.name')}
        <input
          required
          maxLength={200}
          value={draft.name}
          autoComplete="off"
          onChange={(event) => setDraft({ ...draft, name: event.target.value })}
        />
      </label>
      <TargetFields type={of.type} draft={draft.target} hasCredentials onChange={setTarget} />
      {hasUrl && draft.target.url !== before.target.url && <UrlCheck type={of.type} url={draft.target.url} />}
      {of.type === 'https' && <Forwarded draft={draft.target} onChange={setTarget} />}
      {of.type !== 'pull' && (
        <>
          <h2>{t('destination.delivery')}</h2>
          <DeliveryFields
            draft={draft.delivery}
            fault={deliveryFault}
            onChange={(edited) => setDraft((now) => ({ ...now, delivery: { ...now.delivery, ...edited } }))}
          />
          <div className="fields">
            <label>
              {t('destination.threshold')}
              <input
                type="number"
                min={1}
                max={1_000}
                value={draft.target.threshold}
                placeholder="10"
                onChange={(event) => setTarget({ threshold: event.target.value })}
              />
            </label>
          </div>
        </>
      )}
      <FaultLine fault={fault} />
      <p className="actions">
        <button type="submit" className="primary" disabled={isBusy || isWrong || Object.keys(changes).length === 0}>
          {t('save')}
        </button>
        <Link to="/$env/destinations/$id" params={{ env, id: of.id }} className="button">
          {t('close')}
        </Link>
        {!isWrong && Object.keys(changes).length === 0 && <span className="quiet">{t('destination.unchanged')}</span>}
      </p>
    </form>
  );
}

/** Choice of which parts of a received request each delivery forwards. */
function Forwarded({
  draft,
  onChange,
}: {
  draft: TargetDraft;
  onChange: (changes: Partial<TargetDraft>) => void;
}): ReactNode {
  return (
    <fieldset className="checks">
      <legend>{t('destination.forward')}</legend>
      {FORWARDED.map((part) => (
        <label key={part} className="check">
          <input
            type="checkbox"
            checked={draft.forward[part]}
            onChange={(event) => onChange({ forward: { ...draft.forward, [part]: event.target.checked } })}
          />{' '}
          {t(`destination.forward.${part}`)}
        </label>
      ))}
    </fieldset>
  );
}
