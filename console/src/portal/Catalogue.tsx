import { type ReactNode, useState } from 'react';
import { FaultLine } from '../kit/form/FaultLine';
import { ListSkeleton } from '../kit/load/Skeleton';
import { type EventType, useEventType, useEventTypes } from './portal-queries';
import { p } from './texts';

/** Catalog of event types, with descriptions and examples. */
export function Catalogue(): ReactNode {
  const { data = [], error, isPending } = useEventTypes();
  const groups = [...new Set(data.map(({ group }) => group ?? ''))].sort((a, b) =>
    a === '' ? 1 : b === '' ? -1 : a < b ? -1 : 1,
  );
  return (
    <section>
      <div className="heading">
        <h2>{p('catalogue.title')}</h2>
      </div>
      {isPending && <ListSkeleton />}
      <FaultLine fault={error} />
      {!isPending && error === null && data.length === 0 && <p className="empty">{p('catalogue.empty')}</p>}
      {groups.map((group) => (
        <div key={group} className="panel">
          {(group !== '' || groups.length > 1) && <h3>{group === '' ? p('catalogue.other') : group}</h3>}
          {data
            .filter((type) => (type.group ?? '') === group)
            .sort((a, b) => (a.name < b.name ? -1 : 1))
            .map((type) => (
              <Type key={type.name} type={type} />
            ))}
        </div>
      ))}
    </section>
  );
}

function Type({ type: { name, description } }: { type: EventType }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const { data, error } = useEventType(name, isOpen);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <code>{name}</code> <span className="quiet">{description}</span>
      </summary>
      <FaultLine fault={error} />
      {data && data.example === null && data.schema === null && <p className="quiet">{p('catalogue.nothing')}</p>}
      {data && data.example !== null && (
        <>
          <h4>{p('catalogue.example')}</h4>
          <pre>{JSON.stringify(data.example, null, 2)}</pre>
        </>
      )}
      {data && data.schema !== null && (
        <>
          <h4>{p('catalogue.schema')}</h4>
          <pre>{JSON.stringify(data.schema, null, 2)}</pre>
        </>
      )}
    </details>
  );
}
