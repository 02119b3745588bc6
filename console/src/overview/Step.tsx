import type { ReactNode } from 'react';
import type { EventItem, Schemas } from '../api/client';
import { CopyButton } from '../kit/CopyButton';
import { t } from '../kit/messages/t';

/** A destination and an event of the environment, each null if there is none. Their steps are shown as done. */
export interface StepsProps {
  destination: Schemas['DestinationItem'] | null;
  event: EventItem | null;
}

interface StepProps {
  title: string;
  text: string;
  /** Command that does the step in a terminal. */
  command?: string;
  isDone: boolean;
  children?: ReactNode;
}

/** One getting-started step, ticked when it is done. */
export function Step({ title, text, command, isDone, children }: StepProps): ReactNode {
  return (
    <li className={isDone ? 'done' : ''}>
      <h3>
        <span aria-hidden="true" className="tick">
          {isDone ? '✓' : ''}
        </span>
        {title}{' '}
        <span className="offscreen" role="status">
          {t(isDone ? 'first-steps.done' : 'first-steps.open')}
        </span>
      </h3>
      <p>{text}</p>
      {children}
      {command !== undefined && <Command text={command} of={title} />}
    </li>
  );
}

/** A command with a button that copies it. */
export function Command({ text, of }: { text: string; of: string }): ReactNode {
  return (
    <div className="command">
      <pre tabIndex={0} aria-label={of}>
        {text}
      </pre>
      <CopyButton text={text} label={t('copy')} />
    </div>
  );
}
