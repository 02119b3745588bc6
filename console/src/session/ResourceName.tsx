import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { answered, type Api } from '../api/client';
import { IdLink } from '../kit/places';
import { useSigned } from './session';

/** A kind of resource that has a name. An `endpoint` is an inbound endpoint, not one of an application. */
export type ResourceKind = 'destination' | 'application' | 'endpoint' | 'key' | 'member';

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

const READS: Readonly<Record<ResourceKind, (api: Api, id: string, signal: AbortSignal) => Promise<{ name: string }>>> =
  {
    destination: (api, id, signal) => answered(api.GET('/v1/destinations/{id}', { params: { path: { id } }, signal })),
    application: (api, app, signal) => answered(api.GET('/v1/app/{app}', { params: { path: { app } }, signal })),
    endpoint: (api, id, signal) => answered(api.GET('/v1/endpoints/{id}', { params: { path: { id } }, signal })),
    key: (api, id, signal) => answered(api.GET('/v1/keys/{id}', { params: { path: { id } }, signal })),
    member: async (api, id, signal) => {
      const { name, email } = await answered(api.GET('/v1/members/{id}', { params: { path: { id } }, signal }));
      return { name: name === '' ? email : name };
    },
  };

/** Queries the name of a resource. Undefined while it is unknown, and if `kind` is null or `id` is empty. */
export function useResourceName(kind: ResourceKind | null, id: string): string | undefined {
  const { api, environment, can } = useSigned();
  const { data } = useQuery({
    queryKey: ['resource-name', environment, kind, id],
    staleTime: STALE_MS,
    retry: false,
    enabled: kind !== null && id !== '' && (can('admin') || !ADMINISTERED.has(kind)),
    queryFn: async ({ signal }) => (kind === null ? '' : (await READS[kind](api, id, signal)).name),
  });
  return data === '' ? undefined : data;
}

/** Shows the name of a resource, or its id while the name is unknown. It is not a link: put it inside of one. */
export function Name({ kind, id }: { kind: ResourceKind | null; id: string }): ReactNode {
  const name = useResourceName(kind, id);
  return name === undefined ? <code>{id}</code> : <bdi title={id}>{name}</bdi>;
}

/**
 * Shows the name of a resource, or its id while the name is unknown. Links to its screen if there is one. The prefix of
 * the id tells the kind, except that `ep_` also begins the ids of applications' endpoints.
 */
export function ResourceName({ id, kind = kindOf(id) }: { id: string; kind?: ResourceKind | null }): ReactNode {
  return (
    <IdLink id={id}>
      <Name kind={kind} id={id} />
    </IdLink>
  );
}

function kindOf(id: string): ResourceKind | null {
  return KINDS[id.split('_', 1)[0] ?? ''] ?? null;
}
