import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { answered } from '../api/client';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';

/** Types of system events, with examples. */
export function SystemEvents(): ReactNode {
  const { api } = useSigned();
  const { data, error } = useQuery({
    queryKey: ['system-events'],
    staleTime: Infinity,
    queryFn: ({ signal }) => answered(api.GET('/v1/system-events', { signal })),
  });
  return (
    <div>
      <h2>{t('system.title')}</h2>
      <p>{t('system.text')}</p>
      <FaultLine fault={error} />
      {data && (
        <div className="scroll" tabIndex={0} role="region" aria-label={t('system.title')}>
          <table className="plain">
            <thead>
              <tr>
                <th scope="col">{t('system.type')}</th>
                <th scope="col">{t('system.when')}</th>
                <th scope="col">{t('system.example')}</th>
              </tr>
            </thead>
            <tbody>
              {data.data.map(({ type, description, example }) => (
                <tr key={type}>
                  <td>
                    <code>{type}</code>
                  </td>
                  <td className="long">{withCode(description)}</td>
                  <td>
                    <details>
                      <summary>
                        {t('system.example')}
                        <span className="offscreen"> {type}</span>
                      </summary>
                      <pre tabIndex={0}>{JSON.stringify(example, null, 2)}</pre>
                    </details>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}

/** Returns a description from the API, in which backticks mark names of fields. */
function withCode(description: string): ReactNode[] {
  return description.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));
}
