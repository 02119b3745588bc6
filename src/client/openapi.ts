// Generated from /openapi.json by tools/generate-client.mjs: not edited by hand.
export interface paths {
    "/v1/destinations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List destinations
         * @description Returns the newest items first. Needs a key of scope `read`.
         */
        get: operations["listDestinations"];
        put?: never;
        /**
         * Create a destination
         * @description The target is probed first. If it is not reachable, no destination is created. Needs a key of scope `write`.
         */
        post: operations["createDestination"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/destinations/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check a target
         * @description Checks whether the target is reachable. Nothing is stored. Needs a key of scope `write`.
         */
        post: operations["checkTarget"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/destinations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a destination
         * @description Needs a key of scope `read`.
         */
        get: operations["getDestination"];
        put?: never;
        post?: never;
        /**
         * Delete a destination
         * @description Waiting deliveries to the destination become `failed`. Returns 409 if a route or an endpoint of an application sends to the destination. `details.used_by` lists them. Needs a key of scope `write`.
         */
        delete: operations["deleteDestination"];
        options?: never;
        head?: never;
        /**
         * Change a destination
         * @description If the address or connection settings change, the target is probed before the change is stored. Needs a key of scope `write`.
         */
        patch: operations["updateDestination"];
        trace?: never;
    };
    "/v1/destinations/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test event
         * @description Sends an event of type `posthorn.test` through the normal delivery path and responds with its first attempt. Needs a key of scope `write`.
         */
        post: operations["testDestination"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/destinations/{id}/secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the signing secret of a destination
         * @description Returns the secret, and the public key if the destination signs with a key pair. Needs a key of scope `write`.
         */
        get: operations["getDestinationSecret"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/destinations/{id}/secret/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate the signing secret of a destination
         * @description Rotates the secret, and the key pair if the destination has one. Deliveries are signed with both the old and the new secret until the grace period ends. Needs a key of scope `write`.
         */
        post: operations["rotateDestinationSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/destinations/{id}/validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check a destination again
         * @description Needs a key of scope `write`.
         */
        post: operations["validateDestination"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/app": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List applications
         * @description Returns the newest items first. Needs a key of scope `read`.
         */
        get: operations["listApplications"];
        put?: never;
        /**
         * Create an application
         * @description This call is optional: the first send to an unknown uid creates the application. Returns 409 if the uid is taken. Needs a key of scope `write`.
         */
        post: operations["createApplication"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/app/{app}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an application
         * @description Needs a key of scope `read`.
         */
        get: operations["getApplication"];
        put?: never;
        post?: never;
        /**
         * Delete an application
         * @description Deletes the application and its endpoints. Waiting deliveries to the URLs of the endpoints become `failed`. Needs a key of scope `write`.
         */
        delete: operations["deleteApplication"];
        options?: never;
        head?: never;
        /**
         * Change an application
         * @description Omitted fields keep their values. Returns 409 if the uid is taken. Needs a key of scope `write`.
         */
        patch: operations["updateApplication"];
        trace?: never;
    };
    "/v1/app/{app}/endpoints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the endpoints of an application
         * @description Returns the endpoints, newest first. An application has at most 1,000 endpoints. Needs a key of scope `read`.
         */
        get: operations["listApplicationEndpoints"];
        put?: never;
        /**
         * Create an endpoint of an application
         * @description The endpoint receives events sent from now on. A URL is not probed, because your customer may not be ready yet. Returns 409 if the application already has 1,000 endpoints or the uid is taken. Needs a key of scope `write`.
         */
        post: operations["createApplicationEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/app/{app}/endpoints/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check a URL for an endpoint
         * @description Checks whether the URL can be reached. Nothing is stored, and only a probe request is sent to the URL. Needs a key of scope `write`.
         */
        post: operations["checkApplicationEndpointUrl"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/app/{app}/endpoints/{endpoint}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an endpoint of an application
         * @description Returns the endpoint without its secrets. Needs a key of scope `read`.
         */
        get: operations["getApplicationEndpoint"];
        put?: never;
        post?: never;
        /**
         * Delete an endpoint of an application
         * @description Waiting deliveries to the endpoint's URL become `failed`. Needs a key of scope `write`.
         */
        delete: operations["deleteApplicationEndpoint"];
        options?: never;
        head?: never;
        /**
         * Change an endpoint of an application
         * @description Omitted fields keep their values. A URL can be replaced by another URL, and a destination by another destination. A URL and a destination cannot replace each other. Needs a key of scope `write`.
         */
        patch: operations["updateApplicationEndpoint"];
        trace?: never;
    };
    "/v1/app/{app}/endpoints/{endpoint}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test event to an endpoint
         * @description Sends a test event to this endpoint only, through the normal delivery path and regardless of its subscriptions. Returns the first attempt, or 409 if the endpoint is disabled. Needs a key of scope `write`.
         */
        post: operations["testApplicationEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/app/{app}/endpoints/{endpoint}/attempts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the attempts of an endpoint
         * @description Returns attempts grouped by event. The newest event and the newest attempt of each event come first. A filtered page can be short or empty and still have a `next_cursor`. Needs a key of scope `read`.
         */
        get: operations["listAttempts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/app/{app}/endpoints/{endpoint}/secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the signing secret of an endpoint
         * @description Returns the secret, and the public key if the endpoint signs with a key pair. Returns 409 if the endpoint uses a destination. Needs a key of scope `write`.
         */
        get: operations["getApplicationEndpointSecret"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/app/{app}/endpoints/{endpoint}/secret/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate the signing secret of an endpoint
         * @description Rotates the secret, and the key pair if the endpoint has one. Deliveries are signed with both the old and the new secret until the grace period ends. Needs a key of scope `write`.
         */
        post: operations["rotateApplicationEndpointSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/app/{app}/endpoints/{endpoint}/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the statistics of an endpoint
         * @description Returns the statistics of a time range, the number of waiting deliveries and the time of the next retry. The statistics are about two seconds old. Needs a key of scope `read`.
         */
        get: operations["getEndpointStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/app/{app}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the events of an application
         * @description Returns the newest events first. There is one event per message and endpoint. The list works like `GET /v1/events` with the filter `application`, including its limit on scanned rows. Needs a key of scope `read`.
         */
        get: operations["listApplicationEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/app/{app}/events/{event}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an event of an application
         * @description Returns the event with its payload, its deliveries and every attempt. Returns 404 for an event of another application. Needs a key of scope `read`.
         */
        get: operations["getApplicationEvent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/app/{app}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the messages of an application
         * @description Returns the messages sent to the application, newest first, including messages that no endpoint subscribed to. Needs a key of scope `read`.
         */
        get: operations["listMessages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/app/{app}/messages/{message}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a message
         * @description Returns the message with its payload. `GET /v1/events?message_id=` returns its events with their status. Needs a key of scope `read`.
         */
        get: operations["getMessage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/send": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a webhook
         * @description Accepts one payload for one target. The response is sent after the message is stored durably; delivery starts immediately. Needs a key of scope `write`.
         */
        post: operations["sendWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/app/{app}/event": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Emit an event to an application
         * @description Sends one payload to every endpoint of the application that subscribes to the event type. The message is accepted for all of these endpoints, or for none. An unknown uid creates the application. Needs a key of scope `write`.
         */
        post: operations["emitEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List events
         * @description Returns the newest events first. All filters can be combined. Each request scans a limited number of rows. A page that reaches this limit before it is full contains `searched_to`. Continue with `next_cursor`. Needs a key of scope `read`.
         */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/count": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count events
         * @description Returns the number of events that `GET /v1/events` returns for the same filters, up to 10,000. Needs a key of scope `read`.
         */
        get: operations["countEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Listen to events
         * @description Streams server-sent events. `accepted`, `attempt` and `status` (a delivery reached a final status) contain the current state of the event. The stream starts with `ready` and sends `heartbeat` every 15 s. It closes with `end` and a `reason` (`caught_up`, `key_revoked`, `session_ended`, `shutdown`). To resume, send the last received `id` as `Last-Event-ID`. This works for changes of the last hour, up to 5,000. A `gap` reports missing changes, with a `reason` (`slow`, `too_old`, `too_many`, `storage`) and the time range in which they happened (`since`, `until`). The console connects with `EventSource` and its session cookie, and names the environment in the query. Each process allows 100 open streams per key, 1,000 per organization and 2,000 in total. Further requests are rejected with 429 and `Retry-After`. Needs a key of scope `read`.
         */
        get: operations["streamEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an event
         * @description Returns the event with its payload, its deliveries and every attempt. A message to an application consists of many events, so its `msg_` id returns 404. `details.events` names the list of its events. Needs a key of scope `read`.
         */
        get: operations["getEvent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel the waiting deliveries of an event
         * @description Ends the event's waiting deliveries as `failed` with reason `cancelled`. An attempt in flight finishes but is not retried. The `msg_` id of a message to an application cancels the deliveries of all its events. Needs a key of scope `write`.
         */
        post: operations["cancelEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/{id}/exchanges": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the requests and responses of failed attempts
         * @description Returns the URL and headers of failed HTTP attempts as they were sent, and the headers of the responses as they were received. They were recorded during the attempt. Attempts with a 2xx response are not recorded. The `msg_` id of a send is also accepted. Needs a key of scope `read`.
         */
        get: operations["listEventExchanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/{id}/payload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a payload
         * @description Returns only the payload, regardless of its size, byte for byte as it is delivered: JSON exactly as it was sent, or a received body with its original content type. Browsers download the response and do not run it. The `msg_` id of a message to an application is also accepted. Returns 404 after the payload was erased. Needs a key of scope `read`.
         */
        get: operations["getEventPayload"];
        put?: never;
        post?: never;
        /**
         * Erase a payload
         * @description Permanently removes the payload and the values of the headers. For a received event, also removes the query, the headers and the body of its request. The events of a message to an application share one payload, so it is erased for all of them. Waiting deliveries end as `failed` with reason `erased`. Attempts are kept. Needs a key of scope `write`.
         */
        delete: operations["erasePayload"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/{id}/sign": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign a stored delivery
         * @description Returns the URL and headers that an attempt would send now, signed with the current keys. Use them to send the payload by hand while debugging a receiver. Nothing is sent, and no secret is returned. The signature is valid only for this message and for five minutes. The audit log records the request and the caller. Needs a key of scope `write`.
         */
        post: operations["signEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/endpoints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List endpoints
         * @description Lists endpoints newest first, without rules and code. Needs a key of scope `read`.
         */
        get: operations["listEndpoints"];
        put?: never;
        /**
         * Create an endpoint
         * @description The endpoint receives requests immediately. Returns 409 if another endpoint of this installation has the same URL. Needs a key of scope `write`.
         */
        post: operations["createEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/presets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List presets
         * @description Lists the presets of all supported providers. Each preset describes the secret with which the provider signs, and the response that the provider expects. Needs a key of scope `read`.
         */
        get: operations["listPresets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/endpoints/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an endpoint
         * @description Returns the endpoint without its secrets. Needs a key of scope `read`.
         */
        get: operations["getEndpoint"];
        put?: never;
        post?: never;
        /**
         * Delete an endpoint
         * @description The URL can be reused immediately. The events of the endpoint stay until their retention period ends. Needs a key of scope `write`.
         */
        delete: operations["deleteEndpoint"];
        options?: never;
        head?: never;
        /**
         * Change an endpoint
         * @description Omitted fields keep their value, `null` clears a field. A new `url` replaces the old one. Returns 409 if another endpoint of this installation has the new URL. Needs a key of scope `write`.
         */
        patch: operations["updateEndpoint"];
        trace?: never;
    };
    "/v1/endpoints/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a sample event
         * @description Signs a sample event of the preset with the endpoint's secret and processes it as if the provider had sent it. Needs a key of scope `write`.
         */
        post: operations["testEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/endpoints/{id}/requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List raw requests
         * @description Lists the requests that the endpoint received, newest first, including rejected ones. Handshakes are not stored. Needs a key of scope `read`.
         */
        get: operations["listRequests"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/endpoints/{id}/requests/{requestId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a raw request
         * @description Returns the headers, query and body as they were received. The values of authentication headers (`authorization`, `cookie`, a token of a preset) are shown with scope `write`. With scope `read` they are `(hidden)`. Needs a key of scope `read`.
         */
        get: operations["getRequest"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/endpoints/{id}/requests/{requestId}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replay a raw request
         * @description Processes the request again with the current settings of the endpoint: verification, transform and routes. Creates a new event. Needs a key of scope `write`.
         */
        post: operations["replayRequest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/endpoints/{id}/routes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the routes of an endpoint
         * @description Returns all routes in the order in which they are evaluated. Needs a key of scope `read`.
         */
        get: operations["listRoutes"];
        put?: never;
        /**
         * Add a route to an endpoint
         * @description The route is added after all other routes of the endpoint. An endpoint has at most 100 routes, one per destination. Needs a key of scope `write`.
         */
        post: operations["addRoute"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/endpoints/{id}/routes/{routeId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a route
         * @description Deliveries that the route has already created continue. Needs a key of scope `write`.
         */
        delete: operations["deleteRoute"];
        options?: never;
        head?: never;
        /**
         * Change a route
         * @description Omitted fields keep their value. If `filter` is `null`, the route selects all events. Needs a key of scope `write`.
         */
        patch: operations["updateRoute"];
        trace?: never;
    };
    "/v1/endpoints/{id}/secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set the provider's secret
         * @description Previous secrets are still accepted for verification until the grace period ends. At most five previous secrets are kept. Needs a key of scope `write`.
         */
        put: operations["setEndpointSecret"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/endpoints/{id}/trial": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Try settings on a raw request
         * @description Tests a transform, routes or rules on a received request and returns the outcome. They need not be saved. Nothing is stored, delivered or sent to the provider. Code gets the name of each secret in parentheses instead of its value, and authentication headers are hidden. Needs a key of scope `write`.
         */
        post: operations["trySettings"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ingest-domains": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List ingest domains
         * @description Lists the platform's own host and the verified webhook domains of the environment, and returns the domain to which their DNS records point. Needs a key of scope `read`.
         */
        get: operations["listIngestDomains"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/pull": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the positions of pull consumers
         * @description Returns the positions of consumers, newest destination first. The list contains every pull destination, even if it was never pulled. After each one, it lists the inbound endpoints that were pulled by their own id. Needs a key of scope `read`.
         */
        get: operations["listPullPositions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/pull/{endpoint}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Pull a batch
         * @description Returns events in the order in which they were accepted, each at least once. Without a cursor, the batch starts at the committed position. With a `cursor`, all events before it are committed, and the batch starts after it. With a key of scope `read`, nothing is committed. Needs a key of scope `read`.
         */
        get: operations["pullEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/pull/{endpoint}/ack": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Acknowledge a batch
         * @description Commits all events before the cursor without returning further events. The committed position never moves back. Needs a key of scope `write`.
         */
        post: operations["acknowledgeEvents"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/portal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get your portal
         * @description Returns what the portal page shows, its permissions and its expiry time. Only the portal page can use this call, with its portal token. An API key gets 404. Needs a key of scope `read`.
         */
        get: operations["getOwnPortal"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/app/{app}/portal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the portal sessions of an application
         * @description Returns the active sessions, newest first. Needs a key of scope `read`.
         */
        get: operations["listPortals"];
        put?: never;
        /**
         * Open a portal
         * @description Call this from your backend for a customer who is signed in to your product, and redirect them to `url`. The page can be framed only on the origins that `PATCH /v1/org` lists. Each call opens another session. The session ends when it expires or is deleted, when the key that opened it is revoked or expires, or when the member who opened it is removed. Needs a key of scope `write`.
         */
        post: operations["openPortal"];
        /**
         * Close all portal sessions of an application
         * @description The sessions end immediately on the node that handles the call, and within five seconds on all nodes. Also succeeds if there are no sessions. Needs a key of scope `write`.
         */
        delete: operations["closePortals"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/app/{app}/portal/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Preview a portal as the customer sees it
         * @description Opens a preview of the portal for your own staff. A preview is read-only, shows no secrets, cannot be framed, and ends after 15 minutes. The audit log records who opened it. Needs a key of scope `read`.
         */
        post: operations["previewPortal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/app/{app}/portal/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a portal session of an application
         * @description Returns the session without its token. Needs a key of scope `read`.
         */
        get: operations["getPortal"];
        put?: never;
        post?: never;
        /**
         * Close a portal
         * @description The session ends immediately on the node that handles the call, and within five seconds on all nodes. Needs a key of scope `write`.
         */
        delete: operations["closePortal"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/dlq/redrive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Redrive dead letters
         * @description Sends all selected dead letters again, marked as replays. Dead letters whose target is disabled or was deleted stay dead letters and are counted as `skipped`. Returns 409 if no other dead letters are selected. With an `Idempotency-Key`, all are sent in one transaction. Needs a key of scope `write`.
         */
        post: operations["redriveDeadLetters"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/replays": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List replay jobs
         * @description Returns the newest items first. Needs a key of scope `read`.
         */
        get: operations["listReplays"];
        put?: never;
        /**
         * Replay, recover or cancel events by filter
         * @description Starts a background job that processes every event that `GET /v1/events` shows with the same filters, newest first. The job resumes after an interruption and processes nothing twice. Events accepted after the request are not included. With `dry_run` the response contains only the count (200). Returns 409 if the filter names a destination or an endpoint that is disabled (`details.reason: "disabled"`). Also returns 409 while another job for the same destination, endpoint, application or message is pending or running (`"replay_live"`, with the id of that job as `details.replay`). If the filter names none of these, only one such job per environment may be pending or running. If the filter names no target, disabled targets are skipped and counted. Needs a key of scope `write`.
         */
        post: operations["replayEvents"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/app/{app}/endpoints/{endpoint}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel the deliveries that wait for an application's endpoint
         * @description Ends the waiting deliveries as `failed` with reason `cancelled`. An attempt in flight completes, but is not retried. Events that are accepted later are delivered. Needs a key of scope `write`.
         */
        post: operations["cancelEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/app/{app}/endpoints/{endpoint}/recover": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resend failed events to an application's endpoint
         * @description Starts a background job that sends again every event of the time range whose delivery ended as `failed` or `dlq`. Cancelled deliveries are included only with `include_cancelled`. Events without a payload are never sent. Needs a key of scope `write`.
         */
        post: operations["recoverEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/app/{app}/erase": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Erase an application
         * @description Starts a background job that permanently erases the application, its endpoints and their secrets. It also erases its waiting deliveries, the responses of its receivers, and the payload, header values and channels of every message that was sent to it. Ids, types, times and states stay. The field `erased` of the job counts the erased items. A deleted application can be erased by its `app_` id. With `dry_run` the response contains only the counts (200) and nothing is erased. Needs a key of scope `write`.
         */
        post: operations["eraseApplication"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/app/{app}/messages/{message}/endpoints/{endpoint}/resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resend a message to an endpoint
         * @description Sends the message to this endpoint of the application again, whatever its state. The request has the same `webhook-id` and body, and the header `webhook-replayed: true`. Returns 404 if the message was not sent to the endpoint. Returns 409 if the payload was erased, if the endpoint is disabled, or if it has another destination now. Needs a key of scope `write`.
         */
        post: operations["resendMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/app/{app}/recover": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resend failed events of an application
         * @description Starts a background job that sends again every event of the time range whose delivery to an endpoint of the application ended as `failed` or `dlq`. Events for an endpoint that currently accepts no deliveries are counted as `skipped`. Returns 409 for an application without endpoints. Needs a key of scope `write`.
         */
        post: operations["recoverApplication"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/app/{app}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resend all events of an application
         * @description Starts a background job that sends again every event of the time range, whatever its state. Each event is sent only to its original endpoint. Events for an endpoint that currently accepts no deliveries are counted as `skipped`. Returns 409 for an application without endpoints. Needs a key of scope `write`.
         */
        post: operations["replayApplication"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/destinations/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel the deliveries that wait for a destination
         * @description Ends the waiting deliveries as `failed` with reason `cancelled`. An attempt in flight completes, but is not retried. Events that are accepted later are delivered. Needs a key of scope `write`.
         */
        post: operations["cancelDestination"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/destinations/{id}/recover": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resend failed events to a destination
         * @description Starts a background job that sends again every event of the time range whose delivery ended as `failed` or `dlq`. Cancelled deliveries are included only with `include_cancelled`. Events without a payload are never sent. Needs a key of scope `write`.
         */
        post: operations["recoverDestination"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/endpoints/{id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replay the events of an endpoint in a time range
         * @description Starts a background job that sends the events that the endpoint received between `since` and `until` to the current destinations of its routes. With `dry_run` the response contains only the counts (200) and nothing is sent. Needs a key of scope `write`.
         */
        post: operations["replayRange"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/endpoints/{id}/requests/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Release quarantined or parked requests
         * @description Starts a background job that processes the requests that the endpoint quarantined or parked between `since` and `until`, oldest first. Each is verified, transformed and routed as a new event, with the current settings of the endpoint. A request that was already released is skipped. With `dry_run` the response contains only the counts (200). Needs a key of scope `write`.
         */
        post: operations["replayRequests"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/{id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replay an event
         * @description Sends the event again, whatever its state. The request has the same `webhook-id` and body, and the header `webhook-replayed: true`. Nothing is sent to targets that are disabled or were deleted. Returns 409 if the event has no other target. `destinations` limits the replay to some of the original destinations. Needs a key of scope `write`.
         */
        post: operations["replayEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/replays/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a replay job
         * @description Returns the job with its progress. Needs a key of scope `read`.
         */
        get: operations["getReplay"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/replays/{id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop a replay job
         * @description The job stops after the batch of events that it is processing. Deliveries that it has already created are still made. A job that has not started stops immediately. Needs a key of scope `write`.
         */
        post: operations["stopReplay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/event-types": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List event types
         * @description Returns the event types without schemas and examples, newest first. Needs a key of scope `read`.
         */
        get: operations["listEventTypes"];
        put?: never;
        /**
         * Create an event type
         * @description An environment has at most 1,000 event types. Needs a key of scope `write`.
         */
        post: operations["createEventType"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/event-types/import/openapi": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import event types
         * @description Imports the `webhooks` of an OpenAPI document, either all of them or none. A number that a double cannot represent exactly is imported and listed in `changed_numbers`. Needs a key of scope `write`.
         */
        post: operations["importEventTypes"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/event-types/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an event type
         * @description Returns the event type with its schema and example. Needs a key of scope `read`.
         */
        get: operations["getEventType"];
        put?: never;
        post?: never;
        /**
         * Delete an event type
         * @description Deletes the event type with all its versions. To keep the versions, archive the event type instead. Needs a key of scope `write`.
         */
        delete: operations["deleteEventType"];
        options?: never;
        head?: never;
        /**
         * Change an event type
         * @description A changed schema creates a new version, which is in effect on every node within five seconds. Needs a key of scope `write`.
         */
        patch: operations["updateEventType"];
        trace?: never;
    };
    "/v1/event-types/{name}/subscribers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the subscribers of an event type
         * @description Returns endpoints of all applications that subscribe to the event type by name, by prefix, or by subscribing to all types, newest first. Each call scans a limited number of endpoints, so a page can be short or empty without being the last. Needs a key of scope `read`.
         */
        get: operations["listEventTypeSubscribers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/event-types/{name}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the versions of an event type
         * @description Returns all schemas of the event type, newest first. Needs a key of scope `read`.
         */
        get: operations["listEventTypeVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/domains": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List domains
         * @description Returns the domains with their DNS records, newest first. Needs a key of scope `read`.
         */
        get: operations["listDomains"];
        put?: never;
        /**
         * Create a domain
         * @description Returns the DNS records to publish. Posthorn then checks them periodically. An environment has at most 1,000 domains. Needs a key of scope `admin`.
         */
        post: operations["createDomain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/domains/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a domain
         * @description Returns the domain and its DNS records, with the results of the last check. Needs a key of scope `read`.
         */
        get: operations["getDomain"];
        put?: never;
        post?: never;
        /**
         * Delete a domain
         * @description Returns 409 while an endpoint or an alias uses the domain. `details.used_by` lists them. Needs a key of scope `admin`.
         */
        delete: operations["deleteDomain"];
        options?: never;
        head?: never;
        /**
         * Change the kind of a domain
         * @description Changes the kind between `email` and `email-send`. Records that are already published stay valid, and a domain that sends keeps sending. A webhook domain is rejected with 422. Needs a key of scope `admin`.
         */
        patch: operations["convertDomain"];
        trace?: never;
    };
    "/v1/domains/{id}/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check a domain now
         * @description Queries the name servers for at most ten seconds and returns the domain with all its records. A call during a check, or within five seconds after one, returns the last result. A failed domain gets another 72 hours for verification. Needs a key of scope `admin`.
         */
        post: operations["verifyDomain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/emails": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List emails
         * @description Returns the newest emails first. With a filter for status, tag or recipient, each page scans a limited number of emails, so a page can be short without being the last. Needs a key of scope `read`.
         */
        get: operations["listEmails"];
        put?: never;
        /**
         * Send an email
         * @description Accepts an email after it is composed, signed and stored. Every attempt sends the same bytes. To use the `resend` package with this operation, set its base URL to this service's URL followed by `/v1`. Needs a key of scope `write`.
         */
        post: operations["sendEmail"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/emails/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send many emails
         * @description Accepts up to 100 emails, each one separately. An invalid email, or one whose recipients are all suppressed, does not affect the others. The limits on attachments apply to the whole request. Needs a key of scope `write`.
         */
        post: operations["sendEmails"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/emails/simulator": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the addresses of the email simulator
         * @description Returns addresses that simulate delivery outcomes. They work in both environments. Needs a key of scope `read`.
         */
        get: operations["getSimulator"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/emails/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an email
         * @description Returns the email with its recipients, attempts and timeline. Needs a key of scope `read`.
         */
        get: operations["getEmail"];
        put?: never;
        post?: never;
        /**
         * Cancel a scheduled email
         * @description Cancels the email and deletes everything that was stored for it. Returns 409 after the scheduled time. Needs a key of scope `write`.
         */
        delete: operations["deleteEmail"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/emails/{id}/attachments/{index}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an attachment of an email
         * @description Returns the decoded file, always as a download. Types that a browser would run (HTML, SVG, XML, scripts) are served as application/octet-stream. Needs a key of scope `read`.
         */
        get: operations["getEmailAttachment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/emails/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a scheduled email (compatible with Resend)
         * @description Does the same as `DELETE /v1/emails/{id}`. The `resend` package calls this operation in `resend.emails.cancel`. Needs a key of scope `write`.
         */
        post: operations["cancelEmail"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/emails/{id}/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the content of an email
         * @description Returns the text, HTML, headers and attachments, parsed from the message itself. Returns 404 if the email was erased, or if a scheduled email is not composed yet. Needs a key of scope `read`.
         */
        get: operations["getEmailContent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/emails/{id}/raw": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the raw message of an email
         * @description Returns the raw message (RFC 5322), byte for byte as every attempt sends it. Returns 404 if the email was erased, or if a scheduled email is not composed yet. Needs a key of scope `read`.
         */
        get: operations["getRawEmail"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/emails/{id}/view": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a URL that displays an email
         * @description Returns a URL that displays the email's HTML in a frame. The URL is valid for one minute. Needs a key of scope `read`.
         */
        get: operations["viewEmail"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/mail-views": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the HTML of a message
         * @description Takes a token instead of a key, because a frame cannot send headers. Images that are attached to the message are embedded. Nothing else is loaded or active: no script, no form, no remote image or style, and no external link. Only pages of this origin may frame the document.
         */
        get: operations["showMail"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/suppressions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List suppressions
         * @description Returns the newest suppressions first. The list is checked when an email is accepted and before each attempt. Needs a key of scope `read`.
         */
        get: operations["listSuppressions"];
        put?: never;
        /**
         * Suppress an address
         * @description No email is sent to the address after this call. This includes emails that are waiting for their next attempt. Needs a key of scope `write`.
         */
        post: operations["createSuppression"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/suppressions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a suppression
         * @description Finds the suppression by its id or by its email address. Needs a key of scope `read`.
         */
        get: operations["getSuppression"];
        put?: never;
        post?: never;
        /**
         * Remove a suppression
         * @description Later emails are sent to the address again. Needs a key of scope `write`.
         */
        delete: operations["deleteSuppression"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/providers/ses/notifications": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive a notification of Amazon SES
         * @description Amazon SNS calls this operation and authenticates with its signature. Subscribe a topic that `SES_TOPICS` lists to this URL, with raw message delivery switched off.
         */
        post: operations["takeSesNotification"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/reports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List reports
         * @description Lists reports that concern an email of this environment, or claim to, newest first. Needs a key of scope `admin`.
         */
        get: operations["listReports"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/reports/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a report
         * @description Returns the type of the report and the result of processing it. Needs a key of scope `admin`.
         */
        get: operations["getReport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/reports/{id}/raw": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the original report
         * @description Returns the original message (RFC 5322) byte for byte, or the JSON of a notification. Needs a key of scope `admin`.
         */
        get: operations["getRawReport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/aliases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List aliases
         * @description Returns the newest items first. Needs a key of scope `read`.
         */
        get: operations["listAliases"];
        put?: never;
        /**
         * Create an alias
         * @description Mail to the alias is accepted within five seconds. An environment has at most 10,000 aliases. Needs a key of scope `write`.
         */
        post: operations["createAlias"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/aliases/{alias}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an alias
         * @description Finds the alias by its id or its address. Needs a key of scope `read`.
         */
        get: operations["getAlias"];
        put?: never;
        post?: never;
        /**
         * Delete an alias
         * @description New mail is rejected with 550 within five seconds. Messages already received stay readable as events until their retention ends. Needs a key of scope `write`.
         */
        delete: operations["deleteAlias"];
        options?: never;
        head?: never;
        /**
         * Change an alias
         * @description Omitted fields keep their values. The address cannot be changed. A request that changes it is rejected with 422. Needs a key of scope `write`.
         */
        patch: operations["changeAlias"];
        trace?: never;
    };
    "/v1/aliases/{alias}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the messages of an alias
         * @description Returns the newest messages first, including quarantined messages. With a filter, a page examines a limited number of messages, so it may be short without being the last. Needs a key of scope `read`.
         */
        get: operations["listReceivedMessages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/aliases/{alias}/messages/{messageId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a message
         * @description Returns the contents of the message and the results of its checks. Returns 404 after the message was erased. Needs a key of scope `read`.
         */
        get: operations["getReceivedMessage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/aliases/{alias}/messages/{messageId}/attachments/{index}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an attachment of a received message
         * @description Returns the decoded file, always as a download. Types that a browser would execute (HTML, SVG, XML, scripts) are served as application/octet-stream. Needs a key of scope `read`.
         */
        get: operations["getReceivedAttachment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/aliases/{alias}/messages/{messageId}/raw": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the original of a received message
         * @description Returns the message byte for byte as it was received (RFC 5322), so that its signatures can be verified again. Needs a key of scope `read`.
         */
        get: operations["getRawReceivedMessage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/aliases/{alias}/messages/{messageId}/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Release a quarantined message
         * @description Sends the message to the current destinations of the alias. No check is repeated, and the verdicts stay unchanged. A message can be released only once. Returns 409 if the message is not quarantined (`details.reason: "not_quarantined"`), or if no destination of the alias accepts it (`"no_destination"`). Needs a key of scope `write`.
         */
        post: operations["releaseReceivedMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/aliases/{alias}/messages/{messageId}/view": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a URL that displays a received message
         * @description Returns a URL that shows the HTML in a frame. The URL is valid for one minute. Returns 404 for a message without HTML. Needs a key of scope `read`.
         */
        get: operations["viewReceivedMessage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/aliases/{alias}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replay the messages of an alias
         * @description Sends the messages of a time range to the current destinations of the alias again, whatever their state. Each call processes at most 1,000 messages, newest first. Continue with `next_cursor`. Quarantined messages are never sent again. Needs a key of scope `write`.
         */
        post: operations["replayAlias"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/secrets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List secrets
         * @description Returns the secrets without their values, newest first. Needs a key of scope `read`.
         */
        get: operations["listSecrets"];
        put?: never;
        /**
         * Create a secret
         * @description The value is never returned. An environment has at most 1,000 secrets. Needs a key of scope `write`.
         */
        post: operations["createSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/secrets/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a secret
         * @description Returns the secret without its value, and the resources that use it. Needs a key of scope `read`.
         */
        get: operations["getSecret"];
        /**
         * Change a secret
         * @description A new value creates a new version. All resources that use the secret switch to it within five seconds. Needs a key of scope `write`.
         */
        put: operations["updateSecret"];
        post?: never;
        /**
         * Delete a secret
         * @description Returns 409 while the secret is in use; `details.used_by` lists the resources that use it. Needs a key of scope `write`.
         */
        delete: operations["deleteSecret"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read metrics
         * @description Returns rollups (counts and latencies per time window) of one endpoint, destination or application, or of the whole environment. They are updated continuously. The data is exact and about two seconds old. Needs a key of scope `read`.
         */
        get: operations["listRollups"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/metrics/applications": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List failing applications
         * @description Returns applications with failures since a given time, ordered by number of failures, with failure count, failure rate, oldest failure and affected endpoints. The data comes from rollups and is about two seconds old. Needs a key of scope `read`.
         */
        get: operations["listFailingApplications"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/metrics/overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an overview
         * @description Returns accepted, delivered and failed counts for the last hour, day, week or month, the latency of attempts, and the number of waiting deliveries. The data comes from rollups and is about two seconds old. Data from before the release that introduced rollups is not included. Needs a key of scope `read`.
         */
        get: operations["getOverview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/metrics/targets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List failing targets
         * @description Returns destinations and application endpoints with the most failures in a time range. The data comes from rollups and is about two seconds old. Needs a key of scope `read`.
         */
        get: operations["listFailingTargets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/attention": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List current problems
         * @description Reports disabled destinations and endpoints, open circuits, growing numbers of dead letters, failing verification, deliveries that no worker claims, email domains that lost their DNS records, and failed jobs. The call is cheap enough for a page that polls it every few seconds. Needs a key of scope `read`.
         */
        get: operations["getAttention"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/system-events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List system events
         * @description Returns all system event types with their schemas. Needs a key of scope `read`.
         */
        get: operations["listSystemEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/org": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the organization
         * @description Needs a key of scope `read`.
         */
        get: operations["getOrganization"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change the organization
         * @description Needs a key of scope `admin`.
         */
        patch: operations["updateOrganization"];
        trace?: never;
    };
    "/v1/signing-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the signing secret
         * @description Returns the secret that signs deliveries to URLs that are not registered as destinations. Needs a key of scope `write`.
         */
        get: operations["getSigningSecret"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/signing-secret/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate the signing secret
         * @description Deliveries are signed with both the old and the new secret until the grace period ends. Needs a key of scope `write`.
         */
        post: operations["rotateSigningSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List API keys
         * @description Lists the keys of the calling key's environment, newest first. The list includes revoked keys. Needs a key of scope `admin`.
         */
        get: operations["listKeys"];
        put?: never;
        /**
         * Create an API key
         * @description The key itself (`key`) is returned only in this response. Needs a key of scope `admin`.
         */
        post: operations["createKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an API key
         * @description Needs a key of scope `admin`.
         */
        get: operations["getKey"];
        put?: never;
        post?: never;
        /**
         * Revoke an API key
         * @description The key is rejected immediately on the node that handles the call, and within five seconds on all nodes. Needs a key of scope `admin`.
         */
        delete: operations["revokeKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate an API key
         * @description Creates a new key with the settings of the old one. The old key stays valid until the grace period ends. The grace period is one day unless `grace_seconds` is set. Needs a key of scope `admin`.
         */
        post: operations["rotateKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List members
         * @description Returns the newest items first. Needs a key of scope `admin`.
         */
        get: operations["listMembers"];
        put?: never;
        /**
         * Add a member
         * @description No email is sent to the member. The member signs in at `{base_url}/signin` with a code, or through the identity provider. Needs a key of scope `admin`.
         */
        post: operations["addMember"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/members/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a member
         * @description Needs a key of scope `admin`.
         */
        get: operations["getMember"];
        put?: never;
        post?: never;
        /**
         * Remove a member
         * @description The member's sessions end within five seconds, on every node. Keys that the member created stay valid and must be revoked one by one. Needs a key of scope `admin`.
         */
        delete: operations["removeMember"];
        options?: never;
        head?: never;
        /**
         * Change a member
         * @description The member's open sessions get the new role within five seconds, on every node. Needs a key of scope `admin`.
         */
        patch: operations["updateMember"];
        trace?: never;
    };
    "/v1/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get your session
         * @description Returns the signed-in user, the organization, the role and the expiry. Only for Posthorn's own pages, because an API key has no session. Needs a session.
         */
        get: operations["getOwnSession"];
        put?: never;
        post?: never;
        /**
         * Sign out
         * @description Deletes the cookie. The session ends immediately on the node that handles the call, and within five seconds on all nodes. Needs a session.
         */
        delete: operations["signOutOfSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List sessions
         * @description Lists active sessions of members and of keys of both environments, newest first. Needs a key of scope `admin`.
         */
        get: operations["listSessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End a session
         * @description The session ends immediately on the node that handles the call, and within five seconds on all nodes. Needs a live admin key. Needs a key of scope `admin`.
         */
        delete: operations["endSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the audit log
         * @description Returns the newest entries first. The log contains actions in the key's environment. With a live key, it also contains actions that affect both environments. Needs a key of scope `admin`.
         */
        get: operations["listAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audit/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export the audit log
         * @description Streams all entries, oldest first, as JSON lines or CSV. In the CSV, cells that a spreadsheet would run as formulas are escaped. If the stream breaks off, continue from the last entry received. Needs a key of scope `admin`.
         */
        get: operations["exportAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the installation's audit log
         * @description Returns the newest entries first. The log contains actions of the operator, and sign-in attempts with an unknown address. It contains no entries of any organization. Needs the operator's key.
         */
        get: operations["listOperatorAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orgs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List organizations
         * @description Lists organizations newest first, including removed ones. Needs the operator's key.
         */
        get: operations["listOrganizations"];
        put?: never;
        /**
         * Create an organization
         * @description Creates the organization with its two environments, its first admin, and one admin key per environment. The keys are returned only in this response. Needs the operator's key.
         */
        post: operations["createOrganization"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orgs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an organization
         * @description Needs the operator's key.
         */
        get: operations["getOperatedOrganization"];
        put?: never;
        post?: never;
        /**
         * Remove an organization
         * @description The keys, members and sessions of the organization stop working within five seconds on every node. Its configuration is erased in the background and cannot be restored. Accepted events are deleted when their retention period ends. Needs the operator's key.
         */
        delete: operations["removeOrganization"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/oauth-authorization-server": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the metadata of the authorization server
         * @description Returns the metadata of RFC 8414. It is also served at `/.well-known/openid-configuration`. If BASE_URL has a path, it is also served at both locations with the path appended.
         */
        get: operations["getAuthorizationServer"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/oauth-protected-resource": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the metadata of the MCP server
         * @description Returns the metadata of RFC 9728. It is also served at `/.well-known/oauth-protected-resource/mcp`. If BASE_URL has a path, it is also served at `/.well-known/oauth-protected-resource{path}/mcp` of the host.
         */
        get: operations["getProtectedResource"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/oauth-protected-resource/mcp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the metadata of the MCP server by its path
         * @description Returns the same metadata as `/.well-known/oauth-protected-resource`, at the path that clients try first.
         */
        get: operations["getProtectedResourceByPath"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mcp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Call the MCP server
         * @description Serves the Model Context Protocol over streamable HTTP, without sessions: one JSON-RPC message per request. The available tools depend on the scope of the key. Each call and each request that a tool makes count against the quota of the key. On 401, `WWW-Authenticate` tells an agent where to sign in. Needs a key of scope `read`.
         */
        post: operations["callAgentServer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/oauth/authorize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Request access from a user
         * @description Opens a page in the user's browser, where the user signs in and grants or refuses access. The response, including a refusal, is a redirect to the client with `iss` and `state`. Unknown parameters and other scopes are ignored. An invalid request is reported on the page. It is redirected only to a client that already has a key of the organization.
         */
        get: operations["askForAccess"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/oauth/device": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Request a code for a device
         * @description Starts the device grant (RFC 8628). The program shows `user_code`, and polls `/oauth/token` until the user has entered the code. The client must have registered for this grant, otherwise the error is `unauthorized_client`. The user chooses a scope up to their own role, and the requested `scope` is preselected. `device_name` becomes part of the name of the key. The command line tool is the client `posthorn-cli`.
         */
        post: operations["authorizeDevice"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/oauth/register": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Register a client
         * @description Registers a public client (RFC 7591), which gets no secret. One network can register ten clients per hour (RATE_LIMIT_REGISTRATION). Rejected requests are not counted. A client that no user approves is deleted after a day. `redirect_uris` must use https, http on the local computer, or a private scheme of OAUTH_REDIRECT_SCHEMES. For the device grant, the client lists it in `grant_types`. A client with only this grant needs no `redirect_uris`.
         */
        post: operations["registerClient"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/oauth/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Revoke a key of an OAuth grant
         * @description Revokes a key (RFC 7009). Returns 200 whether or not the key exists. Only keys from OAuth grants can be revoked here.
         */
        post: operations["revokeToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/oauth/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchange a code for a key
         * @description Issues an API key according to RFC 6749 with PKCE, or RFC 8628 for devices. `GET /v1/keys` lists the key with `source` `oauth`, and `DELETE /v1/keys/{id}` revokes it. A code is valid once and for 60 s. A second use of a code revokes the key that it was exchanged for. There are no refresh tokens.
         */
        post: operations["exchangeToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Check whether the process is alive */
        get: operations["isLive"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check whether the process is ready for traffic
         * @description Returns 503 if the process is not ready. `details` then shows the state of each part.
         */
        get: operations["isReady"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        HealthDto: {
            /**
             * @description `ok` while the process runs, `ready` when it can do its work.
             * @example ok
             * @enum {string}
             */
            status: "ok" | "ready";
            /**
             * @description The version of Posthorn that this process runs. Present only in responses of `/health/ready`.
             * @example 0.1.0
             */
            version?: string;
            /**
             * @description State of each component, by its name. Present only in responses of `/health/ready`.
             * @example {
             *       "storage": {
             *         "ready": true,
             *         "oldest_due_age_ms": 0
             *       }
             *     }
             */
            parts?: {
                [key: string]: unknown;
            };
        };
        AuditActorItem: {
            /**
             * @description Kind of actor: a key, a member, the operator of the installation, a token accepted by an extension, a customer
             *     portal session, or an unknown caller.
             * @example key
             * @enum {string}
             */
            kind: "key" | "member" | "operator" | "token" | "portal" | "unknown";
            /**
             * @description Id of the key, the member or the portal session (`pls_…`), or the subject of the token.
             * @example ek_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string | null;
            /**
             * @description Name of the key or address of the member at the time of the entry.
             * @example Billing service
             */
            name: string | null;
            /**
             * @description Origin of the key: `oauth` marks a key of an agent.
             * @example api
             */
            source: string | null;
            /**
             * @description Id of the sign-in session, if the actor was signed in and sent no key.
             * @example ses_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            session: string | null;
        };
        AuditItem: {
            /**
             * @description Id of the entry.
             * @example aud_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * Format: date-time
             * @description Time of the entry, according to the database clock.
             * @example 2026-11-21T09:30:00.000Z
             */
            at: string;
            /** @description Actor that performed or attempted the action. */
            actor: components["schemas"]["AuditActorItem"];
            /**
             * @description Method and route template of the call, or a word for an action that is not an API call.
             * @example POST /v1/keys
             */
            action: string;
            /**
             * @description Type of the affected resource.
             * @example keys
             */
            resource_type: string | null;
            /**
             * @description Id of the affected resource.
             * @example ek_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            resource_id: string | null;
            /**
             * @description IP address of the client. Behind a proxy, the setting TRUST_PROXY determines which address is recorded.
             * @example 203.0.113.7
             */
            ip: string | null;
            /**
             * @description User agent of the client, truncated to 200 characters.
             * @example posthorn/0.1.0
             */
            user_agent: string | null;
            /**
             * @description Request id, as in the response and in the logs.
             * @example req_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            request_id: string | null;
            /**
             * @description Value before the change. It has only the fields that differ, or all fields if the resource was removed. It is
             *     `null` if the resource was created. Secrets are masked.
             * @example {
             *       "name": "Old"
             *     }
             */
            before: {
                [key: string]: unknown;
            } | null;
            /**
             * @description Value after the change; `null` if the resource was removed.
             * @example {
             *       "name": "New"
             *     }
             */
            after: {
                [key: string]: unknown;
            } | null;
        };
        AuditPage: {
            /** @description Entries on this page. */
            data: components["schemas"]["AuditItem"][];
            /**
             * @description Value for `cursor` to get the next page; `null` on the last page.
             * @example null
             */
            next_cursor: string | null;
        };
        KeyItem: {
            /**
             * @description Id of the key.
             * @example ek_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Display name.
             * @example Billing service
             */
            name: string;
            /**
             * @description Scope of the key.
             * @example write
             * @enum {string}
             */
            scope: "read" | "write" | "admin";
            /**
             * @description Environment whose data the key can access.
             * @example live
             * @enum {string}
             */
            environment: "live" | "test";
            /**
             * @description First characters of the key's text.
             * @example ek_live_4fQa
             */
            prefix: string;
            /**
             * Format: date-time
             * @description Time of creation.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Time of the last use, accurate to about one minute. `null` if the key has never been used.
             * @example 2026-11-21T10:02:11.402Z
             */
            last_used_at: string | null;
            /**
             * Format: date-time
             * @description Time from which the key is rejected. `null` if the key does not expire.
             * @example null
             */
            expires_at: string | null;
            /**
             * Format: date-time
             * @description Time at which the key was revoked. `null` if it is not revoked.
             * @example null
             */
            revoked_at: string | null;
            /**
             * @description Origin of the key: an API call, an OAuth grant, or the first start of the installation.
             * @example api
             * @enum {string}
             */
            source: "api" | "oauth" | "bootstrap";
            /**
             * @description Id of the client, if the key comes from an OAuth grant. `null` otherwise.
             * @example null
             */
            client_id: string | null;
            /**
             * @description Name that the client gave itself, if the key comes from an OAuth grant. The name is not verified. `null` otherwise.
             * @example null
             */
            client_name: string | null;
            /**
             * @description Approver of the OAuth grant that the key comes from: a member's email address or the name of a key. `null` for
             *     other keys.
             * @example null
             */
            granted_by: string | null;
        };
        KeyPage: {
            /** @description The keys of this page, including revoked keys. */
            data: components["schemas"]["KeyItem"][];
            /**
             * @description Pass this value as `cursor` to get the next page. `null` on the last page.
             * @example null
             */
            next_cursor: string | null;
        };
        NewKeyBody: {
            /**
             * @description Display name.
             * @example Billing service
             */
            name: string;
            /**
             * @description Scope of the key. Each scope includes the scopes listed before it.
             * @example write
             * @enum {string}
             */
            scope: "read" | "write" | "admin";
            /**
             * @description Environment of the key. Defaults to the environment of the calling key. Only a live key can create a live key.
             * @example test
             * @enum {string}
             */
            environment?: "live" | "test";
            /**
             * Format: date-time
             * @description Time from which the key is rejected (RFC 3339). If omitted, the key does not expire.
             * @example 2027-01-01T00:00:00.000Z
             */
            expires_at?: string | null;
        };
        IssuedKeyItem: {
            /**
             * @description Id of the key.
             * @example ek_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Display name.
             * @example Billing service
             */
            name: string;
            /**
             * @description Scope of the key.
             * @example write
             * @enum {string}
             */
            scope: "read" | "write" | "admin";
            /**
             * @description Environment whose data the key can access.
             * @example live
             * @enum {string}
             */
            environment: "live" | "test";
            /**
             * @description First characters of the key's text.
             * @example ek_live_4fQa
             */
            prefix: string;
            /**
             * Format: date-time
             * @description Time of creation.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Time of the last use, accurate to about one minute. `null` if the key has never been used.
             * @example 2026-11-21T10:02:11.402Z
             */
            last_used_at: string | null;
            /**
             * Format: date-time
             * @description Time from which the key is rejected. `null` if the key does not expire.
             * @example null
             */
            expires_at: string | null;
            /**
             * Format: date-time
             * @description Time at which the key was revoked. `null` if it is not revoked.
             * @example null
             */
            revoked_at: string | null;
            /**
             * @description Origin of the key: an API call, an OAuth grant, or the first start of the installation.
             * @example api
             * @enum {string}
             */
            source: "api" | "oauth" | "bootstrap";
            /**
             * @description Id of the client, if the key comes from an OAuth grant. `null` otherwise.
             * @example null
             */
            client_id: string | null;
            /**
             * @description Name that the client gave itself, if the key comes from an OAuth grant. The name is not verified. `null` otherwise.
             * @example null
             */
            client_name: string | null;
            /**
             * @description Approver of the OAuth grant that the key comes from: a member's email address or the name of a key. `null` for
             *     other keys.
             * @example null
             */
            granted_by: string | null;
            /**
             * @description The key itself. Returned only in this response.
             * @example ek_live_4fQaVb0mJ2sYkWcX9tLr7uNzPe5hDg3iOq8wAx1CyBv6KdR
             */
            key: string;
        };
        KeyRotationBody: {
            /**
             * @description Time in seconds for which the old key is still accepted. With 0 the old key is revoked immediately.
             * @default 86400
             * @example 86400
             */
            grace_seconds: number;
        };
        MemberItem: {
            /**
             * @description Id of the member.
             * @example mbr_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Email address in lower case.
             * @example ada@example.com
             */
            email: string;
            /**
             * @description Display name of the member.
             * @example Ada
             */
            name: string;
            /**
             * @description Role of the member.
             * @example write
             * @enum {string}
             */
            role: "read" | "write" | "admin";
            /**
             * Format: date-time
             * @description Time at which the member was added.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Time of the member's last sign-in. `null` if the member has never signed in.
             * @example 2026-11-21T10:02:11.402Z
             */
            last_signed_in_at: string | null;
        };
        MemberPage: {
            /** @description The members of this page. */
            data: components["schemas"]["MemberItem"][];
            /**
             * @description Pass this value as `cursor` to get the next page. `null` on the last page.
             * @example null
             */
            next_cursor: string | null;
        };
        NewMemberBody: {
            /**
             * @description Email address that receives sign-in codes and by which the identity provider identifies the member. Compared in
             *     lower case.
             * @example ada@example.com
             */
            email: string;
            /**
             * @description Display name of the member. Defaults to the email address.
             * @example Ada
             */
            name?: string;
            /**
             * @description Role of the member, in both environments. Each role includes the roles listed before it.
             * @example write
             * @enum {string}
             */
            role: "read" | "write" | "admin";
        };
        MemberChangesBody: {
            /**
             * @description Display name of the member.
             * @example Ada
             */
            name?: string;
            /**
             * @description New role of the member. Open sessions get the new role within five seconds.
             * @example admin
             * @enum {string}
             */
            role?: "read" | "write" | "admin";
        };
        OrgItem: {
            /**
             * @description Id of the organization.
             * @example org_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Display name.
             * @example Acme
             */
            name: string;
            /**
             * @description Short name of the organization in the URLs of endpoints and in platform email addresses.
             * @example acme
             */
            slug: string;
            /**
             * @description Environment of the calling key.
             * @example live
             * @enum {string}
             */
            environment: "live" | "test";
            /**
             * @description Number of days for which the environment keeps events, attempts and dead letters.
             * @example 30
             */
            retention_days: number;
            /**
             * @description `true` if the event types of the environment are public. They are published at `/catalog/{slug}` (live) or
             *     `/catalog/{slug}/test` (test).
             * @example false
             */
            public_event_catalog: boolean;
            /**
             * @description Destination that receives the service's own events of the environment. `null` if there is none or it was deleted.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            system_destination: string | null;
            /**
             * @description Origins whose pages may show the environment's customer portal in a frame.
             * @example [
             *       "https://app.example.com"
             *     ]
             */
            portal_origins: string[];
            /**
             * Format: date-time
             * @description Time of creation.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
        };
        OrgChangesBody: {
            /**
             * @description Display name.
             * @example Acme
             */
            name?: string;
            /**
             * @description Short name of the organization in the URLs of endpoints and in platform email addresses. Unique on this
             *     installation.
             * @example acme
             */
            slug?: string;
            /**
             * @description Number of days for which the calling key's environment keeps data that it accepts from now on. If this is 60 days
             *     or more, data may be kept longer by a thirtieth of the period.
             * @example 30
             */
            retention_days?: number;
            /**
             * @description `true` if the event types of the environment are public. They are published at `/catalog/{slug}` (live) or
             *     `/catalog/{slug}/test` (test).
             * @example false
             */
            public_event_catalog?: boolean;
            /**
             * @description Destination that receives the service's own events of the environment (see `GET /v1/system-events`). `null` for
             *     none.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            system_destination?: string | null;
            /**
             * @description Origins whose pages may show the environment's customer portal in a frame: https, or in the test environment http
             *     on the local computer. If the list is empty, the portal opens only as a separate page.
             * @example [
             *       "https://app.example.com"
             *     ]
             */
            portal_origins?: string[];
        };
        SigningSecret: {
            /**
             * @description `whsec_` followed by the key in base64. Receivers verify signatures with it.
             * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=
             */
            secret: string;
        };
        SecretRotationBody: {
            /**
             * @description Time in seconds for which deliveries are still signed with the old secret, in addition to the new one.
             * @default 86400
             * @example 86400
             */
            grace_seconds: number;
        };
        OperatedOrg: {
            /**
             * @description Id of the organization.
             * @example org_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Short name of the organization in the URLs of endpoints. Becomes `removed-…` when the organization is removed.
             * @example acme
             */
            slug: string;
            /**
             * @description Display name.
             * @example Acme
             */
            name: string;
            /**
             * Format: date-time
             * @description Time of creation.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Time since which all access has been rejected. `null` if the organization is not removed.
             * @example null
             */
            removed_at: string | null;
            /**
             * Format: date-time
             * @description Time at which all configuration had been erased. `null` if it is not erased yet. Accepted events are deleted when
             *     their retention period ends.
             * @example null
             */
            erased_at: string | null;
        };
        OrgPage: {
            /** @description The organizations of this page, including removed ones. */
            data: components["schemas"]["OperatedOrg"][];
            /**
             * @description Pass this value as `cursor` to get the next page. `null` on the last page.
             * @example null
             */
            next_cursor: string | null;
        };
        FirstAdminBody: {
            /**
             * @description Email address that receives sign-in codes.
             * @example ada@example.com
             */
            email: string;
            /**
             * @description Display name of the member. Defaults to the email address.
             * @example Ada
             */
            name?: string;
        };
        NewOrgBody: {
            /**
             * @description Short name of the organization in the URLs of endpoints: lower-case letters, digits and `-`.
             * @example acme
             */
            slug: string;
            /**
             * @description Display name.
             * @example Acme
             */
            name: string;
            /** @description First admin of the organization. */
            admin: components["schemas"]["FirstAdminBody"];
        };
        MadeOrg: {
            /**
             * @description Id of the organization.
             * @example org_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Short name of the organization in the URLs of endpoints. Becomes `removed-…` when the organization is removed.
             * @example acme
             */
            slug: string;
            /**
             * @description Display name.
             * @example Acme
             */
            name: string;
            /**
             * Format: date-time
             * @description Time of creation.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Time since which all access has been rejected. `null` if the organization is not removed.
             * @example null
             */
            removed_at: string | null;
            /**
             * Format: date-time
             * @description Time at which all configuration had been erased. `null` if it is not erased yet. Accepted events are deleted when
             *     their retention period ends.
             * @example null
             */
            erased_at: string | null;
            /** @description First admin of the organization. */
            admin: components["schemas"]["MemberItem"];
            /**
             * @description Admin key of the live environment. Returned only in this response.
             * @example ek_live_4fQaVb0mJ2sYkWcX9tLr7uNzPe5hDg3iOq8wAx1CyBv6KdR
             */
            key: string;
            /**
             * @description Admin key of the test environment. Returned only in this response.
             * @example ek_test_4fQaVb0mJ2sYkWcX9tLr7uNzPe5hDg3iOq8wAx1CyBv6KdR
             */
            test_key: string;
        };
        SessionMember: {
            /**
             * @description Id of the member.
             * @example mbr_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Email address of the member.
             * @example ada@example.com
             */
            email: string;
            /**
             * @description Display name of the member. Empty if none was given.
             * @example Ada
             */
            name: string;
        };
        SessionKey: {
            /**
             * @description Id of the key.
             * @example ek_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Name of the key.
             * @example Billing service
             */
            name: string;
        };
        SessionOrganization: {
            /**
             * @description Id of the organization.
             * @example org_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Name of the organization.
             * @example Example Inc.
             */
            name: string;
            /**
             * @description Short name of the organization in the URLs of endpoints.
             * @example example
             */
            slug: string;
        };
        OwnSessionItem: {
            /**
             * @description Id of the session.
             * @example ses_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Sign-in method: an API key, a code sent by email, or the identity provider.
             * @example code
             * @enum {string}
             */
            how: "key" | "code" | "oidc";
            /**
             * @description Display name for the user: the member's name or email address, or the name of the key.
             * @example Ada
             */
            name: string;
            /** @description The signed-in member. `null` if the session was opened with a key. */
            member: components["schemas"]["SessionMember"] | null;
            /** @description The key that opened the session. `null` if a member opened it. */
            key: components["schemas"]["SessionKey"] | null;
            /** @description The organization of the session. */
            organization: components["schemas"]["SessionOrganization"];
            /**
             * @description Permissions of the session: the member's role or the scope of the key.
             * @example admin
             * @enum {string}
             */
            scope: "read" | "write" | "admin";
            /**
             * @description Environments that you may name in `X-Posthorn-Environment`.
             * @example [
             *       "live",
             *       "test"
             *     ]
             */
            environments: ("live" | "test")[];
            /**
             * Format: date-time
             * @description Time at which the session ends, even if it is in use.
             * @example 2026-11-28T09:30:00.000Z
             */
            expires_at: string;
            /**
             * @description Number of seconds without a request after which the session ends early.
             * @example 43200
             */
            idle_seconds: number;
        };
        SessionItem: {
            /**
             * @description Id of the session.
             * @example ses_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Sign-in method: an API key, a code sent by email, or the identity provider.
             * @example code
             * @enum {string}
             */
            how: "key" | "code" | "oidc";
            /**
             * @description Id of the member. `null` if the session was opened with a key.
             * @example mbr_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            member: string | null;
            /**
             * @description Email address of the member. `null` if the session was opened with a key.
             * @example ada@example.com
             */
            email: string | null;
            /**
             * @description Id of the key that opened the session. `null` if a member opened it.
             * @example null
             */
            key: string | null;
            /**
             * @description Network from which the session was opened: an IPv4 address or the /64 prefix of an IPv6 address.
             * @example 203.0.113.7
             */
            network: string;
            /**
             * @description User agent of the browser that opened the session, truncated to 200 characters.
             * @example Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0
             */
            user_agent: string;
            /**
             * Format: date-time
             * @description Time at which the session was opened.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Time of the last request, accurate to about one minute.
             * @example 2026-11-21T10:02:11.402Z
             */
            last_seen_at: string;
            /**
             * Format: date-time
             * @description Time at which the session ends, even if it is in use. It ends earlier after twelve hours without a request.
             * @example 2026-11-28T09:30:00.000Z
             */
            expires_at: string;
        };
        SessionPage: {
            /** @description The sessions of this page. */
            data: components["schemas"]["SessionItem"][];
            /**
             * @description Pass this value as `cursor` to get the next page. `null` on the last page.
             * @example null
             */
            next_cursor: string | null;
        };
        SecretItem: {
            /**
             * @description Id of the secret.
             * @example sec_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Name used in `{{secrets.NAME}}`.
             * @example CRM_TOKEN
             */
            name: string;
            /**
             * @description Purpose of the secret; `null` if none is set.
             * @example The CRM, read and write
             */
            description: string | null;
            /**
             * @description Version of the value. Each new value increments it.
             * @example 1
             */
            version: number;
            /**
             * Format: date-time
             * @description Time of creation.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Time of the last change to the value or the description.
             * @example 2026-11-21T09:30:00.000Z
             */
            updated_at: string;
        };
        SecretPage: {
            /** @description Secrets on this page. */
            data: components["schemas"]["SecretItem"][];
            /**
             * @description Value for `cursor` to get the next page; `null` on the last page.
             * @example null
             */
            next_cursor: string | null;
        };
        NewSecretBody: {
            /**
             * @description Name used in `{{secrets.NAME}}`. It is unique within the environment and cannot be changed.
             * @example CRM_TOKEN
             */
            name: string;
            /**
             * @description Value of the secret, at most 16 KB in UTF-8. It is stored encrypted and never returned.
             * @example tok_8Kd2mQ
             */
            value: string;
            /**
             * @description Purpose of the secret.
             * @example The CRM, read and write
             */
            description?: string | null;
        };
        SecretUserItem: {
            /**
             * @description Kind of resource.
             * @example destination
             * @enum {string}
             */
            kind: "destination" | "endpoint";
            /**
             * @description Id of the resource.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
        };
        SecretDetail: {
            /**
             * @description Id of the secret.
             * @example sec_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Name used in `{{secrets.NAME}}`.
             * @example CRM_TOKEN
             */
            name: string;
            /**
             * @description Purpose of the secret; `null` if none is set.
             * @example The CRM, read and write
             */
            description: string | null;
            /**
             * @description Version of the value. Each new value increments it.
             * @example 1
             */
            version: number;
            /**
             * Format: date-time
             * @description Time of creation.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Time of the last change to the value or the description.
             * @example 2026-11-21T09:30:00.000Z
             */
            updated_at: string;
            /** @description The first 100 resources that use the secret. A secret in use cannot be deleted. */
            used_by: components["schemas"]["SecretUserItem"][];
        };
        SecretChangesBody: {
            /**
             * @description New value. It creates a new version, which is in effect on every node within five seconds.
             * @example tok_9Ws4nR
             */
            value?: string;
            /**
             * @description Purpose of the secret; `null` removes it.
             * @example The CRM, read and write
             */
            description?: string | null;
        };
        CheckBody: {
            /**
             * @description Type of the destination.
             * @example https
             */
            type: string;
            /**
             * @description URL of the target, for types that have a URL.
             * @example https://example.com/webhooks
             */
            url?: string | null;
            /**
             * @description Settings of the type, in the same format as when a destination is created.
             * @example {
             *       "queueUrl": "https://sqs.eu-west-1.amazonaws.com/1/orders",
             *       "region": "eu-west-1"
             *     }
             */
            config?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description Credentials for the type. Used for this check only and not stored.
             * @example {
             *       "accessKeyId": "AKIAIOSFODNN7EXAMPLE"
             *     }
             */
            credentials?: {
                [key: string]: string;
            } | null;
        };
        CheckResult: {
            /**
             * @description `true` if the target is reachable.
             * @example true
             */
            ok: boolean;
            /**
             * @description Explanation of the result for human readers. Omitted if there is nothing to explain.
             * @example The target answered with status 200.
             */
            detail?: string;
        };
        ChecksItem: {
            /**
             * @description `true` if the settings are valid for the type.
             * @example true
             */
            schema: boolean;
            /**
             * @description `true` if the target accepts the credentials.
             * @example true
             */
            credentials: boolean;
            /**
             * @description `true` if the target is reachable.
             * @example true
             */
            connectivity: boolean;
        };
        ValidationResult: {
            /**
             * @description New validation state of the destination. `stale` means that the target was reachable before and is not reachable
             *     now.
             * @example valid
             * @enum {string}
             */
            validation: "pending" | "valid" | "stale" | "invalid";
            /** @description Results of the individual checks. After a failed check, the remaining checks are also `false`. */
            checks: components["schemas"]["ChecksItem"];
            /**
             * @description Explanation of the result for human readers. Omitted if there is nothing to explain.
             * @example The target answered with status 200.
             */
            detail?: string;
        };
        SigningSecretItem: {
            /**
             * @description `whsec_` followed by the key in base64. The receiver verifies `v1` signatures with it.
             * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=
             */
            secret: string;
            /**
             * @description `whpk_` followed by the public key in base64, with which the receiver verifies `v1a` signatures. `null` unless
             *     `asymmetric` is `true`.
             * @example whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=
             */
            public_key: string | null;
        };
        DestinationSecretRotationBody: {
            /**
             * @description Time in seconds for which deliveries are still signed with the old secret, in addition to the new one.
             * @default 86400
             * @example 86400
             */
            grace_seconds: number;
        };
        DestinationItem: {
            /**
             * @description Id of the destination.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Display name.
             * @example Orders
             */
            name: string;
            /**
             * @description Type of the destination, which determines how deliveries are made.
             * @example https
             */
            type: string;
            /**
             * @description URL of the destination. `null` for types without a URL.
             * @example https://example.com/webhooks
             */
            url: string | null;
            /**
             * @description Result of the last check. `stale` means that the target was reachable before and is not reachable now.
             * @example valid
             * @enum {string}
             */
            validation: "pending" | "valid" | "stale" | "invalid";
            /**
             * @description `disabled` means that no deliveries are made until the destination is enabled.
             * @example active
             * @enum {string}
             */
            status: "active" | "disabled";
            /**
             * @description Version number, incremented by every change of the settings.
             * @example 1
             */
            version: number;
            /**
             * Format: date-time
             * @description Time of creation.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
        };
        ListCount: {
            /**
             * @description Number of rows that match the filters, over all pages. Counting stops at 1,000.
             * @example 42
             */
            value: number;
            /**
             * @description True if counting stopped at 1,000, so that there are at least 1,000 rows.
             * @example false
             */
            is_capped: boolean;
        };
        DestinationPage: {
            /** @description The destinations of this page. */
            data: components["schemas"]["DestinationItem"][];
            /**
             * @description Pass this value as `cursor` to get the next page. `null` on the last page.
             * @example null
             */
            next_cursor: string | null;
            /** @description Number of items on all pages that match the filters. Present only if the request sets `count`. */
            count?: components["schemas"]["ListCount"];
        };
        RetryBody: {
            /**
             * @description Name of a retry policy from an extension, used instead of `max_attempts` and `schedule`. `null` removes the policy.
             * @example null
             */
            policy?: string | null;
            /**
             * @description Total number of attempts, including the first. If omitted, the stored value stays. If no value is stored, the
             *     default is the length of the schedule.
             * @example 8
             */
            max_attempts?: number;
            /**
             * @description Maximum wait before each attempt, in seconds. The last value applies to all further attempts.
             * @example [
             *       0,
             *       5,
             *       300,
             *       1800,
             *       7200,
             *       18000,
             *       36000,
             *       36000
             *     ]
             */
            schedule?: number[];
        };
        RateLimitBody: {
            /**
             * @description Deliveries per second. Values below 1 allow less than one delivery per second.
             * @example 50
             */
            per_second: number;
        };
        LegacySignatureBody: {
            /**
             * @description Name of the header that carries the signature.
             * @example X-Acme-Signature
             */
            header: string;
            /**
             * @description Hash function of the HMAC.
             * @default sha256
             * @example sha256
             * @enum {string}
             */
            algorithm: "sha256" | "sha1" | "sha512" | "sha384" | "md5";
            /**
             * @description Encoding of the signature.
             * @default hex
             * @example hex
             * @enum {string}
             */
            encoding: "hex" | "base64";
            /**
             * @description Template of the signed content: literal text, `{id}`, `{timestamp}` (Unix seconds) and exactly once `{body}`.
             * @default {body}
             * @example {timestamp}.{body}
             */
            content: string;
            /**
             * @description Template of the header's value: literal text, `{id}`, `{timestamp}` and `{signature}`.
             * @default {signature}
             * @example t={timestamp},v1={signature}
             */
            format: string;
            /**
             * @description Name of a header that carries the timestamp. If omitted, this header is not sent.
             * @example X-Acme-Timestamp
             */
            timestamp_header?: string | null;
            /**
             * @description Name of a header that repeats the id of the message. If omitted, this header is not sent.
             * @example X-Acme-Delivery
             */
            id_header?: string | null;
            /**
             * @description Key of the HMAC. Stored encrypted and never returned. If omitted, the stored key stays.
             * @example an-old-shared-secret
             */
            secret?: string;
            /**
             * @description Encoding of `secret`.
             * @default utf8
             * @example utf8
             * @enum {string}
             */
            secret_encoding: "utf8" | "hex" | "base64";
        };
        NewDestinationBody: {
            /**
             * @description Headers that are added to every delivery. They override the headers of a received request. Headers in a send
             *     request override them.
             * @example {
             *       "x-tenant": "42"
             *     }
             */
            headers?: {
                [key: string]: string;
            } | null;
            /** @description Retry policy. Defaults to 8 attempts over about 28 hours. */
            retry?: components["schemas"]["RetryBody"] | null;
            /** @description Rate limit. If omitted, deliveries are not rate limited. */
            rate_limit?: components["schemas"]["RateLimitBody"] | null;
            /**
             * @description Time limit for one attempt, in milliseconds.
             * @default 15000
             * @example 15000
             */
            timeout_ms: number | null;
            /**
             * @description Maximum number of attempts that one worker process has in flight at the same time. If omitted, the limit adapts to
             *     what the target can handle, up to 512.
             * @example 10
             */
            concurrency?: number | null;
            /**
             * @description If `true`, deliveries are also signed with an ed25519 key (`v1a`). `false` removes the key.
             * @default false
             * @example false
             */
            asymmetric: boolean | null;
            /**
             * @description Legacy signature header that is sent in addition to the standard headers while receivers migrate. If omitted, no
             *     legacy header is sent.
             */
            legacy_signature?: components["schemas"]["LegacySignatureBody"] | null;
            /**
             * @description URL of the target, for types that have a URL.
             * @example https://example.com/webhooks
             */
            url?: string | null;
            /**
             * @description Settings of the type (for example `queueUrl` and `region` of a queue), and `circuit_breaker: {failure_threshold}`
             *     (1 to 1000, default 10).
             * @example {
             *       "circuit_breaker": {
             *         "failure_threshold": 20
             *       }
             *     }
             */
            config?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description Display name.
             * @example Orders
             */
            name: string;
            /**
             * @description Type of the destination: `https`, `mirror`, `sqs`, `pull`, or a type that an extension adds.
             * @example https
             */
            type: string;
            /**
             * @description Credentials for the type. Stored encrypted and never returned.
             * @example {
             *       "accessKeyId": "AKIAIOSFODNN7EXAMPLE",
             *       "secretAccessKey": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
             *     }
             */
            credentials?: {
                [key: string]: string;
            } | null;
            /**
             * @description Signing secret that the receiver already knows. If omitted, a new one is generated.
             * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=
             */
            secret?: string | null;
        };
        RetryItem: {
            /**
             * @description Name of the retry policy in use. Omitted if the destination has its own or the default attempts and schedule.
             * @example patient
             */
            policy?: string;
            /**
             * @description Reason why the default schedule applies instead of the policy: the policy's extension is not loaded. Omitted
             *     otherwise.
             * @example Nothing brings the retry policy patient here: the extension that did is not loaded, and the default schedule holds.
             */
            policy_unserved?: string;
            /**
             * @description Total number of attempts, including the first.
             * @example 8
             */
            max_attempts: number;
            /**
             * @description Maximum wait before each attempt, in seconds. The last value applies to all further attempts.
             * @example [
             *       0,
             *       5,
             *       300,
             *       1800,
             *       7200,
             *       18000,
             *       36000,
             *       36000
             *     ]
             */
            schedule: number[];
        };
        LegacySignatureItem: {
            /**
             * @description Name of the header that carries the signature.
             * @example X-Acme-Signature
             */
            header: string;
            /**
             * @description Hash function of the HMAC.
             * @example sha256
             * @enum {string}
             */
            algorithm: "sha256" | "sha1" | "sha512" | "sha384" | "md5";
            /**
             * @description Encoding of the signature.
             * @example hex
             * @enum {string}
             */
            encoding: "hex" | "base64";
            /**
             * @description Template of the signed content.
             * @example {timestamp}.{body}
             */
            content: string;
            /**
             * @description Template of the header's value.
             * @example t={timestamp},v1={signature}
             */
            format: string;
            /**
             * @description Name of the header that carries the timestamp, or `null`.
             * @example X-Acme-Timestamp
             */
            timestamp_header: string | null;
            /**
             * @description Name of the header that repeats the id of the message, or `null`.
             * @example null
             */
            id_header: string | null;
        };
        CircuitItem: {
            /**
             * @description `open` holds deliveries back, `half_open` tries one delivery, `closed` lets all deliveries through.
             * @example closed
             * @enum {string}
             */
            state: "closed" | "open" | "half_open";
            /**
             * Format: date-time
             * @description Time at which the outage began. `null` while the circuit is closed.
             * @example null
             */
            opened_at: string | null;
            /**
             * Format: date-time
             * @description Earliest time of the next probe. While a probe is in flight, it is the earliest time of the following probe. `null`
             *     while the circuit is closed.
             * @example null
             */
            next_probe_at: string | null;
        };
        DestinationDetail: {
            /**
             * @description Id of the destination.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Display name.
             * @example Orders
             */
            name: string;
            /**
             * @description Type of the destination, which determines how deliveries are made.
             * @example https
             */
            type: string;
            /**
             * @description URL of the destination. `null` for types without a URL.
             * @example https://example.com/webhooks
             */
            url: string | null;
            /**
             * @description Result of the last check. `stale` means that the target was reachable before and is not reachable now.
             * @example valid
             * @enum {string}
             */
            validation: "pending" | "valid" | "stale" | "invalid";
            /**
             * @description `disabled` means that no deliveries are made until the destination is enabled.
             * @example active
             * @enum {string}
             */
            status: "active" | "disabled";
            /**
             * @description Version number, incremented by every change of the settings.
             * @example 1
             */
            version: number;
            /**
             * Format: date-time
             * @description Time of creation.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * @description Headers that are added to every delivery.
             * @example {
             *       "x-tenant": "42"
             *     }
             */
            headers: {
                [key: string]: string;
            };
            /** @description The retry policy in effect. */
            retry: components["schemas"]["RetryItem"];
            /** @description The rate limit in effect. `null` if there is none. */
            rate_limit: components["schemas"]["RateLimitBody"] | null;
            /**
             * @description Time limit for one attempt, in milliseconds.
             * @example 15000
             */
            timeout_ms: number;
            /**
             * @description Maximum number of attempts that one worker process has in flight at the same time. `null` if the limit adapts to
             *     the target.
             * @example null
             */
            concurrency: number | null;
            /**
             * @description `true` if deliveries carry an ed25519 signature (`v1a`) in addition to the signature with the secret.
             * @example false
             */
            asymmetric: boolean;
            /** @description Legacy signature header that is sent in addition to the standard headers. `null` if there is none. */
            legacy_signature: components["schemas"]["LegacySignatureItem"] | null;
            /**
             * @description Settings of the type, and `circuit_breaker: {failure_threshold}`.
             * @example {
             *       "circuit_breaker": {
             *         "failure_threshold": 10
             *       }
             *     }
             */
            config: {
                [key: string]: unknown;
            };
            /** @description Circuit breaker of the destination. */
            circuit: components["schemas"]["CircuitItem"];
            /**
             * @description Reason why the destination is disabled. `null` while it is active.
             * @example null
             */
            disabled_reason: string | null;
            /**
             * @description Reason why every attempt fails until the operator fixes it: no adapter for the type is loaded. `null` otherwise.
             * @example null
             */
            unserved: string | null;
        };
        DestinationChangesBody: {
            /**
             * @description Headers that are added to every delivery. They override the headers of a received request. Headers in a send
             *     request override them.
             * @example {
             *       "x-tenant": "42"
             *     }
             */
            headers?: {
                [key: string]: string;
            } | null;
            /** @description Retry policy. Defaults to 8 attempts over about 28 hours. */
            retry?: components["schemas"]["RetryBody"] | null;
            /** @description Rate limit. If omitted, deliveries are not rate limited. */
            rate_limit?: components["schemas"]["RateLimitBody"] | null;
            /**
             * @description Time limit for one attempt, in milliseconds.
             * @default 15000
             * @example 15000
             */
            timeout_ms: number | null;
            /**
             * @description Maximum number of attempts that one worker process has in flight at the same time. If omitted, the limit adapts to
             *     what the target can handle, up to 512.
             * @example 10
             */
            concurrency?: number | null;
            /**
             * @description If `true`, deliveries are also signed with an ed25519 key (`v1a`). `false` removes the key.
             * @default false
             * @example false
             */
            asymmetric: boolean | null;
            /**
             * @description Legacy signature header that is sent in addition to the standard headers while receivers migrate. If omitted, no
             *     legacy header is sent.
             */
            legacy_signature?: components["schemas"]["LegacySignatureBody"] | null;
            /**
             * @description URL of the target, for types that have a URL.
             * @example https://example.com/webhooks
             */
            url?: string | null;
            /**
             * @description Settings of the type (for example `queueUrl` and `region` of a queue), and `circuit_breaker: {failure_threshold}`
             *     (1 to 1000, default 10).
             * @example {
             *       "circuit_breaker": {
             *         "failure_threshold": 20
             *       }
             *     }
             */
            config?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description Display name.
             * @example Orders
             */
            name?: string;
            /**
             * @description New credentials, which replace all stored ones. They are checked before they are stored, and never returned.
             * @example {
             *       "accessKeyId": "AKIAIOSFODNN7EXAMPLE",
             *       "secretAccessKey": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
             *     }
             */
            credentials?: {
                [key: string]: string;
            } | null;
            /**
             * @description `active` enables the destination and closes its circuit. `disabled` stops its deliveries.
             * @example active
             * @enum {string}
             */
            status?: "active" | "disabled";
        };
        ApplicationItem: {
            /**
             * @description Id of the application.
             * @example app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Your own id of the customer; `null` if it has none.
             * @example customer-42
             */
            uid: string | null;
            /**
             * @description Human-readable name.
             * @example Acme Inc.
             */
            name: string;
            /**
             * @description Your own key-value data.
             * @example {
             *       "plan": "pro"
             *     }
             */
            metadata: {
                [key: string]: string;
            };
            /**
             * Format: date-time
             * @description Time of creation.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Time of the last change to the application. Changes to its endpoints do not count.
             * @example 2026-11-21T09:30:00.000Z
             */
            updated_at: string;
        };
        ApplicationPage: {
            /** @description Applications on this page. */
            data: components["schemas"]["ApplicationItem"][];
            /**
             * @description Value for `cursor` to get the next page; `null` on the last page.
             * @example null
             */
            next_cursor: string | null;
            /** @description Number of applications that match the filters, across all pages. Present only if `count` is set. */
            count?: components["schemas"]["ListCount"];
        };
        NewApplicationBody: {
            /**
             * @description Your own id of the customer: 1 to 256 letters, digits and `. _ : @ + ~ -`. It must not begin with `app_`.
             * @example customer-42
             */
            uid?: string | null;
            /**
             * @description Human-readable name. Defaults to the uid.
             * @example Acme Inc.
             */
            name?: string;
            /**
             * @description Your own key-value data: up to 50 keys of 1 to 40 characters each, with values of up to 500 characters.
             * @example {
             *       "plan": "pro"
             *     }
             */
            metadata?: {
                [key: string]: string;
            } | null;
        };
        ApplicationDetail: {
            /**
             * @description Id of the application.
             * @example app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Your own id of the customer; `null` if it has none.
             * @example customer-42
             */
            uid: string | null;
            /**
             * @description Human-readable name.
             * @example Acme Inc.
             */
            name: string;
            /**
             * @description Your own key-value data.
             * @example {
             *       "plan": "pro"
             *     }
             */
            metadata: {
                [key: string]: string;
            };
            /**
             * Format: date-time
             * @description Time of creation.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Time of the last change to the application. Changes to its endpoints do not count.
             * @example 2026-11-21T09:30:00.000Z
             */
            updated_at: string;
            /**
             * @description Number of endpoints; at most 1,000.
             * @example 3
             */
            endpoint_count: number;
        };
        ApplicationChangesBody: {
            /**
             * @description Your own id of the customer; `null` removes it.
             * @example customer-42
             */
            uid?: string | null;
            /**
             * @description Human-readable name.
             * @example Acme Inc.
             */
            name?: string;
            /**
             * @description Your own key-value data. The value replaces all existing keys; `null` removes them.
             * @example {
             *       "plan": "pro"
             *     }
             */
            metadata?: {
                [key: string]: string;
            } | null;
        };
        MessageItem: {
            /**
             * @description Id of the message; receivers see it as `webhook-id` in all its deliveries.
             * @example msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Event type of the message.
             * @example invoice.paid
             */
            event_type: string;
            /**
             * @description Channels of the message.
             * @example [
             *       "project-42"
             *     ]
             */
            channels: string[];
            /**
             * @description Number of endpoints that the message was sent to.
             * @example 3
             */
            fanout: number;
            /**
             * @description Size of the payload in bytes.
             * @example 1204
             */
            payload_bytes: number;
            /**
             * Format: date-time
             * @description Time at which the message was accepted.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
        };
        MessagePage: {
            /** @description Messages on this page. `GET /v1/events?message_id=` lists their events. */
            data: components["schemas"]["MessageItem"][];
            /**
             * @description Value for `cursor` to get the next page; `null` on the last page.
             * @example null
             */
            next_cursor: string | null;
        };
        MessageDetail: {
            /**
             * @description Id of the message; receivers see it as `webhook-id` in all its deliveries.
             * @example msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Event type of the message.
             * @example invoice.paid
             */
            event_type: string;
            /**
             * @description Channels of the message.
             * @example [
             *       "project-42"
             *     ]
             */
            channels: string[];
            /**
             * @description Number of endpoints that the message was sent to.
             * @example 3
             */
            fanout: number;
            /**
             * @description Size of the payload in bytes.
             * @example 1204
             */
            payload_bytes: number;
            /**
             * Format: date-time
             * @description Time at which the message was accepted.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * @description Id of the application that the message was sent to.
             * @example app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            application: string;
            /**
             * @description Headers that are forwarded with the message.
             * @example {
             *       "x-tenant": "42"
             *     }
             */
            headers: {
                [key: string]: string;
            };
            /**
             * @description Payload, byte for byte as it was sent. Absent if it exceeds 256 KB or was erased.
             * @example {
             *       "amount": 4200
             *     }
             */
            payload?: {
                [key: string]: unknown;
            };
            /**
             * @description True if the payload is omitted because it exceeds 256 KB. `GET /v1/events/{id}/payload` returns it.
             * @example true
             */
            payload_truncated?: boolean;
            /**
             * Format: date-time
             * @description Time at which the payload was erased; absent if it was not erased.
             * @example 2026-11-21T09:30:00.000Z
             */
            payload_erased_at?: string;
        };
        EndpointCircuitItem: {
            /**
             * @description State of the circuit. `open` holds deliveries back, `half_open` sends one as a probe, and `closed` sends all
             *     deliveries.
             * @example closed
             * @enum {string}
             */
            state: "closed" | "open" | "half_open";
            /**
             * Format: date-time
             * @description Time at which the outage began; `null` while the circuit is closed.
             * @example null
             */
            opened_at: string | null;
        };
        ApplicationEndpointDetail: {
            /**
             * @description Id of the endpoint.
             * @example ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Your own id of the endpoint; `null` if it has none.
             * @example production
             */
            uid: string | null;
            /**
             * @description Id of the application that the endpoint belongs to.
             * @example app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            application: string;
            /**
             * @description URL of the endpoint; `null` if it uses a destination.
             * @example https://example.com/webhooks
             */
            url: string | null;
            /**
             * @description Id of the destination that the endpoint uses; `null` if it has a URL.
             * @example null
             */
            destination: string | null;
            /**
             * @description Status of the destination; `null` if the endpoint has a URL. `gone` means that the destination was deleted, so
             *     deliveries to it fail.
             * @example null
             * @enum {string|null}
             */
            destination_status: "active" | "disabled" | "gone" | null;
            /**
             * @description Human-readable description.
             * @example The production system
             */
            description: string;
            /**
             * @description Event types that the endpoint subscribes to; empty for all types.
             * @example [
             *       "invoice.paid",
             *       "customer.*"
             *     ]
             */
            event_types: string[];
            /**
             * @description Channels of the endpoint; empty if it receives messages of all channels.
             * @example [
             *       "project-42"
             *     ]
             */
            channels: string[];
            /**
             * @description Condition on the payload that messages must match; `null` matches all messages.
             * @example {
             *       "path": "$.amount",
             *       "op": "gte",
             *       "value": "1000"
             *     }
             */
            filter: {
                [key: string]: unknown;
            } | null;
            /**
             * @description Your own key-value data.
             * @example {
             *       "plan": "pro"
             *     }
             */
            metadata: {
                [key: string]: string;
            };
            /**
             * @description Status of the endpoint. A `disabled` endpoint receives no deliveries until it is enabled. Deliveries in the
             *     meantime fail immediately and can be replayed later.
             * @example active
             * @enum {string}
             */
            status: "active" | "disabled";
            /**
             * @description Reason for disabling the endpoint; `null` while it is active.
             * @example null
             */
            disabled_reason: string | null;
            /** @description Circuit breaker of the endpoint's URL; `null` if the endpoint uses a destination. */
            circuit: components["schemas"]["EndpointCircuitItem"] | null;
            /**
             * Format: date-time
             * @description Time of creation.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Time of the last change.
             * @example 2026-11-21T09:30:00.000Z
             */
            updated_at: string;
            /**
             * @description Headers that are added to every delivery.
             * @example {
             *       "x-tenant": "42"
             *     }
             */
            headers?: {
                [key: string]: string;
            };
            /** @description The retry policy in effect. */
            retry?: components["schemas"]["RetryItem"];
            /** @description The rate limit in effect. `null` if there is none. */
            rate_limit?: components["schemas"]["RateLimitBody"] | null;
            /**
             * @description Time limit for one attempt, in milliseconds.
             * @example 15000
             */
            timeout_ms?: number;
            /**
             * @description Maximum number of attempts that one worker process has in flight at the same time. `null` if the limit adapts to
             *     the target.
             * @example null
             */
            concurrency?: number | null;
            /**
             * @description `true` if deliveries carry an ed25519 signature (`v1a`) in addition to the signature with the secret.
             * @example false
             */
            asymmetric?: boolean;
            /** @description Legacy signature header that is sent in addition to the standard headers. `null` if there is none. */
            legacy_signature?: components["schemas"]["LegacySignatureItem"] | null;
        };
        ApplicationEndpointPage: {
            /** @description Endpoints on this page. */
            data: components["schemas"]["ApplicationEndpointDetail"][];
            /**
             * @description Value for `cursor` to get the next page; `null` on the last page.
             * @example null
             */
            next_cursor: string | null;
        };
        NewApplicationEndpointBody: {
            /**
             * @description Headers that are added to every delivery. They override the headers of a received request. Headers in a send
             *     request override them.
             * @example {
             *       "x-tenant": "42"
             *     }
             */
            headers?: {
                [key: string]: string;
            } | null;
            /** @description Retry policy. Defaults to 8 attempts over about 28 hours. */
            retry?: components["schemas"]["RetryBody"] | null;
            /** @description Rate limit. If omitted, deliveries are not rate limited. */
            rate_limit?: components["schemas"]["RateLimitBody"] | null;
            /**
             * @description Time limit for one attempt, in milliseconds.
             * @default 15000
             * @example 15000
             */
            timeout_ms: number | null;
            /**
             * @description Maximum number of attempts that one worker process has in flight at the same time. If omitted, the limit adapts to
             *     what the target can handle, up to 512.
             * @example 10
             */
            concurrency?: number | null;
            /**
             * @description If `true`, deliveries are also signed with an ed25519 key (`v1a`). `false` removes the key.
             * @default false
             * @example false
             */
            asymmetric: boolean | null;
            /**
             * @description Legacy signature header that is sent in addition to the standard headers while receivers migrate. If omitted, no
             *     legacy header is sent.
             */
            legacy_signature?: components["schemas"]["LegacySignatureBody"] | null;
            /**
             * @description Your own id of the endpoint, unique within its application: 1 to 256 letters, digits and `. _ : @ + ~ -`. It must
             *     not begin with `ep_`.
             * @example production
             */
            uid?: string | null;
            /**
             * @description Human-readable description.
             * @example The production system
             */
            description?: string | null;
            /**
             * @description Event types that the endpoint subscribes to. Each entry is an exact type, or `prefix.*` for all types that begin
             *     with `prefix.`. Without entries it subscribes to all types.
             * @example [
             *       "invoice.paid",
             *       "customer.*"
             *     ]
             */
            event_types?: string[] | null;
            /**
             * @description Channels of the endpoint. If set, the endpoint receives only messages that name at least one of these channels.
             * @example [
             *       "project-42"
             *     ]
             */
            channels?: string[] | null;
            /**
             * @description Condition on the payload, in the grammar of route filters. The endpoint receives only messages that match; `null`
             *     matches all messages.
             * @example {
             *       "path": "$.amount",
             *       "op": "gte",
             *       "value": "1000"
             *     }
             */
            filter?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description Your own key-value data: up to 50 keys of 1 to 40 characters each, with values of up to 500 characters.
             * @example {
             *       "plan": "pro"
             *     }
             */
            metadata?: {
                [key: string]: string;
            } | null;
            /**
             * @description URL that receives the deliveries.
             * @example https://example.com/webhooks
             */
            url?: string | null;
            /**
             * @description Id of the destination that receives the deliveries instead of a URL, for example an SQS queue or a pull
             *     destination.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            destination?: string | null;
            /**
             * @description Signing secret that the receiver already knows. If omitted, a new secret is generated.
             * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=
             */
            secret?: string | null;
        };
        ApplicationEndpointCreated: {
            /**
             * @description Id of the endpoint.
             * @example ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Your own id of the endpoint; `null` if it has none.
             * @example production
             */
            uid: string | null;
            /**
             * @description Id of the application that the endpoint belongs to.
             * @example app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            application: string;
            /**
             * @description URL of the endpoint; `null` if it uses a destination.
             * @example https://example.com/webhooks
             */
            url: string | null;
            /**
             * @description Id of the destination that the endpoint uses; `null` if it has a URL.
             * @example null
             */
            destination: string | null;
            /**
             * @description Status of the destination; `null` if the endpoint has a URL. `gone` means that the destination was deleted, so
             *     deliveries to it fail.
             * @example null
             * @enum {string|null}
             */
            destination_status: "active" | "disabled" | "gone" | null;
            /**
             * @description Human-readable description.
             * @example The production system
             */
            description: string;
            /**
             * @description Event types that the endpoint subscribes to; empty for all types.
             * @example [
             *       "invoice.paid",
             *       "customer.*"
             *     ]
             */
            event_types: string[];
            /**
             * @description Channels of the endpoint; empty if it receives messages of all channels.
             * @example [
             *       "project-42"
             *     ]
             */
            channels: string[];
            /**
             * @description Condition on the payload that messages must match; `null` matches all messages.
             * @example {
             *       "path": "$.amount",
             *       "op": "gte",
             *       "value": "1000"
             *     }
             */
            filter: {
                [key: string]: unknown;
            } | null;
            /**
             * @description Your own key-value data.
             * @example {
             *       "plan": "pro"
             *     }
             */
            metadata: {
                [key: string]: string;
            };
            /**
             * @description Status of the endpoint. A `disabled` endpoint receives no deliveries until it is enabled. Deliveries in the
             *     meantime fail immediately and can be replayed later.
             * @example active
             * @enum {string}
             */
            status: "active" | "disabled";
            /**
             * @description Reason for disabling the endpoint; `null` while it is active.
             * @example null
             */
            disabled_reason: string | null;
            /** @description Circuit breaker of the endpoint's URL; `null` if the endpoint uses a destination. */
            circuit: components["schemas"]["EndpointCircuitItem"] | null;
            /**
             * Format: date-time
             * @description Time of creation.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Time of the last change.
             * @example 2026-11-21T09:30:00.000Z
             */
            updated_at: string;
            /**
             * @description Headers that are added to every delivery.
             * @example {
             *       "x-tenant": "42"
             *     }
             */
            headers?: {
                [key: string]: string;
            };
            /** @description The retry policy in effect. */
            retry?: components["schemas"]["RetryItem"];
            /** @description The rate limit in effect. `null` if there is none. */
            rate_limit?: components["schemas"]["RateLimitBody"] | null;
            /**
             * @description Time limit for one attempt, in milliseconds.
             * @example 15000
             */
            timeout_ms?: number;
            /**
             * @description Maximum number of attempts that one worker process has in flight at the same time. `null` if the limit adapts to
             *     the target.
             * @example null
             */
            concurrency?: number | null;
            /**
             * @description `true` if deliveries carry an ed25519 signature (`v1a`) in addition to the signature with the secret.
             * @example false
             */
            asymmetric?: boolean;
            /** @description Legacy signature header that is sent in addition to the standard headers. `null` if there is none. */
            legacy_signature?: components["schemas"]["LegacySignatureItem"] | null;
            /**
             * @description Secret that signs the endpoint's deliveries. The API returns it only here and at `…/secret`. It is `null` if the
             *     endpoint uses a destination, which has its own secret. It is also `null` for a portal session without permission to
             *     see secrets.
             * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=
             */
            secret: string | null;
            /**
             * @description Public key that verifies `v1a` signatures: `whpk_` followed by the key in base64. It is `null` unless `asymmetric`
             *     is set.
             * @example null
             */
            public_key: string | null;
        };
        EndpointUrlBody: {
            /**
             * @description URL to check.
             * @example https://example.com/webhooks
             */
            url: string;
        };
        EndpointUrlItem: {
            /**
             * @description True if the URL can be reached.
             * @example true
             */
            ok: boolean;
            /**
             * @description Human-readable result, as one sentence.
             * @example The target answered with status 200.
             */
            detail: string;
        };
        ApplicationEndpointChangesBody: {
            /**
             * @description Headers that are added to every delivery. They override the headers of a received request. Headers in a send
             *     request override them.
             * @example {
             *       "x-tenant": "42"
             *     }
             */
            headers?: {
                [key: string]: string;
            } | null;
            /** @description Retry policy. Defaults to 8 attempts over about 28 hours. */
            retry?: components["schemas"]["RetryBody"] | null;
            /** @description Rate limit. If omitted, deliveries are not rate limited. */
            rate_limit?: components["schemas"]["RateLimitBody"] | null;
            /**
             * @description Time limit for one attempt, in milliseconds.
             * @default 15000
             * @example 15000
             */
            timeout_ms: number | null;
            /**
             * @description Maximum number of attempts that one worker process has in flight at the same time. If omitted, the limit adapts to
             *     what the target can handle, up to 512.
             * @example 10
             */
            concurrency?: number | null;
            /**
             * @description If `true`, deliveries are also signed with an ed25519 key (`v1a`). `false` removes the key.
             * @default false
             * @example false
             */
            asymmetric: boolean | null;
            /**
             * @description Legacy signature header that is sent in addition to the standard headers while receivers migrate. If omitted, no
             *     legacy header is sent.
             */
            legacy_signature?: components["schemas"]["LegacySignatureBody"] | null;
            /**
             * @description Your own id of the endpoint, unique within its application: 1 to 256 letters, digits and `. _ : @ + ~ -`. It must
             *     not begin with `ep_`.
             * @example production
             */
            uid?: string | null;
            /**
             * @description Human-readable description.
             * @example The production system
             */
            description?: string | null;
            /**
             * @description Event types that the endpoint subscribes to. Each entry is an exact type, or `prefix.*` for all types that begin
             *     with `prefix.`. Without entries it subscribes to all types.
             * @example [
             *       "invoice.paid",
             *       "customer.*"
             *     ]
             */
            event_types?: string[] | null;
            /**
             * @description Channels of the endpoint. If set, the endpoint receives only messages that name at least one of these channels.
             * @example [
             *       "project-42"
             *     ]
             */
            channels?: string[] | null;
            /**
             * @description Condition on the payload, in the grammar of route filters. The endpoint receives only messages that match; `null`
             *     matches all messages.
             * @example {
             *       "path": "$.amount",
             *       "op": "gte",
             *       "value": "1000"
             *     }
             */
            filter?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description Your own key-value data: up to 50 keys of 1 to 40 characters each, with values of up to 500 characters.
             * @example {
             *       "plan": "pro"
             *     }
             */
            metadata?: {
                [key: string]: string;
            } | null;
            /**
             * @description New URL, for an endpoint that has a URL. `null` has no effect.
             * @example https://example.com/webhooks
             */
            url?: string | null;
            /**
             * @description Id of the new destination, for an endpoint that uses a destination. `null` has no effect.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            destination?: string | null;
            /**
             * @description `active` enables the endpoint and closes the circuit of its URL. `disabled` stops its deliveries.
             * @example disabled
             * @enum {string}
             */
            status?: "active" | "disabled";
            /**
             * @description Reason for disabling the endpoint; valid only together with `status: disabled`. If the endpoint is already
             *     disabled, its existing reason is kept.
             * @example The customer asked for it.
             */
            disabled_reason?: string | null;
        };
        ApplicationEndpointRotationBody: {
            /**
             * @description Number of seconds for which the old secret signs in addition to the new secret.
             * @default 86400
             * @example 86400
             */
            grace_seconds: number;
        };
        EndpointAttemptItem: {
            /**
             * @description Id of the event.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            event_id: string;
            /**
             * @description Id of the message that the event belongs to; receivers see it as `webhook-id`.
             * @example msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            message_id: string | null;
            /**
             * @description Type of the event.
             * @example invoice.paid
             */
            event_type: string;
            /**
             * @description Id of the delivery that the attempt belongs to: an `id` in the event's `deliveries`.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1.0
             */
            delivery: string;
            /**
             * @description Target of the attempt: the endpoint's own `ep_` id if it has a URL, otherwise the id of its destination.
             * @example ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            destination: string;
            /**
             * @description Number of the attempt within its delivery, starting at 1. A replay is a new delivery.
             * @example 1
             */
            number: number;
            /**
             * @description HTTP status of the response; `null` if there was no response.
             * @example 503
             */
            status: number | null;
            /**
             * @description Reason for a missing response: `timeout`, `dns`, `connection`, `tls`, `blocked`, `protocol` or `adapter`.
             * @example null
             */
            error: string | null;
            /**
             * @description Duration of the attempt in milliseconds.
             * @example 42
             */
            duration_ms: number;
            /**
             * Format: date-time
             * @description Time at which the attempt started.
             * @example 2026-11-21T09:30:00.120Z
             */
            at: string;
            /**
             * @description First 1 KB of the response body, or a description of the error.
             * @example Try again later
             */
            response_excerpt: string | null;
            /**
             * @description Whether the attempt belongs to a replay of the event.
             * @example false
             */
            replayed: boolean;
            /**
             * Format: date-time
             * @description Time at which the next attempt of the delivery is due; `null` if no attempt is due, or if a later attempt was made.
             * @example null
             */
            next_attempt_at: string | null;
        };
        EndpointAttemptPage: {
            /** @description Attempts on this page. */
            data: components["schemas"]["EndpointAttemptItem"][];
            /**
             * @description Value for `cursor` to get the next page; `null` on the last page.
             * @example null
             */
            next_cursor: string | null;
        };
        SubscriberItem: {
            /**
             * @description Id of the endpoint.
             * @example ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            endpoint: string;
            /**
             * @description Id of the application that the endpoint belongs to.
             * @example app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            application: string;
            /**
             * @description Your own id of the application; `null` if it has none.
             * @example customer-42
             */
            application_uid: string | null;
            /**
             * @description Human-readable name of the application.
             * @example Acme Inc.
             */
            application_name: string;
            /**
             * @description URL of the endpoint; `null` if it uses a destination.
             * @example https://example.com/webhooks
             */
            url: string | null;
            /**
             * @description Id of the destination that the endpoint uses; `null` if it has a URL.
             * @example null
             */
            destination: string | null;
            /**
             * @description Event types that the endpoint subscribes to; empty for all types.
             * @example [
             *       "invoice.*"
             *     ]
             */
            event_types: string[];
            /**
             * @description Channels of the endpoint; empty if it receives messages of all channels.
             * @example [
             *       "project-42"
             *     ]
             */
            channels: string[];
            /**
             * @description True if a filter on the payload also decides whether the endpoint receives a message.
             * @example false
             */
            is_filtered: boolean;
            /**
             * @description Status of the endpoint. A `disabled` endpoint receives no deliveries until it is enabled.
             * @example active
             * @enum {string}
             */
            status: "active" | "disabled";
        };
        SubscriberPage: {
            /** @description Subscribers on this page. */
            data: components["schemas"]["SubscriberItem"][];
            /**
             * @description Value for `cursor` to get the next page; `null` on the last page. A page can be short or empty without being the
             *     last.
             * @example null
             */
            next_cursor: string | null;
        };
        ApplicationEndpointTestBody: {
            /**
             * @description The type of the test event.
             * @default posthorn.test
             * @example invoice.paid
             */
            event_type: string;
        };
        TestAttempt: {
            /**
             * @description Number of the attempt within its delivery, starting at 1.
             * @example 1
             */
            number: number;
            /**
             * @description HTTP status of the response; `null` if there was no response.
             * @example 200
             */
            status: number | null;
            /**
             * @description Duration of the attempt in milliseconds.
             * @example 42
             */
            duration_ms: number;
            /**
             * Format: date-time
             * @description Time at which the attempt started.
             * @example 2026-11-21T09:30:00.120Z
             */
            at: string;
            /**
             * @description First 1 KB of the response body, or an error message.
             * @example ok
             */
            response_excerpt: string | null;
            /**
             * @description Why there was no response: timeout, dns, connection, tls, blocked, protocol or adapter.
             * @example null
             */
            error: string | null;
        };
        TestSent: {
            /**
             * @description Id of the test message.
             * @example msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            message_id: string;
            /** @description The first attempt; `null` if none was made within 20 seconds because the circuit is open or a rate limit delays it. */
            attempt: components["schemas"]["TestAttempt"] | null;
        };
        EmitBody: {
            /**
             * @description The event type: up to 256 letters, digits and `. _ - : /`.
             * @example invoice.paid
             */
            event_type: string;
            /**
             * @description The body of the webhooks, up to 1 MB. It is delivered character for character as in this request.
             * @example {
             *       "id": "in_1",
             *       "amount": 4200
             *     }
             */
            payload: {
                [key: string]: unknown;
            };
            /**
             * @description Channels of the event. An endpoint that has channels receives the event only if one of its channels is listed here.
             * @example [
             *       "project-42"
             *     ]
             */
            channels?: string[];
            /**
             * @description Headers to forward with the deliveries. They take precedence over the destination's own headers. At most 64 headers, of 8 KB each and 32 KB together, in visible Latin-1 characters. Refused with 422: `connection`, `keep-alive`, `te`, `trailer`, `trailers`, `transfer-encoding`, `upgrade`, `http2-settings`, `expect`, `host`, `user-agent`, `cookie`, `content-type`, `content-length`, `content-encoding`, `content-language`, `content-location`, `age`, `cache-control`, `clear-site-data`, `expires`, `pragma`, `warning`, `traceparent`, `tracestate`, and names that begin with `webhook-`, `svix-`, `x-svix-`, `proxy-`, `x-amz-`, `x-amzn-`, `x-google`, `x-goog-`, `x-gfe`, `x-azure-`, `x-fd-`. All other headers are accepted, including `authorization`.
             * @example {
             *       "x-tenant": "42"
             *     }
             */
            headers?: {
                [key: string]: string;
            };
        };
        EventAccepted: {
            /**
             * @description The message's id. It is also the `webhook-id` of every delivery.
             * @example msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            message_id: string;
            /**
             * @description Number of endpoints that receive the event. If no endpoint subscribes to it, this is 0 and the message is stored as
             *     one event with status `ignored`.
             * @example 3
             */
            fanout: number;
        };
        SendBody: {
            /**
             * @description The target: a destination's id, or an HTTPS URL.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            destination: string;
            /**
             * @description The event type: up to 256 letters, digits and `. _ - : /`.
             * @example invoice.paid
             */
            event_type: string;
            /**
             * @description The body of the webhook, up to 1 MB. It is delivered character for character as in this request.
             * @example {
             *       "id": "in_1",
             *       "amount": 4200
             *     }
             */
            payload: {
                [key: string]: unknown;
            };
            /**
             * @description Headers to forward with the deliveries. They take precedence over the destination's own headers. At most 64 headers, of 8 KB each and 32 KB together, in visible Latin-1 characters. Refused with 422: `connection`, `keep-alive`, `te`, `trailer`, `trailers`, `transfer-encoding`, `upgrade`, `http2-settings`, `expect`, `host`, `user-agent`, `cookie`, `content-type`, `content-length`, `content-encoding`, `content-language`, `content-location`, `age`, `cache-control`, `clear-site-data`, `expires`, `pragma`, `warning`, `traceparent`, `tracestate`, and names that begin with `webhook-`, `svix-`, `x-svix-`, `proxy-`, `x-amz-`, `x-amzn-`, `x-google`, `x-goog-`, `x-gfe`, `x-azure-`, `x-fd-`. All other headers are accepted, including `authorization`.
             * @example {
             *       "x-tenant": "42"
             *     }
             */
            headers?: {
                [key: string]: string;
            };
        };
        SendAccepted: {
            /**
             * @description The message's id. It is also the delivery's `webhook-id`.
             * @example msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            message_id: string;
        };
        DomainRecordItem: {
            /**
             * @description Purpose of the record.
             * @example ownership
             * @enum {string}
             */
            record: "ownership" | "dkim" | "mail_from" | "spf" | "mx" | "cname" | "dmarc";
            /**
             * @description DNS type of the record.
             * @example TXT
             * @enum {string}
             */
            type: "TXT" | "CNAME" | "MX";
            /**
             * @description Full name of the record, without a trailing dot.
             * @example _posthorn.mail.example.com
             */
            name: string;
            /**
             * @description Value to publish in the record.
             * @example posthorn-verification=5f2b7c3e9a1d4f6880b1c2d3e4f5a6b7c8d9e0f1
             */
            value: string;
            /**
             * @description Priority of an MX record. Null for every other type.
             * @example null
             */
            priority: number | null;
            /**
             * @description TTL of the record in seconds.
             * @example 3600
             */
            ttl: number;
            /**
             * @description Whether the domain can be verified only if this record is found.
             * @example true
             */
            required: boolean;
            /**
             * @description Result of the last check: `pending` if no record was found, `failed` if the record is wrong or was removed,
             *     `temporary_failure` if the name servers did not answer.
             * @example pending
             * @enum {string}
             */
            status: "pending" | "verified" | "failed" | "temporary_failure";
            /**
             * @description The value that was found instead, and how to correct it. Null if the record is correct, and before the first check.
             * @example There is no TXT record at _posthorn.mail.example.com yet, or name servers still remember that there was none.
             */
            error: string | null;
        };
        DomainDetail: {
            /**
             * @description The domain's id.
             * @example dom_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Name of the domain, in lower case and in its ASCII form (A-labels).
             * @example mail.example.com
             */
            domain: string;
            /**
             * @description Purpose of the domain.
             * @example email-send
             * @enum {string}
             */
            kind: "webhook" | "email" | "email-send";
            /**
             * @description `verified` once every required record was found. `failed` after 72 hours in which name servers answered, but not
             *     with every required record.
             * @example pending-dns
             * @enum {string}
             */
            state: "pending-dns" | "verified" | "failed";
            /**
             * @description Whether mail may be sent from the domain. A converted domain keeps sending while it is `pending-dns`.
             * @example false
             */
            sending_enabled: boolean;
            /**
             * @description Whether Posthorn accepts mail to this domain, or requests to this host for a webhook domain.
             * @example false
             */
            receiving_enabled: boolean;
            /** @description DNS records to publish. */
            records: components["schemas"]["DomainRecordItem"][];
            /**
             * Format: date-time
             * @description Time when the domain was created.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Time of the last check, or of the last change of the domain's kind.
             * @example 2026-11-21T09:30:00.000Z
             */
            updated_at: string;
            /**
             * Format: date-time
             * @description Time when all required records were last found after some had been missing. Null if they were never all found.
             * @example null
             */
            verified_at: string | null;
        };
        DomainPage: {
            /** @description The domains of this page. */
            data: components["schemas"]["DomainDetail"][];
            /**
             * @description Pass this value as `cursor` to get the next page; null on the last page.
             * @example null
             */
            next_cursor: string | null;
        };
        NewDomainBody: {
            /**
             * @description Name of the domain: at least two labels, in any script, without a scheme or a path. Public suffixes and names under
             *     the platform's domain are not allowed.
             * @example mail.example.com
             */
            domain: string;
            /**
             * @description `webhook` receives requests, `email` sends and receives mail, `email-send` only sends.
             * @example email-send
             * @enum {string}
             */
            kind: "webhook" | "email" | "email-send";
            /**
             * @description Only for kind `email`: confirms that mail will no longer go to the server in the domain's current MX records. If it
             *     is false and such MX records exist, the response is 409 with `details.mx`.
             * @default false
             * @example false
             */
            acknowledge_mx_conflict: boolean;
        };
        DomainChangesBody: {
            /**
             * @description The new kind. A webhook domain cannot be converted.
             * @example email
             * @enum {string}
             */
            kind: "email" | "email-send";
            /**
             * @description Only for a conversion to `email`: confirms that mail will no longer go to the server in the domain's current MX
             *     records.
             * @default false
             * @example true
             */
            acknowledge_mx_conflict: boolean;
        };
        SimulatedAddressItem: {
            /**
             * @description The simulated behavior: mail to the address is delivered, bounces, draws a complaint, is suppressed, or is
             *     deferred.
             * @example bounced
             * @enum {string}
             */
            role: "delivered" | "bounced" | "complained" | "suppressed" | "deferred";
            /**
             * @description The address. A label after a plus sign, such as `bounced+a-label@…`, keeps the behavior.
             * @example bounced@simulator.posthorn.example
             */
            address: string;
        };
        SimulatorDetail: {
            /**
             * @description Host name of the simulator's addresses. Any address at this host can be used as `from`, without a domain of your
             *     own.
             * @example simulator.posthorn.example
             */
            host: string;
            /** @description Addresses that simulate a recipient. No mail leaves the installation for them. */
            addresses: components["schemas"]["SimulatedAddressItem"][];
            /**
             * @description `true` if mail to all other addresses also stays inside the installation: in the test environment, and with the
             *     transport `capture:`, which delivers it to the installation's aliases.
             * @example true
             */
            captured: boolean;
        };
        EmailAttachmentBody: {
            /**
             * @description File name of the attachment. Defaults to the last path segment of `url`.
             * @example invoice.pdf
             */
            filename?: string;
            /**
             * @description Media type of the attachment. Defaults to the content type that the server of `url` returns.
             * @example application/pdf
             */
            content_type?: string;
            /**
             * @description Alias of `content_type`.
             * @example application/pdf
             */
            contentType?: string;
            /**
             * @description The bytes of the file in base64 (RFC 4648), with padding and without line breaks.
             * @example SGVsbG8=
             */
            content?: string;
            /**
             * @description A public https URL to fetch the file from. It is fetched while the request is handled, within ten seconds;
             *     redirects are not followed.
             * @example https://example.com/invoice.pdf
             */
            url?: string;
            /**
             * @description Alias of `url`.
             * @example https://example.com/invoice.pdf
             */
            path?: string;
            /**
             * @description Content-ID that `cid:` URLs in the HTML refer to. The file is then shown inline.
             * @example logo
             */
            content_id?: string;
            /**
             * @description Alias of `content_id`.
             * @example logo
             */
            contentId?: string;
        };
        EmailTag: {
            /**
             * @description Name of the tag: 1 to 256 letters, digits, `_` or `-`.
             * @example campaign
             */
            name: string;
            /**
             * @description Value of the tag: 1 to 256 letters, digits, `_` or `-`.
             * @example welcome
             */
            value: string;
        };
        EmailBody: {
            /**
             * @description The sender: one mailbox, optionally with a display name. Its domain must be verified and enabled for sending.
             * @example Shop <shop@example.com>
             */
            from: string;
            /**
             * @description Recipients: one address or a list. At most 50 recipients in total, including cc and bcc.
             * @example [
             *       "customer@example.org"
             *     ]
             */
            to: string | string[];
            /**
             * @description Recipients of a copy, visible to all recipients.
             * @example [
             *       "accounts@example.org"
             *     ]
             */
            cc?: string | string[];
            /**
             * @description Recipients of a blind copy. No header shows them.
             * @example [
             *       "archive@example.com"
             *     ]
             */
            bcc?: string | string[];
            /**
             * @description Addresses to which replies are sent.
             * @example support@example.com
             */
            reply_to?: string | string[];
            /**
             * @description Alias of `reply_to`.
             * @example support@example.com
             */
            replyTo?: string | string[];
            /**
             * @description The subject, without line breaks.
             * @example Your order
             */
            subject: string;
            /**
             * @description HTML body, at most 1 MB. At least one of `html` and `text` is required. If both are given, the recipient's mail
             *     client chooses.
             * @example <p>It is on its way.</p>
             */
            html?: string;
            /**
             * @description Plain-text body, at most 1 MB.
             * @example It is on its way.
             */
            text?: string;
            /**
             * @description Custom headers. At most 64 headers, of 4 KB each and 32 KB together, without line breaks and control characters. Refused with 422: `from`, `sender`, `to`, `cc`, `bcc`, `reply-to`, `apparently-to`, `delivered-to`, `envelope-to`, `x-original-to`, `errors-to`, `return-path`, `return-receipt-to`, `disposition-notification-to`, `subject`, `date`, `message-id`, `mime-version`, `otp-token`, `dkim-signature`, `domainkey-signature`, `authentication-results`, `received`, `received-spf`, `x-google-dkim-signature`, `x-smtpapi`, `x-msys-api`, and names that begin with `content-`, `resent-`, `arc-`, `x-posthorn-`, `x-ses-`, `x-mailgun-`, `x-mc-`, `x-mj-`, `x-pm-`. `List-Unsubscribe` and `List-Unsubscribe-Post` are accepted and signed.
             * @example {
             *       "X-Entity-Ref-ID": "order-4711"
             *     }
             */
            headers?: {
                [key: string]: string;
            };
            /** @description Attachments: at most 20, with at most 10 MB in total after decoding. */
            attachments?: components["schemas"]["EmailAttachmentBody"][];
            /** @description Custom tags, at most 20. They are not sent with the email. */
            tags?: components["schemas"]["EmailTag"][];
            /**
             * @description Time to send the email. Defaults to now. Give a time of RFC 3339 with its zone, such as 2026-11-21T09:30:00Z, or "in 5 minutes" (also hours, days), at most 30 days ahead. A time in the past means now. Not allowed in a batch.
             * @example in 5 minutes
             */
            scheduled_at?: string;
            /**
             * @description Alias of `scheduled_at`.
             * @example in 5 minutes
             */
            scheduledAt?: string;
        };
        EmailBatchBody: {
            /** @description The emails, 1 to 100. */
            emails: components["schemas"]["EmailBody"][];
        };
        EmailAccepted: {
            /**
             * @description The email's id. It is also the id of the email's event.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description `sending`; `scheduled` if the email is sent later; `suppressed` if every recipient is on the suppression list.
             * @example sending
             * @enum {string}
             */
            status: "sending" | "scheduled" | "suppressed";
        };
        EmailBatchError: {
            /**
             * @description Error type, as in a single request's error response; `suppressed` if every recipient is on the suppression list.
             * @example validation_failed
             */
            type: string;
            /**
             * @description Reason for the error, and how to fix it.
             * @example to.0: An address has exactly one "@", as in name@example.com.
             */
            message: string;
        };
        EmailBatchItem: {
            /**
             * @description The email's id; `null` if the email was not accepted.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string | null;
            /** @description Why the email was rejected; absent if it was accepted. */
            error?: components["schemas"]["EmailBatchError"];
        };
        EmailBatchAccepted: {
            /** @description One result for each email, in the order of the request. */
            data: components["schemas"]["EmailBatchItem"][];
        };
        EmailItem: {
            /**
             * @description The email's id. It is also the id of the email's event.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Sender of the email.
             * @example Shop <shop@example.com>
             */
            from: string;
            /**
             * @description The addresses in the `to` field.
             * @example [
             *       "customer@example.org"
             *     ]
             */
            to: string[];
            /**
             * @description Subject of the email.
             * @example Your order
             */
            subject: string;
            /**
             * @description The worst status among the recipients, in the order complained, bounced, dlq (all retries are used up), failed,
             *     sending, delivered. `suppressed` if every recipient is suppressed; `scheduled` until the scheduled time.
             * @example delivered
             * @enum {string}
             */
            status: "scheduled" | "sending" | "delivered" | "bounced" | "complained" | "suppressed" | "failed" | "dlq";
            /**
             * Format: date-time
             * @description Time at which the email was accepted.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When the email is or was scheduled to be sent; absent if it was not scheduled.
             * @example 2026-11-21T10:30:00.000Z
             */
            scheduled_at?: string;
        };
        EmailPage: {
            /** @description The emails of this page. */
            data: components["schemas"]["EmailItem"][];
            /**
             * @description Pass this value as `cursor` to get the next page; `null` on the last page. With a status filter, a page can be
             *     short without being the last.
             * @example null
             */
            next_cursor: string | null;
        };
        EmailRecipientItem: {
            /**
             * @description The address.
             * @example customer@example.org
             */
            address: string;
            /**
             * @description Status for this recipient, with the same values as an email's status.
             * @example delivered
             * @enum {string}
             */
            status: "scheduled" | "sending" | "delivered" | "bounced" | "complained" | "suppressed" | "failed" | "dlq";
            /**
             * Format: date-time
             * @description When the recipient reached this status.
             * @example 2026-11-21T09:30:00.120Z
             */
            at: string;
            /**
             * @description Text of the latest server reply or report.
             * @example 250 2.0.0 OK
             */
            detail: string | null;
        };
        EmailAttempt: {
            /**
             * @description Number of the attempt within its delivery, starting at 1.
             * @example 1
             */
            number: number;
            /**
             * @description SMTP reply code; `null` if there was no reply.
             * @example 250
             */
            status: number | null;
            /**
             * @description Duration of the attempt in milliseconds.
             * @example 42
             */
            duration_ms: number;
            /**
             * Format: date-time
             * @description Time at which the attempt started.
             * @example 2026-11-21T09:30:00.120Z
             */
            at: string;
            /**
             * @description Last line of the SMTP reply, at most 1 KB.
             * @example 250 2.0.0 OK
             */
            response_excerpt: string | null;
        };
        EmailFactItem: {
            /**
             * @description `sent` (handed to the transport), `delivered`, `bounced`, `complained`, or `rejected` (the message was refused, or
             *     its recipient is suppressed).
             * @example delivered
             * @enum {string}
             */
            type: "sent" | "delivered" | "bounced" | "complained" | "rejected";
            /**
             * @description More specific type: an enhanced status code (RFC 3463), `suppressed`, or a word chosen by the source.
             * @example null
             */
            subtype: string | null;
            /**
             * Format: date-time
             * @description When Posthorn recorded the event.
             * @example 2026-11-21T09:30:00.120Z
             */
            at: string;
            /**
             * @description Text of the server's reply or report.
             * @example 250 2.0.0 OK
             */
            detail: string | null;
            /**
             * @description The recipient that the event concerns.
             * @example customer@example.org
             */
            recipient: string;
        };
        EmailAttachmentItem: {
            /**
             * @description File name of the attachment.
             * @example invoice.pdf
             */
            filename: string;
            /**
             * @description Media type of the attachment.
             * @example application/pdf
             */
            content_type: string;
            /**
             * @description Size of the attachment in bytes.
             * @example 48213
             */
            size_bytes: number;
        };
        EmailDetail: {
            /**
             * @description The email's id. It is also the id of the email's event.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Sender of the email.
             * @example Shop <shop@example.com>
             */
            from: string;
            /**
             * @description The addresses in the `to` field.
             * @example [
             *       "customer@example.org"
             *     ]
             */
            to: string[];
            /**
             * @description Subject of the email.
             * @example Your order
             */
            subject: string;
            /**
             * @description The worst status among the recipients, in the order complained, bounced, dlq (all retries are used up), failed,
             *     sending, delivered. `suppressed` if every recipient is suppressed; `scheduled` until the scheduled time.
             * @example delivered
             * @enum {string}
             */
            status: "scheduled" | "sending" | "delivered" | "bounced" | "complained" | "suppressed" | "failed" | "dlq";
            /**
             * Format: date-time
             * @description Time at which the email was accepted.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When the email is or was scheduled to be sent; absent if it was not scheduled.
             * @example 2026-11-21T10:30:00.000Z
             */
            scheduled_at?: string;
            /**
             * @description Addresses in the `cc` field.
             * @example []
             */
            cc: string[];
            /**
             * @description Addresses in the `bcc` field, which receive a blind copy.
             * @example []
             */
            bcc: string[];
            /**
             * @description Addresses to which replies are sent.
             * @example [
             *       "support@example.com"
             *     ]
             */
            reply_to: string[];
            /**
             * @description The Message-ID (RFC 5322), identical on every attempt.
             * @example <evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1@example.com>
             */
            message_id: string;
            /** @description All recipients, each listed once. */
            recipients: components["schemas"]["EmailRecipientItem"][];
            /** @description Attempts to hand the email to the mail transport, oldest first. */
            attempts: components["schemas"]["EmailAttempt"][];
            /** @description Delivery events of the email, oldest first. */
            timeline: components["schemas"]["EmailFactItem"][];
            /** @description Custom tags. */
            tags: components["schemas"]["EmailTag"][];
            /** @description Attachments of the email. */
            attachments: components["schemas"]["EmailAttachmentItem"][];
            /**
             * @description Size of the sent message in bytes; 0 until a scheduled email is composed.
             * @example 1482
             */
            size_bytes: number;
            /**
             * @description `true` if the email is captured instead of sent: in the test environment, and from the simulator's addresses.
             * @example false
             */
            captured: boolean;
            /**
             * Format: date-time
             * @description When the email was erased; absent if it was not.
             * @example 2026-11-21T09:30:00.000Z
             */
            erased_at?: string;
        };
        EmailCancelled: {
            /**
             * @description Always `email`.
             * @example email
             * @enum {string}
             */
            object: "email";
            /**
             * @description The email's id.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
        };
        EmailHeaderItem: {
            /**
             * @description Header name in lower case.
             * @example subject
             */
            name: string;
            /**
             * @description Header value, unfolded but otherwise exactly as it is sent.
             * @example Your order
             */
            value: string;
        };
        EmailFileItem: {
            /**
             * @description File name of the attachment.
             * @example invoice.pdf
             */
            filename: string;
            /**
             * @description Media type of the attachment.
             * @example application/pdf
             */
            content_type: string;
            /**
             * @description Size of the attachment in bytes after decoding.
             * @example 48213
             */
            size_bytes: number;
            /**
             * @description Content-ID that the HTML refers to with `cid:`; `null` if the attachment has none.
             * @example null
             */
            content_id: string | null;
            /**
             * @description Path of the attachment's bytes, relative to this service's base URL.
             * @example /v1/emails/evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1/attachments/0
             */
            path: string;
        };
        EmailContent: {
            /**
             * @description Plain-text body, up to 1 MB; `null` if there is none.
             * @example It is on its way.
             */
            text: string | null;
            /**
             * @description HTML body, up to 1 MB, exactly as it was submitted. It is not sanitized: to display it, request a view. `null` if
             *     there is none.
             * @example <p>It is on its way.</p>
             */
            html: string | null;
            /** @description All headers in their original order, including repeated ones. */
            header_lines: components["schemas"]["EmailHeaderItem"][];
            /** @description Attachments in their original order. */
            attachments: components["schemas"]["EmailFileItem"][];
            /**
             * @description `true` if any part of this response was truncated. The raw message is always complete.
             * @example false
             */
            truncated: boolean;
        };
        MailViewItem: {
            /**
             * @description Token for `GET /v1/mail-views`. It is valid for this message only, for one minute.
             * @example WzEsIjAxOWFhNGMwLTAwMDAtNzAwMC04MDAwLTAwMDAwMDAwMDAwMCIsbnVsbCwxNzk1NTk3ODYwMDAwXQ.c2lnbmF0dXJl
             */
            token: string;
            /**
             * @description URL of the document, including the token, for an `<iframe sandbox>` in a page of Posthorn's own origin.
             * @example https://hooks.example.com/v1/mail-views?token=WzEsIjAxOWFhNGMwLTAwMDAtNzAwMC04MDAwLTAwMDAwMDAwMDAwMCIsbnVsbCwxNzk1NTk3ODYwMDAwXQ.c2lnbmF0dXJl
             */
            url: string;
            /**
             * Format: date-time
             * @description Time when the token expires.
             * @example 2026-11-21T09:31:00.000Z
             */
            expires_at: string;
        };
        SuppressionItem: {
            /**
             * @description The suppression's id.
             * @example sup_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description The address.
             * @example customer@example.org
             */
            email: string;
            /**
             * @description Why the address is suppressed: its server permanently refused an email (bounce), its owner complained, or it was
             *     added manually.
             * @example bounce
             * @enum {string}
             */
            origin: "bounce" | "complaint" | "manual";
            /**
             * @description The email that caused the suppression; `null` if the address was added manually.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            source_id: string | null;
            /**
             * Format: date-time
             * @description When the address was suppressed.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When the suppression ends; `null` if it never ends. Bounces expire only if the operator sets
             *     `BOUNCE_SUPPRESSION_DAYS`.
             * @example null
             */
            expires_at: string | null;
        };
        SuppressionPage: {
            /** @description The suppressions of this page. */
            data: components["schemas"]["SuppressionItem"][];
            /**
             * @description Pass this value as `cursor` to get the next page; `null` on the last page.
             * @example null
             */
            next_cursor: string | null;
        };
        NewSuppressionBody: {
            /**
             * @description The address. Case-insensitive.
             * @example customer@example.org
             */
            email: string;
        };
        AliasRouteItem: {
            /**
             * @description Id of the destination.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            destination: string;
            /**
             * @description Condition that selects the mail for this destination. Null if the destination receives all mail.
             * @example {
             *       "path": "$.subject",
             *       "op": "starts_with",
             *       "value": "Invoice"
             *     }
             */
            filter: {
                [key: string]: unknown;
            } | null;
        };
        AliasItem: {
            /**
             * @description Id of the alias.
             * @example al_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Full address, computed by Posthorn.
             * @example invoices.acme@posthorn.example
             */
            address: string;
            /**
             * @description `platform` for an address under the platform's domain, `custom` for one of your own domain.
             * @example platform
             * @enum {string}
             */
            kind: "platform" | "custom";
            /**
             * @description Local part as requested, in lower case.
             * @example invoices
             */
            localPart: string;
            /**
             * @description Part of the address after the `@`.
             * @example posthorn.example
             */
            domain: string;
            /**
             * @description Ids of the destinations that receive the alias's mail.
             * @example [
             *       "dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1"
             *     ]
             */
            destinationIds: string[];
            /**
             * @description Destinations that receive the alias's mail, with their filters.
             * @example [
             *       {
             *         "destination": "dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1",
             *         "filter": {
             *           "path": "$.subject",
             *           "op": "starts_with",
             *           "value": "Invoice"
             *         }
             *       }
             *     ]
             */
            routes: components["schemas"]["AliasRouteItem"][];
            /**
             * @description Senders whose mail is accepted. Empty if every sender is accepted.
             * @example [
             *       "@example.org"
             *     ]
             */
            allowedSenders: string[];
            /**
             * @description Maximum size of a message in bytes. Null if the mail server's limit of 40 MB applies.
             * @example null
             */
            maxSizeBytes: number | null;
            /**
             * Format: date-time
             * @description Time when the alias was created.
             * @example 2026-11-22T09:30:00.000Z
             */
            createdAt: string;
        };
        AliasPage: {
            /** @description The aliases of this page. */
            data: components["schemas"]["AliasItem"][];
            /**
             * @description Pass this value as `cursor` to get the next page; null on the last page.
             * @example null
             */
            next_cursor: string | null;
        };
        AliasRouteConfig: {
            /**
             * @description Id of the destination. An alias has at most one route to each destination.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            destination: string;
            /**
             * @description Condition that selects the mail for this destination: it checks fields of the event, in the grammar of endpoints'
             *     route filters. A condition without `type` has the type `json`. If null or omitted, the destination receives all
             *     mail.
             * @example {
             *       "path": "$.subject",
             *       "op": "starts_with",
             *       "value": "Invoice"
             *     }
             */
            filter?: {
                [key: string]: unknown;
            } | null;
        };
        NewAliasBody: {
            /**
             * @description `platform` for `<localPart>.<slug>@<platform domain>`, `custom` for an address of your own domain.
             * @example platform
             * @enum {string}
             */
            kind: "platform" | "custom";
            /**
             * @description Required for kind `custom`: id of a verified domain of kind `email`.
             * @example dom_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            domainId?: string;
            /**
             * @description Local part of the address: letters, digits, `_`, `-` and single dots, at most 64 characters, in any case. `*`
             *     receives all mail to the domain that no other alias receives. Names that mail servers use themselves (postmaster,
             *     abuse, mailer-daemon, bounces) are rejected with 400.
             * @example invoices
             */
            localPart: string;
            /**
             * @description Destinations that receive the alias's mail as events of type `email.received`. Short form of `routes`. Without
             *     destinations, mail is stored but not forwarded.
             * @example [
             *       "dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1"
             *     ]
             */
            destinationIds?: string[];
            /**
             * @description Destinations that receive the alias's mail, each with an optional filter. Mail that matches no filter gets the
             *     status `ignored`.
             * @example [
             *       {
             *         "destination": "dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1",
             *         "filter": {
             *           "path": "$.subject",
             *           "op": "starts_with",
             *           "value": "Invoice"
             *         }
             *       }
             *     ]
             */
            routes?: components["schemas"]["AliasRouteConfig"][];
            /**
             * @description Senders whose mail is accepted: addresses (`a@example.com`), domains (`@example.com`) or subdomains
             *     (`*.example.com`). They are compared with the single mailbox of the From header. An empty list accepts every
             *     sender.
             * @example [
             *       "@example.org"
             *     ]
             */
            allowedSenders?: string[];
            /**
             * @description Maximum size of a message in bytes. Larger messages are rejected with 552. If null or omitted, the mail server's
             *     limit of 40 MB applies.
             * @example 10485760
             */
            maxSizeBytes?: number | null;
        };
        AliasChangesBody: {
            /**
             * @description Destinations that now receive the alias's mail. Short form of `routes`. Destinations that stay in the list keep
             *     their filters.
             * @example [
             *       "dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1"
             *     ]
             */
            destinationIds?: string[];
            /**
             * @description Destinations that now receive the alias's mail, each with an optional filter. If a filter is null or omitted, the
             *     destination receives all mail.
             * @example [
             *       {
             *         "destination": "dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1",
             *         "filter": {
             *           "path": "$.subject",
             *           "op": "starts_with",
             *           "value": "Invoice"
             *         }
             *       }
             *     ]
             */
            routes?: components["schemas"]["AliasRouteConfig"][];
            /**
             * @description Senders whose mail is accepted. An empty list accepts every sender.
             * @example [
             *       "anna@example.org",
             *       "*.example.org"
             *     ]
             */
            allowedSenders?: string[];
            /**
             * @description Maximum size of a message in bytes. Larger messages are rejected with 552. If null, the mail server's limit of 40
             *     MB applies.
             * @example 10485760
             */
            maxSizeBytes?: number | null;
        };
        ReceivedMessageItem: {
            /**
             * @description Id of the message and of its event.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Message-ID header. The sender chose it, so it need not be unique. Null if the message has none.
             * @example <4711@mail.example.com>
             */
            message_id: string | null;
            /**
             * @description From header. Until the message is parsed, this is the envelope sender.
             * @example Ada <ada@example.com>
             */
            from: string;
            /**
             * @description Subject of the message. Null until the message is parsed.
             * @example Order 42
             */
            subject: string | null;
            /**
             * Format: date-time
             * @description Time when Posthorn accepted the message.
             * @example 2026-11-21T09:30:00.000Z
             */
            received_at: string;
            /**
             * @description Whether the From address is authentic: the result of DMARC. `none` if this cannot be determined.
             * @example pass
             * @enum {string}
             */
            auth: "pass" | "fail" | "none";
            /**
             * @description `received` until the message is parsed, then `processed` or `quarantined`.
             * @example processed
             * @enum {string}
             */
            state: "received" | "processed" | "quarantined";
            /**
             * @description Reason for the quarantine: sender_not_allowed, too_large, from_missing, from_ambiguous, dmarc_failed, virus or
             *     sender_unverified (name servers did not answer). Null for other messages, and after the message was released.
             * @example null
             */
            reason: string | null;
        };
        ReceivedMessagePage: {
            /** @description The messages of this page. */
            data: components["schemas"]["ReceivedMessageItem"][];
            /**
             * @description Pass this value as `cursor` to get the next page; null on the last page.
             * @example null
             */
            next_cursor: string | null;
        };
        ReceivedHeaderItem: {
            /**
             * @description Name of the header, in lower case.
             * @example x-mailer
             */
            name: string;
            /**
             * @description Value of the header, unfolded and otherwise unchanged.
             * @example Example 1.0
             */
            value: string;
        };
        ReceivedVerdictsItem: {
            /**
             * @description SPF result: whether the connecting client may send mail for the domain of the envelope sender. For a null sender,
             *     the HELO domain is checked (RFC 7208).
             * @example pass
             * @enum {string}
             */
            spf: "pass" | "fail" | "softfail" | "neutral" | "policy" | "none" | "temperror" | "permerror";
            /**
             * @description Best result of the message's DKIM signatures (RFC 6376).
             * @example pass
             * @enum {string}
             */
            dkim: "pass" | "fail" | "softfail" | "neutral" | "policy" | "none" | "temperror" | "permerror";
            /**
             * @description DMARC result: whether SPF or DKIM passed for the domain of the author (RFC 9989). `temperror` if name servers did
             *     not answer a decisive query.
             * @example pass
             * @enum {string}
             */
            dmarc: "pass" | "fail" | "softfail" | "neutral" | "policy" | "none" | "temperror" | "permerror";
            /**
             * @description Result of checking the ARC headers that forwarders added (RFC 8617). For information only.
             * @example none
             * @enum {string}
             */
            arc: "pass" | "fail" | "softfail" | "neutral" | "policy" | "none" | "temperror" | "permerror";
            /**
             * @description Result of the spam check by rspamd. `disabled` if rspamd is not configured.
             * @example disabled
             * @enum {string}
             */
            spam: "pass" | "fail" | "gray" | "disabled" | "processing_failed";
            /**
             * @description Result of the virus check by clamd. `disabled` if clamd is not configured.
             * @example disabled
             * @enum {string}
             */
            virus: "pass" | "fail" | "gray" | "disabled" | "processing_failed";
            /**
             * @description Policy that the author's domain publishes for mail that fails DMARC. Null if the domain has no DMARC record or name
             *     servers did not answer.
             * @example reject
             * @enum {string|null}
             */
            dmarc_policy: "none" | "quarantine" | "reject" | null;
        };
        ReceivedAttachmentItem: {
            /**
             * @description File name that the sender gave, sanitized and without a path.
             * @example invoice.pdf
             */
            filename: string;
            /**
             * @description Content type that the sender declared.
             * @example application/pdf
             */
            content_type: string;
            /**
             * @description Size of the decoded file in bytes.
             * @example 48213
             */
            size_bytes: number;
            /**
             * @description Content-ID by which the message's HTML refers to the file (`cid:`). Null if it has none.
             * @example null
             */
            content_id: string | null;
            /**
             * @description URL of the file's bytes.
             * @example https://hooks.example.com/v1/aliases/al_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1/messages/evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1/attachments/0
             */
            url: string;
        };
        ReceivedMessageDetail: {
            /**
             * @description Id of the message.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Message-ID header. Null if the message has none.
             * @example <4711@mail.example.com>
             */
            message_id: string | null;
            /**
             * @description Id of the event, equal to the message's id.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            event_id: string;
            /**
             * @description Address of the alias that received the message.
             * @example support.acme@in.example.com
             */
            alias: string;
            /**
             * @description Id of the alias. Event filters use it as `endpoint`.
             * @example al_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            endpoint_id: string;
            /**
             * @description From header of the message.
             * @example Ada <ada@example.com>
             */
            from: string;
            /**
             * @description Addresses of the To header, at most 1,000.
             * @example [
             *       "support.acme@in.example.com"
             *     ]
             */
            to: string[];
            /**
             * @description Addresses of the Cc header.
             * @example []
             */
            cc: string[];
            /**
             * @description Addresses of the Reply-To header.
             * @example []
             */
            reply_to: string[];
            /**
             * @description Envelope recipients that led to this alias, as the sending server gave them. A blind copy is visible only here.
             * @example [
             *       "support.acme+orders@in.example.com"
             *     ]
             */
            recipients: string[];
            /**
             * @description Subject of the message.
             * @example Order 42
             */
            subject: string;
            /**
             * Format: date-time
             * @description Time when Posthorn accepted the message.
             * @example 2026-11-21T09:30:00.000Z
             */
            received_at: string;
            /**
             * Format: date-time
             * @description Time in the Date header. Null if it is not a valid time.
             * @example 2026-11-21T09:29:58.000Z
             */
            date: string | null;
            /**
             * @description Text of the message, up to 1 MB (64 KB in the event). Null if the message has none.
             * @example Where is it?
             */
            text: string | null;
            /**
             * @description Unsanitized HTML of the message, up to 1 MB (64 KB in the event). Never show it without sanitizing it. Null if the
             *     message has none.
             * @example null
             */
            html: string | null;
            /**
             * @description Whether the text, the HTML, the headers or a long list was truncated. `raw_url` has the whole message.
             * @example false
             */
            truncated: boolean;
            /**
             * @description Size of the whole message in bytes.
             * @example 2048
             */
            size_bytes: number;
            /**
             * @description Headers by name in lower case. Repeated headers are joined by line breaks.
             * @example {
             *       "subject": "Order 42"
             *     }
             */
            headers: {
                [key: string]: string;
            };
            /** @description All headers in their original order, including repeated ones. */
            header_lines: components["schemas"]["ReceivedHeaderItem"][];
            /**
             * @description Message-ID to which this message replies (In-Reply-To). Null if there is none.
             * @example null
             */
            in_reply_to: string | null;
            /**
             * @description Message-IDs of the thread (References), oldest first.
             * @example []
             */
            references: string[];
            /**
             * @description Whether the message was sent automatically (RFC 3834). Do not reply to an automatic message automatically.
             * @example false
             */
            auto_submitted: boolean;
            /** @description Results of the sender authentication and of the spam and virus checks. */
            verdicts: components["schemas"]["ReceivedVerdictsItem"];
            /**
             * @description State of the message's event: delivered, retrying, dlq, failed, ignored (the alias has no destination), parked (the
             *     message could not be parsed) or quarantined. `received` until the message is parsed.
             * @example delivered
             */
            status: string;
            /**
             * @description Reason for the quarantine. Null otherwise.
             * @example null
             */
            reason: string | null;
            /**
             * @description Whether the From address is authentic: the result of DMARC. `none` if this cannot be determined.
             * @example pass
             * @enum {string}
             */
            auth: "pass" | "fail" | "none";
            /**
             * @description Reason why the message could not be parsed, as a sentence. Null if it could be parsed.
             * @example null
             */
            parse_error: string | null;
            /**
             * @description URL of the original message, byte for byte.
             * @example https://hooks.example.com/v1/aliases/al_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1/messages/evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1/raw
             */
            raw_url: string;
            /** @description Attached files, in their original order. */
            attachments: components["schemas"]["ReceivedAttachmentItem"][];
        };
        AliasReplayBody: {
            /**
             * Format: date-time
             * @description Selects only messages accepted at or after this time (RFC 3339).
             * @example 2026-11-20T00:00:00.000Z
             */
            since?: string;
            /**
             * Format: date-time
             * @description Selects only messages accepted at or before this time (RFC 3339).
             * @example 2026-11-21T00:00:00.000Z
             */
            until?: string;
            /**
             * @description Selects only messages whose event is in this state.
             * @example dlq
             * @enum {string}
             */
            status?: "delivered" | "failed" | "retrying" | "dlq";
            /**
             * @description If true, only counts the messages and sends nothing.
             * @default false
             * @example false
             */
            dry_run: boolean;
            /**
             * @description The `next_cursor` of the previous call, with the same other fields. Omit it for the first call.
             * @example WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl
             */
            cursor?: string;
        };
        AliasReplayItem: {
            /**
             * @description Id of this replay call.
             * @example rpl_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            replay_id: string;
            /**
             * @description Id of the alias.
             * @example al_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            alias_id: string;
            /**
             * @description Whether the call only counted messages.
             * @example false
             */
            dry_run: boolean;
            /**
             * @description Number of messages examined.
             * @example 3
             */
            scanned: number;
            /**
             * @description Number of messages that are sent again, or would be with `dry_run`.
             * @example 2
             */
            replayed: number;
            /**
             * @description Number of deliveries that are created, or would be with `dry_run`. Each message has one for each destination.
             * @example 2
             */
            enqueued: number;
            /**
             * @description Number of messages that are not sent, because the alias has no destination.
             * @example 0
             */
            skipped: number;
            /**
             * @description Number of messages that are never sent again, because they are quarantined, parked or erased.
             * @example 1
             */
            excluded: number;
            /**
             * @description Ids of the destinations to which the messages are sent.
             * @example [
             *       "dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1"
             *     ]
             */
            destinations: string[];
            /**
             * @description Pass this value as `cursor` to process the next 1,000 messages; null if there are no more.
             * @example null
             */
            next_cursor: string | null;
        };
        IngestDomainItem: {
            /**
             * @description Id of the domain.
             * @example pdom_00000000000000000000000001
             */
            id: string;
            /**
             * @description Host name, with the port unless it is the default port of the scheme.
             * @example hooks.example.com
             */
            host: string;
            /**
             * @description `platform` is the host of this installation. `custom` is one of your verified domains.
             * @example platform
             * @enum {string}
             */
            kind: "platform" | "custom";
        };
        EndpointItem: {
            /**
             * @description Id of the endpoint.
             * @example ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Path of the endpoint. On the platform's host it begins with the organization's slug. It is empty at the root of
             *     your own domain.
             * @example acme/stripe
             */
            path: string;
            /**
             * @description Display name.
             * @example Stripe payments
             */
            name: string;
            /**
             * @description Preset of the provider. `null` if there is none.
             * @example stripe
             */
            preset: string | null;
            /**
             * @description URL to configure at the provider.
             * @example https://hooks.example.com/in/acme/stripe
             */
            url: string;
            /** @description Ingest domain of the URL. */
            domain: components["schemas"]["IngestDomainItem"];
            /**
             * @description Ids of the destinations that receive the events.
             * @example [
             *       "dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1"
             *     ]
             */
            destinations: string[];
            /**
             * @description Verification scheme of the endpoint.
             * @example preset
             * @enum {string}
             */
            verification: "none" | "preset" | "hmac-sha256" | "hmac-sha1" | "hmac-sha512" | "rsa-sha256" | "ed25519" | "jwt" | "bearer" | "basic" | "api-key";
            /**
             * @description `paused` stores requests as `parked` and does not deliver them. `disabled` means that Posthorn switched the
             *     endpoint off.
             * @example active
             * @enum {string}
             */
            status: "active" | "paused" | "disabled";
            /**
             * @description `true` if the provider's secret is set. The secret is never returned.
             * @example true
             */
            has_secret: boolean;
            /**
             * @description Version number, incremented by every change of the settings or the routes.
             * @example 1
             */
            version: number;
            /**
             * Format: date-time
             * @description Time of creation.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Time of the last change, including changes of the secret.
             * @example 2026-11-21T09:30:00.000Z
             */
            updated_at: string;
        };
        EndpointPage: {
            /** @description The endpoints of this page. */
            data: components["schemas"]["EndpointItem"][];
            /**
             * @description Pass this value as `cursor` to get the next page. `null` on the last page.
             * @example null
             */
            next_cursor: string | null;
            /** @description Number of items on all pages that match the filters. Present only if the request sets `count`. */
            count?: components["schemas"]["ListCount"];
        };
        RouteConfig: {
            /**
             * @description Id of an existing route to keep. Omit it for a new route.
             * @example rte_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id?: string;
            /**
             * @description Id of the destination.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            destination: string;
            /**
             * @description Condition that selects the events, in the format of a response rule's `when`. A condition without `type` has the
             *     type `json`. `null` selects all events.
             * @example {
             *       "path": "$.type",
             *       "op": "starts_with",
             *       "value": "invoice."
             *     }
             */
            filter?: {
                [key: string]: unknown;
            } | null;
        };
        RuleAnswer: {
            /**
             * @description Status code, 200 to 599. Defaults to 200.
             * @example 200
             */
            status?: number;
            /**
             * @description Body, at most 64 KB. `{{body.path}}`, `{{query.name}}` and `{{headers.name}}` are replaced by values of the
             *     request.
             * @example {"challenge": "{{body.challenge}}"}
             */
            body?: string;
            /**
             * @description Headers, at most 32.
             * @example {
             *       "content-type": "application/json"
             *     }
             */
            headers?: {
                [key: string]: string;
            };
        };
        ResponseRule: {
            /**
             * @description Condition: one of `all`, `any` (lists of conditions), `not` (a condition), or `{type, op, value}`. Some types also
             *     need `name` or `path`. At most 8 levels of nesting and 64 `{type, op, value}` conditions.
             * @example {
             *       "type": "json",
             *       "path": "$.type",
             *       "op": "eq",
             *       "value": "url_verification"
             *     }
             */
            when: {
                [key: string]: unknown;
            };
            /** @description Response to the request. */
            respond: components["schemas"]["RuleAnswer"];
        };
        ResponseRules: {
            /** @description Rules in order of evaluation, at most 50. */
            rules?: components["schemas"]["ResponseRule"][];
            /** @description Response if no rule matches. If omitted or `null`, the endpoint's own response is sent. */
            default?: components["schemas"]["RuleAnswer"] | null;
        };
        ResponseProxyConfig: {
            /**
             * @description `managed` runs `code`, `url` sends the request to `url`.
             * @example managed
             * @enum {string}
             */
            target: "managed" | "url";
            /**
             * @description For `managed`: JavaScript code, an ES module of at most 64 KB whose default export is a function of the request.
             * @example export default (request) => ({ status: 200, body: { ok: true } })
             */
            code?: string;
            /**
             * @description For `url`: URL that receives the signed request. Its response is returned to the sender.
             * @example https://example.com/answer
             */
            url?: string;
            /**
             * @description Time limit in milliseconds. Defaults to 250 for `managed` and 3000 for `url`. For `managed` the limit counts CPU
             *     time, and the call also ends when twice the limit plus two seconds of wall-clock time have passed.
             * @example 250
             */
            timeoutMs?: number;
            /**
             * @description Behavior if the proxy does not respond in time: `fallback` continues with the rules and the default, `error`
             *     responds with 502.
             * @default fallback
             * @example fallback
             * @enum {string}
             */
            onUnavailable: "fallback" | "error";
        };
        TransformConfig: {
            /**
             * @description `managed` runs `code`, `url` sends the body to `url`.
             * @example managed
             * @enum {string}
             */
            engine: "managed" | "url";
            /**
             * @description For `managed`: JavaScript code, an ES module of at most 64 KB whose default export is `(event, {secrets}) => event
             *     | null`.
             * @example export default (event, { secrets }) => event.body.test ? null : { ...event, body: { ...event.body, token: secrets.CRM_TOKEN } }
             */
            code?: string;
            /**
             * @description For `url`: URL that receives the signed body. The JSON in its response replaces the body.
             * @example https://example.com/transform
             */
            url?: string;
            /**
             * @description Behavior if the transform fails: `closed` stores the event as `parked`, `open` delivers it unchanged.
             * @default closed
             * @example closed
             * @enum {string}
             */
            failMode: "open" | "closed";
            /**
             * @description Time limit in milliseconds. Defaults to 250 for `managed` and 3000 for `url`. For `managed` the limit counts CPU
             *     time, and the call also ends when twice the limit plus two seconds of wall-clock time have passed.
             * @example 250
             */
            timeoutMs?: number;
        };
        ResponseConfig: {
            /**
             * @description `static` gives every request the same response. The other types perform the handshake of a provider.
             * @example meta-challenge
             * @enum {string}
             */
            type: "static" | "meta-challenge" | "slack-challenge" | "zoom-challenge" | "x-crc" | "ebay-challenge" | "dropbox-challenge" | "msgraph-challenge" | "okta-challenge" | "asana-handshake" | "discord-ping" | "twitch-challenge" | "sns-confirm";
            /**
             * @description For `ebay-challenge`: the endpoint's URL as registered at eBay.
             * @example https://hooks.example.com/in/acme/ebay
             */
            endpointUrl?: string;
            /**
             * @description Status code of the response to requests that are not a handshake, 200 to 599. Defaults to 200.
             * @example 200
             */
            status?: number;
            /**
             * @description Body of the response to requests that are not a handshake, at most 64 KB.
             * @example ok
             */
            body?: string;
            /**
             * @description Headers of the response to requests that are not a handshake, at most 32.
             * @example {
             *       "content-type": "text/plain"
             *     }
             */
            headers?: {
                [key: string]: string;
            };
            /**
             * @description Required for `meta-challenge`: the verify token that was entered in Meta's console.
             * @example a-token-of-your-own
             */
            verifyToken?: string;
            /**
             * @description For `zoom-challenge`, `x-crc` and `twitch-challenge`: the secret, if it differs from the endpoint's own secret.
             * @example a-secret-of-the-provider
             */
            secret?: string;
            /**
             * @description Token of the provider. Required for `ebay-challenge`. For `slack-challenge`, the legacy token of the app.
             * @example a-token-of-the-provider
             */
            verificationToken?: string;
        };
        VerificationConfig: {
            /**
             * @description Header that carries the signature, key or token. Defaults to `x-signature`, for `api-key` to `x-api-key`, for `jwt`
             *     to `authorization`.
             * @example x-acme-signature
             */
            header?: string;
            /**
             * @description Text before the signature. If omitted, the name of the hash followed by `=` is also accepted.
             * @example v1=
             */
            prefix?: string;
            /**
             * @description Encoding of the signature. If omitted, it is detected from the length of the signature.
             * @example hex
             * @enum {string}
             */
            encoding?: "hex" | "base64";
            /**
             * @description Encoding of the key in the secret. Defaults to `utf8`, the characters of the secret itself.
             * @example utf8
             * @enum {string}
             */
            keyEncoding?: "utf8" | "base64" | "hex" | "whsec";
            /**
             * @description Header that carries the time of signing, in seconds or milliseconds since the epoch. If omitted, no time is
             *     checked.
             * @example x-acme-timestamp
             */
            timestampHeader?: string;
            /**
             * @description Maximum difference between the time of signing and now, in seconds. Defaults to 300.
             * @example 300
             */
            toleranceSeconds?: number;
            /**
             * @description Template of the signed content: `{{body}}`, `{{timestamp}}`, `{{method}}`, `{{url}}`, `{{headers.name}}` and
             *     literal text.
             * @example {{timestamp}}.{{body}}
             */
            signed?: string;
            /**
             * @description Required for `jwt`: URL of the JSON Web Key Set that the sender publishes.
             * @example https://issuer.example.com/.well-known/jwks.json
             */
            jwksUrl?: string;
            /**
             * @description For `jwt`: required value of `iss`.
             * @example https://issuer.example.com
             */
            issuer?: string;
            /**
             * @description For `jwt`: value that `aud` must equal or contain. Set at least one of `audience`, `issuer`, `claims` and
             *     `bodyHashClaim`, because the same keys also sign tokens for others.
             * @example https://hooks.example.com/in/acme/orders
             */
            audience?: string;
            /**
             * @description For `jwt`: claims that the token must contain with exactly these values, at most 10.
             * @example {
             *       "email": "pusher@project.iam.gserviceaccount.com"
             *     }
             */
            claims?: {
                [key: string]: string;
            };
            /**
             * @description For `jwt`: claim that holds the SHA-256 of the body, in hex or base64url.
             * @example request_body_sha256
             */
            bodyHashClaim?: string;
            /**
             * @description For `jwt`: maximum age of a token without `exp`, in seconds. Defaults to 300.
             * @example 300
             */
            maxAgeSeconds?: number;
        };
        DeduplicationConfig: {
            /**
             * @description `provider_id`: the id that the preset's provider repeats when it resends. `header` or `body_path`: an id that your
             *     own sender sets.
             * @example provider_id
             * @enum {string}
             */
            source: "provider_id" | "header" | "body_path";
            /**
             * @description Required for `header`: name of the header with the id. Headers that authenticate the sender are not allowed.
             * @example x-event-id
             */
            name?: string;
            /**
             * @description Required for `body_path`: JSONPath of the id in a JSON body of at most 128 KB. The syntax is the same as in
             *     filters.
             * @example $.event.id
             */
            path?: string;
            /**
             * @description Time in hours after the first request during which a request with the same id is a duplicate. It cannot exceed the
             *     retention period of events.
             * @default 24
             * @example 24
             */
            window_hours: number;
        };
        NewEndpointBody: {
            /**
             * @description Display name. Defaults to the part of the path after the organization's slug.
             * @example Stripe payments
             */
            name?: string;
            /**
             * @description Preset of the provider, which determines the signature scheme and the handshake.
             * @example stripe
             */
            preset?: string | null;
            /**
             * @description All destinations that receive the events: the short form of `routes`. Destinations that stay in the list keep their
             *     filters.
             * @example [
             *       "dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1"
             *     ]
             */
            destinations?: string[];
            /** @description All routes of the endpoint: destinations and filters for the events. */
            routes?: components["schemas"]["RouteConfig"][];
            /** @description Rules for synchronous responses. */
            responseRules?: components["schemas"]["ResponseRules"] | null;
            /** @description Proxy that produces the synchronous response. */
            responseProxy?: components["schemas"]["ResponseProxyConfig"] | null;
            /** @description Transform that changes events before they are routed. */
            transform?: components["schemas"]["TransformConfig"] | null;
            /** @description Response settings. Defaults to the preset's response. Omitted secrets keep their values unless the type changes. */
            response?: components["schemas"]["ResponseConfig"] | null;
            /**
             * @description Verification of requests: `preset` (or its name), `none`, an HMAC (`hmac-sha256`, …), a public key (`rsa-sha256`,
             *     `ed25519`), `jwt`, `bearer`, `basic` or `api-key`. Defaults to `preset` if a preset is set, otherwise to `none`.
             * @example hmac-sha256
             */
            verification?: string | null;
            /** @description Settings of the verification scheme, for schemes other than presets. Required for `jwt`. */
            verificationConfig?: components["schemas"]["VerificationConfig"] | null;
            /**
             * @description HTTP methods that the endpoint accepts. If omitted, `null` or empty, any method is accepted. Requests with another
             *     method get 405 and are not stored. This also applies to handshakes: list GET or HEAD if the provider uses them to
             *     check the URL before saving it.
             * @example [
             *       "POST"
             *     ]
             */
            allowed_methods?: ("GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS" | "TRACE" | "ACL" | "BIND" | "CHECKOUT" | "COPY" | "LINK" | "LOCK" | "M-SEARCH" | "MERGE" | "MKACTIVITY" | "MKCALENDAR" | "MKCOL" | "MOVE" | "NOTIFY" | "PROPFIND" | "PROPPATCH" | "PURGE" | "QUERY" | "REBIND" | "REPORT" | "SEARCH" | "SOURCE" | "SUBSCRIBE" | "UNBIND" | "UNLINK" | "UNLOCK" | "UNSUBSCRIBE")[] | null;
            /**
             * @description Drops requests that a provider resends. A request whose id was received within the window gets the response of the
             *     first request and creates no event. The dropped request is stored as a raw request with the status `duplicate`. If
             *     omitted, no requests are dropped.
             */
            deduplicate?: components["schemas"]["DeduplicationConfig"] | null;
            /**
             * @description A `paused` endpoint still responds to requests, but stores them as `parked`. Defaults to `active` for a new
             *     endpoint.
             * @example active
             * @enum {string}
             */
            status?: "active" | "paused";
            /**
             * @description URL on an ingest domain. On the platform's host, `/in` and the organization's slug may be omitted. On your own
             *     domain, the URL consists of the host and the path.
             * @example https://hooks.example.com/in/acme/stripe
             */
            url?: string | null;
            /**
             * @description The single path segment after the organization's slug: lower-case letters, digits, - and _.
             * @example stripe
             */
            slug?: string | null;
            /**
             * @description Path of the endpoint below the organization's slug. A path that already starts with the slug is also accepted.
             * @example acme/stripe
             */
            path?: string | null;
            /**
             * @description Ingest domain: the platform's domain or one of your verified webhook domains. Defaults to the host of `url`.
             *     Without `url`, it defaults to the platform's domain.
             * @example pdom_00000000000000000000000001
             */
            domainId?: string | null;
        };
        RouteItem: {
            /**
             * @description Id of the route.
             * @example rte_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Id of the destination.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            destination: string;
            /**
             * @description Condition that selects the events. `null` selects all events.
             * @example {
             *       "path": "$.type",
             *       "op": "starts_with",
             *       "value": "invoice."
             *     }
             */
            filter: {
                [key: string]: unknown;
            } | null;
        };
        ResponseView: {
            /**
             * @description `static` gives every request the same response. The other types perform the handshake of a provider.
             * @example meta-challenge
             * @enum {string}
             */
            type: "static" | "meta-challenge" | "slack-challenge" | "zoom-challenge" | "x-crc" | "ebay-challenge" | "dropbox-challenge" | "msgraph-challenge" | "okta-challenge" | "asana-handshake" | "discord-ping" | "twitch-challenge" | "sns-confirm";
            /**
             * @description For `ebay-challenge`: the endpoint's URL as registered at eBay.
             * @example https://hooks.example.com/in/acme/ebay
             */
            endpointUrl?: string;
            /**
             * @description Status code of the response to requests that are not a handshake, 200 to 599. Defaults to 200.
             * @example 200
             */
            status?: number;
            /**
             * @description Body of the response to requests that are not a handshake, at most 64 KB.
             * @example ok
             */
            body?: string;
            /**
             * @description Headers of the response to requests that are not a handshake, at most 32.
             * @example {
             *       "content-type": "text/plain"
             *     }
             */
            headers?: {
                [key: string]: string;
            };
        };
        EndpointDetail: {
            /**
             * @description Id of the endpoint.
             * @example ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Path of the endpoint. On the platform's host it begins with the organization's slug. It is empty at the root of
             *     your own domain.
             * @example acme/stripe
             */
            path: string;
            /**
             * @description Display name.
             * @example Stripe payments
             */
            name: string;
            /**
             * @description Preset of the provider. `null` if there is none.
             * @example stripe
             */
            preset: string | null;
            /**
             * @description URL to configure at the provider.
             * @example https://hooks.example.com/in/acme/stripe
             */
            url: string;
            /** @description Ingest domain of the URL. */
            domain: components["schemas"]["IngestDomainItem"];
            /**
             * @description Ids of the destinations that receive the events.
             * @example [
             *       "dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1"
             *     ]
             */
            destinations: string[];
            /**
             * @description Verification scheme of the endpoint.
             * @example preset
             * @enum {string}
             */
            verification: "none" | "preset" | "hmac-sha256" | "hmac-sha1" | "hmac-sha512" | "rsa-sha256" | "ed25519" | "jwt" | "bearer" | "basic" | "api-key";
            /**
             * @description `paused` stores requests as `parked` and does not deliver them. `disabled` means that Posthorn switched the
             *     endpoint off.
             * @example active
             * @enum {string}
             */
            status: "active" | "paused" | "disabled";
            /**
             * @description `true` if the provider's secret is set. The secret is never returned.
             * @example true
             */
            has_secret: boolean;
            /**
             * @description Version number, incremented by every change of the settings or the routes.
             * @example 1
             */
            version: number;
            /**
             * Format: date-time
             * @description Time of creation.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Time of the last change, including changes of the secret.
             * @example 2026-11-21T09:30:00.000Z
             */
            updated_at: string;
            /** @description Routes of the endpoint, in the order in which they are evaluated. */
            routes: components["schemas"]["RouteItem"][];
            /** @description Rules for synchronous responses. `null` if there are none. */
            responseRules: components["schemas"]["ResponseRules"] | null;
            /** @description Proxy that produces the synchronous response, with the defaults in effect. `null` if there is none. */
            responseProxy: components["schemas"]["ResponseProxyConfig"] | null;
            /** @description Transform that changes events before they are routed, with the defaults in effect. `null` if there is none. */
            transform: components["schemas"]["TransformConfig"] | null;
            /** @description Response settings without secrets. `null` if the preset's response or the default 200 is sent. */
            response: components["schemas"]["ResponseView"] | null;
            /** @description Settings of the verification scheme. `null` if the defaults apply. */
            verificationConfig: components["schemas"]["VerificationConfig"] | null;
            /**
             * @description HTTP methods that the endpoint accepts. `null` if it accepts any method.
             * @example [
             *       "POST"
             *     ]
             */
            allowed_methods: ("GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS" | "TRACE" | "ACL" | "BIND" | "CHECKOUT" | "COPY" | "LINK" | "LOCK" | "M-SEARCH" | "MERGE" | "MKACTIVITY" | "MKCALENDAR" | "MKCOL" | "MOVE" | "NOTIFY" | "PROPFIND" | "PROPPATCH" | "PURGE" | "QUERY" | "REBIND" | "REPORT" | "SEARCH" | "SOURCE" | "SUBSCRIBE" | "UNBIND" | "UNLINK" | "UNLOCK" | "UNSUBSCRIBE")[] | null;
            /** @description Source of the id by which duplicates are detected, with the window in effect. `null` if duplicates are not dropped. */
            deduplicate: components["schemas"]["DeduplicationConfig"] | null;
        };
        EndpointChangesBody: {
            /**
             * @description Display name. Defaults to the part of the path after the organization's slug.
             * @example Stripe payments
             */
            name?: string;
            /**
             * @description Preset of the provider, which determines the signature scheme and the handshake.
             * @example stripe
             */
            preset?: string | null;
            /**
             * @description All destinations that receive the events: the short form of `routes`. Destinations that stay in the list keep their
             *     filters.
             * @example [
             *       "dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1"
             *     ]
             */
            destinations?: string[];
            /** @description All routes of the endpoint: destinations and filters for the events. */
            routes?: components["schemas"]["RouteConfig"][];
            /** @description Rules for synchronous responses. */
            responseRules?: components["schemas"]["ResponseRules"] | null;
            /** @description Proxy that produces the synchronous response. */
            responseProxy?: components["schemas"]["ResponseProxyConfig"] | null;
            /** @description Transform that changes events before they are routed. */
            transform?: components["schemas"]["TransformConfig"] | null;
            /** @description Response settings. Defaults to the preset's response. Omitted secrets keep their values unless the type changes. */
            response?: components["schemas"]["ResponseConfig"] | null;
            /**
             * @description Verification of requests: `preset` (or its name), `none`, an HMAC (`hmac-sha256`, …), a public key (`rsa-sha256`,
             *     `ed25519`), `jwt`, `bearer`, `basic` or `api-key`. Defaults to `preset` if a preset is set, otherwise to `none`.
             * @example hmac-sha256
             */
            verification?: string | null;
            /** @description Settings of the verification scheme, for schemes other than presets. Required for `jwt`. */
            verificationConfig?: components["schemas"]["VerificationConfig"] | null;
            /**
             * @description HTTP methods that the endpoint accepts. If omitted, `null` or empty, any method is accepted. Requests with another
             *     method get 405 and are not stored. This also applies to handshakes: list GET or HEAD if the provider uses them to
             *     check the URL before saving it.
             * @example [
             *       "POST"
             *     ]
             */
            allowed_methods?: ("GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS" | "TRACE" | "ACL" | "BIND" | "CHECKOUT" | "COPY" | "LINK" | "LOCK" | "M-SEARCH" | "MERGE" | "MKACTIVITY" | "MKCALENDAR" | "MKCOL" | "MOVE" | "NOTIFY" | "PROPFIND" | "PROPPATCH" | "PURGE" | "QUERY" | "REBIND" | "REPORT" | "SEARCH" | "SOURCE" | "SUBSCRIBE" | "UNBIND" | "UNLINK" | "UNLOCK" | "UNSUBSCRIBE")[] | null;
            /**
             * @description Drops requests that a provider resends. A request whose id was received within the window gets the response of the
             *     first request and creates no event. The dropped request is stored as a raw request with the status `duplicate`. If
             *     omitted, no requests are dropped.
             */
            deduplicate?: components["schemas"]["DeduplicationConfig"] | null;
            /**
             * @description A `paused` endpoint still responds to requests, but stores them as `parked`. Defaults to `active` for a new
             *     endpoint.
             * @example active
             * @enum {string}
             */
            status?: "active" | "paused";
            /**
             * @description New URL of the endpoint. The old URL stops working immediately. A URL without a path stands for the URL that ends
             *     with the organization's slug.
             * @example https://hooks.example.com/in/acme/payments
             */
            url?: string;
        };
        EndpointSecretBody: {
            /**
             * @description Secret with which the provider signs, as shown in the provider's console. Stored encrypted and never returned.
             * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
             */
            secret: string;
            /**
             * @description Time in seconds for which the previous secrets are still accepted for verification.
             * @default 86400
             * @example 86400
             */
            grace_seconds: number;
        };
        PresetItem: {
            /**
             * @description Value for the `preset` field of an endpoint.
             * @example stripe
             */
            id: string;
            /**
             * @description Name of the provider.
             * @example Stripe
             */
            name: string;
            /**
             * @description Description of the secret that the endpoint needs, in the terms of the provider's console.
             * @example The signing secret of the endpoint (whsec_…).
             */
            secret: string;
            /**
             * @description Handshake or response of the preset (`response.type` of an endpoint). `null` for the default response.
             * @example null
             */
            response: string | null;
            /**
             * @description `true` if the provider checks the URL with an unsigned GET or HEAD request before saving it. Such requests get 200
             *     and create no event.
             * @example false
             */
            checks_url: boolean;
            /**
             * @description `true` if the provider repeats an id when it resends, so that `deduplicate` can use the source `provider_id`.
             * @example true
             */
            has_id: boolean;
            /**
             * @description Retry behavior of the provider after a response other than 2xx.
             * @example Stripe retries for up to three days in live mode, with growing waits.
             */
            retries: string;
        };
        PresetPage: {
            /** @description The presets, with similar ones next to each other. */
            data: components["schemas"]["PresetItem"][];
            /**
             * @description Always `null`: all presets are on one page.
             * @example null
             */
            next_cursor: string | null;
        };
        IngestDomainDetail: {
            /**
             * @description Id of the domain.
             * @example pdom_00000000000000000000000001
             */
            id: string;
            /**
             * @description Host name, with the port unless it is the default port of the scheme.
             * @example hooks.example.com
             */
            host: string;
            /**
             * @description `platform` is the host of this installation. `custom` is one of your verified domains.
             * @example platform
             * @enum {string}
             */
            kind: "platform" | "custom";
            /**
             * @description `true` if new endpoints are created on this domain unless another domain is given.
             * @example true
             */
            default: boolean;
            /**
             * @description First part of the URLs of endpoints on this domain. Append a slug to get the URL of an endpoint.
             * @example https://hooks.example.com/in/acme/
             */
            prefix: string;
        };
        IngestDomainList: {
            /** @description The ingest domains. */
            data: components["schemas"]["IngestDomainDetail"][];
            /**
             * @description Value of PLATFORM_DOMAIN, the name that DNS records of custom domains point to. `localhost` if the operator did not
             *     set it.
             * @example hooks.example.com
             */
            platform_domain: string;
        };
        RequestItem: {
            /**
             * @description Id of the request. Its event has the same id with the prefix `evt_`. A duplicate creates no event.
             * @example req_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Id of the event that the request created. For a duplicate, it is the event of the original request.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            event_id: string;
            /**
             * @description The HTTP method.
             * @example POST
             */
            method: string;
            /**
             * @description Part of the path after the endpoint's own path. Empty if there is none.
             * @example
             */
            path: string;
            /**
             * @description `routed` (deliveries were created), `quarantined` (the signature is invalid), `parked` (the endpoint was paused, or
             *     its transform failed), `ignored`, or `duplicate` (an earlier request had the same id).
             * @example routed
             * @enum {string}
             */
            status: "routed" | "quarantined" | "parked" | "ignored" | "duplicate";
            /**
             * @description `true` if the provider's signature is valid. `null` if the endpoint does not verify signatures.
             * @example true
             */
            verified: boolean | null;
            /**
             * Format: date-time
             * @description Time at which the request was received.
             * @example 2026-11-21T09:30:00.000Z
             */
            received_at: string;
            /**
             * @description Size of the body in bytes.
             * @example 512
             */
            size_bytes: number;
            /**
             * @description The provider's id of this delivery, which stays the same when the provider resends. The endpoint's `deduplicate`
             *     setting can use it to detect duplicates.
             * @example evt_1NG8Du2eZvKYlo2CUI79vXWy
             */
            dedupe_id: string | null;
            /**
             * @description Additional information in one sentence: why the signature is invalid, why the request was parked, or that it was
             *     transformed.
             * @example null
             */
            note: string | null;
            /**
             * @description Id of the request that this request replays. For a replay of a replay, this is the provider's original request.
             * @example null
             */
            replay_of: string | null;
            /**
             * Format: date-time
             * @description Time at which the request was released: it had been quarantined or parked, and a replay of it was then routed.
             *     `null` if it was not released.
             * @example null
             */
            released_at: string | null;
        };
        RequestPage: {
            /** @description The requests of this page. */
            data: components["schemas"]["RequestItem"][];
            /**
             * @description Pass this value as `cursor` to get the next page. `null` on the last page.
             * @example null
             */
            next_cursor: string | null;
        };
        RequestAnswer: {
            /**
             * @description HTTP status code.
             * @example 200
             */
            status: number;
            /**
             * @description Headers that the endpoint's response sets. Names are in lower case.
             * @example {
             *       "content-type": "application/json; charset=utf-8"
             *     }
             */
            headers: {
                [key: string]: string;
            };
            /**
             * @description First 1 KB of the body. `null` if the body was the error envelope of this status, or was erased with the request.
             * @example {"received":true,"id":"evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1"}
             */
            body: string | null;
            /**
             * @description `true` if the body was longer than 1 KB.
             * @example false
             */
            truncated: boolean;
        };
        RequestDetailItem: {
            /**
             * @description Id of the request. Its event has the same id with the prefix `evt_`. A duplicate creates no event.
             * @example req_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Id of the event that the request created. For a duplicate, it is the event of the original request.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            event_id: string;
            /**
             * @description The HTTP method.
             * @example POST
             */
            method: string;
            /**
             * @description Part of the path after the endpoint's own path. Empty if there is none.
             * @example
             */
            path: string;
            /**
             * @description `routed` (deliveries were created), `quarantined` (the signature is invalid), `parked` (the endpoint was paused, or
             *     its transform failed), `ignored`, or `duplicate` (an earlier request had the same id).
             * @example routed
             * @enum {string}
             */
            status: "routed" | "quarantined" | "parked" | "ignored" | "duplicate";
            /**
             * @description `true` if the provider's signature is valid. `null` if the endpoint does not verify signatures.
             * @example true
             */
            verified: boolean | null;
            /**
             * Format: date-time
             * @description Time at which the request was received.
             * @example 2026-11-21T09:30:00.000Z
             */
            received_at: string;
            /**
             * @description Size of the body in bytes.
             * @example 512
             */
            size_bytes: number;
            /**
             * @description The provider's id of this delivery, which stays the same when the provider resends. The endpoint's `deduplicate`
             *     setting can use it to detect duplicates.
             * @example evt_1NG8Du2eZvKYlo2CUI79vXWy
             */
            dedupe_id: string | null;
            /**
             * @description Additional information in one sentence: why the signature is invalid, why the request was parked, or that it was
             *     transformed.
             * @example null
             */
            note: string | null;
            /**
             * @description Id of the request that this request replays. For a replay of a replay, this is the provider's original request.
             * @example null
             */
            replay_of: string | null;
            /**
             * Format: date-time
             * @description Time at which the request was released: it had been quarantined or parked, and a replay of it was then routed.
             *     `null` if it was not released.
             * @example null
             */
            released_at: string | null;
            /**
             * @description URL that was called.
             * @example https://hooks.example.com/in/acme/stripe
             */
            url: string;
            /**
             * @description Query string as it was sent.
             * @example source=eu
             */
            query: string;
            /**
             * @description Headers in their original order, including repeated ones, with names in lower case. With scope `read`, the values
             *     of authentication headers are `(hidden)`.
             * @example [
             *       [
             *         "content-type",
             *         "application/json"
             *       ]
             *     ]
             */
            headers: string[][];
            /**
             * @description The body as text, or in base64 if it is not text.
             * @example {"type":"invoice.paid"}
             */
            body: string;
            /**
             * @description Encoding of `body`.
             * @example text
             * @enum {string}
             */
            body_encoding: "text" | "base64";
            /**
             * Format: date-time
             * @description Time at which the request was erased together with its event's payload. The query, the body and the values of the
             *     headers are then empty. Absent if the request is not erased.
             * @example 2026-11-21T09:30:00.000Z
             */
            erased_at?: string;
            /**
             * @description IP address of the client.
             * @example 203.0.113.7
             */
            ip: string;
            /**
             * @description The response that the provider got. `null` for a replay, which has no waiting sender. Also `null` for requests
             *     stored by versions that did not record it.
             */
            answer: components["schemas"]["RequestAnswer"] | null;
        };
        RequestReplayed: {
            /**
             * @description Id of this replay request.
             * @example rpl_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            replay_id: string;
            /**
             * @description Id of the new event.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            event_id: string;
        };
        EndpointTestBody: {
            /**
             * @description Preset whose sample event is sent. Defaults to the endpoint's own preset.
             * @example stripe
             */
            preset?: string;
            /**
             * @description Type of the sample event. Defaults to the type of the preset's own sample.
             * @example invoice.paid
             */
            event_type?: string;
            /**
             * @description Body to send instead of the preset's sample, as text.
             * @example {"type":"invoice.paid"}
             */
            body?: string;
        };
        EndpointTested: {
            /**
             * @description Id of the event. `null` if the sample was a handshake or nothing was stored.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            event_id: string | null;
            /**
             * @description `true` if the signature is valid. `null` if the endpoint does not verify signatures.
             * @example true
             */
            verified: boolean | null;
            /**
             * @description HTTP status code that the provider would get.
             * @example 200
             */
            status: number;
        };
        TriedRouteBody: {
            /**
             * @description Id of the destination, which only identifies the route in the response. The destination need not exist.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            destination?: string | null;
            /**
             * @description Condition that selects the events, in the format of a response rule's `when`. A condition without `type` has the
             *     type `json`. `null` selects all events.
             * @example {
             *       "path": "$.type",
             *       "op": "starts_with",
             *       "value": "invoice."
             *     }
             */
            filter?: {
                [key: string]: unknown;
            } | null;
        };
        TrialBody: {
            /**
             * @description Id of a raw request of the endpoint, or of the event (`evt_`) that it created.
             * @example req_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            request: string;
            /**
             * @description Transform that changes the event before it is routed. `null` for none. If the transform has a URL, the URL is
             *     called.
             */
            transform?: components["schemas"]["TransformConfig"] | null;
            /** @description The routes to evaluate. */
            routes?: components["schemas"]["TriedRouteBody"][];
            /** @description Rules for synchronous responses. `null` for none. */
            responseRules?: components["schemas"]["ResponseRules"] | null;
        };
        TriedRoute: {
            /**
             * @description Destination of the route.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            destination: string | null;
            /**
             * @description `true` if the route matches the event. `null` if its filter exceeded its time limit.
             * @example true
             */
            matches: boolean | null;
        };
        TriedAnswer: {
            /**
             * @description Position of the matching rule, starting at 0. `null` for the default response.
             * @example 0
             */
            rule: number | null;
            /**
             * @description HTTP status code.
             * @example 200
             */
            status: number;
            /**
             * @description Headers of the response, with names in lower case.
             * @example {
             *       "content-type": "application/json"
             *     }
             */
            headers: {
                [key: string]: string;
            };
            /**
             * @description Body of the response.
             * @example {"challenge": "3eZbrw1aB"}
             */
            body: string;
        };
        TrialResult: {
            /**
             * @description `routed`, `quarantined` (the signature is invalid), `parked` (the transform fails, or filters or rules exceed their
             *     time limit) or `ignored` (the transform drops the event, or no route matches). The results of all steps are given,
             *     even if an earlier step fails.
             * @example routed
             * @enum {string}
             */
            outcome: "routed" | "quarantined" | "parked" | "ignored";
            /**
             * @description `true` if the signature is valid with the current secrets. `null` if the endpoint does not verify signatures.
             * @example true
             */
            verified: boolean | null;
            /**
             * @description Reason why the signature is invalid. `null` if it is valid.
             * @example null
             */
            verification_reason: string | null;
            /**
             * @description Type of the event after the transform.
             * @example invoice.paid
             */
            event_type: string;
            /**
             * @description Result of the transform. `none` if there is no transform.
             * @example ran
             * @enum {string}
             */
            transform: "none" | "ran" | "dropped" | "failed";
            /**
             * @description Reason why the transform failed, with the line of the code if known. `null` if it did not fail.
             * @example null
             */
            transform_error: string | null;
            /**
             * @description Body that the transform produced. `null` if the body is unchanged.
             * @example {"amount":4200,"token":"(CRM_TOKEN)"}
             */
            body: string | null;
            /**
             * @description Headers that the transform sets.
             * @example {
             *       "x-tenant": "42"
             *     }
             */
            headers_set: {
                [key: string]: string;
            };
            /**
             * @description Names of the headers that the transform removes.
             * @example []
             */
            headers_removed: string[];
            /** @description Result of each route for the event, in the order in which the routes were given. */
            routes: components["schemas"]["TriedRoute"][];
            /** @description Response that the rules produce. `null` if no rule applies. A response proxy is not called. */
            answer: components["schemas"]["TriedAnswer"] | null;
        };
        ReportItem: {
            /**
             * @description Id of the report.
             * @example rep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description The email that the report is about, or claims to be about. Null if the report names no email.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            email_id: string | null;
            /**
             * @description Channel by which the report arrived: mail (`smtp`) or a notification of Amazon SES (`ses`).
             * @example smtp
             * @enum {string}
             */
            source: "smtp" | "ses";
            /**
             * @description Type of the report: `bounce` (also for delayed and successful deliveries), `complaint`, `auto-reply`, `other`, or
             *     SES's own type. Null while the report is `waiting`.
             * @example bounce
             */
            kind: string | null;
            /**
             * @description Result of processing. `recorded`: added to the email's timeline. `unmatched`: no email, or no recipient of the
             *     email, matches the report. `untrusted`: the report contains no proof that it belongs to the email. `ignored`: the
             *     report says nothing about a delivery. `waiting`: not processed yet.
             * @example unmatched
             * @enum {string}
             */
            state: "waiting" | "recorded" | "unmatched" | "untrusted" | "ignored";
            /**
             * @description Reason why the report was not recorded: `email_unknown`, `email_gone`, `recipient_unknown`, `not_proven`,
             *     `auto_reply`, `no_report` or `nothing_new`. Null otherwise.
             * @example recipient_unknown
             */
            reason: string | null;
            /**
             * @description Address that the report was sent to, or the SNS topic of a notification.
             * @example b+0000000101…@bounce.example.com
             */
            recipient: string;
            /**
             * @description Envelope sender of the report. Empty for the null sender, which is normal for reports.
             * @example
             */
            envelope_from: string;
            /**
             * @description IP address of the mail server that delivered the report. Empty if a provider sent it as a notification.
             * @example 192.0.2.25
             */
            received_from: string;
            /**
             * @description Size of the report in bytes.
             * @example 4096
             */
            size_bytes: number;
            /**
             * Format: date-time
             * @description Time when the report arrived.
             * @example 2026-11-22T09:30:00.000Z
             */
            received_at: string;
            /**
             * Format: date-time
             * @description Time until which the report is kept: 30 days, or the environment's retention if that is shorter.
             * @example 2026-12-22T09:30:00.000Z
             */
            expires_at: string;
        };
        ReportPage: {
            /** @description The reports of this page. */
            data: components["schemas"]["ReportItem"][];
            /**
             * @description Pass this value as `cursor` to get the next page; null on the last page.
             * @example null
             */
            next_cursor: string | null;
        };
        RoutePage: {
            /** @description The routes, in the order in which they are evaluated. */
            data: components["schemas"]["RouteItem"][];
            /**
             * @description Always `null`: an endpoint has at most 100 routes, and all are on one page.
             * @example null
             */
            next_cursor: string | null;
        };
        NewRouteBody: {
            /**
             * @description Id of the destination. An endpoint has at most one route to each destination.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            destination: string;
            /**
             * @description Condition that selects the events, in the format of a response rule's `when`. A condition without `type` has the
             *     type `json`. `null` selects all events.
             * @example {
             *       "path": "$.type",
             *       "op": "starts_with",
             *       "value": "invoice."
             *     }
             */
            filter?: {
                [key: string]: unknown;
            } | null;
        };
        RouteChangesBody: {
            /**
             * @description Id of the destination.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            destination?: string;
            /**
             * @description Condition that selects the events. `null` selects all events.
             * @example {
             *       "path": "$.type",
             *       "op": "starts_with",
             *       "value": "invoice."
             *     }
             */
            filter?: {
                [key: string]: unknown;
            } | null;
        };
        EventTypeItem: {
            /**
             * @description Value of `event_type` in a send request.
             * @example invoice.paid
             */
            name: string;
            /**
             * @description Human-readable description of the event and of when it is sent.
             * @example An invoice was paid in full.
             */
            description: string | null;
            /**
             * @description Heading under which the catalogue lists the event type.
             * @example Billing
             */
            group: string | null;
            /**
             * @description Version of the schema, starting at 1. Each change of the schema increments it.
             * @example 1
             */
            version: number;
            /**
             * @description Whether the event type has a schema.
             * @example true
             */
            has_schema: boolean;
            /**
             * @description Whether the API rejects payloads that do not match the schema.
             * @example false
             */
            enforce: boolean;
            /**
             * @description Whether the event type is hidden from the catalogue and from lists.
             * @example false
             */
            archived: boolean;
            /**
             * Format: date-time
             * @description Time of creation.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Time of the last change.
             * @example 2026-11-21T09:30:00.000Z
             */
            updated_at: string;
        };
        EventTypePage: {
            /** @description Event types on this page. */
            data: components["schemas"]["EventTypeItem"][];
            /**
             * @description Value for `cursor` to get the next page; `null` on the last page.
             * @example null
             */
            next_cursor: string | null;
        };
        NewEventTypeBody: {
            /**
             * @description Human-readable description of the event and of when it is sent; `null` removes it.
             * @example An invoice was paid in full.
             */
            description?: string | null;
            /**
             * @description Heading under which the catalogue lists the event type; `null` removes it.
             * @example Billing
             */
            group?: string | null;
            /**
             * @description Schema of the payload in JSON Schema 2020-12; `null` removes it. A changed schema creates a new version.
             * @example {
             *       "type": "object",
             *       "required": [
             *         "amount"
             *       ],
             *       "properties": {
             *         "amount": {
             *           "type": "integer"
             *         }
             *       }
             *     }
             */
            schema?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description Example payload, which must match the schema; `null` removes it.
             * @example {
             *       "amount": 4200
             *     }
             */
            example?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description Whether the API rejects payloads that do not match the schema with 422. Requires a schema.
             * @example false
             */
            enforce?: boolean;
            /**
             * @description Whether the event type is hidden from the catalogue and from lists. An archived type can still be sent, and its
             *     schema is still enforced.
             * @example false
             */
            archived?: boolean;
            /**
             * @description Value of `event_type` in a send request: up to 256 letters, digits and `. _ - : /`. It is unique within the
             *     environment and cannot be changed.
             * @example invoice.paid
             */
            name: string;
        };
        EventTypeDetail: {
            /**
             * @description Value of `event_type` in a send request.
             * @example invoice.paid
             */
            name: string;
            /**
             * @description Human-readable description of the event and of when it is sent.
             * @example An invoice was paid in full.
             */
            description: string | null;
            /**
             * @description Heading under which the catalogue lists the event type.
             * @example Billing
             */
            group: string | null;
            /**
             * @description Version of the schema, starting at 1. Each change of the schema increments it.
             * @example 1
             */
            version: number;
            /**
             * @description Whether the event type has a schema.
             * @example true
             */
            has_schema: boolean;
            /**
             * @description Whether the API rejects payloads that do not match the schema.
             * @example false
             */
            enforce: boolean;
            /**
             * @description Whether the event type is hidden from the catalogue and from lists.
             * @example false
             */
            archived: boolean;
            /**
             * Format: date-time
             * @description Time of creation.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Time of the last change.
             * @example 2026-11-21T09:30:00.000Z
             */
            updated_at: string;
            /**
             * @description Schema of the payload in JSON Schema 2020-12.
             * @example {
             *       "type": "object",
             *       "required": [
             *         "amount"
             *       ],
             *       "properties": {
             *         "amount": {
             *           "type": "integer"
             *         }
             *       }
             *     }
             */
            schema: {
                [key: string]: unknown;
            } | null;
            /**
             * @description Example payload.
             * @example {
             *       "amount": 4200
             *     }
             */
            example: {
                [key: string]: unknown;
            } | null;
        };
        OpenApiImportBody: {
            /**
             * @description The document as a JSON object.
             * @example {
             *       "openapi": "3.1.0",
             *       "webhooks": {
             *         "invoice.paid": {
             *           "post": {
             *             "requestBody": {
             *               "content": {
             *                 "application/json": {
             *                   "schema": {
             *                     "type": "object"
             *                   }
             *                 }
             *               }
             *             }
             *           }
             *         }
             *       }
             *     }
             */
            spec?: {
                [key: string]: unknown;
            };
            /**
             * @description The document as JSON or YAML, at most 1 MB.
             * @example openapi: 3.1.0
             *     webhooks: {}
             */
            text?: string;
            /**
             * @description Whether event types that are not in the document are archived.
             * @default false
             * @example false
             */
            replace_all: boolean;
            /**
             * @description If true, the response shows the result and nothing is changed.
             * @default false
             * @example false
             */
            dry_run: boolean;
            /**
             * @description Whether the schemas of the document's event types are enforced. If omitted, existing types keep their setting and
             *     new types are not enforced.
             * @example false
             */
            enforce?: boolean;
        };
        ChangedNumber: {
            /**
             * @description Path of the number in the document.
             * @example spec.components.schemas.Invoice.properties.id.maximum
             */
            path: string;
            /**
             * @description Original value of the number and the value that is stored.
             * @example 9223372036854775807 would be stored as 9223372036854776000: write it as a string, or with fewer digits
             */
            message: string;
        };
        OpenApiImported: {
            /**
             * @description Event types that were created.
             * @example [
             *       "invoice.paid"
             *     ]
             */
            created: string[];
            /**
             * @description Event types that were changed.
             * @example []
             */
            updated: string[];
            /**
             * @description Event types that were already up to date.
             * @example []
             */
            unchanged: string[];
            /**
             * @description Event types that were archived because the document does not have them.
             * @example []
             */
            archived: string[];
            /**
             * @description The first 20 numbers in webhooks and components that are stored with a different value, because a double cannot
             *     represent them exactly.
             * @example []
             */
            changed_numbers: components["schemas"]["ChangedNumber"][];
            /**
             * @description True if this was a dry run and nothing was changed.
             * @example false
             */
            dry_run: boolean;
        };
        EventTypeChangesBody: {
            /**
             * @description Human-readable description of the event and of when it is sent; `null` removes it.
             * @example An invoice was paid in full.
             */
            description?: string | null;
            /**
             * @description Heading under which the catalogue lists the event type; `null` removes it.
             * @example Billing
             */
            group?: string | null;
            /**
             * @description Schema of the payload in JSON Schema 2020-12; `null` removes it. A changed schema creates a new version.
             * @example {
             *       "type": "object",
             *       "required": [
             *         "amount"
             *       ],
             *       "properties": {
             *         "amount": {
             *           "type": "integer"
             *         }
             *       }
             *     }
             */
            schema?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description Example payload, which must match the schema; `null` removes it.
             * @example {
             *       "amount": 4200
             *     }
             */
            example?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description Whether the API rejects payloads that do not match the schema with 422. Requires a schema.
             * @example false
             */
            enforce?: boolean;
            /**
             * @description Whether the event type is hidden from the catalogue and from lists. An archived type can still be sent, and its
             *     schema is still enforced.
             * @example false
             */
            archived?: boolean;
        };
        EventTypeVersionItem: {
            /**
             * @description Version number of the schema, starting at 1.
             * @example 1
             */
            version: number;
            /**
             * @description Schema in this version; `null` if this version has no schema.
             * @example {
             *       "type": "object",
             *       "required": [
             *         "amount"
             *       ],
             *       "properties": {
             *         "amount": {
             *           "type": "integer"
             *         }
             *       }
             *     }
             */
            schema: {
                [key: string]: unknown;
            } | null;
            /**
             * Format: date-time
             * @description Time at which this version was created.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
        };
        EventTypeVersionPage: {
            /** @description Versions on this page. */
            data: components["schemas"]["EventTypeVersionItem"][];
            /**
             * @description Value for `cursor` to get the next page; `null` on the last page.
             * @example null
             */
            next_cursor: string | null;
        };
        LastAttemptItem: {
            /**
             * @description HTTP status of the response, or the mail server's reply code; `null` if there was no response.
             * @example 503
             */
            status: number | null;
            /**
             * @description Why there was no response, with the same values as `error` in the event's attempts.
             * @example null
             * @enum {string|null}
             */
            error: "timeout" | "dns" | "connection" | "tls" | "blocked" | "protocol" | "refused" | "adapter" | null;
            /**
             * Format: date-time
             * @description Time at which the attempt started.
             * @example 2026-11-21T09:30:00.120Z
             */
            at: string;
        };
        ListedEventItem: {
            /**
             * @description The event's id.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description The event type given by the sender.
             * @example invoice.paid
             */
            event_type: string;
            /**
             * @description The path of the inbound endpoint that received the event, or the `ep_` id of the application endpoint that it is
             *     sent to. `null` for other events.
             * @example null
             */
            endpoint: string | null;
            /**
             * @description `retrying` until the outcome is final, then `delivered`, `dlq` (all retries are used up) or `failed` (a retry
             *     cannot help). Received events that are not delivered are `quarantined` (the signature was invalid), `parked`
             *     (stored but not processed further) or `ignored` (no route or subscription matched).
             * @example delivered
             * @enum {string}
             */
            status: "delivered" | "failed" | "retrying" | "dlq" | "quarantined" | "parked" | "ignored";
            /**
             * @description Target of a sent event: the destination's id, or the ad-hoc URL. `null` for an event of an endpoint, whose
             *     deliveries show the targets.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            destination: string | null;
            /**
             * @description The message that the event belongs to; `null` for a received event.
             * @example msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            message_id: string | null;
            /**
             * Format: date-time
             * @description Time at which the event was accepted.
             * @example 2026-11-21T09:30:00.000Z
             */
            received_at: string;
            /**
             * @description Number of attempts of all deliveries, including replays.
             * @example 3
             */
            attempt_count: number;
            /**
             * @description The last attempt of the delivery that determines the event's status; `null` if that delivery has no attempt.
             * @example {
             *       "status": 503,
             *       "error": null,
             *       "at": "2026-11-21T09:30:00.120Z"
             *     }
             */
            last_attempt: components["schemas"]["LastAttemptItem"] | null;
            /**
             * Format: date-time
             * @description Time at which the next attempt of any delivery is due; `null` if none is due. While a circuit is open, the attempt
             *     may be made later. The event's detail shows the exact time.
             * @example 2026-11-21T09:35:00.000Z
             */
            next_attempt_at: string | null;
        };
        EventPage: {
            /** @description The events of this page. */
            data: components["schemas"]["ListedEventItem"][];
            /**
             * @description Pass this value as `cursor` to get the next page; `null` on the last page. If only few events match, a page can be
             *     short or empty and still have a next page.
             * @example null
             */
            next_cursor: string | null;
            /**
             * Format: date-time
             * @description Set only if the page ended early at the limit of rows scanned per page (3,000 to 10,000 rows of an index). All
             *     events since this time were searched. Continue with `cursor`, or narrow the range with `since` and `until`.
             * @example 2026-11-20T00:00:00.000Z
             */
            searched_to?: string;
        };
        EventCountItem: {
            /**
             * @description Number of matching events, at most 10,000.
             * @example 412
             */
            count: number;
            /**
             * @description `true` if there may be more events. Display the count as `10,000+` or `412+`.
             * @example false
             */
            is_capped: boolean;
            /**
             * Format: date-time
             * @description Set only if the count stopped early at the limit of scanned rows. All events since this time were counted.
             * @example 2026-11-20T00:00:00.000Z
             */
            searched_to?: string;
        };
        DeliveryCircuitItem: {
            /**
             * @description `open` holds all deliveries back; `half_open` tries one of them.
             * @example open
             * @enum {string}
             */
            state: "open" | "half_open";
            /**
             * Format: date-time
             * @description When the outage began.
             * @example 2026-11-21T09:30:00.120Z
             */
            opened_at: string | null;
            /**
             * Format: date-time
             * @description When a waiting delivery is tried, to check whether the target has recovered; `null` while this attempt is in
             *     flight.
             * @example 2026-11-21T09:30:30.120Z
             */
            next_probe_at: string | null;
        };
        DeliveryItem: {
            /**
             * @description The event's id, followed by the position of the delivery within the event.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1.0
             */
            id: string;
            /**
             * @description Target of the delivery: a destination's id, the ad-hoc URL, or the `ep_` id of an application's endpoint.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            destination: string;
            /**
             * @description Status of the delivery.
             * @example delivered
             * @enum {string}
             */
            status: "delivered" | "failed" | "retrying" | "dlq";
            /**
             * Format: date-time
             * @description Time at which the next attempt is due; `null` if none is due. While the circuit is open, it is not before the next
             *     probe.
             * @example null
             */
            next_attempt_at: string | null;
            /**
             * @description Circuit breaker of the target. Present while the delivery waits for the circuit to close. The delivery is sent
             *     after a probe succeeds. Waiting does not count as an attempt.
             * @example null
             */
            circuit: components["schemas"]["DeliveryCircuitItem"] | null;
            /**
             * @description Why the delivery failed: gone (the receiver responded with 410), target_gone (the target was deleted),
             *     target_disabled, filter_undecided (the filter took too long), refused (the payload will never be accepted),
             *     cancelled, erased, expired or superseded (by a replay).
             * @example null
             */
            reason: string | null;
            /**
             * @description `true` if the delivery is a replay.
             * @example false
             */
            replayed: boolean;
        };
        AttemptItem: {
            /**
             * @description The delivery that the attempt belongs to: the `id` of an item in `deliveries`.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1.0
             */
            delivery: string;
            /**
             * @description Target of the attempt, as in the delivery's `destination`.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            destination: string;
            /**
             * @description Number of the attempt within its delivery, starting at 1.
             * @example 1
             */
            number: number;
            /**
             * @description HTTP status of the response; `null` if there was no response.
             * @example 200
             */
            status: number | null;
            /**
             * @description Duration of the attempt in milliseconds.
             * @example 42
             */
            duration_ms: number;
            /**
             * Format: date-time
             * @description Time at which the attempt started.
             * @example 2026-11-21T09:30:00.120Z
             */
            at: string;
            /**
             * @description First 1 KB of the response body, or an error message.
             * @example ok
             */
            response_excerpt: string | null;
            /**
             * @description Why there was no response: timeout, dns, connection, tls, blocked, protocol, refused (never sent), or adapter (the
             *     adapter of the destination type failed).
             * @example null
             */
            error: string | null;
            /**
             * @description `true` if the attempt belongs to a replay.
             * @example false
             */
            replayed: boolean;
        };
        EventDetailItem: {
            /**
             * @description The event's id.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description The event type given by the sender.
             * @example invoice.paid
             */
            event_type: string;
            /**
             * @description The path of the inbound endpoint that received the event, or the `ep_` id of the application endpoint that it is
             *     sent to. `null` for other events.
             * @example null
             */
            endpoint: string | null;
            /**
             * @description `retrying` until the outcome is final, then `delivered`, `dlq` (all retries are used up) or `failed` (a retry
             *     cannot help). Received events that are not delivered are `quarantined` (the signature was invalid), `parked`
             *     (stored but not processed further) or `ignored` (no route or subscription matched).
             * @example delivered
             * @enum {string}
             */
            status: "delivered" | "failed" | "retrying" | "dlq" | "quarantined" | "parked" | "ignored";
            /**
             * @description Target of a sent event: the destination's id, or the ad-hoc URL. `null` for an event of an endpoint, whose
             *     deliveries show the targets.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            destination: string | null;
            /**
             * @description The message that the event belongs to; `null` for a received event.
             * @example msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            message_id: string | null;
            /**
             * Format: date-time
             * @description Time at which the event was accepted.
             * @example 2026-11-21T09:30:00.000Z
             */
            received_at: string;
            /**
             * @description The `webhook-id` header, which receivers use to deduplicate.
             * @example msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            webhook_id: string;
            /**
             * @description `outbound` for a sent event, `inbound` for a received one.
             * @example outbound
             * @enum {string}
             */
            direction: "outbound" | "inbound";
            /**
             * @description The application that the event was sent to; absent for other events.
             * @example app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            application?: string;
            /**
             * Format: date-time
             * @description Time at which the payload was erased; absent if it was not erased.
             * @example 2026-11-21T09:30:00.000Z
             */
            payload_erased_at?: string;
            /**
             * @description Headers that are forwarded with the event. For keys of scope read, headers that authenticate (`authorization`,
             *     cookies, tokens) appear as `(hidden)`.
             * @example {
             *       "x-tenant": "42"
             *     }
             */
            headers: {
                [key: string]: string;
            };
            /**
             * @description The payload, character for character as it was accepted; absent if it is over 256 KB.
             * @example {
             *       "amount": 4200
             *     }
             */
            payload?: (Record<string, never> | unknown[] | string | number | boolean) | null;
            /**
             * @description Encoding of `payload`: `json`; `text` for a received body that is not JSON; `base64` for a received body that is
             *     not text.
             * @example json
             * @enum {string}
             */
            payload_encoding?: "json" | "text" | "base64";
            /**
             * @description Id of the raw request of a received event.
             * @example req_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            request_id?: string;
            /**
             * @description For a received event: why it was not delivered, or that its transform failed and it was delivered unchanged
             *     (`failMode: open`). `null` if neither applies.
             * @example The transform failed: timeout. It was delivered untransformed.
             */
            note?: string | null;
            /**
             * @description `true` if the payload is left out because it is over 256 KB. Fetch it with `GET /v1/events/{id}/payload`.
             * @example true
             */
            payload_truncated?: boolean;
            /** @description All deliveries including replays, oldest first. */
            deliveries: components["schemas"]["DeliveryItem"][];
            /** @description All attempts, oldest first. */
            attempts: components["schemas"]["AttemptItem"][];
        };
        SentRequestItem: {
            /**
             * @description HTTP method.
             * @example POST
             */
            method: string;
            /**
             * @description Target URL without user and password, up to 2,048 characters. For a mirror destination, Posthorn appended the path
             *     and query of the received request, which are not shown here.
             * @example https://example.com/hook
             */
            url: string;
            /**
             * @description Request headers with names in lower case, up to 4 KB, without those of the connection (`host`, `content-length`).
             *     Signatures are shown as they were sent.
             *
             *     Credentials and values that contain a named secret are never stored and appear as `(hidden)`. Credentials among the
             *     event's own headers are shown only to keys that may write. The values of the event's own headers are empty after
             *     the event is erased.
             *
             *     For a mirror destination, the headers of the received request are left out. They are stored with that request.
             * @example {
             *       "content-type": "application/json",
             *       "webhook-id": "msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1",
             *       "authorization": "(hidden)"
             *     }
             */
            headers: {
                [key: string]: string;
            };
        };
        AnswerItem: {
            /**
             * @description HTTP status.
             * @example 503
             */
            status: number;
            /**
             * @description Response headers with names in lower case, up to 4 KB. Repeated headers are joined. Cookies and tokens appear as
             *     `(hidden)`.
             * @example {
             *       "content-type": "text/html",
             *       "retry-after": "120",
             *       "set-cookie": "(hidden)"
             *     }
             */
            headers: {
                [key: string]: string;
            };
        };
        ExchangeItem: {
            /**
             * @description The delivery that the attempt belongs to: the `id` of an item in the event's `deliveries`.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1.0
             */
            delivery: string;
            /**
             * @description The `number` of the attempt.
             * @example 1
             */
            number: number;
            /**
             * Format: date-time
             * @description Time at which the attempt started.
             * @example 2026-11-21T09:30:00.120Z
             */
            at: string;
            /**
             * @description The request that was sent, or that would have been sent if the connection had succeeded. Its body is the event's
             *     payload.
             */
            request: components["schemas"]["SentRequestItem"];
            /**
             * @description The response without its body; the first 1 KB of the body is the attempt's `response_excerpt`. `null` if there was
             *     no response.
             */
            response: components["schemas"]["AnswerItem"] | null;
        };
        ExchangeList: {
            /** @description The latest 50 failed attempts, newest first. */
            data: components["schemas"]["ExchangeItem"][];
        };
        SignBody: {
            /**
             * @description The id of one of the event's deliveries. Defaults to the latest delivery.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1.0
             */
            delivery?: string;
        };
        SignedRequestItem: {
            /**
             * @description The delivery's id.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1.0
             */
            delivery: string;
            /**
             * @description HTTP method.
             * @example POST
             */
            method: string;
            /**
             * @description Target URL.
             * @example https://example.com/webhooks
             */
            url: string;
            /**
             * @description The headers including the signature, with names in lower case. A value that contains a named secret appears as
             *     `(hidden)`.
             * @example {
             *       "webhook-id": "msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1",
             *       "webhook-timestamp": "1795253400",
             *       "webhook-signature": "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="
             *     }
             */
            headers: {
                [key: string]: string;
            };
            /**
             * Format: date-time
             * @description When the request was signed.
             * @example 2026-11-21T09:30:00.000Z
             */
            signed_at: string;
            /**
             * Format: date-time
             * @description When receivers start to refuse the signature.
             * @example 2026-11-21T09:35:00.000Z
             */
            expires_at: string;
        };
        Cancelled: {
            /**
             * @description Number of cancelled deliveries, including those that end with the attempt in flight.
             * @example 12
             */
            cancelled: number;
        };
        PullBacklogItem: {
            /**
             * @description Number of events after the committed position.
             * @example 42
             */
            count: number;
            /**
             * @description `true` if there may be more events than `count`. Counting stops at 1,000 events. For an endpoint, it also stops
             *     after the next 5,000 events of the destination, and only the endpoint's own are counted.
             * @example false
             */
            is_capped: boolean;
            /**
             * @description The event that the consumer gets next; `null` if none was found.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            oldest_event: string | null;
            /**
             * Format: date-time
             * @description When the oldest waiting event was accepted; `null` if there is none.
             * @example 2026-11-21T09:30:00.000Z
             */
            oldest_at: string | null;
        };
        PullPositionItem: {
            /**
             * @description The pull destination.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            destination: string;
            /**
             * @description The destination's name.
             * @example Warehouse
             */
            name: string;
            /**
             * @description The destination's status. The events of a disabled destination can still be pulled.
             * @example active
             * @enum {string}
             */
            status: "active" | "disabled";
            /**
             * @description The inbound endpoint, if its events are pulled by its `ep_` id. `null` for the consumer that pulls all events of
             *     the destination.
             * @example null
             */
            endpoint: string | null;
            /**
             * @description The last acknowledged event; `null` if nothing has been acknowledged.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            committed_through: string | null;
            /**
             * Format: date-time
             * @description When a pull or an ack last moved the position; `null` if it has never moved. A pull that finds nothing new does not
             *     move it.
             * @example 2026-11-21T09:30:00.000Z
             */
            committed_at: string | null;
            /** @description Events that are not acknowledged yet. */
            backlog: components["schemas"]["PullBacklogItem"];
        };
        PullPositionPage: {
            /** @description The positions. */
            data: components["schemas"]["PullPositionItem"][];
            /**
             * @description Pass this value as `cursor` to get the next page; `null` on the last page.
             * @example null
             */
            next_cursor: string | null;
        };
        PullTimings: {
            /**
             * Format: int64
             * @description When Posthorn received the event.
             * @example 1795253400000
             */
            edge_at: number;
            /**
             * Format: int64
             * @description When the event was stored.
             * @example 1795253400004
             */
            stored_at: number;
            /**
             * Format: int64
             * @description When the event became available to pull. Later than `stored_at` for a replay.
             * @example 1795253400004
             */
            processed_at: number;
            /**
             * Format: int64
             * @description When this response was created.
             * @example 1795253400120
             */
            consumed_at: number;
        };
        PullItem: {
            /**
             * @description The event's id.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Id for detecting duplicates. It is the same each time the event is delivered.
             * @example msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            webhook_id: string;
            /**
             * @description The event type given by the sender, or by the endpoint that received the event.
             * @example invoice.paid
             */
            event_type: string;
            /**
             * @description The path of the inbound endpoint that received the event; `null` for a sent event.
             * @example null
             */
            endpoint: string | null;
            /**
             * @description Status of this delivery, which is always `delivered`.
             * @example delivered
             * @enum {string}
             */
            status: "delivered";
            /**
             * Format: date-time
             * @description Time at which the event was accepted.
             * @example 2026-11-21T09:30:00.000Z
             */
            received_at: string;
            /**
             * Format: date-time
             * @description When the payload was erased; `payload` is then `null`. Absent if it was not erased.
             * @example 2026-11-21T09:30:00.000Z
             */
            payload_erased_at?: string;
            /**
             * @description Headers that are forwarded with the event, with names in lower case. For keys of scope read, headers that
             *     authenticate appear as `(hidden)`.
             * @example {
             *       "x-tenant": "42"
             *     }
             */
            headers: {
                [key: string]: string;
            };
            /**
             * @description `true` if this delivery is a replay.
             * @example false
             */
            replayed: boolean;
            /** @description Times at which the event passed each stage. */
            timings: components["schemas"]["PullTimings"];
            /**
             * @description Always empty: Posthorn makes no attempts for deliveries that are pulled.
             * @example []
             */
            attempts: Record<string, never>[];
            /**
             * @description Encoding of `payload`: `json`; `text` for a received body that is not JSON; `base64` for a received body that is
             *     not text.
             * @example json
             * @enum {string}
             */
            payload_encoding: "json" | "text" | "base64";
            /**
             * @description The payload. JSON is returned character for character as it was accepted.
             * @example {
             *       "amount": 4200
             *     }
             */
            payload: (Record<string, never> | unknown[] | string | number | boolean) | null;
        };
        PullPage: {
            /** @description The events of this batch. */
            data: components["schemas"]["PullItem"][];
            /**
             * @description Pass this value as `cursor` after this batch is processed. `null` only if no event has ever been available.
             * @example WyIxLjgwMC4wMTlhOWY2NS4wIl0.c2lnbmF0dXJl
             */
            next_cursor: string | null;
        };
        AckBody: {
            /**
             * @description The `next_cursor` of the batch that was processed.
             * @example WyIxLjgwMC4wMTlhOWY2NS4wIl0.c2lnbmF0dXJl
             */
            cursor: string;
        };
        Acknowledged: {
            /**
             * @description The last committed event. It is later than the cursor's event if another consumer has committed more.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            committed_through: string;
        };
        WaitingItem: {
            /**
             * @description Number of deliveries that wait for their next attempt, for the circuit or for the rate limit.
             * @example 3
             */
            count: number;
            /**
             * @description True if the count stopped at its limit, so that there may be more.
             * @example false
             */
            is_capped: boolean;
        };
        EndpointStatsItem: {
            /**
             * Format: date-time
             * @description Start of the range: `since`, rounded down to the full minute, hour or day.
             * @example 2026-11-20T00:00:00.000Z
             */
            since: string;
            /**
             * Format: date-time
             * @description End of the range: `until`, rounded up to the full minute, hour or day.
             * @example 2026-11-21T00:00:00.000Z
             */
            until: string;
            /**
             * @description Number of events sent to the endpoint. Replays are not counted again.
             * @example 1204
             */
            received: number;
            /**
             * @description Number of deliveries that succeeded.
             * @example 1197
             */
            delivered: number;
            /**
             * @description Number of deliveries that failed permanently because a retry could not help.
             * @example 1
             */
            failed: number;
            /**
             * @description Number of deliveries that ended in the dead-letter queue.
             * @example 2
             */
            dlq: number;
            /**
             * @description Number of attempts that failed and were retried, or will be retried.
             * @example 17
             */
            retried: number;
            /**
             * @description Total number of attempts.
             * @example 1217
             */
            attempts: number;
            /**
             * @description `delivered` as a fraction of all deliveries that ended, from 0 to 1; `null` if none ended.
             * @example 0.9975
             */
            success_rate: number | null;
            /** @description Deliveries that are waiting now. */
            waiting: components["schemas"]["WaitingItem"];
            /**
             * Format: date-time
             * @description Time of the next retry among the waiting deliveries; `null` if no delivery waits for a retry. A time in the past
             *     means that the retry waits for the circuit.
             * @example 2026-11-21T09:35:00.000Z
             */
            next_attempt_at: string | null;
            /**
             * @description Whether the endpoint accepts deliveries now.
             * @example active
             * @enum {string}
             */
            status: "active" | "disabled";
            /** @description Circuit breaker of the endpoint; `null` if the endpoint uses a destination. */
            circuit: components["schemas"]["EndpointCircuitItem"] | null;
        };
        FailingApplicationItem: {
            /**
             * @description Id of the application.
             * @example app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            application: string;
            /**
             * @description Your own id of the application.
             * @example customer-42
             */
            uid: string | null;
            /**
             * @description Human-readable name.
             * @example Acme Inc.
             */
            name: string;
            /**
             * @description Fraction of attempts and final results in the range that failed: `(retried + failed + dlq) / (delivered + retried +
             *     failed + dlq)`.
             * @example 0.75
             */
            failure_rate: number;
            /**
             * @description Number of successful deliveries.
             * @example 10
             */
            delivered: number;
            /**
             * @description Number of failed attempts that are followed by another attempt.
             * @example 24
             */
            retried: number;
            /**
             * @description Number of deliveries that failed permanently because a retry could not help.
             * @example 1
             */
            failed: number;
            /**
             * @description Number of deliveries that used up their retries.
             * @example 5
             */
            dlq: number;
            /**
             * Format: date-time
             * @description Minute of the oldest failure in the range.
             * @example 2026-11-21T09:30:00.000Z
             */
            oldest_failure_at: string | null;
            /**
             * @description Number of endpoints with failures.
             * @example 1
             */
            failing_endpoints: number;
            /**
             * @description Ids of the endpoints with failures, worst first, at most ten.
             * @example [
             *       "ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1"
             *     ]
             */
            endpoints: string[];
        };
        FailingApplicationList: {
            /** @description Applications ordered by number of failures, highest first. */
            data: components["schemas"]["FailingApplicationItem"][];
        };
        LatencyItem: {
            /**
             * @description Median: half of the attempts took at most this number of milliseconds.
             * @example 42
             */
            p50: number;
            /**
             * @description 95 % of the attempts took at most this number of milliseconds.
             * @example 118
             */
            p95: number;
            /**
             * @description 99 % of the attempts took at most this number of milliseconds.
             * @example 240
             */
            p99: number;
        };
        TotalItem: {
            /**
             * @description Number of events sent to the destination, or received by the endpoint. For the environment, number of all accepted
             *     events. Replays are not counted again.
             * @example 1204
             */
            received: number;
            /**
             * @description Number of deliveries that succeeded.
             * @example 1197
             */
            delivered: number;
            /**
             * @description Number of deliveries that failed permanently because a retry could not help.
             * @example 1
             */
            failed: number;
            /**
             * @description Number of attempts that failed and were retried, or will be retried.
             * @example 17
             */
            retried: number;
            /**
             * @description Number of deliveries that ended in the dead-letter queue.
             * @example 2
             */
            dlq: number;
            /**
             * @description Number of attempts that started in this window.
             * @example 1217
             */
            attempts: number;
            /**
             * @description `delivered` as a fraction of all deliveries that ended, from 0 to 1; `null` if none ended.
             * @example 0.9975
             */
            success_rate: number | null;
            /**
             * @description Durations of the attempts, including failed ones, accurate to one sixteenth of the value; `null` if there were no
             *     attempts.
             */
            latency_ms: components["schemas"]["LatencyItem"] | null;
        };
        OpenItem: {
            /**
             * @description Number of deliveries.
             * @example 12
             */
            count: number;
            /**
             * @description True if counting stopped at 10,000, so that there may be more.
             * @example false
             */
            is_capped: boolean;
            /**
             * Format: date-time
             * @description Due time of the environment's oldest due delivery that no worker has started. It is `null` if there is none, and
             *     always `null` for an application.
             * @example null
             */
            oldest_due_at: string | null;
        };
        RollupItem: {
            /**
             * Format: date-time
             * @description Start of the window.
             * @example 2026-11-20T09:00:00.000Z
             */
            start: string;
            /**
             * @description Length of the window.
             * @example 1h
             * @enum {string}
             */
            window: "1m" | "1h" | "1d";
            /**
             * @description Number of events sent to the destination, or received by the endpoint. For the environment, number of all accepted
             *     events. Replays are not counted again.
             * @example 1204
             */
            received: number;
            /**
             * @description Number of deliveries that succeeded.
             * @example 1197
             */
            delivered: number;
            /**
             * @description Number of deliveries that failed permanently because a retry could not help.
             * @example 1
             */
            failed: number;
            /**
             * @description Number of attempts that failed and were retried, or will be retried.
             * @example 17
             */
            retried: number;
            /**
             * @description Number of deliveries that ended in the dead-letter queue.
             * @example 2
             */
            dlq: number;
            /**
             * @description Number of attempts that started in this window.
             * @example 1217
             */
            attempts: number;
            /**
             * @description `delivered` as a fraction of all deliveries that ended, from 0 to 1; `null` if none ended.
             * @example 0.9975
             */
            success_rate: number | null;
            /**
             * @description Durations of the attempts, including failed ones, accurate to one sixteenth of the value; `null` if there were no
             *     attempts.
             */
            latency_ms: components["schemas"]["LatencyItem"] | null;
        };
        OverviewItem: {
            /**
             * Format: date-time
             * @description Start of the first window.
             * @example 2026-11-20T10:00:00.000Z
             */
            since: string;
            /**
             * Format: date-time
             * @description End of the range: the current time. The data is about two seconds old.
             * @example 2026-11-21T09:30:00.000Z
             */
            until: string;
            /**
             * @description Length of each window.
             * @example 1h
             * @enum {string}
             */
            window: "1m" | "1h" | "1d";
            /** @description Totals of the range. */
            total: components["schemas"]["TotalItem"];
            /**
             * @description Deliveries that are waiting now. For an environment, these are all deliveries that have not ended. For an
             *     application, these are the deliveries that wait for their next attempt, for the circuit or for the rate limit.
             */
            waiting: components["schemas"]["OpenItem"];
            /** @description Windows of the range, oldest first. */
            data: components["schemas"]["RollupItem"][];
        };
        FailingTargetItem: {
            /**
             * @description Id of the destination (`dst_…`), or of the application endpoint (`ep_…`) that has its own URL.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            target: string;
            /**
             * @description Human-readable name.
             * @example Orders
             */
            name: string;
            /**
             * @description Id of the application that the endpoint belongs to; `null` for a destination.
             * @example null
             */
            application: string | null;
            /**
             * @description Number of deliveries that failed permanently because a retry could not help.
             * @example 1
             */
            failed: number;
            /**
             * @description Number of deliveries that used up their retries.
             * @example 5
             */
            dlq: number;
            /**
             * @description Number of failed attempts that are followed by another attempt.
             * @example 24
             */
            retried: number;
            /**
             * @description Number of successful deliveries.
             * @example 10
             */
            delivered: number;
            /**
             * @description Fraction of attempts and final results that failed: `(retried + failed + dlq) / (delivered + retried + failed +
             *     dlq)`.
             * @example 0.75
             */
            failure_rate: number;
        };
        FailingTargetList: {
            /** @description Targets ordered by number of unsuccessful deliveries, then by number of attempts, highest first. */
            data: components["schemas"]["FailingTargetItem"][];
        };
        RollupList: {
            /**
             * @description Windows, oldest first. Windows without activity contain zeros, or are omitted if `sparse` is set. Windows past
             *     their retention are omitted.
             */
            data: components["schemas"]["RollupItem"][];
        };
        ConcernItem: {
            /**
             * @description Type of the problem.
             * @example circuit.open
             * @enum {string}
             */
            type: "deliveries.overdue" | "circuit.open" | "target.disabled" | "dead_letters.growing" | "verification.failing" | "domain.records_lost" | "job.failed";
            /**
             * @description Id of the affected destination (`dst_`), endpoint (`ep_`), domain (`dom_`) or job (`rpj_`); `null` if the problem
             *     affects the whole environment.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            subject: string | null;
            /**
             * @description Human-readable name of the subject, or the kind of the job if the subject is a job.
             * @example Orders
             */
            name: string | null;
            /**
             * Format: date-time
             * @description Start of the problem, or the earliest time that the check examines if the problem is older.
             * @example 2026-11-21T09:30:00.000Z
             */
            since: string;
            /**
             * @description Number of occurrences, if the type counts them: consecutive failures, dead letters or requests within one day, or
             *     deliveries. Otherwise 1.
             * @example 12
             */
            count: number;
            /**
             * @description Explanation in one sentence.
             * @example Its circuit is open after 12 failures in a row: deliveries wait until a probe succeeds.
             */
            sentence: string;
            /**
             * @description Path of an API operation with more details.
             * @example /v1/destinations/dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            url: string;
        };
        AttentionItem: {
            /** @description Problems grouped by type, most serious type first, with at most 25 per type. Empty if there are no problems. */
            data: components["schemas"]["ConcernItem"][];
            /**
             * @description Types with more problems than the response shows.
             * @example []
             */
            truncated: ("deliveries.overdue" | "circuit.open" | "target.disabled" | "dead_letters.growing" | "verification.failing" | "domain.records_lost" | "job.failed")[];
        };
        RecoverBody: {
            /**
             * Format: date-time
             * @description Selects only events accepted at or after this time (RFC 3339).
             * @example 2026-11-20T00:00:00.000Z
             */
            since: string;
            /**
             * Format: date-time
             * @description Selects only events accepted at or before this time (RFC 3339). Defaults to the current time.
             * @example 2026-11-21T00:00:00.000Z
             */
            until?: string;
            /**
             * @description Selects only deliveries that ended in this state. If omitted, both states are included.
             * @example dlq
             * @enum {string}
             */
            status?: "failed" | "dlq";
            /**
             * @description If `true`, cancelled deliveries are sent again as well.
             * @default false
             * @example false
             */
            include_cancelled: boolean;
        };
        EventFilterQuery: {
            /**
             * @description Selects only events in one of these states. Repeat the parameter, or separate the states with commas.
             * @example [
             *       "dlq",
             *       "failed"
             *     ]
             */
            status?: ("delivered" | "failed" | "retrying" | "dlq" | "quarantined" | "parked" | "ignored")[];
            /**
             * @description Selects only events of this endpoint or destination: received by the inbound endpoint (id or path), sent to the
             *     application's endpoint, or sent to the destination.
             * @example ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            endpoint?: string;
            /**
             * @description Selects only events sent to this destination (id or ad-hoc URL), either directly, by a route, or by a send to an
             *     application. If `status` is also given, the delivery to this destination must have that status.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            destination?: string;
            /**
             * @description Selects only events that were sent to this application, given by its `app_` id or your own uid.
             * @example customer-42
             */
            application?: string;
            /**
             * @description Selects only events of exactly this type.
             * @example invoice.paid
             */
            event_type?: string;
            /**
             * @description Selects only events of this message.
             * @example msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            message_id?: string;
            /**
             * @description Selects only sent events (`outbound`, including emails), or only received ones (`inbound`, including received
             *     mail).
             * @example outbound
             * @enum {string}
             */
            direction?: "outbound" | "inbound";
            /**
             * @description Selects only undelivered events whose last attempt ended with this error or status class. For an event with several
             *     deliveries, this filter uses the delivery that determines the event's status.
             * @example timeout
             * @enum {string}
             */
            error?: "timeout" | "dns" | "connection" | "tls" | "blocked" | "protocol" | "refused" | "adapter" | "3xx" | "4xx" | "5xx";
            /**
             * @description Selects only events with exactly this id. It can be the id of the event, of its message, of its received request
             *     (`req_`), of one of its deliveries (`evt_….0`), or the `webhook-id` of a delivery.
             * @example msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            q?: string;
            /**
             * Format: date-time
             * @description Selects only events received at or after this time (RFC 3339).
             * @example 2026-11-20T00:00:00.000Z
             */
            since?: string;
            /**
             * Format: date-time
             * @description Selects only events received at or before this time (RFC 3339).
             * @example 2026-11-21T00:00:00.000Z
             */
            until?: string;
        };
        ErasedItem: {
            /**
             * @description Number of endpoints of the application.
             * @example 2
             */
            endpoints: number;
            /**
             * @description Number of messages whose payload, header values and channels were erased.
             * @example 1204
             */
            messages: number;
            /**
             * @description Number of waiting deliveries that were ended.
             * @example 3
             */
            deliveries: number;
            /**
             * @description Number of attempts whose excerpt of the receiver's response was erased.
             * @example 2410
             */
            attempts: number;
        };
        ReplayJobItem: {
            /**
             * @description Id of the job.
             * @example rpj_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description `range` for the events that an endpoint received in a time range, `recover` for failed deliveries to an endpoint, a
             *     destination or an application, `application` for everything that was sent to an application, `requests` for
             *     requests that an endpoint quarantined or parked, `erase` for the erasure of an application, `events` for events
             *     that a filter selects.
             * @example range
             * @enum {string}
             */
            kind: "range" | "recover" | "application" | "requests" | "erase" | "events";
            /**
             * @description Subject of the job: an endpoint, a destination (`dst_`) or an application (`app_`). `null` for a job of kind
             *     `events`.
             * @example ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            endpoint: string | null;
            /**
             * @description Action of a job of kind `events`. `null` for any other job.
             * @example null
             * @enum {string|null}
             */
            action: "replay" | "recover" | "cancel" | null;
            /**
             * @description Filters of a job of kind `events`, as given in the request. `null` for any other job.
             * @example null
             */
            filter: components["schemas"]["EventFilterQuery"] | null;
            /**
             * @description Maximum number of events that a job of kind `events` processes, newest first. If the job ended with `scanned` equal
             *     to this number, older events may remain.
             * @example null
             */
            limit: number | null;
            /**
             * @description `pending` until a worker starts the job, then `running`, finally `completed`, `stopped` or `failed`.
             * @example running
             * @enum {string}
             */
            state: "pending" | "running" | "completed" | "stopped" | "failed";
            /**
             * Format: date-time
             * @description Start of the time range, as requested.
             * @example 2026-11-14T00:00:00.000Z
             */
            since: string | null;
            /**
             * Format: date-time
             * @description End of the time range, as requested.
             * @example null
             */
            until: string | null;
            /**
             * @description State by which the events are filtered.
             * @example null
             */
            status: string | null;
            /**
             * @description Destinations given in the request. Empty means all destinations of the routes.
             * @example []
             */
            destinations: string[];
            /**
             * @description Id of the replay request.
             * @example rpl_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            replay_id: string;
            /**
             * @description `true` after a stop was requested. The job stops after the batch of events that it is processing.
             * @example false
             */
            stop_requested: boolean;
            /**
             * @description Number of items in the time range when the job was requested. These are events in any state for a range replay,
             *     requests for a release, and messages for an erasure. Counted up to 100,000. For a job of kind `events`, counted up
             *     to 10,000.
             * @example 120
             */
            total_estimate: number;
            /**
             * @description `true` if there may be more than `total_estimate` items.
             * @example false
             */
            total_is_capped: boolean;
            /**
             * @description Number of events examined so far.
             * @example 120
             */
            scanned: number;
            /**
             * @description Number of events sent again so far, or of requests released so far.
             * @example 115
             */
            replayed: number;
            /**
             * @description Number of deliveries created so far.
             * @example 230
             */
            enqueued: number;
            /**
             * @description Number of events that were skipped because they match no route. A recovery also counts cancelled deliveries. A
             *     replay of an application also counts events for endpoints that accept no deliveries. A release also counts requests
             *     that were quarantined or parked again. A job of kind `events` also counts events without targets, cancelled events,
             *     and events for targets that accept no deliveries.
             * @example 3
             */
            skipped: number;
            /**
             * @description Number of events that cannot be replayed: quarantined, parked, dropped by the transform, or with an erased payload.
             * @example 2
             */
            excluded: number;
            /**
             * @description Numbers of items that an erasure has removed so far. `null` for any other job.
             * @example null
             */
            erased: components["schemas"]["ErasedItem"] | null;
            /**
             * @description For a cancellation of kind `events`: number of deliveries that it has ended so far, or that end with the attempt in
             *     flight. `null` for any other job.
             * @example null
             */
            cancelled: number | null;
            /**
             * Format: date-time
             * @description For a job of kind `events`, which runs from the newest event backwards: all events received since this time were
             *     examined. `null` before the first event is examined, and for any other job.
             * @example null
             */
            searched_to: string | null;
            /**
             * @description Value of `scanned` when the job resumed after an interruption. `null` if it was not interrupted.
             * @example null
             */
            resumed_from: number | null;
            /**
             * @description Ids of the destinations to which events were sent so far.
             * @example [
             *       "dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1"
             *     ]
             */
            destinations_used: string[];
            /**
             * @description Reason why the job failed.
             * @example null
             */
            error: string | null;
            /**
             * Format: date-time
             * @description Time at which the job was requested.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Time at which a worker started the job.
             * @example 2026-11-21T09:30:00.010Z
             */
            started_at: string | null;
            /**
             * Format: date-time
             * @description Time at which the job ended.
             * @example null
             */
            finished_at: string | null;
        };
        ApplicationReplayBody: {
            /**
             * Format: date-time
             * @description Selects only events accepted at or after this time (RFC 3339).
             * @example 2026-11-20T00:00:00.000Z
             */
            since: string;
            /**
             * Format: date-time
             * @description Selects only events accepted at or before this time (RFC 3339). Defaults to the current time.
             * @example 2026-11-21T00:00:00.000Z
             */
            until?: string;
        };
        EraseApplicationBody: {
            /**
             * @description If `true`, only counts the items and erases nothing.
             * @default false
             * @example true
             */
            dry_run: boolean;
        };
        EraseDryRunResult: {
            /**
             * @description Number of endpoints of the application.
             * @example 2
             */
            endpoints: number;
            /**
             * @description Number of messages whose payload, header values and channels were erased.
             * @example 1204
             */
            messages: number;
            /**
             * @description Number of waiting deliveries that were ended.
             * @example 3
             */
            deliveries: number;
            /**
             * @description Number of attempts whose excerpt of the receiver's response was erased.
             * @example 2410
             */
            attempts: number;
            /**
             * @description Always `true` in this response.
             * @example true
             */
            dry_run: boolean;
            /**
             * @description `true` if there may be more messages and attempts. The count examines the newest 20,000 messages and events, or
             *     slightly more.
             * @example false
             */
            is_capped: boolean;
        };
        CancelBody: {
            /**
             * @description Selects only events of exactly this type.
             * @example invoice.paid
             */
            event_type?: string;
            /**
             * Format: date-time
             * @description Selects only events accepted at or before this time (RFC 3339).
             * @example 2026-11-21T00:00:00.000Z
             */
            until?: string;
        };
        EventReplayBody: {
            /**
             * @description Sends the event only to these of its original destinations. Other destinations are rejected with 422. To send to
             *     destinations that were added later, use `POST /v1/endpoints/{id}/replay`.
             * @example [
             *       "dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1"
             *     ]
             */
            destinations?: string[];
        };
        ReplayAccepted: {
            /**
             * @description Id of this replay request.
             * @example rpl_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            replay_id: string;
            /**
             * @description Id of the event that is sent again.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            event_id: string;
        };
        RedriveBody: {
            /**
             * @description Selects only dead letters of this destination, or of events that this inbound endpoint (its id or path) received.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            endpoint?: string;
            /**
             * Format: date-time
             * @description Selects only events received at or after this time (RFC 3339).
             * @example 2026-11-20T00:00:00.000Z
             */
            since?: string;
        };
        Redriven: {
            /**
             * @description Number of dead letters that are sent again.
             * @example 3
             */
            redriven: number;
            /**
             * @description Number of dead letters that are not sent, because their target is disabled or was deleted.
             * @example 0
             */
            skipped: number;
        };
        RangeReplayBody: {
            /**
             * Format: date-time
             * @description Selects only events received at or after this time (RFC 3339). Defaults to the time of the oldest stored event.
             * @example 2026-11-14T00:00:00.000Z
             */
            since?: string;
            /**
             * Format: date-time
             * @description Selects only events received at or before this time (RFC 3339). Defaults to the current time.
             * @example 2026-11-21T00:00:00.000Z
             */
            until?: string;
            /**
             * @description Selects only events in this state.
             * @example dlq
             * @enum {string}
             */
            status?: "delivered" | "failed" | "retrying" | "dlq" | "ignored";
            /**
             * @description Sends only to these destinations of the endpoint's routes. Defaults to all destinations of the routes.
             * @example [
             *       "dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1"
             *     ]
             */
            destinations?: string[];
            /**
             * @description If `true`, only counts the events and sends nothing.
             * @default false
             * @example false
             */
            dry_run: boolean;
            /**
             * @description For a dry run with route filters: the `next_cursor` of the previous request.
             * @example WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl
             */
            cursor?: string;
        };
        DryRunResult: {
            /**
             * @description Id of this replay request.
             * @example rpl_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            replay_id: string;
            /**
             * @description Always `true` in this response.
             * @example true
             */
            dry_run: boolean;
            /**
             * @description Number of events that were examined.
             * @example 120
             */
            scanned: number;
            /**
             * @description Number of events that would be sent again.
             * @example 115
             */
            replayed: number;
            /**
             * @description Number of deliveries that would be created.
             * @example 230
             */
            enqueued: number;
            /**
             * @description Number of events that match no route.
             * @example 3
             */
            skipped: number;
            /**
             * @description Number of events that cannot be replayed: quarantined, parked, dropped by the transform, or with an erased payload.
             * @example 2
             */
            excluded: number;
            /**
             * @description Ids of the destinations that would receive the events.
             * @example [
             *       "dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1"
             *     ]
             */
            destinations: string[];
            /**
             * @description For a replay with route filters: pass this value as `cursor` to examine older events. `null` if all events were
             *     examined.
             * @example null
             */
            next_cursor: string | null;
        };
        ReleaseBody: {
            /**
             * @description `quarantined`: requests with an invalid signature. `parked`: requests that came while the endpoint was paused, or
             *     whose transform failed.
             * @example quarantined
             * @enum {string}
             */
            status: "quarantined" | "parked";
            /**
             * Format: date-time
             * @description Selects only requests received at or after this time (RFC 3339). Defaults to the time of the oldest stored request.
             * @example 2026-11-14T00:00:00.000Z
             */
            since?: string;
            /**
             * Format: date-time
             * @description Selects only requests received at or before this time (RFC 3339). Defaults to the current time.
             * @example 2026-11-21T00:00:00.000Z
             */
            until?: string;
            /**
             * @description If `true`, only counts the requests and releases nothing.
             * @default false
             * @example false
             */
            dry_run: boolean;
        };
        ReleaseDryRunResult: {
            /**
             * @description Id of this replay request.
             * @example rpl_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            replay_id: string;
            /**
             * @description Always `true` in this response.
             * @example true
             */
            dry_run: boolean;
            /**
             * @description Number of requests in the time range that are in the given state and were not released yet. Replays of a request
             *     are not counted separately.
             * @example 42
             */
            scanned: number;
            /**
             * @description Number of these requests that the endpoint would process. The outcome is not known in advance: a request may be
             *     quarantined or parked again.
             * @example 41
             */
            replayed: number;
            /**
             * @description Number of these requests that were erased and cannot be released.
             * @example 1
             */
            excluded: number;
        };
        EventJobBody: {
            /**
             * @description `replay` resends each event to all its original targets, whatever the outcome was. `recover` selects events that
             *     are `failed` or `dlq`, and resends them only to the targets at which they ended in that state. `cancel` selects
             *     events that are `retrying`, and ends their waiting deliveries as `failed` with reason `cancelled`. If the filter
             *     has a `destination`, all three actions affect only the deliveries to it.
             * @example recover
             * @enum {string}
             */
            action: "replay" | "recover" | "cancel";
            /**
             * @description The filters of `GET /v1/events`, with `status` as a list. Without filters, all events are selected.
             * @example {
             *       "application": "customer-42",
             *       "error": "timeout"
             *     }
             */
            filter: components["schemas"]["EventFilterQuery"];
            /**
             * @description Maximum number of events to process. The newest events are processed first.
             * @default 1000000
             * @example 1000
             */
            limit: number;
            /**
             * @description For a recovery: if `true`, cancelled deliveries are sent again as well.
             * @default false
             * @example false
             */
            include_cancelled: boolean;
            /**
             * @description If `true`, only counts the events and changes nothing.
             * @default false
             * @example false
             */
            dry_run: boolean;
        };
        EventJobDryRun: {
            /**
             * @description Always `true` in this response.
             * @example true
             */
            dry_run: boolean;
            /**
             * @description Action that the job would perform.
             * @example recover
             * @enum {string}
             */
            action: "replay" | "recover" | "cancel";
            /**
             * @description Number of events in the states that the action selects, counted up to 10,000 in the same way as `GET
             *     /v1/events/count`.
             * @example 400
             */
            count: number;
            /**
             * @description `true` if there may be more events. Display the number as `10,000+` or `412+`.
             * @example false
             */
            is_capped: boolean;
            /**
             * Format: date-time
             * @description Present only if the count stopped at the search limit. All events since this time were counted.
             * @example 2026-11-20T00:00:00.000Z
             */
            searched_to?: string;
            /**
             * @description Maximum number of events that the job would process.
             * @example 1000
             */
            limit: number;
        };
        ReplayJobPage: {
            /** @description The jobs of this page. */
            data: components["schemas"]["ReplayJobItem"][];
            /**
             * @description Pass this value as `cursor` to get the next page. `null` on the last page.
             * @example null
             */
            next_cursor: string | null;
        };
        SystemEventTypeItem: {
            /**
             * @description Event type; also the `type` in the payload.
             * @example circuit.opened
             * @enum {string}
             */
            type: "circuit.closed" | "circuit.opened" | "destination.disabled" | "destination.enabled" | "domain.failed" | "domain.verified" | "email.bounced" | "email.complained" | "email.failed" | "endpoint.verification_failing" | "event.dead_lettered" | "replay.completed";
            /**
             * @description Condition under which the event is sent.
             * @example A target failed several times in a row, so deliveries to it are held back until a probe succeeds.
             */
            description: string;
            /**
             * @description JSON Schema (2020-12) of `data` in the payload.
             * @example {
             *       "type": "object",
             *       "required": [
             *         "count"
             *       ],
             *       "properties": {
             *         "count": {
             *           "type": "integer"
             *         }
             *       }
             *     }
             */
            schema: {
                [key: string]: unknown;
            };
            /**
             * @description Example payload.
             * @example {
             *       "type": "circuit.opened",
             *       "timestamp": "2026-11-21T09:30:41.530Z",
             *       "data": {
             *         "count": 1
             *       }
             *     }
             */
            example: {
                [key: string]: unknown;
            };
        };
        SystemEventTypeList: {
            /** @description All system event types, ordered by name. */
            data: components["schemas"]["SystemEventTypeItem"][];
        };
        RegisteredClientItem: {
            /**
             * @description Id of the client.
             * @example k3W6pQ0bT2mXcR9sY7vZ1A
             */
            client_id: string;
            /**
             * @description Time of registration, in seconds since the epoch.
             * @example 1795334400
             */
            client_id_issued_at: number;
            /**
             * @description Name that the client gave itself. It is not verified.
             * @example An assistant
             */
            client_name: string;
            /**
             * @description Redirect URIs that the client may use.
             * @example [
             *       "http://127.0.0.1:3456/callback"
             *     ]
             */
            redirect_uris: string[];
            /**
             * @description Grant types that the client may use.
             * @example [
             *       "authorization_code"
             *     ]
             */
            grant_types: string[];
            /**
             * @description Response types that the client may use.
             * @example [
             *       "code"
             *     ]
             */
            response_types: string[];
            /**
             * @description Client authentication method. Always `none`: clients have no secret.
             * @example none
             */
            token_endpoint_auth_method: string;
            /**
             * @description Scope of the keys that the client receives, whatever scope it requests.
             * @example read
             */
            scope: string;
        };
        TokenItem: {
            /**
             * @description The API key. Returned only in this response.
             * @example ek_live_4fQaVb0mJ2sYkWcX9tLr7uNzPe5hDg3iOq8wAx1CyBv6KdR
             */
            access_token: string;
            /**
             * @description Type of the token, which determines how a request carries it.
             * @example Bearer
             */
            token_type: string;
            /**
             * @description Lifetime of the token, in seconds. There is no refresh token: the user has to approve again.
             * @example 2592000
             */
            expires_in: number;
            /**
             * @description Scope of the token.
             * @example read
             */
            scope: string;
        };
        DeviceCodesItem: {
            /**
             * @description Device code, with which the device polls `/oauth/token`.
             * @example GmRhmhcxhwAzkoEqiMEg_DnyEysNkuNhszIySk9eS0o
             */
            device_code: string;
            /**
             * @description Code that the user enters.
             * @example WDJB-MJHT
             */
            user_code: string;
            /**
             * @description URL of the page on which the user enters the code.
             * @example https://hooks.example.com/oauth/device
             */
            verification_uri: string;
            /**
             * @description URL of the same page with the code filled in, for the user to compare and confirm.
             * @example https://hooks.example.com/oauth/device?user_code=WDJB-MJHT
             */
            verification_uri_complete: string;
            /**
             * @description Lifetime of both codes, in seconds.
             * @example 600
             */
            expires_in: number;
            /**
             * @description Minimum time between two polls, in seconds.
             * @example 5
             */
            interval: number;
        };
        ProtectedResourceItem: {
            /**
             * @description Identifier of the protected resource that tokens are issued for.
             * @example https://hooks.example.com/mcp
             */
            resource: string;
            /**
             * @description Issuer identifiers of the authorization servers that issue tokens for the resource.
             * @example [
             *       "https://hooks.example.com"
             *     ]
             */
            authorization_servers: string[];
            /**
             * @description Scopes that an agent may request.
             * @example [
             *       "read"
             *     ]
             */
            scopes_supported: string[];
            /**
             * @description Methods by which a request may carry a token.
             * @example [
             *       "header"
             *     ]
             */
            bearer_methods_supported: string[];
            /**
             * @description Display name of the resource.
             * @example Posthorn
             */
            resource_name: string;
            /**
             * @description URL of the documentation.
             * @example https://hooks.example.com/docs
             */
            resource_documentation: string;
        };
        AuthorizationServerItem: {
            /**
             * @description Issuer identifier. Equals the `iss` parameter of every authorization response.
             * @example https://hooks.example.com
             */
            issuer: string;
            /**
             * @description URL of the authorization endpoint, to which a client sends the user's browser.
             * @example https://hooks.example.com/oauth/authorize
             */
            authorization_endpoint: string;
            /**
             * @description URL of the token endpoint, which exchanges codes for tokens.
             * @example https://hooks.example.com/oauth/token
             */
            token_endpoint: string;
            /**
             * @description URL of the client registration endpoint.
             * @example https://hooks.example.com/oauth/register
             */
            registration_endpoint: string;
            /**
             * @description URL at which devices request their codes.
             * @example https://hooks.example.com/oauth/device
             */
            device_authorization_endpoint: string;
            /**
             * @description URL at which clients revoke tokens.
             * @example https://hooks.example.com/oauth/revoke
             */
            revocation_endpoint: string;
            /**
             * @description Supported values of `response_type`.
             * @example [
             *       "code"
             *     ]
             */
            response_types_supported: string[];
            /**
             * @description Supported values of `response_mode`: the part of the redirect URI that carries the response.
             * @example [
             *       "query"
             *     ]
             */
            response_modes_supported: string[];
            /**
             * @description Supported values of `grant_type`.
             * @example [
             *       "authorization_code",
             *       "urn:ietf:params:oauth:grant-type:device_code"
             *     ]
             */
            grant_types_supported: string[];
            /**
             * @description Supported client authentication methods of the token endpoint. Clients are public and have no secret.
             * @example [
             *       "none"
             *     ]
             */
            token_endpoint_auth_methods_supported: string[];
            /**
             * @description Supported client authentication methods of the revocation endpoint.
             * @example [
             *       "none"
             *     ]
             */
            revocation_endpoint_auth_methods_supported: string[];
            /**
             * @description Supported PKCE methods. PKCE with SHA-256 is required.
             * @example [
             *       "S256"
             *     ]
             */
            code_challenge_methods_supported: string[];
            /**
             * @description Scopes that a client may request.
             * @example [
             *       "read"
             *     ]
             */
            scopes_supported: string[];
            /**
             * @description `true`: every authorization response contains `iss` (RFC 9207).
             * @example true
             */
            authorization_response_iss_parameter_supported: boolean;
            /**
             * @description `true`: a `client_id` may be the URL of the client's metadata document.
             * @example true
             */
            client_id_metadata_document_supported: boolean;
            /**
             * @description URL of the documentation.
             * @example https://hooks.example.com/docs
             */
            service_documentation: string;
        };
        PortalThemeBody: {
            /**
             * @description Colour scheme: light, dark, or the setting of the customer's system.
             * @example system
             * @enum {string|null}
             */
            scheme?: "light" | "dark" | "system" | null;
            /**
             * @description Accent colour for buttons and links, as `#rrggbb`. If its contrast with the background is too low to read, the page
             *     uses a lighter or darker shade.
             * @example #0a58b5
             */
            accent?: string | null;
            /**
             * @description Corner radius in pixels.
             * @example 6
             */
            radius?: number | null;
            /**
             * @description Your logo, as a `data:` URL of an image of at most 24 KB. The page loads nothing from other hosts.
             * @example data:image/png;base64,iVBORw0KGgo=
             */
            logo?: string | null;
        };
        NewPortalBody: {
            /**
             * @description Lifetime of the portal's token in seconds.
             * @default 3600
             * @example 3600
             */
            expires_in: number;
            /**
             * @description Permissions of the customer. `view` is always included, `secrets` reads and rotates signing secrets, `manage`
             *     changes endpoints, and `resend` replays deliveries. Defaults to all permissions.
             * @example [
             *       "view",
             *       "manage",
             *       "resend"
             *     ]
             */
            permissions?: ("view" | "secrets" | "manage" | "resend")[];
            /** @description Theme of the portal. */
            theme?: components["schemas"]["PortalThemeBody"];
            /**
             * @description Language of the page, also used to format times and numbers. Texts exist for `en` and `de`; for any other language
             *     the page is in English.
             * @default en
             * @example de
             */
            locale: string;
            /**
             * @description Target of the link that leads out of the portal. The URL must use https; in the test environment, http to the local
             *     machine is also allowed.
             * @example https://app.example.com/settings
             */
            return_url?: string | null;
        };
        OpenedPortalItem: {
            /**
             * @description Id of the session.
             * @example pls_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description URL of the portal page, for a link, a redirect or a frame. The token is in the fragment after `#`, which browsers
             *     do not send to servers.
             * @example https://hooks.example.com/portal/pls_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1#pt_…
             */
            url: string;
            /**
             * @description The token by itself, for renewing the session of a portal that is already open. The API shows it only once and
             *     stores only its SHA-256.
             * @example pt_2vJ8kQm1Xc0Zr5Lw9Tn3Yb7Hd4Gf6Ks8Pa2Ue1Ri0oM
             */
            token: string;
            /**
             * Format: date-time
             * @description Time at which the session expires.
             * @example 2026-11-21T10:30:00.000Z
             */
            expires_at: string;
        };
        PortalPreviewBody: {
            /**
             * @description Language of the page.
             * @default en
             * @example de
             */
            locale: string;
        };
        PortalSessionItem: {
            /**
             * @description Id of the session.
             * @example pls_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Id of the application that the portal shows.
             * @example app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            application: string;
            /**
             * @description `customer`, or `preview` for a session in which a member of your organization sees the portal as the customer does.
             * @example customer
             * @enum {string}
             */
            kind: "customer" | "preview";
            /**
             * @description Permissions of the session.
             * @example [
             *       "view",
             *       "manage",
             *       "resend"
             *     ]
             */
            permissions: ("view" | "secrets" | "manage" | "resend")[];
            /**
             * @description Id of the key or the member that opened the session. The session ends when the key is revoked or expires, or when
             *     the member is removed.
             * @example ek_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            opened_by: string;
            /**
             * Format: date-time
             * @description Time at which the session was opened.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Time at which the session expires.
             * @example 2026-11-21T10:30:00.000Z
             */
            expires_at: string;
        };
        PortalSessionPage: {
            /** @description Portal sessions on this page. */
            data: components["schemas"]["PortalSessionItem"][];
            /**
             * @description Value for `cursor` to get the next page; `null` on the last page.
             * @example null
             */
            next_cursor: string | null;
        };
        PortalApplicationItem: {
            /**
             * @description Id of the application.
             * @example app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Human-readable name of the application.
             * @example Customer 42
             */
            name: string;
        };
        PortalThemeItem: {
            /**
             * @description Colour scheme: light, dark, or the setting of the customer's system.
             * @example system
             * @enum {string}
             */
            scheme: "light" | "dark" | "system";
            /**
             * @description Accent colour of buttons and links; `null` for the portal's default.
             * @example #0a58b5
             */
            accent: string | null;
            /**
             * @description Corner radius in pixels; `null` for the portal's default.
             * @example 6
             */
            radius: number | null;
            /**
             * @description Logo as a `data:` URL; `null` if there is none.
             * @example null
             */
            logo: string | null;
        };
        OwnPortalItem: {
            /**
             * @description Id of the session.
             * @example pls_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description `customer`, or `preview` for a session in which a member of the organization sees the portal as the customer does.
             * @example customer
             * @enum {string}
             */
            kind: "customer" | "preview";
            /**
             * @description Permissions of the session.
             * @example [
             *       "view",
             *       "manage",
             *       "resend"
             *     ]
             */
            permissions: ("view" | "secrets" | "manage" | "resend")[];
            /** @description The application that the portal shows. */
            application: components["schemas"]["PortalApplicationItem"];
            /**
             * @description Name of the organization that the portal belongs to.
             * @example Acme
             */
            organization: string;
            /**
             * @description Environment that the portal belongs to.
             * @example live
             * @enum {string}
             */
            environment: "live" | "test";
            /** @description Theme of the portal. */
            theme: components["schemas"]["PortalThemeItem"];
            /**
             * @description Language of the page.
             * @example en
             */
            locale: string;
            /**
             * @description Target of the link that leads out of the portal; `null` if there is none.
             * @example https://app.example.com/settings
             */
            return_url: string | null;
            /**
             * Format: date-time
             * @description Time at which the session expires.
             * @example 2026-11-21T10:30:00.000Z
             */
            expires_at: string;
        };
        /** @description Body of every response that is not 2xx. */
        Error: {
            /** @description Description of the error. */
            error: {
                /**
                 * @description Error type, for programs.
                 * @example validation_failed
                 * @enum {string}
                 */
                type: "bad_request" | "unauthenticated" | "insufficient_scope" | "not_found" | "conflict" | "payload_too_large" | "unsupported_media_type" | "validation_failed" | "rate_limited" | "internal" | "forbidden" | "not_implemented";
                /**
                 * @description Description of the problem and of the next step, for people.
                 * @example payload: is required
                 */
                message: string;
                /**
                 * @description Id of the request in the logs.
                 * @example req_01JDZ3V5K8Q2M4N6P8R0T2W4Y6
                 */
                request_id: string;
                /**
                 * @description Additional data that depends on the error type, such as `check` and `fields` for validation_failed.
                 * @example {
                 *       "check": "schema",
                 *       "fields": [
                 *         {
                 *           "path": "payload",
                 *           "message": "is required"
                 *         }
                 *       ]
                 *     }
                 */
                details: {
                    [key: string]: unknown;
                };
            };
        };
        /** @description An OAuth error (RFC 6749, section 5.2). */
        OAuthError: {
            /**
             * @description Error code, for programs.
             * @example invalid_grant
             */
            error: string;
            /**
             * @description Description of the problem, for people.
             * @example The code is unknown, used or expired.
             */
            error_description: string;
        };
    };
    responses: {
        /** @description The request cannot be read: malformed JSON, or an invalid parameter, header or cursor. */
        BadRequest: {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "type": "bad_request",
                 *         "message": "The body is not valid JSON (at character 17).",
                 *         "request_id": "req_01JDZ3V5K8Q2M4N6P8R0T2W4Y6",
                 *         "details": {}
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The key is missing, unknown, expired or revoked. */
        Unauthenticated: {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "type": "unauthenticated",
                 *         "message": "Send a valid API key.",
                 *         "request_id": "req_01JDZ3V5K8Q2M4N6P8R0T2W4Y6",
                 *         "details": {}
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The key lacks the required scope. */
        InsufficientScope: {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "type": "insufficient_scope",
                 *         "message": "This needs a key of scope write; this one has scope read.",
                 *         "request_id": "req_01JDZ3V5K8Q2M4N6P8R0T2W4Y6",
                 *         "details": {
                 *           "required": "write",
                 *           "scope": "read"
                 *         }
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The key's environment does not have this resource. */
        NotFound: {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "type": "not_found",
                 *         "message": "No such destination.",
                 *         "request_id": "req_01JDZ3V5K8Q2M4N6P8R0T2W4Y6",
                 *         "details": {}
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The resource already exists, or the Idempotency-Key is in use or was used with another body. */
        Conflict: {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "type": "conflict",
                 *         "message": "This Idempotency-Key was used with another body. Take a new key for a new request.",
                 *         "request_id": "req_01JDZ3V5K8Q2M4N6P8R0T2W4Y6",
                 *         "details": {
                 *           "reason": "key_reused"
                 *         }
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body is too large. */
        PayloadTooLarge: {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "type": "payload_too_large",
                 *         "message": "The body is larger than 1 MB.",
                 *         "request_id": "req_01JDZ3V5K8Q2M4N6P8R0T2W4Y6",
                 *         "details": {}
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body is not JSON in UTF-8. */
        UnsupportedMediaType: {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "type": "unsupported_media_type",
                 *         "message": "Send the body as application/json in UTF-8.",
                 *         "request_id": "req_01JDZ3V5K8Q2M4N6P8R0T2W4Y6",
                 *         "details": {}
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body violates its schema, or a check failed: `details.check` is `schema`, `credentials`, `connectivity`, or `policy` for a rule of an extension. */
        ValidationFailed: {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "type": "validation_failed",
                 *         "message": "name: is required",
                 *         "request_id": "req_01JDZ3V5K8Q2M4N6P8R0T2W4Y6",
                 *         "details": {
                 *           "check": "schema",
                 *           "fields": [
                 *             {
                 *               "path": "name",
                 *               "message": "is required"
                 *             }
                 *           ]
                 *         }
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The request line and headers are larger than 16 KB. */
        HeadersTooLarge: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "type": "bad_request",
                 *         "message": "The request line and headers are larger than 16 KB.",
                 *         "request_id": "req_01JDZ3V5K8Q2M4N6P8R0T2W4Y6",
                 *         "details": {}
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Too many requests. Retry after the time in `Retry-After`. */
        RateLimited: {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "type": "rate_limited",
                 *         "message": "Too many requests. Try again in 12 s.",
                 *         "request_id": "req_01JDZ3V5K8Q2M4N6P8R0T2W4Y6",
                 *         "details": {}
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description A server error. Retry with backoff; this is safe with an Idempotency-Key. */
        InternalError: {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "type": "internal",
                 *         "message": "Something went wrong on our side. Send the request again; an Idempotency-Key makes that safe.",
                 *         "request_id": "req_01JDZ3V5K8Q2M4N6P8R0T2W4Y6",
                 *         "details": {}
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Storage is unavailable. Nothing was accepted; send the request again after `Retry-After`. */
        Unavailable: {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "type": "internal",
                 *         "message": "The service cannot reach its database. Nothing was accepted; send the request again.",
                 *         "request_id": "req_01JDZ3V5K8Q2M4N6P8R0T2W4Y6",
                 *         "details": {}
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /**
         * @description Number of requests that the quota allows: the quota of the key or of the organization, whichever is stricter.
         * @example 6000
         */
        "RateLimit-Limit": number;
        /**
         * @description Number of requests that are currently left in the quota.
         * @example 5999
         */
        "RateLimit-Remaining": number;
        /**
         * @description Whole seconds until the quota is full again.
         * @example 1
         */
        "RateLimit-Reset": number;
        /**
         * @description Whole seconds to wait before the next try.
         * @example 1
         */
        "Retry-After": number;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listDestinations: {
        parameters: {
            query?: {
                /** @description Returns only destinations of this type. */
                type?: string;
                /** @description Returns only destinations whose last check had this result. */
                validation?: "pending" | "valid" | "stale" | "invalid";
                /** @description Returns only destinations with this status. */
                status?: "active" | "disabled";
                /** @description Returns only destinations whose circuit breaker is in this state. */
                circuit?: "closed" | "open" | "half_open";
                /** @description Returns only destinations whose name begins with this text, ignoring case. */
                search?: string;
                /** @description If `true`, the response also contains the number of items that match the filters, counted up to 1,000. */
                count?: boolean;
                /**
                 * @description Cursor of the page to return: the `next_cursor` of the previous page, requested with the same filters. Returns the
                 *     first page if omitted.
                 */
                cursor?: string;
                /** @description Maximum number of items to return. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of destinations. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DestinationPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createDestination: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewDestinationBody"];
            };
        };
        responses: {
            /** @description The destination. */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DestinationDetail"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    checkTarget: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CheckBody"];
            };
        };
        responses: {
            /** @description Result of the reachability check. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckResult"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getDestination: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the destination. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The destination. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DestinationDetail"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteDestination: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the destination. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource was deleted. */
            204: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            /** @description A route or an endpoint of an application sends to the destination. `details.used_by` lists them. */
            409: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateDestination: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the destination. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DestinationChangesBody"];
            };
        };
        responses: {
            /** @description The changed destination. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DestinationDetail"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    testDestination: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the destination. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result of the first attempt. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TestSent"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            /** @description The destination is disabled. */
            422: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getDestinationSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the destination. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The current secret. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SigningSecretItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    rotateDestinationSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the destination. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DestinationSecretRotationBody"];
            };
        };
        responses: {
            /** @description The new secret. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SigningSecretItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    validateDestination: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the destination. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Results of the individual checks. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationResult"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listApplications: {
        parameters: {
            query?: {
                /** @description Returns only applications whose name or uid begins with this text. Case is ignored. */
                search?: string;
                /** @description If true, the response also has the number of applications that match the filters, up to 1,000. */
                count?: boolean;
                /** @description Start of the page: the `next_cursor` of the previous page. */
                cursor?: string;
                /** @description Maximum number of items to return. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of applications. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApplicationPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createApplication: {
        parameters: {
            query?: {
                /** @description If the uid already exists, return its application with 200 instead of 409. */
                get_if_exists?: boolean;
            };
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["NewApplicationBody"];
            };
        };
        responses: {
            /** @description An application with this uid already exists and is returned (`get_if_exists`). */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApplicationDetail"];
                };
            };
            /** @description The application. */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApplicationDetail"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getApplication: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The application: its `app_` id or your own uid. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The application. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApplicationDetail"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteApplication: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The application: its `app_` id or your own uid. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource was deleted. */
            204: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateApplication: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The application: its `app_` id or your own uid. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ApplicationChangesBody"];
            };
        };
        responses: {
            /** @description The changed application. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApplicationDetail"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listApplicationEndpoints: {
        parameters: {
            query?: {
                /** @description Returns only endpoints with this status. */
                status?: "active" | "disabled";
                /** @description Returns only endpoints that subscribe to this event type. */
                event_type?: string;
                /** @description Start of the page: the `next_cursor` of the previous page, with the same filters. */
                cursor?: string;
                /** @description Maximum number of items to return. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description The application: its `app_` id or your own uid. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of endpoints. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApplicationEndpointPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createApplicationEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The application: its `app_` id or your own uid. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["NewApplicationEndpointBody"];
            };
        };
        responses: {
            /** @description The endpoint, including its signing secret. */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApplicationEndpointCreated"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    checkApplicationEndpointUrl: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The application: its `app_` id or your own uid. */
                app: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EndpointUrlBody"];
            };
        };
        responses: {
            /** @description Whether the URL can be reached. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndpointUrlItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getApplicationEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The application: its `app_` id or your own uid. */
                app: string;
                /** @description The endpoint: its `ep_` id or your own uid. */
                endpoint: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The endpoint. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApplicationEndpointDetail"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteApplicationEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The application: its `app_` id or your own uid. */
                app: string;
                /** @description The endpoint: its `ep_` id or your own uid. */
                endpoint: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource was deleted. */
            204: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateApplicationEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The application: its `app_` id or your own uid. */
                app: string;
                /** @description The endpoint: its `ep_` id or your own uid. */
                endpoint: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ApplicationEndpointChangesBody"];
            };
        };
        responses: {
            /** @description The changed endpoint. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApplicationEndpointDetail"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    testApplicationEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The application: its `app_` id or your own uid. */
                app: string;
                /** @description The endpoint: its `ep_` id or your own uid. */
                endpoint: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ApplicationEndpointTestBody"];
            };
        };
        responses: {
            /** @description The result of the first attempt. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TestSent"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listAttempts: {
        parameters: {
            query?: {
                /** @description Returns only attempts with a 2xx response (`delivered`), or only all other attempts (`failed`). */
                status?: "delivered" | "failed";
                /** @description Returns only attempts of events with exactly this type. */
                event_type?: string;
                /** @description Returns only attempts of events accepted at or after this time (RFC 3339). */
                since?: string;
                /** @description Returns only attempts of events accepted at or before this time (RFC 3339). */
                until?: string;
                /** @description Start of the page: the `next_cursor` of the previous page, with the same filters. */
                cursor?: string;
                /** @description Maximum number of items to return. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description The application: its `app_` id or your own uid. */
                app: string;
                /** @description The endpoint: its `ep_` id or your own uid. */
                endpoint: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of attempts. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndpointAttemptPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getApplicationEndpointSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The application: its `app_` id or your own uid. */
                app: string;
                /** @description The endpoint: its `ep_` id or your own uid. */
                endpoint: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The current secret. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SigningSecretItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            /** @description The endpoint uses a destination, and the secret of the destination signs its deliveries. */
            409: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    rotateApplicationEndpointSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The application: its `app_` id or your own uid. */
                app: string;
                /** @description The endpoint: its `ep_` id or your own uid. */
                endpoint: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ApplicationEndpointRotationBody"];
            };
        };
        responses: {
            /** @description The new secret. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SigningSecretItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getEndpointStats: {
        parameters: {
            query?: {
                /** @description Start of the range (RFC 3339). Defaults to 24 hours before `until`. */
                since?: string;
                /** @description End of the range (RFC 3339), exclusive. Defaults to now. */
                until?: string;
            };
            header?: never;
            path: {
                /** @description The application: its `app_` id or your own uid. */
                app: string;
                /** @description The endpoint: its `ep_` id or your own uid. */
                endpoint: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The statistics. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndpointStatsItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listApplicationEvents: {
        parameters: {
            query?: {
                /** @description Selects only events in one of these states. Repeat the parameter, or separate the states with commas. */
                status?: ("delivered" | "failed" | "retrying" | "dlq" | "quarantined" | "parked" | "ignored")[];
                /**
                 * @description Selects only events of this endpoint or destination: received by the inbound endpoint (id or path), sent to the
                 *     application's endpoint, or sent to the destination.
                 */
                endpoint?: string;
                /** @description Selects only events of exactly this type. */
                event_type?: string;
                /** @description Selects only events of this message. */
                message_id?: string;
                /**
                 * @description Selects only undelivered events whose last attempt ended with this error or status class. For an event with several
                 *     deliveries, this filter uses the delivery that determines the event's status.
                 */
                error?: "timeout" | "dns" | "connection" | "tls" | "blocked" | "protocol" | "refused" | "adapter" | "3xx" | "4xx" | "5xx";
                /**
                 * @description Selects only events with exactly this id. It can be the id of the event, of its message, of its received request
                 *     (`req_`), of one of its deliveries (`evt_….0`), or the `webhook-id` of a delivery.
                 */
                q?: string;
                /** @description Selects only events received at or after this time (RFC 3339). */
                since?: string;
                /** @description Selects only events received at or before this time (RFC 3339). */
                until?: string;
                /** @description The `next_cursor` of the previous page. The filters must stay the same. */
                cursor?: string;
                /** @description Maximum number of events to return. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description The application: its `app_` id or your own uid. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of events. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getApplicationEvent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The application: its `app_` id or your own uid. */
                app: string;
                /** @description Id of the event. */
                event: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The event. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventDetailItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listMessages: {
        parameters: {
            query?: {
                /** @description Returns only applications whose name or uid begins with this text. Case is ignored. */
                search?: string;
                /** @description If true, the response also has the number of applications that match the filters, up to 1,000. */
                count?: boolean;
                /** @description Start of the page: the `next_cursor` of the previous page. */
                cursor?: string;
                /** @description Maximum number of items to return. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description The application: its `app_` id or your own uid. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of messages. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MessagePage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getMessage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The application: its `app_` id or your own uid. */
                app: string;
                /** @description The `msg_` id that `POST /v1/app/{app}/event` returned. */
                message: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The message. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MessageDetail"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    sendWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SendBody"];
            };
        };
        responses: {
            /** @description The message is accepted. It will be delivered, or become a dead letter that can be replayed. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SendAccepted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    emitEvent: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The application: its `app_` id or your own uid. */
                app: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EmitBody"];
            };
        };
        responses: {
            /** @description The message is stored for every subscribed endpoint. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventAccepted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listEvents: {
        parameters: {
            query?: {
                /** @description Selects only events in one of these states. Repeat the parameter, or separate the states with commas. */
                status?: ("delivered" | "failed" | "retrying" | "dlq" | "quarantined" | "parked" | "ignored")[];
                /**
                 * @description Selects only events of this endpoint or destination: received by the inbound endpoint (id or path), sent to the
                 *     application's endpoint, or sent to the destination.
                 */
                endpoint?: string;
                /**
                 * @description Selects only events sent to this destination (id or ad-hoc URL), either directly, by a route, or by a send to an
                 *     application. If `status` is also given, the delivery to this destination must have that status.
                 */
                destination?: string;
                /** @description Selects only events that were sent to this application, given by its `app_` id or your own uid. */
                application?: string;
                /** @description Selects only events of exactly this type. */
                event_type?: string;
                /** @description Selects only events of this message. */
                message_id?: string;
                /**
                 * @description Selects only sent events (`outbound`, including emails), or only received ones (`inbound`, including received
                 *     mail).
                 */
                direction?: "outbound" | "inbound";
                /**
                 * @description Selects only undelivered events whose last attempt ended with this error or status class. For an event with several
                 *     deliveries, this filter uses the delivery that determines the event's status.
                 */
                error?: "timeout" | "dns" | "connection" | "tls" | "blocked" | "protocol" | "refused" | "adapter" | "3xx" | "4xx" | "5xx";
                /**
                 * @description Selects only events with exactly this id. It can be the id of the event, of its message, of its received request
                 *     (`req_`), of one of its deliveries (`evt_….0`), or the `webhook-id` of a delivery.
                 */
                q?: string;
                /** @description Selects only events received at or after this time (RFC 3339). */
                since?: string;
                /** @description Selects only events received at or before this time (RFC 3339). */
                until?: string;
                /** @description The `next_cursor` of the previous page. The filters must stay the same. */
                cursor?: string;
                /** @description Maximum number of events to return. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of events. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    countEvents: {
        parameters: {
            query?: {
                /** @description Selects only events in one of these states. Repeat the parameter, or separate the states with commas. */
                status?: ("delivered" | "failed" | "retrying" | "dlq" | "quarantined" | "parked" | "ignored")[];
                /**
                 * @description Selects only events of this endpoint or destination: received by the inbound endpoint (id or path), sent to the
                 *     application's endpoint, or sent to the destination.
                 */
                endpoint?: string;
                /**
                 * @description Selects only events sent to this destination (id or ad-hoc URL), either directly, by a route, or by a send to an
                 *     application. If `status` is also given, the delivery to this destination must have that status.
                 */
                destination?: string;
                /** @description Selects only events that were sent to this application, given by its `app_` id or your own uid. */
                application?: string;
                /** @description Selects only events of exactly this type. */
                event_type?: string;
                /** @description Selects only events of this message. */
                message_id?: string;
                /**
                 * @description Selects only sent events (`outbound`, including emails), or only received ones (`inbound`, including received
                 *     mail).
                 */
                direction?: "outbound" | "inbound";
                /**
                 * @description Selects only undelivered events whose last attempt ended with this error or status class. For an event with several
                 *     deliveries, this filter uses the delivery that determines the event's status.
                 */
                error?: "timeout" | "dns" | "connection" | "tls" | "blocked" | "protocol" | "refused" | "adapter" | "3xx" | "4xx" | "5xx";
                /**
                 * @description Selects only events with exactly this id. It can be the id of the event, of its message, of its received request
                 *     (`req_`), of one of its deliveries (`evt_….0`), or the `webhook-id` of a delivery.
                 */
                q?: string;
                /** @description Selects only events received at or after this time (RFC 3339). */
                since?: string;
                /** @description Selects only events received at or before this time (RFC 3339). */
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The number of events. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventCountItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    streamEvents: {
        parameters: {
            query?: {
                /** @description Selects only events that were sent to this application, given by its `app_` id or your own uid. */
                application?: string;
                /** @description Selects only events of exactly this type. */
                event_type?: string;
                /** @description Streams only changes after which the event has this status. */
                status?: "delivered" | "failed" | "retrying" | "dlq" | "quarantined" | "parked" | "ignored";
                /**
                 * @description Streams only events that this inbound endpoint (id or path) received, or that were sent to this endpoint of an
                 *     application.
                 */
                endpoint?: string;
                /**
                 * @description Streams only events that were sent to this destination (id or ad-hoc URL). For received events, only the attempts
                 *     and deliveries to this destination are sent.
                 */
                destination?: string;
                /** @description Streams only sent events (`outbound`), or only received ones (`inbound`). */
                direction?: "outbound" | "inbound";
                /**
                 * @description Environment whose events are streamed. Browser sessions name it here because `EventSource` cannot send a header.
                 *     With an API key, it can be omitted or must be the key's environment.
                 */
                environment?: "live" | "test";
                /**
                 * @description `false` ends the stream after all changes up to now have been sent. With `Last-Event-ID`, the stream contains the
                 *     changes since that id.
                 */
                follow?: boolean;
            };
            header?: {
                /** @description The `id` of the last item that the client received. */
                "last-event-id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stream of server-sent events. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example event: accepted
                     *     id: 1.8412.1795253400000.1.01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1.0.0
                     *     data: {"id":"evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1","event_type":"invoice.paid","status":"retrying",…}
                     */
                    "text/event-stream; charset=utf-8": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getEvent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `evt_` id of the event, or the `msg_` id that a send returned. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The event. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventDetailItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    cancelEvent: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The `evt_` id of the event, or the `msg_` id that a send returned. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The number of cancelled deliveries. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Cancelled"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listEventExchanges: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `evt_` id of the event, or the `msg_` id that a send returned. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The recorded requests and responses, newest first. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExchangeList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getEventPayload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `evt_` id of the event, or the `msg_` id that a send returned. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The payload. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "amount": 4200
                     *     }
                     */
                    "application/json": unknown;
                    /** @example amount=4200 */
                    "*/*": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    erasePayload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `evt_` id of the event, or the `msg_` id that a send returned. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The payload was erased now or earlier. */
            204: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    signEvent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `evt_` id of the event, or the `msg_` id that a send returned. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SignBody"];
            };
        };
        responses: {
            /** @description The signed request without its body. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedRequestItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            /** @description Deliveries to this destination are not signed requests, or the destination no longer exists. */
            409: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listEndpoints: {
        parameters: {
            query?: {
                /** @description Returns only endpoints with this status. */
                status?: "active" | "paused" | "disabled";
                /** @description Returns only endpoints with the preset of this provider. */
                preset?: string;
                /** @description Returns only endpoints whose name or slug begins with this text, ignoring case. */
                search?: string;
                /** @description If `true`, the response also contains the number of items that match the filters, counted up to 1,000. */
                count?: boolean;
                /**
                 * @description Cursor of the page to return: the `next_cursor` of the previous page, requested with the same filters. Returns the
                 *     first page if omitted.
                 */
                cursor?: string;
                /** @description Maximum number of items to return. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of endpoints. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndpointPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["NewEndpointBody"];
            };
        };
        responses: {
            /** @description The endpoint. */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndpointDetail"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listPresets: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The presets. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PresetPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The endpoint. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndpointDetail"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource was deleted. */
            204: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["EndpointChangesBody"];
            };
        };
        responses: {
            /** @description The changed endpoint. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndpointDetail"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    testEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the endpoint. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["EndpointTestBody"];
            };
        };
        responses: {
            /** @description The result of the sample event. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndpointTested"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listRequests: {
        parameters: {
            query?: {
                /** @description Returns only requests with this status. */
                status?: "routed" | "quarantined" | "parked" | "ignored" | "duplicate";
                /** @description Returns only requests with this method, in upper case. */
                method?: string;
                /** @description Returns only requests received at or after this time (RFC 3339). */
                since?: string;
                /** @description Returns only requests received at or before this time (RFC 3339). */
                until?: string;
                /** @description Cursor of the page to return: the `next_cursor` of the previous page. Returns the first page if omitted. */
                cursor?: string;
                /** @description Maximum number of items to return. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description Id of the endpoint. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of requests. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getRequest: {
        parameters: {
            query?: {
                /**
                 * @description If `true`, authentication headers are hidden even for a key of scope `write`. Use it if others will see the
                 *     response.
                 */
                hide_secrets?: boolean;
            };
            header?: never;
            path: {
                /** @description Id of the endpoint. */
                id: string;
                /** @description Id of the request (`req_`), or of its event (`evt_`). */
                requestId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestDetailItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    replayRequest: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the endpoint. */
                id: string;
                /** @description Id of the request (`req_`), or of its event (`evt_`). */
                requestId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The new event. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestReplayed"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listRoutes: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The routes. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RoutePage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    addRoute: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the endpoint. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewRouteBody"];
            };
        };
        responses: {
            /** @description The route. */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RouteItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteRoute: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint. */
                id: string;
                /** @description Id of the route. */
                routeId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource was deleted. */
            204: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateRoute: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint. */
                id: string;
                /** @description Id of the route. */
                routeId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RouteChangesBody"];
            };
        };
        responses: {
            /** @description The changed route. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RouteItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    setEndpointSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EndpointSecretBody"];
            };
        };
        responses: {
            /** @description The secret is stored. It is never returned. */
            204: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    trySettings: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TrialBody"];
            };
        };
        responses: {
            /** @description The outcome of the trial. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrialResult"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listIngestDomains: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The ingest domains. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IngestDomainList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listPullPositions: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
                /** @description Maximum number of positions to return. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of positions. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PullPositionPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    pullEvents: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of an earlier response. The pull commits all events before the cursor and continues after it. */
                cursor?: string;
                /** @description Maximum number of events to return. Fewer events are returned if their payloads exceed 4 MB in total. */
                limit?: number;
                /** @description Seconds to wait for events if none are available (long polling). */
                wait?: number;
            };
            header?: never;
            path: {
                /** @description The `dst_` id of a pull destination, or the `ep_` id of an endpoint that routes to a pull destination. An `ep_` id returns only events that this endpoint received. */
                endpoint: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One batch of events; empty if none are available. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PullPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            /** @description The destination is not of type pull, or the endpoint routes to no pull destination or to several. */
            409: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    acknowledgeEvents: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `dst_` id of a pull destination, or the `ep_` id of an endpoint that routes to a pull destination. An `ep_` id returns only events that this endpoint received. */
                endpoint: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AckBody"];
            };
        };
        responses: {
            /** @description The events before the cursor are committed. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Acknowledged"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            /** @description The destination is not of type pull, or the endpoint routes to no pull destination or to several. */
            409: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getOwnPortal: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnPortalItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            /** @description The caller uses an API key. Only a portal token has a portal. */
            404: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listPortals: {
        parameters: {
            query?: {
                /** @description Start of the page: the `next_cursor` of the previous page. */
                cursor?: string;
                /** @description Maximum number of items to return. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description The application: its `app_` id or your own uid. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of sessions. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PortalSessionPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    openPortal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The application: its `app_` id or your own uid. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["NewPortalBody"];
            };
        };
        responses: {
            /** @description The portal. Only this response contains its token. */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenedPortalItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    closePortals: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The application: its `app_` id or your own uid. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All sessions are closed. */
            204: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    previewPortal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The application: its `app_` id or your own uid. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["PortalPreviewBody"];
            };
        };
        responses: {
            /** @description The portal. Only this response contains its token. */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenedPortalItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getPortal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The application: its `app_` id or your own uid. */
                app: string;
                /** @description Id of the portal session. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PortalSessionItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    closePortal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The application: its `app_` id or your own uid. */
                app: string;
                /** @description Id of the portal session. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session is closed. */
            204: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    redriveDeadLetters: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RedriveBody"];
            };
        };
        responses: {
            /** @description The number of dead letters that are sent again. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Redriven"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listReplays: {
        parameters: {
            query?: {
                /** @description Returns only jobs of this endpoint, destination or application (`app_`). */
                endpoint?: string;
                /** @description Returns only jobs in this state. */
                state?: "pending" | "running" | "completed" | "stopped" | "failed";
                /**
                 * @description Cursor of the page to return: the `next_cursor` of the previous page, requested with the same filters. Returns the
                 *     first page if omitted.
                 */
                cursor?: string;
                /** @description Maximum number of items to return. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of jobs. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayJobPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    replayEvents: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EventJobBody"];
            };
        };
        responses: {
            /** @description The number of events that the job would examine (`dry_run: true`). */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventJobDryRun"];
                };
            };
            /** @description The job. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayJobItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    cancelEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The application: its `app_` id or your own uid. */
                app: string;
                /** @description The endpoint: its `ep_` id or your own uid. */
                endpoint: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CancelBody"];
            };
        };
        responses: {
            /** @description Number of cancelled deliveries. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Cancelled"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    recoverEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The application: its `app_` id or your own uid. */
                app: string;
                /** @description The endpoint: its `ep_` id or your own uid. */
                endpoint: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RecoverBody"];
            };
        };
        responses: {
            /** @description The job. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayJobItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    eraseApplication: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The application: its `app_` id or your own uid. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["EraseApplicationBody"];
            };
        };
        responses: {
            /** @description The numbers of items that an erasure would delete (`dry_run: true`). */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EraseDryRunResult"];
                };
            };
            /** @description The job. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayJobItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    resendMessage: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The application: its `app_` id or your own uid. */
                app: string;
                /** @description The `msg_` id that `POST /v1/app/{app}/event` returned. */
                message: string;
                /** @description The endpoint: its `ep_` id or your own uid. */
                endpoint: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The event of the message is sent to the endpoint again. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayAccepted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    recoverApplication: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The application: its `app_` id or your own uid. */
                app: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RecoverBody"];
            };
        };
        responses: {
            /** @description The job. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayJobItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    replayApplication: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The application: its `app_` id or your own uid. */
                app: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApplicationReplayBody"];
            };
        };
        responses: {
            /** @description The job. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayJobItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    cancelDestination: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the destination. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CancelBody"];
            };
        };
        responses: {
            /** @description Number of cancelled deliveries. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Cancelled"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    recoverDestination: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the destination. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RecoverBody"];
            };
        };
        responses: {
            /** @description The job. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayJobItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    replayRange: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the endpoint. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RangeReplayBody"];
            };
        };
        responses: {
            /** @description The result of a dry run (`dry_run: true`). */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DryRunResult"];
                };
            };
            /** @description The job. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayJobItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    replayRequests: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the endpoint. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReleaseBody"];
            };
        };
        responses: {
            /** @description The result of a dry run (`dry_run: true`). */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReleaseDryRunResult"];
                };
            };
            /** @description The job. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayJobItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    replayEvent: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The `evt_` id of the event, or the `msg_` id that a send returned. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["EventReplayBody"];
            };
        };
        responses: {
            /** @description The event is sent again. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayAccepted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getReplay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the replay job. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The job. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayJobItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    stopReplay: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the replay job. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The job with `stop_requested`. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayJobItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listEventTypes: {
        parameters: {
            query?: {
                /** @description Returns only event types in this group. */
                group?: string;
                /** @description If true, returns only archived event types. If false or omitted, returns only event types that are not archived. */
                archived?: boolean;
                /** @description Start of the page: the `next_cursor` of the previous page. */
                cursor?: string;
                /** @description Maximum number of items to return. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of event types. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventTypePage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createEventType: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewEventTypeBody"];
            };
        };
        responses: {
            /** @description The event type in version 1. */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventTypeDetail"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    importEventTypes: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["OpenApiImportBody"];
            };
        };
        responses: {
            /** @description Result for each event type. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenApiImported"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getEventType: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the event type, percent-encoded. */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The event type. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventTypeDetail"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteEventType: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the event type, percent-encoded. */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource was deleted. */
            204: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateEventType: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the event type, percent-encoded. */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["EventTypeChangesBody"];
            };
        };
        responses: {
            /** @description The changed event type. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventTypeDetail"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listEventTypeSubscribers: {
        parameters: {
            query?: {
                /** @description Start of the page: the `next_cursor` of the previous page. */
                cursor?: string;
                /** @description Maximum number of items to return. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description Name of the event type, percent-encoded. */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of subscribers. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubscriberPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listEventTypeVersions: {
        parameters: {
            query?: {
                /** @description Start of the page: the `next_cursor` of the previous page. */
                cursor?: string;
                /** @description Maximum number of items to return. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description Name of the event type, percent-encoded. */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of versions. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventTypeVersionPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listDomains: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the previous page. Omit it for the first page. */
                cursor?: string;
                /** @description Maximum number of domains to return. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of domains. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DomainPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createDomain: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewDomainBody"];
            };
        };
        responses: {
            /** @description The domain, with the records to publish. */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DomainDetail"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            /** @description The environment already has this domain (`details.domain`), or the domain's mail goes to another server (`details.mx`). */
            409: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getDomain: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the domain. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The domain. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DomainDetail"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteDomain: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the domain. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource was deleted. */
            204: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            /** @description The domain is in use. `details.used_by` lists the resources that use it. */
            409: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    convertDomain: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the domain. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DomainChangesBody"];
            };
        };
        responses: {
            /** @description The domain with its new kind. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DomainDetail"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            /** @description The domain's mail goes to another server (`details.mx`), or aliases receive mail on it (`details.used_by`). */
            409: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    verifyDomain: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the domain. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The domain after the check. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DomainDetail"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listEmails: {
        parameters: {
            query?: {
                /** @description Returns only emails with this status. */
                status?: "scheduled" | "sending" | "delivered" | "bounced" | "complained" | "suppressed" | "failed" | "dlq";
                /** @description Returns only emails accepted at or after this time (RFC 3339). */
                since?: string;
                /** @description Returns only emails accepted at or before this time (RFC 3339). */
                until?: string;
                /** @description Returns only emails with this tag, given as `name` or `name:value`. */
                tag?: string;
                /** @description Returns only emails to this address in `to`, `cc` or `bcc`. Case-insensitive. */
                recipient?: string;
                /** @description The `next_cursor` of the previous page. The filters must stay the same. */
                cursor?: string;
                /** @description Maximum number of emails to return. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of emails. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EmailPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    sendEmail: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EmailBody"];
            };
        };
        responses: {
            /** @description The email is accepted. It is sent now or at its scheduled time, unless every recipient is suppressed. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EmailAccepted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    sendEmails: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EmailBatchBody"] | components["schemas"]["EmailBody"][];
            };
        };
        responses: {
            /** @description The result for each email, in the order of the request. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EmailBatchAccepted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            /** @description The body is not a list of 1 to 100 emails, or the attachments exceed the limits of a request. */
            422: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getSimulator: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The addresses of the simulator. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SimulatorDetail"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getEmail: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the email. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The email. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EmailDetail"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteEmail: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the email. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The email was cancelled and deleted. */
            204: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            /** @description The email was already sent, or is being sent. */
            409: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getEmailAttachment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the email. */
                id: string;
                /** @description Position of the attachment in the email's `attachments`, starting at 0. */
                index: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The decoded file. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /** @example hello */
                    "*/*": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    cancelEmail: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the email. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The email was cancelled and deleted. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EmailCancelled"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            /** @description The email was already sent, or is being sent. */
            409: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getEmailContent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the email. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The content of the email. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EmailContent"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getRawEmail: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the email. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The raw message. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example Subject: Your order
                     *
                     *     It is on its way.
                     */
                    "message/rfc822": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    viewEmail: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the email. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The URL, its token and its expiry time. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MailViewItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    showMail: {
        parameters: {
            query: {
                /** @description The token. */
                token: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document, at most 1 MB without its images. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /** @example <p>It is on its way.</p> */
                    "text/html; charset=utf-8": string;
                };
            };
            400: components["responses"]["BadRequest"];
            /** @description The view does not exist, it has expired, or the message has been deleted. */
            404: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listSuppressions: {
        parameters: {
            query?: {
                /** @description Returns only suppressions with this origin. */
                origin?: "bounce" | "complaint" | "manual";
                /** @description Returns only the suppression of this address. */
                email?: string;
                /** @description The `next_cursor` of the previous page. The filters must stay the same. */
                cursor?: string;
                /** @description Maximum number of suppressions to return. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of suppressions. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuppressionPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createSuppression: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSuppressionBody"];
            };
        };
        responses: {
            /** @description The suppression. */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuppressionItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            /** @description The address is already on the list. */
            409: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getSuppression: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The suppression, given by its id or by the address (percent-encoded). */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The suppression. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuppressionItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteSuppression: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The suppression, given by its id or by the address (percent-encoded). */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The removal succeeded. */
            204: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    takeSesNotification: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description Type of the SNS message: a notification, or the confirmation of a subscription.
                     * @example Notification
                     */
                    Type?: string;
                    /**
                     * @description Id of the notification. A repeated notification has the same id.
                     * @example 22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324
                     */
                    MessageId?: string;
                    /**
                     * @description ARN of the topic, which must be in `SES_TOPICS`.
                     * @example arn:aws:sns:eu-west-1:123456789012:mail
                     */
                    TopicArn?: string;
                    /**
                     * @description The SES event, as JSON in a string.
                     * @example {"notificationType":"Bounce"}
                     */
                    Message?: string;
                    /**
                     * @description Time when SNS sent the notification.
                     * @example 2026-11-22T09:30:00.000Z
                     */
                    Timestamp?: string;
                    /**
                     * @description Version of the SNS signature.
                     * @example 2
                     */
                    SignatureVersion?: string;
                    /**
                     * @description URL of the certificate that verifies the signature.
                     * @example https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0000.pem
                     */
                    SigningCertURL?: string;
                    /**
                     * @description The signature of SNS, in base64.
                     * @example EXAMPLE
                     */
                    Signature?: string;
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description The notification is stored, or the subscription is confirmed. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            /** @description The notification is not signed by SNS for a topic of `SES_TOPICS`. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listReports: {
        parameters: {
            query?: {
                /** @description Returns only reports in this state. */
                state?: "waiting" | "recorded" | "unmatched" | "untrusted" | "ignored";
                /** @description The `next_cursor` of the previous page, with the same filters. Omit it for the first page. */
                cursor?: string;
                /** @description Maximum number of reports to return. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of reports. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReportPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getReport: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the report. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The report. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReportItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getRawReport: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the report. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The original report. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example Subject: Undelivered Mail Returned to Sender
                     *
                     *     …
                     */
                    "message/rfc822": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listAliases: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the previous page. Omit it for the first page. */
                cursor?: string;
                /** @description Maximum number of aliases to return. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of aliases. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AliasPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createAlias: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewAliasBody"];
            };
        };
        responses: {
            /** @description The alias, with its address. */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AliasItem"];
                };
            };
            /** @description The address is malformed or reserved. */
            400: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            /** @description The organization already has an alias with this address. */
            409: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getAlias: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the alias, or its full address (percent-encoded). */
                alias: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The alias. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AliasItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteAlias: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the alias, or its full address (percent-encoded). */
                alias: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource was deleted. */
            204: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    changeAlias: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the alias, or its full address (percent-encoded). */
                alias: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["AliasChangesBody"];
            };
        };
        responses: {
            /** @description The alias after the change. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AliasItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listReceivedMessages: {
        parameters: {
            query?: {
                /**
                 * @description Returns only messages in this state. `received` messages have not been parsed yet. `quarantined` messages are not
                 *     delivered until they are released.
                 */
                state?: "received" | "processed" | "quarantined";
                /** @description Returns only messages with this address in the From header or as the envelope sender. Case does not matter. */
                from?: string;
                /** @description Returns only messages received at or after this time (RFC 3339). */
                since?: string;
                /** @description Returns only messages received at or before this time (RFC 3339). */
                until?: string;
                /** @description The `next_cursor` of the previous page, with the same filters. Omit it for the first page. */
                cursor?: string;
                /** @description Maximum number of messages to return. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description Id of the alias, or its full address (percent-encoded). */
                alias: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of messages. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReceivedMessagePage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getReceivedMessage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the alias, or its full address (percent-encoded). */
                alias: string;
                /** @description Id of the message. */
                messageId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The message. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReceivedMessageDetail"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getReceivedAttachment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the alias, or its full address (percent-encoded). */
                alias: string;
                /** @description Id of the message. */
                messageId: string;
                /** @description Index of the attachment in the message, starting at 0. */
                index: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The decoded file. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /** @example hello */
                    "*/*": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getRawReceivedMessage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the alias, or its full address (percent-encoded). */
                alias: string;
                /** @description Id of the message. */
                messageId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The raw message. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example Subject: Order 42
                     *
                     *     Where is it?
                     */
                    "message/rfc822": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    releaseReceivedMessage: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the alias, or its full address (percent-encoded). */
                alias: string;
                /** @description Id of the message. */
                messageId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The released message. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReceivedMessageDetail"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            /** @description The message is not quarantined, or the alias has no destination. */
            409: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    viewReceivedMessage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the alias, or its full address (percent-encoded). */
                alias: string;
                /** @description Id of the message. */
                messageId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The URL, its token and its expiry time. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MailViewItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    replayAlias: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the alias, or its full address (percent-encoded). */
                alias: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["AliasReplayBody"];
            };
        };
        responses: {
            /** @description The numbers of messages that are sent again, or would be with `dry_run`. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AliasReplayItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listSecrets: {
        parameters: {
            query?: {
                /** @description Start of the page: the `next_cursor` of the previous page. */
                cursor?: string;
                /** @description Maximum number of items to return. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of secrets. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecretPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSecretBody"];
            };
        };
        responses: {
            /** @description The secret, without its value. */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecretItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the secret. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The secret, without its value. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecretDetail"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the secret. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SecretChangesBody"];
            };
        };
        responses: {
            /** @description The changed secret, without its value. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecretDetail"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the secret. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource was deleted. */
            204: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            /** @description The secret is in use. `details.used_by` lists the resources that use it. */
            409: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listRollups: {
        parameters: {
            query?: {
                /**
                 * @description Subject of the rollups: an endpoint (`ep_…`), a destination (`dst_…`) or an application (`app_…`) in the key's
                 *     environment. Defaults to the whole environment.
                 */
                key?: string;
                /**
                 * @description Length of a window. Windows begin at full minutes, hours and days in UTC. They are kept for 7, 90 and 400 days
                 *     respectively.
                 */
                window?: "1m" | "1h" | "1d";
                /**
                 * @description Start of the range (RFC 3339): the first window is the one that contains this time. Defaults to 60 minutes, 48
                 *     hours or 30 days before `until`, depending on `window`. A range has at most 1,440 windows.
                 */
                since?: string;
                /** @description End of the range (RFC 3339): only windows that begin before this time are returned. Defaults to the current window. */
                until?: string;
                /** @description Whether to omit windows without any activity. */
                sparse?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All windows of the range, oldest first. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RollupList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            /** @description The key's environment does not have this endpoint, destination or application. */
            404: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listFailingApplications: {
        parameters: {
            query?: {
                /** @description Start of the range (RFC 3339), rounded down to the full hour and at most seven days ago. Defaults to one day ago. */
                since?: string;
                /** @description Maximum number of items to return, worst first. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Applications with failures; empty if there are none. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FailingApplicationList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getOverview: {
        parameters: {
            query?: {
                /**
                 * @description Time range, as 60 windows of one minute, 24 or 168 windows of one hour, or 30 windows of one day. The last window
                 *     is the current one and still incomplete.
                 */
                range?: "1h" | "24h" | "7d" | "30d";
                /** @description Limits the overview to this application, given as its `app_` id or your uid. Defaults to the whole environment. */
                application?: string;
                /** @description Whether to omit windows without any activity. */
                sparse?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The overview. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OverviewItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            /** @description The key's environment does not have this application. */
            404: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listFailingTargets: {
        parameters: {
            query?: {
                /** @description Time range. Ranges of 7 and 30 days consist of whole UTC days. */
                range?: "1h" | "24h" | "7d" | "30d";
                /** @description Maximum number of items to return, worst first. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Targets with failures; empty if there are none. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FailingTargetList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getAttention: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Current problems; empty if there are none. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AttentionItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listSystemEvents: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The catalogue. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SystemEventTypeList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getOrganization: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The organization. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrgItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateOrganization: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["OrgChangesBody"];
            };
        };
        responses: {
            /** @description The changed organization. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrgItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getSigningSecret: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The current secret. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SigningSecret"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    rotateSigningSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SecretRotationBody"];
            };
        };
        responses: {
            /** @description The new secret. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SigningSecret"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listKeys: {
        parameters: {
            query?: {
                /** @description Cursor of the page to return: the `next_cursor` of the previous page. Returns the first page if omitted. */
                cursor?: string;
                /** @description Maximum number of items to return. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of keys. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewKeyBody"];
            };
        };
        responses: {
            /** @description The key. */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuedKeyItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The key. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key without its secret text. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    revokeKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The key. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key was revoked. */
            204: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    rotateKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The key. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["KeyRotationBody"];
            };
        };
        responses: {
            /** @description The new key. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuedKeyItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listMembers: {
        parameters: {
            query?: {
                /** @description Cursor of the page to return: the `next_cursor` of the previous page. Returns the first page if omitted. */
                cursor?: string;
                /** @description Maximum number of items to return. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of members. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    addMember: {
        parameters: {
            query?: never;
            header?: {
                /** @description Idempotency key: a UUID that you choose for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. For a day, a repeat with this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send the request again with this key. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewMemberBody"];
            };
        };
        responses: {
            /** @description The member. */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getMember: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The member. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The member. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    removeMember: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The member. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The removal succeeded. */
            204: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            /** @description The member is the last admin. */
            409: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateMember: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The member. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["MemberChangesBody"];
            };
        };
        responses: {
            /** @description The changed member. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getOwnSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnSessionItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            /** @description The request was made with an API key, which has no session. */
            404: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    signOutOfSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The user is signed out. */
            204: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            /** @description The request was made with an API key, which has no session. */
            404: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listSessions: {
        parameters: {
            query?: {
                /** @description Cursor of the page to return: the `next_cursor` of the previous page. Returns the first page if omitted. */
                cursor?: string;
                /** @description Maximum number of items to return. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of sessions. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    endSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The session. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session has ended. */
            204: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listAudit: {
        parameters: {
            query?: {
                /** @description Returns only entries of this actor: the id of a key or a member, or the subject of a token. */
                actor?: string;
                /** @description Returns only entries with this action: a method with a route template, or a word such as `sign-in.failed`. */
                action?: string;
                /** @description Returns only entries about this resource: an id, or the name of a collection. */
                resource?: string;
                /** @description Returns only entries at or after this time (RFC 3339). */
                since?: string;
                /** @description Returns only entries before this time (RFC 3339). */
                until?: string;
                /** @description Start of the page: the `next_cursor` of the previous page. */
                cursor?: string;
                /** @description Maximum number of items to return. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of entries. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    exportAudit: {
        parameters: {
            query?: {
                /** @description Returns only entries of this actor: the id of a key or a member, or the subject of a token. */
                actor?: string;
                /** @description Returns only entries with this action: a method with a route template, or a word such as `sign-in.failed`. */
                action?: string;
                /** @description Returns only entries about this resource: an id, or the name of a collection. */
                resource?: string;
                /** @description Returns only entries at or after this time (RFC 3339). */
                since?: string;
                /** @description Returns only entries before this time (RFC 3339). */
                until?: string;
                /** @description Format of the export: JSON lines, or CSV with a header row. */
                format?: "jsonl" | "csv";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entries. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                    "text/csv": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listOperatorAudit: {
        parameters: {
            query?: {
                /** @description Returns only entries of this actor: the id of a key or a member, or the subject of a token. */
                actor?: string;
                /** @description Returns only entries with this action: a method with a route template, or a word such as `sign-in.failed`. */
                action?: string;
                /** @description Returns only entries about this resource: an id, or the name of a collection. */
                resource?: string;
                /** @description Returns only entries at or after this time (RFC 3339). */
                since?: string;
                /** @description Returns only entries before this time (RFC 3339). */
                until?: string;
                /** @description Start of the page: the `next_cursor` of the previous page. */
                cursor?: string;
                /** @description Maximum number of items to return. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of entries. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listOrganizations: {
        parameters: {
            query?: {
                /** @description Cursor of the page to return: the `next_cursor` of the previous page. Returns the first page if omitted. */
                cursor?: string;
                /** @description Maximum number of items to return. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of organizations. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrgPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createOrganization: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewOrgBody"];
            };
        };
        responses: {
            /** @description The organization. */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MadeOrg"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            /** @description The slug is taken, or a second organization would require OIDC_DOMAINS. */
            409: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getOperatedOrganization: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The organization. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperatedOrg"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    removeOrganization: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The organization. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The removal succeeded. */
            204: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["NotFound"];
            /** @description It is the last organization of the installation. */
            409: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getAuthorizationServer: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The endpoints and capabilities of the authorization server. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthorizationServerItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getProtectedResource: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The authorization servers of the MCP server, and the scopes and methods of its tokens. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProtectedResourceItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getProtectedResourceByPath: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The authorization servers of the MCP server, and the scopes and methods of its tokens. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProtectedResourceItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    callAgentServer: {
        parameters: {
            query?: never;
            header?: {
                /** @description Revision of the Model Context Protocol. */
                "MCP-Protocol-Version"?: string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description A JSON-RPC message. */
        requestBody: {
            content: {
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description The response to the message. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    askForAccess: {
        parameters: {
            query: {
                /** @description Resource that the key is for (RFC 8707). */
                resource?: unknown;
                /** @description Requested scope of the key. Only `read` is granted, and other scopes are ignored. */
                scope?: unknown;
                /** @description Returned unchanged in the redirect. */
                state?: unknown;
                /** @description PKCE challenge method. It must be `S256`. */
                code_challenge_method: unknown;
                /** @description PKCE code challenge (RFC 7636). */
                code_challenge: unknown;
                /** @description One of the client's registered redirect URIs, compared character by character. For a URI on the local computer, the port may differ. */
                redirect_uri: unknown;
                /** @description Id of a registered client, or the https URL of its metadata document. */
                client_id: unknown;
                /** @description Response type. It must be `code`. */
                response_type: unknown;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page on which the user grants access. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html>… */
                    "text/html; charset=utf-8": string;
                };
            };
            /** @description Redirects to the client with an error, if the organization has approved the client before. */
            302: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Redirects to the sign-in page, which then returns to this page. */
            303: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request cannot be read: malformed JSON, or an invalid parameter, header or cursor. */
            400: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html; charset=utf-8": string;
                };
            };
            /** @description Too many requests. Retry after the time in `Retry-After`. */
            429: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html; charset=utf-8": string;
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            /** @description A server error. Retry with backoff; this is safe with an Idempotency-Key. */
            500: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html; charset=utf-8": string;
                };
            };
            /** @description Storage is unavailable. Nothing was accepted; send the request again after `Retry-After`. */
            503: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html; charset=utf-8": string;
                };
            };
        };
    };
    authorizeDevice: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The parameters, as application/x-www-form-urlencoded. */
        requestBody: {
            content: {
                "application/x-www-form-urlencoded": {
                    /**
                     * @description Id of the client.
                     * @example posthorn-cli
                     */
                    client_id: string;
                    /**
                     * @description Requested scope of the key. It is preselected for the user, who may choose another one.
                     * @example write
                     */
                    scope?: string;
                    /**
                     * @description Name of the machine on which the program runs. It is shown to the user and in the list of keys.
                     * @example ada-laptop
                     */
                    device_name?: string;
                };
            };
        };
        responses: {
            /** @description The device code and the user code. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeviceCodesItem"];
                };
            };
            /** @description The error in the format of RFC 6749. */
            400: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
            /** @description The client does not exist, or the request contains a client secret. */
            401: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
            /** @description Too many requests. Retry after the time in `Retry-After`. */
            429: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            /** @description A server error. Retry with backoff; this is safe with an Idempotency-Key. */
            500: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
            /** @description Storage is unavailable. Nothing was accepted; send the request again after `Retry-After`. */
            503: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
        };
    };
    registerClient: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The metadata of the client. Unknown fields are ignored. */
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description Redirect URIs of the client: 1 to 10.
                     * @example [
                     *       "http://127.0.0.1:3456/callback"
                     *     ]
                     */
                    redirect_uris?: string[];
                    /**
                     * @description Grant types that the client will use: `authorization_code`, `urn:ietf:params:oauth:grant-type:device_code`, or both. Defaults to `authorization_code`.
                     * @example [
                     *       "authorization_code"
                     *     ]
                     */
                    grant_types?: string[];
                    /**
                     * @description Name shown to users, who are warned that it is not verified.
                     * @example An assistant
                     */
                    client_name?: string;
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description The registered client. */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RegisteredClientItem"];
                };
            };
            /** @description The error in the format of RFC 6749. */
            400: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
            /** @description The body is not JSON in UTF-8. */
            415: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
            /** @description Too many requests. Retry after the time in `Retry-After`. */
            429: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            /** @description A server error. Retry with backoff; this is safe with an Idempotency-Key. */
            500: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
            /** @description Storage is unavailable. Nothing was accepted; send the request again after `Retry-After`. */
            503: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
        };
    };
    revokeToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The parameters, as application/x-www-form-urlencoded. */
        requestBody: {
            content: {
                "application/x-www-form-urlencoded": {
                    /**
                     * @description The key.
                     * @example ek_live_4fQaVb0mJ2sYkWcX9tLr7uNzPe5hDg3iOq8wAx1CyBv6KdR
                     */
                    token: string;
                    /**
                     * @description Ignored hint about the type of the token.
                     * @example access_token
                     */
                    token_type_hint?: string;
                    /**
                     * @description Id of the client.
                     * @example k3W6pQ0bT2mXcR9sY7vZ1A
                     */
                    client_id?: string;
                };
            };
        };
        responses: {
            /** @description The token is no longer valid. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The error in the format of RFC 6749. */
            400: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
            /** @description The client does not exist, or the request contains a client secret. */
            401: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
            /** @description Too many requests. Retry after the time in `Retry-After`. */
            429: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            /** @description A server error. Retry with backoff; this is safe with an Idempotency-Key. */
            500: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
            /** @description Storage is unavailable. Nothing was accepted; send the request again after `Retry-After`. */
            503: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
        };
    };
    exchangeToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The parameters, as application/x-www-form-urlencoded. */
        requestBody: {
            content: {
                "application/x-www-form-urlencoded": {
                    /**
                     * @description `authorization_code`, or `urn:ietf:params:oauth:grant-type:device_code`.
                     * @example authorization_code
                     */
                    grant_type: string;
                    /**
                     * @description The authorization code.
                     * @example Vb0mJ2sYkWcX9tLr7uNzPe5hDg3iOq8wAx1CyBv6KdR
                     */
                    code?: string;
                    /**
                     * @description The same value as in the authorization request.
                     * @example http://127.0.0.1:3456/callback
                     */
                    redirect_uri?: string;
                    /**
                     * @description Id of the client.
                     * @example k3W6pQ0bT2mXcR9sY7vZ1A
                     */
                    client_id: string;
                    /**
                     * @description The verifier from which code_challenge was computed (RFC 7636).
                     * @example dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk
                     */
                    code_verifier?: string;
                    /**
                     * @description Resource that the key is for (RFC 8707). Optional.
                     * @example https://hooks.example.com/mcp
                     */
                    resource?: string;
                    /**
                     * @description The device code, for the device grant. It replaces `code`.
                     * @example GmRhmhcxhwAzkoEqiMEg_DnyEysNkuNhszIySk9eS0o
                     */
                    device_code?: string;
                };
            };
        };
        responses: {
            /** @description The key. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenItem"];
                };
            };
            /** @description The error in the format of RFC 6749. */
            400: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
            /** @description The client does not exist, or the request contains a client secret. */
            401: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
            /** @description Too many requests. Retry after the time in `Retry-After`. */
            429: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
            431: components["responses"]["HeadersTooLarge"];
            /** @description A server error. Retry with backoff; this is safe with an Idempotency-Key. */
            500: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
            /** @description Storage is unavailable. Nothing was accepted; send the request again after `Retry-After`. */
            503: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
        };
    };
    isLive: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request succeeded. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HealthDto"];
                };
            };
            400: components["responses"]["BadRequest"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    isReady: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request succeeded. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HealthDto"];
                };
            };
            400: components["responses"]["BadRequest"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
}
