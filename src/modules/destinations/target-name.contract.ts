/**
 * SQL expression: the name of the target `d`, a row of destinations. The destination of an application's endpoint has
 * no name of its own: its name is the description of the endpoint, or else the host and path of its URL. Uses
 * application_endpoints_pkey.
 */
export const TARGET_NAME = `
  case when d.owner_id is null or d.owner_id = d.id then d.name
    else coalesce((
      select nullif(a.description, '') from application_endpoints a
      where a.environment_id = d.environment_id and a.id = d.id
    ), regexp_replace(d.url, '^[a-z]+://([^/@]*@)?|[?#].*$', '', 'g'), d.name) end`;
