import type { ReactNode } from 'react';
import { Icon } from '../icon/Icon';
import { t } from '../messages/t';
import { prefer, usePreferences } from '../preferences';

/** Button that switches the height of the rows of all lists. */
export function DensityButton(): ReactNode {
  const { density } = usePreferences();
  const isCompact = density === 'compact';
  return (
    <button
      type="button"
      className="density"
      aria-label={t('table.compact')}
      title={t('table.compact')}
      aria-pressed={isCompact}
      onClick={() => prefer({ density: isCompact ? 'comfortable' : 'compact' })}
    >
      <Icon name="rows" />
    </button>
  );
}
