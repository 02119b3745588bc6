import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { keptAcrossChoices } from '../api/kept-data';
import { Picker, type PickerOption, type PickerProps } from '../kit/form/Picker';
import { useResource } from './ResourceName';
import { useSigned } from './session';

const OFFERED = 10;
const STALE_MS = 30_000;

interface DestinationPickerProps extends Pick<
  PickerProps,
  'label' | 'value' | 'onPick' | 'placeholder' | 'isStrict' | 'isRequired'
> {
  /** Ids of destinations that are not offered. */
  without?: readonly string[];
}

/** Field that finds a destination by its name or URL. */
export function DestinationPicker({ without = [], ...props }: DestinationPickerProps): ReactNode {
  const { api, environment } = useSigned();
  const [text, setText] = useState('');
  const { data: options = [], error } = useQuery({
    ...keptAcrossChoices(['pick', 'destinations', environment], text),
    staleTime: STALE_MS,
    queryFn: async ({ signal }): Promise<PickerOption[]> => {
      const { data } = await answered(
        api.GET('/v1/destinations', {
          params: { query: { limit: OFFERED, ...(text !== '' && { search: text }) } },
          signal,
        }),
      );
      return data.map(({ id, name, url }) => ({ id, label: name, ...(url !== null && { detail: url }) }));
    },
  });
  const resource = useResource(props.value);
  const picked = options.find(({ id }) => id === props.value);
  return (
    <Picker
      {...props}
      shown={resource?.name ?? picked?.label ?? props.value}
      options={options.filter(({ id }) => !without.includes(id))}
      fault={error}
      onText={setText}
    />
  );
}
