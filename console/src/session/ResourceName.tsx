import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { answered, type Api } from '../api/client';
import { IdLink } from '../kit/places';
import { useSigned } from './session';

/** A kind of resource that has a name. An `endpoint` is an inbound endpoint, an `own-endpoint` one of an application. */
export type ResourceKind = 'destination' | 'application' | 'endpoint' | 'own-endpoint' | 'key' | 'member';

const STALE_MS = 60_000;
/** Prefixes of the ids of resources of one kind. */
const KINDS: Readonly<Record<string, ResourceKind>> = {
  dst: 'destination',
  app: 'application',
  ek: 'key',
  mbr: 'member',
};
/** Kinds whose names only admins may read. */
const ADMINISTERED: ReadonlySet<ResourceKind | null> = new Set(['key', 'member']);

type ReadName = (api: Api, id: string, signal: AbortSignal, application: string) => Promise<{ name: string }>;

const READS: Readonly<Record<ResourceKind, ReadName>> = {
  destination: (api, id, signal) => answered(api.GET('/v1/destinations/{id}', { params: { path: { id } }, signal })),
  application: (api, app, signal) => answered(api.GET('/v1/app/{app}', { params: { path: { app } }, signal })),
  endpoint: (api, id, signal) => answered(api.GET('/v1/endpoints/{id}', { params: { path: { id } }, signal })),
  // The name is the same as in the API's figures: the description, or else the host and path of the URL.
  'own-endpoint': async (api, endpoint, signal, app) => {
    const { description, url } = await answered(
      api.GET('/v1/app/{app}/endpoints/{endpoint}', { params: { path: { app, endpoint } }, signal }),
    );
    return { name: description || (url ?? '').replaceAll(/^[a-z]+:\/\/([^/@]*@)?|[?#].*$/g, '') };
  },
  key: (api, id, signal) => answered(api.GET('/v1/keys/{id}', { params: { path: { id } }, signal })),
  member: async (api, id, signal) => {
    const { name, email } = await answered(api.GET('/v1/members/{id}', { params: { path: { id } }, signal }));
    return { name: name === '' ? email : name };
  },
};

/**
 * Queries the name of a resource. Undefined while it is unknown, and if `kind` is null or `id` is empty. An
 * `own-endpoint` needs the id of its application.
 */
export function useResourceName(kind: ResourceKind | null, id: string, application = ''): string | undefined {
  const { api, environment, can } = useSigned();
  const { data } = useQuery({
    queryKey: ['resource-name', environment, kind, id],
    staleTime: STALE_MS,
    retry: false,
    enabled: kind !== null && id !== '' && (can('admin') || !ADMINISTERED.has(kind)),
    queryFn: async ({ signal }) => (kind === null ? '' : (await READS[kind](api, id, signal, application)).name),
  });
  return data === '' ? undefined : data;
}

interface NameProps {
  kind: ResourceKind | null;
  id: string;
  /** Id of the application that has the endpoint. */
  application?: string | undefined;
}

/** Shows the name of a resource, or its id while the name is unknown. It is not a link: put it inside of one. */
export function Name({ kind, id, application }: NameProps): ReactNode {
  const name = useResourceName(kind, id, application);
  return name === undefined ? <code>{id}</code> : <bdi title={id}>{name}</bdi>;
}

/**
 * Shows the name of a resource, or its id while the name is unknown. Links to its screen if there is one. The prefix of
 * the id tells the kind, except that `ep_` begins the ids of inbound endpoints, too: it is the prefix of an
 * application's endpoint if `application` is set.
 */
export function ResourceName({
  id,
  application,
  kind = kindOf(id, application),
}: Omit<NameProps, 'kind'> & { kind?: ResourceKind | null }): ReactNode {
  return (
    <IdLink id={id}>
      <Name kind={kind} id={id} application={application} />
    </IdLink>
  );
}

function kindOf(id: string, application: string | undefined): ResourceKind | null {
  if (application !== undefined && id.startsWith('ep_')) return 'own-endpoint';
  return KINDS[id.split('_', 1)[0] ?? ''] ?? null;
}
