import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useMemo, useState } from 'react';
import { answered } from '../api/client';
import { CodeField } from '../kit/form/CodeField';
import { FaultLine } from '../kit/form/FaultLine';
import { useIsChanged } from '../kit/form/use-is-changed';
import { locateFault } from '../kit/json/locate-fault';
import { readObject, writeJson } from '../kit/json/read-json';
import { t } from '../kit/messages/t';
import { DestinationSelect } from '../session/DestinationSelect';
import { useSigned } from '../session/session';
import { type Leaf, withCondition } from './conditions';
import { type Route, useTrial } from './endpoint-queries';
import { type EventField, filterCompletions } from './event-fields';
import { EventFields, useEventFields } from './EventFields';
import { FIRST_LEAF, QuickCondition } from './QuickCondition';
import { TriedRequest, useTriedRequest } from './TriedRequest';

interface RouteEditorProps {
  id: string;
  /** Null for a new route. */
  route: Route | null;
  /** Existing routes of the endpoint. Each destination has at most one route. */
  taken: readonly Route[];
  onDone: () => void;
}

/** Editor of a route and its filter. While the user types, tests the filter on a stored request. */
export function RouteEditor({ id, route, taken, onDone }: RouteEditorProps): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const [destination, setDestination] = useState(route?.destination ?? '');
  const [text, setText] = useState(writeJson(route?.filter));
  const [fault, setFault] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const [leaf, setLeaf] = useState<Leaf>(FIRST_LEAF);
  const tried = useTriedRequest(id);
  const fields = useEventFields(id, tried);
  const completions = useMemo(() => filterCompletions(fields), [fields]);
  const isChanged = useIsChanged([destination, text]);
  const { value: filter, fault: syntax } = readObject(text, t('filter-editor.object'));
  const save = async (): Promise<void> => {
    setBusy(true);
    setFault(null);
    try {
      const body = { destination, filter };
      if (route === null) await answered(api.POST('/v1/endpoints/{id}/routes', { params: { path: { id } }, body }));
      else
        await answered(
          api.PATCH('/v1/endpoints/{id}/routes/{routeId}', { params: { path: { id, routeId: route.id } }, body }),
        );
      await queries.invalidateQueries({ queryKey: ['endpoint', env, id] });
      onDone();
    } catch (error) {
      setFault(error);
      setBusy(false);
    }
  };
  return (
    <form
      className="split"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <div className="stacked">
        <DestinationSelect
          label={t('route.destination')}
          value={destination}
          none={t('route.choose')}
          isRequired
          without={taken.map((each) => each.destination).filter((each) => each !== route?.destination)}
          onChange={setDestination}
        />
        <CodeField
          label={t('route.filter')}
          value={text}
          rows={10}
          fault={syntax ?? locateFault(text, fault, 'filter')}
          completions={completions}
          onChange={(typed) => {
            setText(typed);
            setFault(null);
          }}
        />
        <QuickCondition leaf={leaf} onChange={setLeaf} onAdd={() => setText(writeJson(withCondition(filter, leaf)))} />
        <FaultLine fault={fault} />
        <p className="actions">
          <button type="submit" className="primary" disabled={isBusy || !isChanged || syntax !== null}>
            {t('save')}
          </button>
          <button type="button" onClick={onDone}>
            {t('cancel')}
          </button>
        </p>
      </div>
      <FilterTrial
        id={id}
        tried={tried}
        filter={syntax === null ? filter : undefined}
        fields={fields}
        onPick={({ type, of, sample }) => setLeaf({ type, of, op: 'eq', value: sample })}
      />
    </form>
  );
}

/** Shows whether the filter matches a stored request. `filter` is `undefined` while the text is not valid JSON. */
function FilterTrial({
  id,
  tried,
  filter,
  fields,
  onPick,
}: {
  id: string;
  tried: string;
  filter: Record<string, unknown> | null | undefined;
  fields: readonly EventField[];
  onPick: (field: EventField) => void;
}): ReactNode {
  const { data, error, isFetching } = useTrial(id, tried, filter === undefined ? null : { routes: [{ filter }] });
  const matches = data?.routes[0]?.matches;
  return (
    <div className="try-panel stacked" aria-busy={isFetching}>
      <h3>{t('try')}</h3>
      <TriedRequest id={id} chosen={tried} />
      <EventFields fields={fields} onPick={onPick} />
      <div role="status">
        {error === null && filter !== undefined && matches === true && (
          <p className="verdict good">
            <span aria-hidden="true">✓</span> {t('route.matches')}
          </p>
        )}
        {error === null && filter !== undefined && matches === false && (
          <p className="verdict dull">
            <span aria-hidden="true">✕</span> {t('route.matches-not')}
          </p>
        )}
        {error === null && filter !== undefined && matches === null && (
          <p className="verdict bad">
            <span aria-hidden="true">!</span> {t('route.undecided')}
          </p>
        )}
      </div>
      <FaultLine fault={error} />
    </div>
  );
}
