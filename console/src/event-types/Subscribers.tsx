import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { PathLink } from '../kit/PathLink';
import { Status } from '../kit/status/Status';
import { TextFilter } from '../kit/TextFilter';
import { useSigned } from '../session/session';

const OFFERED = 20;

/** Which endpoints of a customer subscribe to a type: customers are found by name or uid, and looked into one at a time. */
export function Subscribers({ name }: { name: string }): ReactNode {
  const { api, environment: env } = useSigned();
  const [search, setSearch] = useState('');
  const [chosen, setChosen] = useState('');
  const applications = useQuery({
    queryKey: ['subscriber-applications', env, search], staleTime: 30_000,
    queryFn: ({ signal }) => answered(api.GET('/v1/app', { params: { query: { limit: OFFERED, ...(search !== '' && { search }) } }, signal })),
  });
  const offered = applications.data?.data ?? [];
  const app = offered.some(({ id }) => id === chosen) ? chosen : (offered[0]?.id ?? '');
  const endpoints = useQuery({
    queryKey: ['subscribers', env, name, app], enabled: app !== '',
    queryFn: ({ signal }) => answered(api.GET('/v1/app/{app}/endpoints', { params: { path: { app }, query: { event_type: name, limit: 100 } }, signal })),
  });
  return (
    <section aria-labelledby="subscribers">
      <h2 id="subscribers">{t('event-type.subscribers')}</h2>
      <form className="filters" onSubmit={(event) => event.preventDefault()}>
        <TextFilter label={t('event-type.find-application')} value={search} onChange={setSearch} />
        <label>{t('filter.application')}
          <select value={app} onChange={(event) => setChosen(event.target.value)}>{offered.map((each) => <option key={each.id} value={each.id}>{[each.name, each.uid].filter(Boolean).join(' · ')}</option>)}</select>
        </label>
      </form>
      <FaultLine fault={applications.error ?? endpoints.error} />
      <div role="status">
        {applications.data && offered.length === 0 && <p className="quiet">{t('event-type.no-application')}</p>}
        {endpoints.data?.data.length === 0 && <p className="quiet">{t('event-type.no-subscriber')}</p>}
      </div>
      <ul className="cards">
        {(app === '' ? [] : (endpoints.data?.data ?? [])).map(({ id, url, destination, status, event_types: types }) => (
          <li key={id} className="card"><div className="heading"><h3><PathLink to={`/${env}/applications/${app}/endpoints/${id}`}>{url ?? destination ?? id}</PathLink></h3><span className="quiet">{types.join(', ') || t('event-type.subscribes-all')}</span><Status of={status} /></div></li>
        ))}
      </ul>
    </section>
  );
}
