import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useId, useState } from 'react';
import { answered } from '../api/client';
import { portalApi } from '../api/portal';
import { EventTypePicker } from '../kit/event-types/EventTypePicker';
import { describeJsonFault } from '../kit/form/describe-json-fault';
import { FaultLine } from '../kit/form/FaultLine';
import { fromLines, toLines } from '../kit/form/header-lines';
import { useIsChanged } from '../kit/form/use-is-changed';
import { readObject } from '../kit/json/read-json';
import { t } from '../kit/messages/t';
import { postToHost } from '../session/host';
import { usePortal } from './context';
import { type Endpoint, useEventTypes } from './portal-queries';
import { p } from './texts';
import { UrlField } from './UrlField';

const FILTER_EXAMPLE = '{"path": "$.amount", "op": "gte", "value": "1000"}';
const HEADER_EXAMPLE = 'x-team: billing';

/** Values of the endpoint form, as text. */
interface Draft {
  url: string;
  description: string;
  types: string[];
  filter: string;
  headers: string;
}

/** Form that adds or changes an endpoint. Calls `onDone` with the endpoint's id, or with null if nothing was saved. */
export function EndpointForm({
  endpoint,
  onDone,
}: {
  endpoint: Endpoint | null;
  onDone: (id: string | null) => void;
}): ReactNode {
  const { app } = usePortal();
  const queries = useQueryClient();
  const { data: catalogue = [] } = useEventTypes();
  const [draft, setDraft] = useState<Draft>(() => draftOf(endpoint));
  const [fault, setFault] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const isChanged = useIsChanged(draft);
  const set = (changes: Partial<Draft>): void => setDraft((before) => ({ ...before, ...changes }));
  const save = async (): Promise<void> => {
    const body = bodyOf(draft, endpoint);
    const saved = await (endpoint === null
      ? answered(portalApi.POST('/v1/app/{app}/endpoints', { params: { path: { app } }, body: body as never }))
      : answered(
          portalApi.PATCH('/v1/app/{app}/endpoints/{endpoint}', {
            params: { path: { app, endpoint: endpoint.id } },
            body: body as never,
          }),
        ));
    postToHost({ type: 'changed', endpoint: saved.id });
    await queries.invalidateQueries();
    onDone(saved.id);
  };
  const submit = (): void => {
    setBusy(true);
    setFault(null);
    save()
      .catch(setFault)
      .finally(() => setBusy(false));
  };
  return (
    <form
      className="panel stacked"
      onChange={() => setFault(null)}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <h2>{p(endpoint === null ? 'new.title' : 'edit.title')}</h2>
      {endpoint?.url !== null && <UrlField value={draft.url} onChange={(url) => set({ url })} />}
      <label>
        {p('description')}
        <input
          value={draft.description}
          maxLength={500}
          placeholder={p('description.hint')}
          onChange={(event) => set({ description: event.target.value })}
        />
      </label>
      <EventTypePicker types={catalogue} value={draft.types} onChange={(types) => set({ types })} text={p} />
      <Advanced
        draft={draft}
        set={set}
        isOpen={draft.filter !== '' || draft.headers !== ''}
        hasHeaders={endpoint?.url !== null}
      />
      <FaultLine fault={fault} />
      <p className="actions">
        <button type="submit" className="primary" disabled={isBusy || !isChanged}>
          {p(endpoint === null ? 'endpoints.add' : 'save')}
        </button>
        <button type="button" onClick={() => onDone(endpoint?.id ?? null)}>
          {p('cancel')}
        </button>
      </p>
    </form>
  );
}

function Advanced({
  draft,
  set,
  isOpen,
  hasHeaders,
}: {
  draft: Draft;
  set: (changes: Partial<Draft>) => void;
  isOpen: boolean;
  hasHeaders: boolean;
}): ReactNode {
  const [opened] = useState(isOpen);
  const [filterHint, headersHint] = [useId(), useId()];
  return (
    <details open={opened}>
      <summary>{p('advanced')}</summary>
      <div className="stacked">
        <label>
          {p('filter')}
          <textarea
            rows={3}
            value={draft.filter}
            spellCheck={false}
            aria-describedby={filterHint}
            onChange={(event) => set({ filter: event.target.value })}
          />
        </label>
        <p className="quiet" id={filterHint}>
          {p('filter.hint', { example: FILTER_EXAMPLE })}
        </p>
        {hasHeaders && (
          <label>
            {p('headers')}
            <textarea
              rows={3}
              value={draft.headers}
              spellCheck={false}
              aria-describedby={headersHint}
              onChange={(event) => set({ headers: event.target.value })}
            />
          </label>
        )}
        {hasHeaders && (
          <p className="quiet" id={headersHint}>
            {p('headers.hint', { example: HEADER_EXAMPLE })}
          </p>
        )}
      </div>
    </details>
  );
}

function draftOf(endpoint: Endpoint | null): Draft {
  const { url = '', description = '', event_types: types = [], filter = null, headers = {} } = endpoint ?? {};
  return {
    url: url ?? '',
    description,
    types: [...types],
    filter: filter === null ? '' : JSON.stringify(filter, null, 2),
    headers: toLines(headers),
  };
}

/** Returns the request body. For an existing endpoint, it contains only the changes. Throws on invalid input. */
function bodyOf(draft: Draft, endpoint: Endpoint | null): object {
  const before = draftOf(endpoint);
  const headers = fromLines(draft.headers);
  if (typeof headers === 'number') throw new Error(p('headers.broken', { line: headers }));
  const all = {
    url: draft.url.trim(),
    description: draft.description,
    event_types: draft.types,
    filter: filterOf(draft.filter),
    headers,
  };
  if (endpoint === null)
    return {
      ...all,
      ...(all.filter === null && { filter: undefined }),
      ...(draft.headers.trim() === '' && { headers: undefined }),
    };
  return {
    ...(draft.url !== before.url && { url: all.url }),
    ...(draft.description !== before.description && { description: all.description }),
    ...(draft.types.join() !== before.types.join() && { event_types: all.event_types }),
    ...(draft.filter !== before.filter && { filter: all.filter }),
    ...(draft.headers !== before.headers && { headers: all.headers }),
  };
}

function filterOf(text: string): unknown {
  const { value, fault } = readObject(text, t('filter-editor.object'));
  if (fault !== null) throw new Error(`${p('filter')}: ${describeJsonFault(fault)}`);
  return value;
}
