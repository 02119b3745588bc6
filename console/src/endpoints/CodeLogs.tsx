import type { ReactNode } from 'react';
import type { Schemas } from '../api/client';
import { t } from '../kit/messages/t';

type Logs = Schemas['CodeLogsItem'];

/** Symbol and color of each log level. The symbol makes levels distinguishable without color. */
const SIGNS: Readonly<Record<string, [sign: string, tone: string]>> = {
  error: ['✕', 'bad'],
  warn: ['!', 'busy'],
  debug: ['·', 'dull'],
};

/** Lines that the transform wrote to its console. */
export function CodeLogs({ title, of }: { title: string; of: Logs }): ReactNode {
  return (
    <div className="code-logs">
      <h3>{title}</h3>
      <ol tabIndex={0} aria-label={title}>
        {of.lines.map(({ level, text }, index) => {
          const [sign, tone] = SIGNS[level] ?? ['›', ''];
          return (
            <li key={index} className={tone}>
              <span className="code-level">
                <span aria-hidden="true">{sign}</span> {level}
              </span>
              <span className="code-said">{text}</span>
            </li>
          );
        })}
      </ol>
      {of.truncated && <p className="quiet">{t('code-logs.cut')}</p>}
    </div>
  );
}
