import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { keptAcrossChoices } from '../api/kept-data';
import { Picker, type PickerOption } from '../kit/form/Picker';
import { t } from '../kit/messages/t';
import { useResource } from '../session/ResourceName';
import { useSigned } from '../session/session';

const OFFERED = 10;
const STALE_MS = 30_000;

interface TargetFilterProps {
  value: string;
  onPick: (id: string) => void;
}

/** Filter that finds an application by its name or its `uid`. */
export function ApplicationFilter({ value, onPick }: TargetFilterProps): ReactNode {
  const { api, environment } = useSigned();
  const [text, setText] = useState('');
  const { data: options = [], error } = useQuery({
    ...keptAcrossChoices(['pick', 'applications', environment], text),
    staleTime: STALE_MS,
    queryFn: async ({ signal }): Promise<PickerOption[]> => {
      const { data } = await answered(
        api.GET('/v1/app', { params: { query: { limit: OFFERED, ...(text !== '' && { search: text }) } }, signal }),
      );
      return data.map(({ id, uid, name }) => ({ id, label: name, ...(uid !== null && { detail: uid }) }));
    },
  });
  const resource = useResource(value);
  const picked = options.find(({ id }) => id === value);
  return (
    <Picker
      label={t('filter.application')}
      value={value}
      shown={resource?.name ?? picked?.label ?? value}
      options={options}
      fault={error}
      onText={setText}
      onPick={onPick}
    />
  );
}
