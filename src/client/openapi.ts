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
         * @description Newest first. Needs a key of scope `read`.
         */
        get: operations["listDestinations"];
        put?: never;
        /**
         * Create a destination
         * @description The target is probed first; when it cannot be reached, nothing is created. Needs a key of scope `write`.
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
         * @description Nothing is stored. Needs a key of scope `write`.
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
         * @description Deliveries that wait for it become failed. 409 while a route or an endpoint of an application sends to it: `details.used_by` says which. Needs a key of scope `write`.
         */
        delete: operations["deleteDestination"];
        options?: never;
        head?: never;
        /**
         * Change a destination
         * @description A change of where it is or how it connects is probed first. Needs a key of scope `write`.
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
         * @description Sends an event of type `posthorn.test` through the real path and answers with its first attempt. Needs a key of scope `write`.
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
         * @description And its public key, when it signs with one. Needs a key of scope `write`.
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
         * @description And its key pair, when it has one. Old and new sign until the grace ends. Needs a key of scope `write`.
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
         * @description Newest first. Needs a key of scope `read`.
         */
        get: operations["listApplications"];
        put?: never;
        /**
         * Create an application
         * @description Not needed before the first send: an event for an unknown uid makes the application. 409 when the uid is taken. Needs a key of scope `write`.
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
         * @description With its endpoints; deliveries that wait for their URLs become failed. Needs a key of scope `write`.
         */
        delete: operations["deleteApplication"];
        options?: never;
        head?: never;
        /**
         * Change an application
         * @description What is left out stays. 409 when the uid is taken. Needs a key of scope `write`.
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
         * @description Newest first. An application has at most 1,000. Needs a key of scope `read`.
         */
        get: operations["listApplicationEndpoints"];
        put?: never;
        /**
         * Create an endpoint of an application
         * @description It gets what is sent from now on. A URL is not probed: your customer may not be up yet. 409 for one above 1,000, or for a uid that is taken. Needs a key of scope `write`.
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
         * @description Whether it can be reached. Nothing is stored, and nothing is sent to it but the question. Needs a key of scope `write`.
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
         * @description Its secrets are never shown. Needs a key of scope `read`.
         */
        get: operations["getApplicationEndpoint"];
        put?: never;
        post?: never;
        /**
         * Delete an endpoint of an application
         * @description Deliveries that wait for its URL become failed. Needs a key of scope `write`.
         */
        delete: operations["deleteApplicationEndpoint"];
        options?: never;
        head?: never;
        /**
         * Change an endpoint of an application
         * @description What is left out stays. A URL may be replaced by another one, and a destination by another one, but not one by the other. Needs a key of scope `write`.
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
         * @description To this endpoint alone, whatever it subscribes to, through the real path; answers with the first attempt. 409 for one that is disabled. Needs a key of scope `write`.
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
         * @description Newest event first, and of each event the newest attempt first. A filtered page may be short, even empty, and have a `next_cursor` all the same. Needs a key of scope `read`.
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
         * @description And its public key, when it signs with one. 409 for one that goes to a destination. Needs a key of scope `write`.
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
         * @description And its key pair, when it has one. Old and new sign until the grace ends. Needs a key of scope `write`.
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
         * @description What happened in a span of time, about two seconds old, and what waits right now, with the time of the next retry. Needs a key of scope `read`.
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
         * @description Newest first: each message at each of its endpoints is one. As `GET /v1/events` with `application`, and as bounded. Needs a key of scope `read`.
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
         * @description With its payload, its deliveries and every attempt. 404 for an event of anybody else. Needs a key of scope `read`.
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
         * @description What was sent to it, newest first, whether or not an endpoint subscribed. Needs a key of scope `read`.
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
         * @description What was sent to the application, with its payload. What became of it: `GET /v1/events?message_id=`. Needs a key of scope `read`.
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
         * @description Accepts one payload for one target. The answer comes after the message is stored for good; delivery follows at once. Needs a key of scope `write`.
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
         * @description Accepts one payload for every endpoint of the application that subscribes to it: all of them, or none. An unknown uid makes the application. Needs a key of scope `write`.
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
         * @description Newest first; every filter may be combined with every other. A page looks through a bounded number of rows, so that it answers soon however many events there are: one that ended before it was full says so with `searched_to`, and `next_cursor` goes on behind it. Needs a key of scope `read`.
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
         * @description How many events the list with the same filters has, up to 10,000. Needs a key of scope `read`.
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
         * @description Server-sent events: `accepted`, `attempt` and `status` (a delivery was settled), each with the event as it is then; `ready` where the stream begins, `heartbeat` every 15 s, and `end` with a `reason` (`caught_up`, `key_revoked`, `session_ended`, `shutdown`). With the `id` of the last one as `Last-Event-ID` it goes on behind it, up to an hour and 5,000 changes back. Whatever is not told is said by `gap`, with a `reason` (`slow`, `too_old`, `too_many`, `storage`) and the times between which it happened (`since`, `until`). A page of ours listens with `EventSource` and the cookie of its session, and names the environment in the query. A key may have 100 streams open in each process, an organization 1,000, a process 2,000: the next one is answered 429 with `Retry-After`. Needs a key of scope `read`.
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
         * @description With its payload, its deliveries and every attempt. A fan-out is many events: its `msg_` id is 404, with `details.events` saying where they are listed. Needs a key of scope `read`.
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
         * Cancel what waits of an event
         * @description Ends its waiting deliveries as `failed` with reason `cancelled`; an attempt that is under way is not retried. With the `msg_` id of a fan-out: of all its events. Needs a key of scope `write`.
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
         * What was sent and answered
         * @description URL and headers of attempts over HTTP that failed, as they were sent, and the headers of their answers, as they came: recorded at the attempt, not made up now. Nothing is recorded of an attempt that was answered with 2xx. Also takes the `msg_` id of a send. Needs a key of scope `read`.
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
         * @description The payload by itself, whatever its size, byte for byte as it is delivered: JSON in the characters that it was sent with, or what was received, with the content type that it came with. It is a download, which no browser runs. Also takes the `msg_` id of a fan-out. 404 once it was erased. Needs a key of scope `read`.
         */
        get: operations["getEventPayload"];
        put?: never;
        post?: never;
        /**
         * Erase a payload
         * @description Removes the payload and the values of the headers for good, of a received event also the query, the headers and the body of its request. The events of a fan-out share one payload: it is erased for all of them. What waits ends as `failed` with reason `erased`; attempts stay. Needs a key of scope `write`.
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
         * @description URL and headers as an attempt would send them now, signed with the keys of now, to send the payload by hand while somebody looks for what is wrong. Nothing is sent, and no secret is shown: the signature holds for this message and five minutes. That it was asked for, and by whom, is in the audit log. Needs a key of scope `write`.
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
         * @description Newest first, without rules and code. Needs a key of scope `read`.
         */
        get: operations["listEndpoints"];
        put?: never;
        /**
         * Create an endpoint
         * @description It receives at once. Its URL is its identity: 409 when another endpoint of this installation lives there. Needs a key of scope `write`.
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
         * @description The providers that an endpoint can be made for, all of them: which secret they sign with, and what they expect. Needs a key of scope `read`.
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
         * @description Its secrets are never shown. Needs a key of scope `read`.
         */
        get: operations["getEndpoint"];
        put?: never;
        post?: never;
        /**
         * Delete an endpoint
         * @description Its URL is free at once; its events stay until their retention ends. Needs a key of scope `write`.
         */
        delete: operations["deleteEndpoint"];
        options?: never;
        head?: never;
        /**
         * Change an endpoint
         * @description What is left out stays, null clears. A `url` moves it: 409 when another endpoint of this installation lives there. Needs a key of scope `write`.
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
         * @description Signs a sample event of the preset with the endpoint's secret and receives it as if the provider had sent it. Needs a key of scope `write`.
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
         * @description What the endpoint received, newest first, refused ones too. Handshakes are not kept. Needs a key of scope `read`.
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
         * @description With its headers, query and body as they came. Headers that authenticate (`authorization`, `cookie`, a token of a preset) have their values for scope `write`; scope `read` gets `(hidden)`. Needs a key of scope `read`.
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
         * @description Runs it through the endpoint as it is set now: verification, transform and routes. It becomes a new event. Needs a key of scope `write`.
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
         * @description All of them, in the order in which they are tried. Needs a key of scope `read`.
         */
        get: operations["listRoutes"];
        put?: never;
        /**
         * Add a route to an endpoint
         * @description Behind the others. An endpoint has at most 100, one to each destination. Needs a key of scope `write`.
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
         * @description What it routed already goes on. Needs a key of scope `write`.
         */
        delete: operations["deleteRoute"];
        options?: never;
        head?: never;
        /**
         * Change a route
         * @description What is left out stays; a filter of null lets everything through. Needs a key of scope `write`.
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
         * @description Secrets before it go on verifying until the grace ends; at most five are kept. Needs a key of scope `write`.
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
         * @description Says what would become of a request that the endpoint received, with a transform, routes or rules that need not be saved. Nothing is stored, delivered or answered. Code is given the name of each secret in parentheses in place of its value, and headers that authenticate are hidden. Needs a key of scope `write`.
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
         * @description The platform's own host, and the verified webhook domains of the environment; and the domain that their records lead to. Needs a key of scope `read`.
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
         * List pull positions
         * @description How far consumers have come, newest destination first: every pull destination, pulled or not, and behind it each inbound endpoint that was pulled by its own id. Needs a key of scope `read`.
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
         * @description In the order of acceptance, at least once. Without a cursor it starts at the committed position; a `cursor` commits what came before it and goes on behind it. With a key of scope `read` nothing is committed. Needs a key of scope `read`.
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
         * @description Commits everything before the cursor without reading on. Never moves back. Needs a key of scope `write`.
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
         * @description What the page of a portal shows and lets somebody do, and until when. For that page: a key has no portal. Needs a key of scope `read`.
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
         * List the portals of an application
         * @description Sessions that are in force, newest first. Needs a key of scope `read`.
         */
        get: operations["listPortals"];
        put?: never;
        /**
         * Open a portal
         * @description Call it from your backend for a customer who is signed in with you, and hand him `url`. A frame shows it on the origins that `PATCH /v1/org` names, and on no other one. Each call opens another session; it ends with its time, with `DELETE`, and with the key or the member that opened it. Needs a key of scope `write`.
         */
        post: operations["openPortal"];
        /**
         * Close all portals of an application
         * @description At once here, and within five seconds on every node. Also when there are none. Needs a key of scope `write`.
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
         * Look at a portal as the customer sees it
         * @description For your own people: nothing can be changed there, no secret is shown, no page may frame it, and it ends after 15 minutes. That it was opened, and by whom, is in the audit log. Needs a key of scope `read`.
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
         * Get a portal of an application
         * @description Without its token. Needs a key of scope `read`.
         */
        get: operations["getPortal"];
        put?: never;
        post?: never;
        /**
         * Close a portal
         * @description At once here, and within five seconds on every node. Needs a key of scope `write`.
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
         * @description Sends every dead letter of the selection again, marked as a replay. Those for what is disabled or was deleted stay dead letters and are counted as `skipped`; 409 when there are no others. With an `Idempotency-Key` all are sent in one transaction. Needs a key of scope `write`.
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
         * @description Newest first. Needs a key of scope `read`.
         */
        get: operations["listReplays"];
        put?: never;
        /**
         * Replay, recover or cancel by filter
         * @description Does it with every event that `GET /v1/events` shows with the same filters, newest first, as a job in the background that goes on after an interruption and does nothing twice. What is accepted after the call is none of its. With `dry_run` it counts at once (200). 409 for a filter that names a destination or an endpoint that is disabled (`details.reason: "disabled"`), and while another such job about the same destination, endpoint, application or message, or with none of them about the environment, is live (`"replay_live"`, with its id as `details.replay`). Under a wider filter what is disabled is passed by and counted. Needs a key of scope `write`.
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
         * Cancel what waits for an application's endpoint
         * @description Ends what waits as `failed` with reason `cancelled`. An attempt that is under way ends as it ends, and is not retried. What is accepted from now on is delivered. Needs a key of scope `write`.
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
         * Recover an application's endpoint
         * @description Sends again, as a job in the background, every event of the time whose delivery ended `failed` or `dlq`. What was cancelled only when asked for, and nothing without a payload. Needs a key of scope `write`.
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
         * @description Does away, as a job in the background, with the application, its endpoints and their secrets, with the payload, header values and channels of every message that it was sent, with what waits, and with what its receivers answered. Ids, types, times and states stay. `erased` of the job says what is gone. For good. An application that was deleted is erased by its `app_` id. With `dry_run` it counts at once (200) and erases nothing. Needs a key of scope `write`.
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
         * @description Sends the message again to this one endpoint of the application, with the same `webhook-id` and body and with `webhook-replayed: true`, whatever became of it. 404 when it did not go to the endpoint; 409 when its payload was erased, or the endpoint is disabled or goes somewhere else now. Needs a key of scope `write`.
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
         * Recover an application
         * @description Sends again, as a job in the background, every event of the time whose delivery to an endpoint of the application ended `failed` or `dlq`. What is for an endpoint that takes no deliveries now is `skipped`. 409 for an application without endpoints. Needs a key of scope `write`.
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
         * Replay an application
         * @description Sends everything of the time again, as a job in the background, whatever became of it: each event to the endpoint that it was for, and to no other one. What is for an endpoint that takes no deliveries now is `skipped`. 409 for an application without endpoints. Needs a key of scope `write`.
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
         * Cancel what waits for a destination
         * @description Ends what waits as `failed` with reason `cancelled`. An attempt that is under way ends as it ends, and is not retried. What is accepted from now on is delivered. Needs a key of scope `write`.
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
         * Recover a destination
         * @description Sends again, as a job in the background, every event of the time whose delivery ended `failed` or `dlq`. What was cancelled only when asked for, and nothing without a payload. Needs a key of scope `write`.
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
         * Replay a time range
         * @description Sends what the endpoint received between `since` and `until` to the destinations that its routes target now, as a job in the background. With `dry_run` it counts at once (200) and sends nothing. Needs a key of scope `write`.
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
         * Release what was set aside
         * @description Runs the requests that the endpoint quarantined or parked between `since` and `until` through it as it is set now, as a job in the background: oldest first, each verified, transformed and routed, as a new event. What is released once is not released again. With `dry_run` it counts at once (200). Needs a key of scope `write`.
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
         * @description Sends the event again with the same `webhook-id` and body and with `webhook-replayed: true`, whatever became of it. Nothing goes to what is disabled or was deleted; 409 when it went nowhere else. `destinations` narrows it to some of those that it went to. Needs a key of scope `write`.
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
         * @description With how far it has come. Needs a key of scope `read`.
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
         * @description It stops between two pages; what is enqueued is still delivered. A job that has not started stops at once. Needs a key of scope `write`.
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
         * @description Newest first, without their schemas and examples. Needs a key of scope `read`.
         */
        get: operations["listEventTypes"];
        put?: never;
        /**
         * Create an event type
         * @description An environment has at most 1,000. Needs a key of scope `write`.
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
         * @description From the `webhooks` of an OpenAPI document, all of them or none. A number in it that no double holds is imported, and named in `changed_numbers`. Needs a key of scope `write`.
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
         * @description With its schema and its example. Needs a key of scope `read`.
         */
        get: operations["getEventType"];
        put?: never;
        post?: never;
        /**
         * Delete an event type
         * @description With all its versions. To keep them, archive it. Needs a key of scope `write`.
         */
        delete: operations["deleteEventType"];
        options?: never;
        head?: never;
        /**
         * Change an event type
         * @description A schema that differs is a new version, in force on every node within five seconds. Needs a key of scope `write`.
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
         * @description Endpoints of all applications that subscribe to it, by its name, by a prefix or to everything, newest first. A page looks at a bounded number of endpoints: it may be short, or empty, and not the last. Needs a key of scope `read`.
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
         * @description Every schema that it has had, newest first. Needs a key of scope `read`.
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
         * @description Newest first, with their records. Needs a key of scope `read`.
         */
        get: operations["listDomains"];
        put?: never;
        /**
         * Create a domain
         * @description Answers with the records to publish; it is looked at by itself from then on. An environment has at most 1,000 domains. Needs a key of scope `admin`.
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
         * @description With its records as they were seen last. Needs a key of scope `read`.
         */
        get: operations["getDomain"];
        put?: never;
        post?: never;
        /**
         * Delete a domain
         * @description Refused with 409 while an endpoint or an alias uses it; `details.used_by` says which. Needs a key of scope `admin`.
         */
        delete: operations["deleteDomain"];
        options?: never;
        head?: never;
        /**
         * Convert a domain
         * @description Between `email` and `email-send`. What it publishes already stays, and one that sends goes on sending. A webhook domain is 422. Needs a key of scope `admin`.
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
         * @description Asks name servers, within ten seconds, and answers with the whole domain. Asked again within five seconds, or while it is being checked, it answers with what was seen last. A failed domain gets another 72 hours. Needs a key of scope `admin`.
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
         * @description Newest first. A page of one status, a tag or a recipient looks at a bounded number of emails: it may be short and not the last. Needs a key of scope `read`.
         */
        get: operations["listEmails"];
        put?: never;
        /**
         * Send an email
         * @description Accepted once it is composed, signed and stored; every attempt sends the same bytes. The `resend` package sends here with its base URL set to this service and `/v1`. Needs a key of scope `write`.
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
         * @description Up to 100, each accepted by itself: a bad one, or one whose recipients are all suppressed, fails no other. The limits on attachments are those of the request. Needs a key of scope `write`.
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
         * Get the simulator
         * @description Addresses to try out what becomes of an email, in both environments. Needs a key of scope `read`.
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
         * @description With its recipients, attempts and timeline. Needs a key of scope `read`.
         */
        get: operations["getEmail"];
        put?: never;
        post?: never;
        /**
         * Cancel a scheduled email
         * @description Removes it with everything that was stored of it. 409 once its time has come. Needs a key of scope `write`.
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
         * @description Decoded, always as a download. What a browser would run (HTML, SVG, XML, scripts) is served as application/octet-stream. Needs a key of scope `read`.
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
         * Cancel a scheduled email (as Resend does)
         * @description The same as DELETE, for `resend.emails.cancel`. Needs a key of scope `write`.
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
         * Get what an email says
         * @description Its text, HTML, headers and files, read out of the message itself. 404 once it was erased, and before a scheduled one is composed. Needs a key of scope `read`.
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
         * Get what is sent
         * @description The message itself (RFC 5322), byte for byte as every attempt sends it. 404 once it was erased, and before a scheduled one is composed. Needs a key of scope `read`.
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
         * Get a view of an email
         * @description Where its HTML is shown: an address for a frame, good for a minute. Needs a key of scope `read`.
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
         * @description With a token instead of a key, since a frame can send no header. Images that the message brings along are a part of it, and nothing else is loaded: no script, no form, no remote image or style, no link that leads away. Only pages of this origin may frame it.
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
         * @description Newest first. They are looked at when an email is accepted, and before each attempt. Needs a key of scope `read`.
         */
        get: operations["listSuppressions"];
        put?: never;
        /**
         * Suppress an address
         * @description From now on no email goes there, also none that waits for its next attempt. Needs a key of scope `write`.
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
         * @description By its id, or by the address. Needs a key of scope `read`.
         */
        get: operations["getSuppression"];
        put?: never;
        post?: never;
        /**
         * Remove a suppression
         * @description The address is sent to again from the next email on. Needs a key of scope `write`.
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
         * Take a notification of Amazon SES
         * @description For Amazon SNS, whose signature is the authentication: subscribe a topic of `SES_TOPICS` to it, with raw message delivery switched off.
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
         * @description Newest first: those about emails of this environment, or that say so. Needs a key of scope `admin`.
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
         * @description What it is, and what became of it. Needs a key of scope `admin`.
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
         * Get a report as it came
         * @description The message itself (RFC 5322), byte for byte; of a notification its JSON. Needs a key of scope `admin`.
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
         * @description Newest first. Needs a key of scope `read`.
         */
        get: operations["listAliases"];
        put?: never;
        /**
         * Create an alias
         * @description Mail to it is taken within five seconds. An environment has at most 10,000 aliases. Needs a key of scope `write`.
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
         * @description By its id, or by its address. Needs a key of scope `read`.
         */
        get: operations["getAlias"];
        put?: never;
        post?: never;
        /**
         * Delete an alias
         * @description New mail is refused with 550, within five seconds. Messages that came stay readable as events until their retention ends. Needs a key of scope `write`.
         */
        delete: operations["deleteAlias"];
        options?: never;
        head?: never;
        /**
         * Change an alias
         * @description What is left out stays. The address is the identity: changing it is 422. Needs a key of scope `write`.
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
         * List messages
         * @description Newest first, quarantined ones too. A page with a filter looks at a bounded number of messages: it may be short and not the last. Needs a key of scope `read`.
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
         * @description What it says and what was found out about it. 404 once it was erased. Needs a key of scope `read`.
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
         * Get an attachment
         * @description Decoded, always as a download. What a browser would run (HTML, SVG, XML, scripts) is served as application/octet-stream. Needs a key of scope `read`.
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
         * Get the message itself
         * @description Byte for byte as it came (RFC 5322), so that its signatures can be verified again. Needs a key of scope `read`.
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
         * @description Sends it to the destinations of the alias as they are now. Its verdicts stay, and nothing is checked again: the caller decides that the message is good. 409 when the message is not quarantined (`details.reason: "not_quarantined"`), so that it is released once, and when no destination of the alias takes it (`"no_destination"`). Needs a key of scope `write`.
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
         * Get a view of a message
         * @description Where its HTML is shown: an address for a frame, good for a minute. 404 for a message without HTML. Needs a key of scope `read`.
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
         * Replay an alias
         * @description Sends what came in a time again, to the destinations of the alias as they are now, whatever became of it. At most 1,000 messages a call, newest first: go on with `next_cursor`. Quarantined messages are never sent again. Needs a key of scope `write`.
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
         * @description Newest first, without their values. Needs a key of scope `read`.
         */
        get: operations["listSecrets"];
        put?: never;
        /**
         * Create a secret
         * @description The value is never returned; an environment has at most 1,000 secrets. Needs a key of scope `write`.
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
         * @description Without its value, with what uses it. Needs a key of scope `read`.
         */
        get: operations["getSecret"];
        /**
         * Change a secret
         * @description A value is a new version; whatever uses the secret goes on with it within five seconds. Needs a key of scope `write`.
         */
        put: operations["updateSecret"];
        post?: never;
        /**
         * Delete a secret
         * @description Refused with 409 while something uses it; `details.used_by` says what. Needs a key of scope `write`.
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
         * @description Rollups of one endpoint, destination or application, or of the whole environment, kept up to date by a job: the answer is about two seconds old, and exact. Needs a key of scope `read`.
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
         * @description Applications with a failure since a time, those with the most first: how many, which share, since when, and at which endpoints. From rollups, about two seconds old. Needs a key of scope `read`.
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
         * @description What was accepted, delivered and failed in the last hour, day, week or month, with the latency of attempts, and how much waits now. From rollups, about two seconds old; they begin with the release that added them. Needs a key of scope `read`.
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
         * @description Destinations and endpoints of applications with the most failures in a range. From rollups, about two seconds old. Needs a key of scope `read`.
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
         * List what needs attention
         * @description Disabled destinations and endpoints, open circuits, dead letters that grow, failing verification, deliveries that nobody takes up, email domains that lost their records, and jobs that failed. One call, cheap enough for a page that asks every few seconds. Needs a key of scope `read`.
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
         * @description Every event that the service tells of itself, with its schema. Needs a key of scope `read`.
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
         * @description It signs deliveries to ad-hoc URLs. Needs a key of scope `write`.
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
         * @description Both secrets sign until the grace ends. Needs a key of scope `write`.
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
         * @description Newest first; those of the calling key's environment, revoked ones included. Needs a key of scope `admin`.
         */
        get: operations["listKeys"];
        put?: never;
        /**
         * Create an API key
         * @description The answer is the only one that shows `key`. Needs a key of scope `admin`.
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
         * @description At once here, and within five seconds on every node. Needs a key of scope `admin`.
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
         * @description Makes a new key like the old one, which goes on until the grace ends: a day, unless `grace_seconds` says otherwise. Needs a key of scope `admin`.
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
         * @description Newest first. Needs a key of scope `admin`.
         */
        get: operations["listMembers"];
        put?: never;
        /**
         * Add a member
         * @description Nothing is mailed: the person signs in at `{base_url}/signin` with a code, or through the identity provider. Needs a key of scope `admin`.
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
         * @description Ends the member's sessions within five seconds, on every node. Keys that the member made stay: revoke them one by one. Needs a key of scope `admin`.
         */
        delete: operations["removeMember"];
        options?: never;
        head?: never;
        /**
         * Change a member
         * @description A new role counts for open sessions within five seconds, on every node. Needs a key of scope `admin`.
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
         * @description Who is signed in, for which organization, with which role, and until when. For pages: a key has no session. Needs a session.
         */
        get: operations["getOwnSession"];
        put?: never;
        post?: never;
        /**
         * Sign out
         * @description Ends the session at once here, and within five seconds on every node, and takes the cookie away. Needs a session.
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
         * @description Those in force, newest first, of members and of keys of both environments. Needs a key of scope `admin`.
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
         * @description At once here, and within five seconds on every node. Needs a live admin key. Needs a key of scope `admin`.
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
         * @description Newest first: what was done in the key's environment, and for a live key what belongs to both. Needs a key of scope `admin`.
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
         * @description Oldest first, all of it, as JSON lines or as CSV in which no cell is a formula. An answer that breaks off is not whole: ask again from its last entry on. Needs a key of scope `admin`.
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
         * @description Newest first: what the operator did, and sign-ins of nobody's address. Nothing of any organization. Needs the operator's key.
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
         * @description Newest first, removed ones included. Needs the operator's key.
         */
        get: operations["listOrganizations"];
        put?: never;
        /**
         * Make an organization
         * @description With its two environments, its first admin, and an admin key for each environment, which are shown this once. Needs the operator's key.
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
         * @description Its keys, members and sessions end within five seconds on every node. What it configured is erased in the background, and cannot be brought back; what it accepted goes with its retention. Needs the operator's key.
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
         * @description RFC 8414. Also at `/.well-known/openid-configuration`, and where BASE_URL has a path at both with the path behind it.
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
         * Get the metadata of the agent server
         * @description RFC 9728. Also at `/.well-known/oauth-protected-resource/mcp`, and where BASE_URL has a path at `/.well-known/oauth-protected-resource{path}/mcp` of the host.
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
         * Get the metadata of the agent server by its path
         * @description The same, where clients look first.
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
         * Call the agent server
         * @description The Model Context Protocol over streamable HTTP, without sessions: one JSON-RPC message a request. Which tools there are depends on the scope of the key; each call counts against its quota, and so do the requests that the tool makes. 401 says in `WWW-Authenticate` where an agent signs in. Needs a key of scope `read`.
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
         * Ask a person for access
         * @description A page for the person's browser: sign-in, then the question. Unknown parameters and further scopes are ignored. The answer, also a refusal, is a redirect with `iss` and `state`. A faulty request is shown on the page; it is redirected only to a client that already has a key of the organization.
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
         * Ask for a code for a device
         * @description RFC 8628: the program shows `user_code`, and asks at `/oauth/token` until somebody has typed it. A client must have registered for this grant, or the answer is `unauthorized_client`. The page offers the person the scopes up to their own role, with the `scope` that was asked for selected. `device_name` becomes part of the name of the key. The command line is the client `posthorn-cli`.
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
         * @description RFC 7591, for public clients: no secret is issued. Ten an hour from one network (RATE_LIMIT_REGISTRATION), refused ones not counted; a client that nobody approves is deleted after a day. `redirect_uris` are https, http on the own computer, or a private scheme of OAUTH_REDIRECT_SCHEMES. A client that will use the device grant says so in `grant_types`, and needs no `redirect_uris` if it uses nothing else.
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
         * Give a key back
         * @description RFC 7009: 200 whether or not there is such a key. Only keys from grants are revoked here.
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
         * @description RFC 6749 with PKCE, and RFC 8628 for devices. The key is an ordinary API key: it is listed in `GET /v1/keys` with `source` `oauth`, and revoked there. A code counts once and for 60 s; used again, it revokes the key that came of it. There are no refresh tokens.
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
        /** Is the process alive */
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
         * May the process be sent traffic
         * @description 503 tells in `details` which part is not ready.
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
            status: "ready" | "ok";
            /**
             * @description The version of Posthorn that this process runs, in readiness answers.
             * @example 0.1.0
             */
            version?: string;
            /**
             * @description What every part says of itself, in readiness answers.
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
             * @description A key, a member, the operator of the installation, a token that an extension vouches for, the session of a customers' portal, or nobody who is known.
             * @example key
             * @enum {string}
             */
            kind: "key" | "member" | "operator" | "token" | "portal" | "unknown";
            /**
             * @description The id of the key, the member or the portal's session (`pls_…`), or the token's subject.
             * @example ek_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string | null;
            /**
             * @description The key's name, or the member's address, as it was then.
             * @example Billing service
             */
            name: string | null;
            /**
             * @description What made the key: `oauth` is an agent's.
             * @example api
             */
            source: string | null;
            /**
             * @description The session of who was signed in and sent no key.
             * @example ses_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            session: string | null;
        };
        AuditItem: {
            /**
             * @description The entry's id.
             * @example aud_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * Format: date-time
             * @description When, by the clock of the database.
             * @example 2026-11-21T09:30:00.000Z
             */
            at: string;
            /**
             * @description The method and the template of the route, or a word for what is no call.
             * @example POST /v1/keys
             */
            action: string;
            /**
             * @description What kind of thing it was done to.
             * @example keys
             */
            resource_type: string | null;
            /**
             * @description Which one.
             * @example ek_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            resource_id: string | null;
            /**
             * @description The client's address; behind a proxy the one that TRUST_PROXY lets count.
             * @example 203.0.113.7
             */
            ip: string | null;
            /**
             * @description What the client called itself, cut at 200 characters.
             * @example posthorn/0.1.0
             */
            user_agent: string | null;
            /**
             * @description The request, as its answer and the logs name it.
             * @example req_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            request_id: string | null;
            /**
             * @description What was changed, as it was before: only the fields that differ, all of them when it was removed, null when it was made. Secrets are masked.
             * @example {
             *       "name": "Old"
             *     }
             */
            before: {
                [key: string]: unknown;
            } | null;
            /**
             * @description The same as it is now; null when it was removed.
             * @example {
             *       "name": "New"
             *     }
             */
            after: {
                [key: string]: unknown;
            } | null;
            /** @description Who. */
            actor: components["schemas"]["AuditActorItem"];
        };
        AuditPage: {
            /** @description The entries of this page. */
            data: components["schemas"]["AuditItem"][];
            /**
             * @description Pass it as `cursor` for the next page; null on the last one.
             * @example null
             */
            next_cursor: string | null;
        };
        KeyItem: {
            /**
             * @description The key's id.
             * @example ek_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description What people know it by.
             * @example Billing service
             */
            name: string;
            /**
             * @description What it may do.
             * @example write
             * @enum {string}
             */
            scope: "read" | "write" | "admin";
            /**
             * @description The environment whose data it sees.
             * @example live
             * @enum {string}
             */
            environment: "live" | "test";
            /**
             * @description The first characters of its text.
             * @example ek_live_4fQa
             */
            prefix: string;
            /**
             * Format: date-time
             * @description When it was created.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was last used, to about a minute; null before the first time.
             * @example 2026-11-21T10:02:11.402Z
             */
            last_used_at: string | null;
            /**
             * Format: date-time
             * @description From when on it is refused; null when never.
             * @example null
             */
            expires_at: string | null;
            /**
             * Format: date-time
             * @description When it was revoked; null while it is not.
             * @example null
             */
            revoked_at: string | null;
            /**
             * @description What made it: a call of this API, an OAuth grant, or the first start.
             * @example api
             * @enum {string}
             */
            source: "api" | "oauth" | "bootstrap";
            /**
             * @description Of a key from an OAuth grant: the client. Null otherwise.
             * @example null
             */
            client_id: string | null;
            /**
             * @description Of a key from an OAuth grant: what the client calls itself, which nobody verified. Null otherwise.
             * @example null
             */
            client_name: string | null;
            /**
             * @description Of a key from an OAuth grant: who approved it, as a member's address or the name of a key. Null otherwise.
             * @example null
             */
            granted_by: string | null;
        };
        KeyPage: {
            /** @description The keys of this page, revoked ones included. */
            data: components["schemas"]["KeyItem"][];
            /**
             * @description Pass it as `cursor` for the next page; null on the last one.
             * @example null
             */
            next_cursor: string | null;
        };
        NewKeyBody: {
            /**
             * @description What people know it by.
             * @example Billing service
             */
            name: string;
            /**
             * @description What it may do; each scope includes the ones before it.
             * @example write
             * @enum {string}
             */
            scope: "read" | "write" | "admin";
            /**
             * @description The environment it belongs to; that of the calling key when left out. Only a live key can make a live key.
             * @example test
             * @enum {string}
             */
            environment?: "live" | "test";
            /**
             * Format: date-time
             * @description From when on it is refused (RFC 3339); never when left out.
             * @example 2027-01-01T00:00:00.000Z
             */
            expires_at?: string | null;
        };
        IssuedKeyItem: {
            /**
             * @description The key's id.
             * @example ek_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description What people know it by.
             * @example Billing service
             */
            name: string;
            /**
             * @description What it may do.
             * @example write
             * @enum {string}
             */
            scope: "read" | "write" | "admin";
            /**
             * @description The environment whose data it sees.
             * @example live
             * @enum {string}
             */
            environment: "live" | "test";
            /**
             * @description The first characters of its text.
             * @example ek_live_4fQa
             */
            prefix: string;
            /**
             * Format: date-time
             * @description When it was created.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was last used, to about a minute; null before the first time.
             * @example 2026-11-21T10:02:11.402Z
             */
            last_used_at: string | null;
            /**
             * Format: date-time
             * @description From when on it is refused; null when never.
             * @example null
             */
            expires_at: string | null;
            /**
             * Format: date-time
             * @description When it was revoked; null while it is not.
             * @example null
             */
            revoked_at: string | null;
            /**
             * @description What made it: a call of this API, an OAuth grant, or the first start.
             * @example api
             * @enum {string}
             */
            source: "api" | "oauth" | "bootstrap";
            /**
             * @description Of a key from an OAuth grant: the client. Null otherwise.
             * @example null
             */
            client_id: string | null;
            /**
             * @description Of a key from an OAuth grant: what the client calls itself, which nobody verified. Null otherwise.
             * @example null
             */
            client_name: string | null;
            /**
             * @description Of a key from an OAuth grant: who approved it, as a member's address or the name of a key. Null otherwise.
             * @example null
             */
            granted_by: string | null;
            /**
             * @description The key itself, shown in this answer only.
             * @example ek_live_4fQaVb0mJ2sYkWcX9tLr7uNzPe5hDg3iOq8wAx1CyBv6KdR
             */
            key: string;
        };
        KeyRotationBody: {
            /**
             * @description How long the old key goes on, in seconds; 0 ends it at once.
             * @default 86400
             * @example 86400
             */
            grace_seconds: number;
        };
        MemberItem: {
            /**
             * @description The member's id.
             * @example mbr_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description The address, in lower case.
             * @example ada@example.com
             */
            email: string;
            /**
             * @description What people know the person by.
             * @example Ada
             */
            name: string;
            /**
             * @description What the member may do.
             * @example write
             * @enum {string}
             */
            role: "read" | "write" | "admin";
            /**
             * Format: date-time
             * @description When the member was added.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When the member last signed in; null before the first time.
             * @example 2026-11-21T10:02:11.402Z
             */
            last_signed_in_at: string | null;
        };
        MemberPage: {
            /** @description The members of this page. */
            data: components["schemas"]["MemberItem"][];
            /**
             * @description Pass it as `cursor` for the next page; null on the last one.
             * @example null
             */
            next_cursor: string | null;
        };
        NewMemberBody: {
            /**
             * @description The address that codes are mailed to, and that the identity provider knows the person by; compared in lower case.
             * @example ada@example.com
             */
            email: string;
            /**
             * @description What people know the person by; the address when left out.
             * @example Ada
             */
            name?: string;
            /**
             * @description What the member may do, in both environments; each role includes the ones before it.
             * @example write
             * @enum {string}
             */
            role: "read" | "write" | "admin";
        };
        MemberChangesBody: {
            /**
             * @description What people know the person by.
             * @example Ada
             */
            name?: string;
            /**
             * @description What the member may do from now on; it counts for open sessions within five seconds.
             * @example admin
             * @enum {string}
             */
            role?: "read" | "write" | "admin";
        };
        OrgItem: {
            /**
             * @description The organization's id.
             * @example org_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description What people know it by.
             * @example Acme
             */
            name: string;
            /**
             * @description Its part of receive URLs and platform addresses.
             * @example acme
             */
            slug: string;
            /**
             * @description The calling key's environment.
             * @example live
             * @enum {string}
             */
            environment: "live" | "test";
            /**
             * @description How many days that environment keeps events, attempts and dead letters.
             * @example 30
             */
            retention_days: number;
            /**
             * @description Whether anybody may read that environment's event types, at `/catalog/{slug}` or `/catalog/{slug}/test`.
             * @example false
             */
            public_event_catalog: boolean;
            /**
             * @description The destination that gets the service's own events of that environment; null for none, and when it was deleted.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            system_destination: string | null;
            /**
             * @description Which origins may show that environment's customers' portal in a frame.
             * @example [
             *       "https://app.example.com"
             *     ]
             */
            portal_origins: string[];
            /**
             * Format: date-time
             * @description When it was created.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
        };
        OrgChangesBody: {
            /**
             * @description What people know it by.
             * @example Acme
             */
            name?: string;
            /**
             * @description Its part of receive URLs and platform addresses: unique on this installation.
             * @example acme
             */
            slug?: string;
            /**
             * @description How many days the calling key's environment keeps what it accepts from now on; from 60 days on it may keep it longer by a thirtieth.
             * @example 30
             */
            retention_days?: number;
            /**
             * @description Whether anybody may read that environment's event types, at `/catalog/{slug}` or `/catalog/{slug}/test`.
             * @example false
             */
            public_event_catalog?: boolean;
            /**
             * @description The destination that gets the service's own events of that environment (see `GET /v1/system-events`); null for none.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            system_destination?: string | null;
            /**
             * @description Which origins may show that environment's customers' portal in a frame: https, or http on the own computer in test. None for none: then it opens as a page alone.
             * @example [
             *       "https://app.example.com"
             *     ]
             */
            portal_origins?: string[];
        };
        SigningSecret: {
            /**
             * @description `whsec_` and the key in base64: receivers verify with it.
             * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=
             */
            secret: string;
        };
        SecretRotationBody: {
            /**
             * @description How long the old secret goes on signing beside the new one, in seconds.
             * @default 86400
             * @example 86400
             */
            grace_seconds: number;
        };
        OperatedOrg: {
            /**
             * @description The organization's id.
             * @example org_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Its part of receive URLs; `removed-…` once it is removed.
             * @example acme
             */
            slug: string;
            /**
             * @description What people know it by.
             * @example Acme
             */
            name: string;
            /**
             * Format: date-time
             * @description When it was made.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description From when on nobody came in; null while it is there.
             * @example null
             */
            removed_at: string | null;
            /**
             * Format: date-time
             * @description When what it configured was gone; null before. What it accepted goes with its retention.
             * @example null
             */
            erased_at: string | null;
        };
        OrgPage: {
            /** @description The organizations of this page, removed ones included. */
            data: components["schemas"]["OperatedOrg"][];
            /**
             * @description Pass it as `cursor` for the next page; null on the last one.
             * @example null
             */
            next_cursor: string | null;
        };
        FirstAdminBody: {
            /**
             * @description The address that codes are mailed to.
             * @example ada@example.com
             */
            email: string;
            /**
             * @description What people know the person by; the address when left out.
             * @example Ada
             */
            name?: string;
        };
        NewOrgBody: {
            /**
             * @description Its part of receive URLs: lower-case letters, digits and `-`.
             * @example acme
             */
            slug: string;
            /**
             * @description What people know it by.
             * @example Acme
             */
            name: string;
            /** @description Its first admin. */
            admin: components["schemas"]["FirstAdminBody"];
        };
        MadeOrg: {
            /**
             * @description The organization's id.
             * @example org_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Its part of receive URLs; `removed-…` once it is removed.
             * @example acme
             */
            slug: string;
            /**
             * @description What people know it by.
             * @example Acme
             */
            name: string;
            /**
             * Format: date-time
             * @description When it was made.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description From when on nobody came in; null while it is there.
             * @example null
             */
            removed_at: string | null;
            /**
             * Format: date-time
             * @description When what it configured was gone; null before. What it accepted goes with its retention.
             * @example null
             */
            erased_at: string | null;
            /**
             * @description A live admin key, shown in this answer only.
             * @example ek_live_4fQaVb0mJ2sYkWcX9tLr7uNzPe5hDg3iOq8wAx1CyBv6KdR
             */
            key: string;
            /**
             * @description An admin key of the test environment, shown in this answer only.
             * @example ek_test_4fQaVb0mJ2sYkWcX9tLr7uNzPe5hDg3iOq8wAx1CyBv6KdR
             */
            test_key: string;
            /** @description Its first admin. */
            admin: components["schemas"]["MemberItem"];
        };
        SessionMember: {
            /**
             * @description Its id.
             * @example mbr_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description The address.
             * @example ada@example.com
             */
            email: string;
            /**
             * @description What the member is called; empty when nobody said.
             * @example Ada
             */
            name: string;
        };
        SessionKey: {
            /**
             * @description Its id.
             * @example ek_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description What it is called.
             * @example Billing service
             */
            name: string;
        };
        SessionOrganization: {
            /**
             * @description Its id.
             * @example org_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description What it is called.
             * @example Example Inc.
             */
            name: string;
            /**
             * @description Its part of receive URLs.
             * @example example
             */
            slug: string;
        };
        OwnSessionItem: {
            /**
             * @description The session's id.
             * @example ses_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description How you signed in: with an API key, with a code by email, through the identity provider.
             * @example code
             * @enum {string}
             */
            how: "key" | "code" | "oidc";
            /**
             * @description What to call you: the member's name or address, or the name of the key.
             * @example Ada
             */
            name: string;
            /** @description The member; null when a key opened the session. */
            member: components["schemas"]["SessionMember"] | null;
            /** @description The key that opened the session; null for a member's. */
            key: components["schemas"]["SessionKey"] | null;
            /** @description The organization. */
            organization: components["schemas"]["SessionOrganization"];
            /**
             * @description What you may do: the member's role, or the scope of the key.
             * @example admin
             * @enum {string}
             */
            scope: "read" | "write" | "admin";
            /**
             * @description The environments that you may name in `X-Posthorn-Environment`.
             * @example [
             *       "live",
             *       "test"
             *     ]
             */
            environments: ("live" | "test")[];
            /**
             * Format: date-time
             * @description When it ends at the latest.
             * @example 2026-11-28T09:30:00.000Z
             */
            expires_at: string;
            /**
             * @description So many seconds without a request end it before.
             * @example 43200
             */
            idle_seconds: number;
        };
        SessionItem: {
            /**
             * @description The session's id.
             * @example ses_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description How somebody signed in: with an API key, with a code by email, through the identity provider.
             * @example code
             * @enum {string}
             */
            how: "key" | "code" | "oidc";
            /**
             * @description The member whose session it is; null when a key opened it.
             * @example mbr_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            member: string | null;
            /**
             * @description The member's address; null when a key opened it.
             * @example ada@example.com
             */
            email: string | null;
            /**
             * @description The key that opened it; null for a member's.
             * @example null
             */
            key: string | null;
            /**
             * @description The network it was opened from: an IPv4 address, or the /64 of an IPv6 one.
             * @example 203.0.113.7
             */
            network: string;
            /**
             * @description What the browser called itself then, cut at 200 characters.
             * @example Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0
             */
            user_agent: string;
            /**
             * Format: date-time
             * @description When it was opened.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Its last request, to about a minute.
             * @example 2026-11-21T10:02:11.402Z
             */
            last_seen_at: string;
            /**
             * Format: date-time
             * @description When it ends at the latest; twelve hours without a request end it before.
             * @example 2026-11-28T09:30:00.000Z
             */
            expires_at: string;
        };
        SessionPage: {
            /** @description The sessions of this page. */
            data: components["schemas"]["SessionItem"][];
            /**
             * @description Pass it as `cursor` for the next page; null on the last one.
             * @example null
             */
            next_cursor: string | null;
        };
        SecretItem: {
            /**
             * @description The secret's id.
             * @example sec_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description What `{{secrets.NAME}}` calls it.
             * @example CRM_TOKEN
             */
            name: string;
            /**
             * @description What it is for; null when nobody said.
             * @example The CRM, read and write
             */
            description: string | null;
            /**
             * @description Rises with every new value.
             * @example 1
             */
            version: number;
            /**
             * Format: date-time
             * @description When it was created.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When its value or its description was changed last.
             * @example 2026-11-21T09:30:00.000Z
             */
            updated_at: string;
        };
        SecretPage: {
            /** @description The secrets of this page. */
            data: components["schemas"]["SecretItem"][];
            /**
             * @description Pass it as `cursor` for the next page; null on the last one.
             * @example null
             */
            next_cursor: string | null;
        };
        NewSecretBody: {
            /**
             * @description What `{{secrets.NAME}}` calls it; unique in the environment, and never changed.
             * @example CRM_TOKEN
             */
            name: string;
            /**
             * @description The value, at most 16 KB in UTF-8; stored encrypted and never returned.
             * @example tok_8Kd2mQ
             */
            value: string;
            /**
             * @description What it is for.
             * @example The CRM, read and write
             */
            description?: string | null;
        };
        SecretUserItem: {
            /**
             * @description What kind of thing it is.
             * @example destination
             * @enum {string}
             */
            kind: "destination" | "endpoint";
            /**
             * @description Its id.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
        };
        SecretDetail: {
            /**
             * @description The secret's id.
             * @example sec_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description What `{{secrets.NAME}}` calls it.
             * @example CRM_TOKEN
             */
            name: string;
            /**
             * @description What it is for; null when nobody said.
             * @example The CRM, read and write
             */
            description: string | null;
            /**
             * @description Rises with every new value.
             * @example 1
             */
            version: number;
            /**
             * Format: date-time
             * @description When it was created.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When its value or its description was changed last.
             * @example 2026-11-21T09:30:00.000Z
             */
            updated_at: string;
            /** @description What uses it, the first 100; while there is any, it can't be deleted. */
            used_by: components["schemas"]["SecretUserItem"][];
        };
        SecretChangesBody: {
            /**
             * @description A new value, which is a new version; in force on every node within five seconds.
             * @example tok_9Ws4nR
             */
            value?: string;
            /**
             * @description What it is for; null takes it away.
             * @example The CRM, read and write
             */
            description?: string | null;
        };
        CheckBody: {
            /**
             * @description How it would be delivered to.
             * @example https
             */
            type: string;
            /**
             * @description Where it is, for types that have a URL.
             * @example https://example.com/webhooks
             */
            url?: string | null;
            /**
             * @description Settings of its type, as they would be given to create it.
             * @example {
             *       "queueUrl": "https://sqs.eu-west-1.amazonaws.com/1/orders",
             *       "region": "eu-west-1"
             *     }
             */
            config?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description Credentials of its type; used for this check and not stored.
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
             * @description True when it can be reached.
             * @example true
             */
            ok: boolean;
            /**
             * @description A sentence for people; left out when there is nothing to say.
             * @example The target answered with status 200.
             */
            detail?: string;
        };
        ChecksItem: {
            /**
             * @description The settings fit the type.
             * @example true
             */
            schema: boolean;
            /**
             * @description The target accepts the credentials.
             * @example true
             */
            credentials: boolean;
            /**
             * @description The target can be reached.
             * @example true
             */
            connectivity: boolean;
        };
        ValidationResult: {
            /**
             * @description The destination's validation from now on: `stale` was reachable once and is not now.
             * @example valid
             * @enum {string}
             */
            validation: "pending" | "valid" | "stale" | "invalid";
            /** @description What each check said; a check behind one that failed is false too. */
            checks: components["schemas"]["ChecksItem"];
            /**
             * @description A sentence for people; left out when there is nothing to say.
             * @example The target answered with status 200.
             */
            detail?: string;
        };
        SigningSecretItem: {
            /**
             * @description `whsec_` and the key in base64: the receiver verifies `v1` signatures with it.
             * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=
             */
            secret: string;
            /**
             * @description `whpk_` and the public key in base64, which verifies `v1a` signatures; null unless `asymmetric`.
             * @example whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=
             */
            public_key: string | null;
        };
        DestinationSecretRotationBody: {
            /**
             * @description How long the old secret goes on signing beside the new one, in seconds.
             * @default 86400
             * @example 86400
             */
            grace_seconds: number;
        };
        DestinationItem: {
            /**
             * @description The destination's id.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description What people know it by.
             * @example Orders
             */
            name: string;
            /**
             * @description How it is delivered to.
             * @example https
             */
            type: string;
            /**
             * @description Where it is; null for a type that has no URL.
             * @example https://example.com/webhooks
             */
            url: string | null;
            /**
             * @description What its last check found: `stale` was reachable once and is not now.
             * @example valid
             * @enum {string}
             */
            validation: "pending" | "valid" | "stale" | "invalid";
            /**
             * @description `disabled` takes no deliveries until it is enabled.
             * @example active
             * @enum {string}
             */
            status: "active" | "disabled";
            /**
             * @description Rises with every change of the settings.
             * @example 1
             */
            version: number;
            /**
             * Format: date-time
             * @description When it was created.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
        };
        ListCount: {
            /**
             * @description How many match the filters, over all pages.
             * @example 42
             */
            value: number;
            /**
             * @description True when counting ended at 1,000: there are at least as many.
             * @example false
             */
            is_capped: boolean;
        };
        DestinationPage: {
            /** @description The destinations of this page. */
            data: components["schemas"]["DestinationItem"][];
            /**
             * @description Pass it as `cursor` for the next page; null on the last one.
             * @example null
             */
            next_cursor: string | null;
            /** @description How many match the filters, over all pages; only when `count` asks for it. */
            count?: components["schemas"]["ListCount"];
        };
        RetryBody: {
            /**
             * @description A policy that an extension brings, in place of numbers. Null goes back to numbers.
             * @example null
             */
            policy?: string | null;
            /**
             * @description All attempts, the first one included. Left out, what was set stays, or without that it is the length of the schedule.
             * @example 8
             */
            max_attempts?: number;
            /**
             * @description The longest wait before each attempt, in seconds; the last one repeats.
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
             * @description Deliveries per second; below 1 for less than one in a second.
             * @example 50
             */
            per_second: number;
        };
        LegacySignatureBody: {
            /**
             * @description The header that carries the signature.
             * @example X-Acme-Signature
             */
            header: string;
            /**
             * @description The hash under the HMAC.
             * @default sha256
             * @example sha256
             * @enum {string}
             */
            algorithm: "sha256" | "sha1" | "sha512" | "sha384" | "md5";
            /**
             * @description How the signature is written.
             * @default hex
             * @example hex
             * @enum {string}
             */
            encoding: "hex" | "base64";
            /**
             * @description What is signed: literal text, `{id}`, `{timestamp}` (Unix seconds) and, once, `{body}`.
             * @default {body}
             * @example {timestamp}.{body}
             */
            content: string;
            /**
             * @description The header's value: literal text, `{id}`, `{timestamp}` and `{signature}`.
             * @default {signature}
             * @example t={timestamp},v1={signature}
             */
            format: string;
            /**
             * @description A header that carries the timestamp; none when left out.
             * @example X-Acme-Timestamp
             */
            timestamp_header?: string | null;
            /**
             * @description A header that repeats the message's id; none when left out.
             * @example X-Acme-Delivery
             */
            id_header?: string | null;
            /**
             * @description The key of the HMAC; stored encrypted and never returned. The stored one stays when it is left out.
             * @example an-old-shared-secret
             */
            secret?: string;
            /**
             * @description How `secret` is written.
             * @default utf8
             * @example utf8
             * @enum {string}
             */
            secret_encoding: "utf8" | "hex" | "base64";
        };
        NewDestinationBody: {
            /**
             * @description Headers that every delivery carries. They win over those of a received request, and those of a send win over them.
             * @example {
             *       "x-tenant": "42"
             *     }
             */
            headers?: {
                [key: string]: string;
            } | null;
            /** @description The retry policy; 8 attempts over about 28 hours when left out. */
            retry?: components["schemas"]["RetryBody"] | null;
            /** @description The rate limit; none when left out. */
            rate_limit?: components["schemas"]["RateLimitBody"] | null;
            /**
             * @description How long one attempt may take, in milliseconds.
             * @default 15000
             * @example 15000
             */
            timeout_ms: number | null;
            /**
             * @description Most attempts that one worker process has under way at once; what the target bears (up to 512) when left out.
             * @example 10
             */
            concurrency?: number | null;
            /**
             * @description Sign with an ed25519 key (`v1a`) beside the secret. False removes the key.
             * @default false
             * @example false
             */
            asymmetric: boolean | null;
            /** @description An old signature header to send beside the standard ones, for as long as receivers move; none when left out. */
            legacy_signature?: components["schemas"]["LegacySignatureBody"] | null;
            /**
             * @description Where it is, for types that have a URL.
             * @example https://example.com/webhooks
             */
            url?: string | null;
            /**
             * @description Settings of its type (`queueUrl` and `region` of a queue), and `circuit_breaker: {failure_threshold}` (1 to 1000, default 10).
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
             * @description What people know it by.
             * @example Orders
             */
            name: string;
            /**
             * @description How it is delivered to: `https`, `mirror`, `sqs` or `pull`, or a type that an extension adds.
             * @example https
             */
            type: string;
            /**
             * @description Credentials of its type; stored encrypted and never returned.
             * @example {
             *       "accessKeyId": "AKIAIOSFODNN7EXAMPLE",
             *       "secretAccessKey": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
             *     }
             */
            credentials?: {
                [key: string]: string;
            } | null;
            /**
             * @description A signing secret that its receiver knows already; a new one is made when left out.
             * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=
             */
            secret?: string | null;
        };
        RetryItem: {
            /**
             * @description The policy that is followed; left out where the numbers are the destination's own or the default.
             * @example patient
             */
            policy?: string;
            /**
             * @description Why the policy is not followed, and the default schedule holds: its extension is not loaded. Left out otherwise.
             * @example Nothing brings the retry policy patient here: the extension that did is not loaded, and the default schedule holds.
             */
            policy_unserved?: string;
            /**
             * @description All attempts, the first one included.
             * @example 8
             */
            max_attempts: number;
            /**
             * @description The longest wait before each attempt, in seconds; the last one repeats.
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
             * @description The header that carries the signature.
             * @example X-Acme-Signature
             */
            header: string;
            /**
             * @description The hash under the HMAC.
             * @example sha256
             * @enum {string}
             */
            algorithm: "sha256" | "sha1" | "sha512" | "sha384" | "md5";
            /**
             * @description How the signature is written.
             * @example hex
             * @enum {string}
             */
            encoding: "hex" | "base64";
            /**
             * @description What is signed.
             * @example {timestamp}.{body}
             */
            content: string;
            /**
             * @description The header's value.
             * @example t={timestamp},v1={signature}
             */
            format: string;
            /**
             * @description The header that carries the timestamp, or null.
             * @example X-Acme-Timestamp
             */
            timestamp_header: string | null;
            /**
             * @description The header that repeats the message's id, or null.
             * @example null
             */
            id_header: string | null;
        };
        CircuitItem: {
            /**
             * @description `open` holds deliveries back, `half_open` tries one, `closed` lets them through.
             * @example closed
             * @enum {string}
             */
            state: "closed" | "open" | "half_open";
            /**
             * Format: date-time
             * @description When the outage began; null while closed.
             * @example null
             */
            opened_at: string | null;
            /**
             * Format: date-time
             * @description Not before when a probe is sent, or, while one is under way, another; null while closed.
             * @example null
             */
            next_probe_at: string | null;
        };
        DestinationDetail: {
            /**
             * @description The destination's id.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description What people know it by.
             * @example Orders
             */
            name: string;
            /**
             * @description How it is delivered to.
             * @example https
             */
            type: string;
            /**
             * @description Where it is; null for a type that has no URL.
             * @example https://example.com/webhooks
             */
            url: string | null;
            /**
             * @description What its last check found: `stale` was reachable once and is not now.
             * @example valid
             * @enum {string}
             */
            validation: "pending" | "valid" | "stale" | "invalid";
            /**
             * @description `disabled` takes no deliveries until it is enabled.
             * @example active
             * @enum {string}
             */
            status: "active" | "disabled";
            /**
             * @description Rises with every change of the settings.
             * @example 1
             */
            version: number;
            /**
             * Format: date-time
             * @description When it was created.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * @description Headers that every delivery carries.
             * @example {
             *       "x-tenant": "42"
             *     }
             */
            headers: {
                [key: string]: string;
            };
            /** @description The retry policy in force. */
            retry: components["schemas"]["RetryItem"];
            /** @description The rate limit in force; null when there is none. */
            rate_limit: components["schemas"]["RateLimitBody"] | null;
            /**
             * @description How long one attempt may take, in milliseconds.
             * @example 15000
             */
            timeout_ms: number;
            /**
             * @description Most attempts that one worker process has under way at once; null for what the target bears.
             * @example null
             */
            concurrency: number | null;
            /**
             * @description Whether deliveries carry an ed25519 signature (`v1a`) beside the one of the secret.
             * @example false
             */
            asymmetric: boolean;
            /** @description The old signature header that is sent as well; null when there is none. */
            legacy_signature: components["schemas"]["LegacySignatureItem"] | null;
            /**
             * @description Settings of its type, and `circuit_breaker: {failure_threshold}`.
             * @example {
             *       "circuit_breaker": {
             *         "failure_threshold": 10
             *       }
             *     }
             */
            config: {
                [key: string]: unknown;
            };
            /** @description Its circuit breaker. */
            circuit: components["schemas"]["CircuitItem"];
            /**
             * @description Why it is disabled; null while it is active.
             * @example null
             */
            disabled_reason: string | null;
            /**
             * @description Why every attempt fails until the operator acts: nothing serves its type any more; null otherwise.
             * @example null
             */
            unserved: string | null;
        };
        DestinationChangesBody: {
            /**
             * @description Headers that every delivery carries. They win over those of a received request, and those of a send win over them.
             * @example {
             *       "x-tenant": "42"
             *     }
             */
            headers?: {
                [key: string]: string;
            } | null;
            /** @description The retry policy; 8 attempts over about 28 hours when left out. */
            retry?: components["schemas"]["RetryBody"] | null;
            /** @description The rate limit; none when left out. */
            rate_limit?: components["schemas"]["RateLimitBody"] | null;
            /**
             * @description How long one attempt may take, in milliseconds.
             * @default 15000
             * @example 15000
             */
            timeout_ms: number | null;
            /**
             * @description Most attempts that one worker process has under way at once; what the target bears (up to 512) when left out.
             * @example 10
             */
            concurrency?: number | null;
            /**
             * @description Sign with an ed25519 key (`v1a`) beside the secret. False removes the key.
             * @default false
             * @example false
             */
            asymmetric: boolean | null;
            /** @description An old signature header to send beside the standard ones, for as long as receivers move; none when left out. */
            legacy_signature?: components["schemas"]["LegacySignatureBody"] | null;
            /**
             * @description Where it is, for types that have a URL.
             * @example https://example.com/webhooks
             */
            url?: string | null;
            /**
             * @description Settings of its type (`queueUrl` and `region` of a queue), and `circuit_breaker: {failure_threshold}` (1 to 1000, default 10).
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
             * @description What people know it by.
             * @example Orders
             */
            name?: string;
            /**
             * @description Other credentials, all of them; they are tried before they are stored, and never returned.
             * @example {
             *       "accessKeyId": "AKIAIOSFODNN7EXAMPLE",
             *       "secretAccessKey": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
             *     }
             */
            credentials?: {
                [key: string]: string;
            } | null;
            /**
             * @description `active` enables it and closes its circuit, `disabled` stops its deliveries.
             * @example active
             * @enum {string}
             */
            status?: "active" | "disabled";
        };
        ApplicationItem: {
            /**
             * @description The application's id.
             * @example app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Your own id of the customer; null without one.
             * @example customer-42
             */
            uid: string | null;
            /**
             * @description What people know it by.
             * @example Acme Inc.
             */
            name: string;
            /**
             * @description Notes of your own.
             * @example {
             *       "plan": "pro"
             *     }
             */
            metadata: {
                [key: string]: string;
            };
            /**
             * Format: date-time
             * @description When it was created.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was changed last, its endpoints not included.
             * @example 2026-11-21T09:30:00.000Z
             */
            updated_at: string;
        };
        ApplicationPage: {
            /** @description The applications of this page. */
            data: components["schemas"]["ApplicationItem"][];
            /**
             * @description Pass it as `cursor` for the next page; null on the last one.
             * @example null
             */
            next_cursor: string | null;
            /** @description How many match the filters, over all pages; only when `count` asks for it. */
            count?: components["schemas"]["ListCount"];
        };
        NewApplicationBody: {
            /**
             * @description Your own id of the customer: 1 to 256 letters, digits and `. _ : @ + ~ -`, not beginning with `app_`.
             * @example customer-42
             */
            uid?: string | null;
            /**
             * @description What people know it by; the uid when left out.
             * @example Acme Inc.
             */
            name?: string;
            /**
             * @description Notes of your own: up to 50 keys of 1 to 40 characters, with values of up to 500.
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
             * @description The application's id.
             * @example app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Your own id of the customer; null without one.
             * @example customer-42
             */
            uid: string | null;
            /**
             * @description What people know it by.
             * @example Acme Inc.
             */
            name: string;
            /**
             * @description Notes of your own.
             * @example {
             *       "plan": "pro"
             *     }
             */
            metadata: {
                [key: string]: string;
            };
            /**
             * Format: date-time
             * @description When it was created.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was changed last, its endpoints not included.
             * @example 2026-11-21T09:30:00.000Z
             */
            updated_at: string;
            /**
             * @description How many endpoints it has; at most 1,000.
             * @example 3
             */
            endpoint_count: number;
        };
        ApplicationChangesBody: {
            /**
             * @description Your own id of the customer; null takes it away.
             * @example customer-42
             */
            uid?: string | null;
            /**
             * @description What people know it by.
             * @example Acme Inc.
             */
            name?: string;
            /**
             * @description Notes of your own, all of them; null clears them.
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
             * @description The message's id, which is the `webhook-id` of all its deliveries.
             * @example msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description The type that it was sent with.
             * @example invoice.paid
             */
            event_type: string;
            /**
             * @description The channels that it was sent with.
             * @example [
             *       "project-42"
             *     ]
             */
            channels: string[];
            /**
             * @description How many endpoints it went to.
             * @example 3
             */
            fanout: number;
            /**
             * @description How large its payload is, in bytes.
             * @example 1204
             */
            payload_bytes: number;
            /**
             * Format: date-time
             * @description When it was accepted.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
        };
        MessagePage: {
            /** @description The messages of this page; their events are at `GET /v1/events?message_id=`. */
            data: components["schemas"]["MessageItem"][];
            /**
             * @description Pass it as `cursor` for the next page; null on the last one.
             * @example null
             */
            next_cursor: string | null;
        };
        MessageDetail: {
            /**
             * @description The message's id, which is the `webhook-id` of all its deliveries.
             * @example msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description The type that it was sent with.
             * @example invoice.paid
             */
            event_type: string;
            /**
             * @description The channels that it was sent with.
             * @example [
             *       "project-42"
             *     ]
             */
            channels: string[];
            /**
             * @description How many endpoints it went to.
             * @example 3
             */
            fanout: number;
            /**
             * @description How large its payload is, in bytes.
             * @example 1204
             */
            payload_bytes: number;
            /**
             * Format: date-time
             * @description When it was accepted.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * @description The application that it was sent to.
             * @example app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            application: string;
            /**
             * @description Headers that are forwarded with it.
             * @example {
             *       "x-tenant": "42"
             *     }
             */
            headers: {
                [key: string]: string;
            };
            /**
             * @description The payload, in the very characters that it was sent with; absent when it is over 256 KB, and when it was erased.
             * @example {
             *       "amount": 4200
             *     }
             */
            payload?: {
                [key: string]: unknown;
            };
            /**
             * @description True when the payload is left out because it is over 256 KB: `GET /v1/events/{id}/payload` has it.
             * @example true
             */
            payload_truncated?: boolean;
            /**
             * Format: date-time
             * @description When its payload was erased; absent while it is there.
             * @example 2026-11-21T09:30:00.000Z
             */
            payload_erased_at?: string;
        };
        EndpointCircuitItem: {
            /**
             * @description `open` holds deliveries back, `half_open` tries one, `closed` lets them through.
             * @example closed
             * @enum {string}
             */
            state: "closed" | "open" | "half_open";
            /**
             * Format: date-time
             * @description When the outage began; null while closed.
             * @example null
             */
            opened_at: string | null;
        };
        ApplicationEndpointDetail: {
            /**
             * @description The endpoint's id.
             * @example ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Your own id of the endpoint; null without one.
             * @example production
             */
            uid: string | null;
            /**
             * @description The application that it belongs to.
             * @example app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            application: string;
            /**
             * @description Where it is; null for one that goes to a destination.
             * @example https://example.com/webhooks
             */
            url: string | null;
            /**
             * @description The destination of the registry that it goes to; null for one with a URL.
             * @example null
             */
            destination: string | null;
            /**
             * @description How that destination is: `gone` when it was deleted, and what is sent to it fails; null for one with a URL.
             * @example null
             * @enum {string|null}
             */
            destination_status: "active" | "disabled" | "gone" | null;
            /**
             * @description What it is, for people.
             * @example The production system
             */
            description: string;
            /**
             * @description Event types that it subscribes to; none for all.
             * @example [
             *       "invoice.paid",
             *       "customer.*"
             *     ]
             */
            event_types: string[];
            /**
             * @description Channels that it listens to; none for all messages.
             * @example [
             *       "project-42"
             *     ]
             */
            channels: string[];
            /**
             * @description Which messages; null for all.
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
             * @description Notes of your own.
             * @example {
             *       "plan": "pro"
             *     }
             */
            metadata: {
                [key: string]: string;
            };
            /**
             * @description `disabled` takes no deliveries until it is enabled: what is sent meanwhile fails at once, and can be sent again.
             * @example active
             * @enum {string}
             */
            status: "active" | "disabled";
            /**
             * @description Why it is disabled; null while it is active.
             * @example null
             */
            disabled_reason: string | null;
            /** @description The circuit breaker of its URL; null for one that goes to a destination. */
            circuit: components["schemas"]["EndpointCircuitItem"] | null;
            /**
             * Format: date-time
             * @description When it was created.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was changed last.
             * @example 2026-11-21T09:30:00.000Z
             */
            updated_at: string;
            /**
             * @description Headers that every delivery carries.
             * @example {
             *       "x-tenant": "42"
             *     }
             */
            headers?: {
                [key: string]: string;
            };
            /** @description The retry policy in force. */
            retry?: components["schemas"]["RetryItem"];
            /** @description The rate limit in force; null when there is none. */
            rate_limit?: components["schemas"]["RateLimitBody"] | null;
            /**
             * @description How long one attempt may take, in milliseconds.
             * @example 15000
             */
            timeout_ms?: number;
            /**
             * @description Most attempts that one worker process has under way at once; null for what the target bears.
             * @example null
             */
            concurrency?: number | null;
            /**
             * @description Whether deliveries carry an ed25519 signature (`v1a`) beside the one of the secret.
             * @example false
             */
            asymmetric?: boolean;
            /** @description The old signature header that is sent as well; null when there is none. */
            legacy_signature?: components["schemas"]["LegacySignatureItem"] | null;
        };
        ApplicationEndpointPage: {
            /** @description The endpoints of this page. */
            data: components["schemas"]["ApplicationEndpointDetail"][];
            /**
             * @description Pass it as `cursor` for the next page; null on the last one.
             * @example null
             */
            next_cursor: string | null;
        };
        NewApplicationEndpointBody: {
            /**
             * @description Headers that every delivery carries. They win over those of a received request, and those of a send win over them.
             * @example {
             *       "x-tenant": "42"
             *     }
             */
            headers?: {
                [key: string]: string;
            } | null;
            /** @description The retry policy; 8 attempts over about 28 hours when left out. */
            retry?: components["schemas"]["RetryBody"] | null;
            /** @description The rate limit; none when left out. */
            rate_limit?: components["schemas"]["RateLimitBody"] | null;
            /**
             * @description How long one attempt may take, in milliseconds.
             * @default 15000
             * @example 15000
             */
            timeout_ms: number | null;
            /**
             * @description Most attempts that one worker process has under way at once; what the target bears (up to 512) when left out.
             * @example 10
             */
            concurrency?: number | null;
            /**
             * @description Sign with an ed25519 key (`v1a`) beside the secret. False removes the key.
             * @default false
             * @example false
             */
            asymmetric: boolean | null;
            /** @description An old signature header to send beside the standard ones, for as long as receivers move; none when left out. */
            legacy_signature?: components["schemas"]["LegacySignatureBody"] | null;
            /**
             * @description Your own id of the endpoint, unique in its application: 1 to 256 letters, digits and `. _ : @ + ~ -`, not beginning with `ep_`.
             * @example production
             */
            uid?: string | null;
            /**
             * @description What it is, for people.
             * @example The production system
             */
            description?: string | null;
            /**
             * @description Event types that it subscribes to: exact ones, and `prefix.*` for everything below `prefix.`; none for all.
             * @example [
             *       "invoice.paid",
             *       "customer.*"
             *     ]
             */
            event_types?: string[] | null;
            /**
             * @description With channels, it gets only messages that name one of them.
             * @example [
             *       "project-42"
             *     ]
             */
            channels?: string[] | null;
            /**
             * @description Which messages: a condition on the payload in the grammar of route filters; null for all.
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
             * @description Notes of your own: up to 50 keys of 1 to 40 characters, with values of up to 500.
             * @example {
             *       "plan": "pro"
             *     }
             */
            metadata?: {
                [key: string]: string;
            } | null;
            /**
             * @description Where it is.
             * @example https://example.com/webhooks
             */
            url?: string | null;
            /**
             * @description The destination that it goes to, in place of a URL: an SQS queue, or one to pull from.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            destination?: string | null;
            /**
             * @description A signing secret that its receiver knows already; a new one is made when left out.
             * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=
             */
            secret?: string | null;
        };
        ApplicationEndpointCreated: {
            /**
             * @description The endpoint's id.
             * @example ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Your own id of the endpoint; null without one.
             * @example production
             */
            uid: string | null;
            /**
             * @description The application that it belongs to.
             * @example app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            application: string;
            /**
             * @description Where it is; null for one that goes to a destination.
             * @example https://example.com/webhooks
             */
            url: string | null;
            /**
             * @description The destination of the registry that it goes to; null for one with a URL.
             * @example null
             */
            destination: string | null;
            /**
             * @description How that destination is: `gone` when it was deleted, and what is sent to it fails; null for one with a URL.
             * @example null
             * @enum {string|null}
             */
            destination_status: "active" | "disabled" | "gone" | null;
            /**
             * @description What it is, for people.
             * @example The production system
             */
            description: string;
            /**
             * @description Event types that it subscribes to; none for all.
             * @example [
             *       "invoice.paid",
             *       "customer.*"
             *     ]
             */
            event_types: string[];
            /**
             * @description Channels that it listens to; none for all messages.
             * @example [
             *       "project-42"
             *     ]
             */
            channels: string[];
            /**
             * @description Which messages; null for all.
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
             * @description Notes of your own.
             * @example {
             *       "plan": "pro"
             *     }
             */
            metadata: {
                [key: string]: string;
            };
            /**
             * @description `disabled` takes no deliveries until it is enabled: what is sent meanwhile fails at once, and can be sent again.
             * @example active
             * @enum {string}
             */
            status: "active" | "disabled";
            /**
             * @description Why it is disabled; null while it is active.
             * @example null
             */
            disabled_reason: string | null;
            /** @description The circuit breaker of its URL; null for one that goes to a destination. */
            circuit: components["schemas"]["EndpointCircuitItem"] | null;
            /**
             * Format: date-time
             * @description When it was created.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was changed last.
             * @example 2026-11-21T09:30:00.000Z
             */
            updated_at: string;
            /**
             * @description Headers that every delivery carries.
             * @example {
             *       "x-tenant": "42"
             *     }
             */
            headers?: {
                [key: string]: string;
            };
            /** @description The retry policy in force. */
            retry?: components["schemas"]["RetryItem"];
            /** @description The rate limit in force; null when there is none. */
            rate_limit?: components["schemas"]["RateLimitBody"] | null;
            /**
             * @description How long one attempt may take, in milliseconds.
             * @example 15000
             */
            timeout_ms?: number;
            /**
             * @description Most attempts that one worker process has under way at once; null for what the target bears.
             * @example null
             */
            concurrency?: number | null;
            /**
             * @description Whether deliveries carry an ed25519 signature (`v1a`) beside the one of the secret.
             * @example false
             */
            asymmetric?: boolean;
            /** @description The old signature header that is sent as well; null when there is none. */
            legacy_signature?: components["schemas"]["LegacySignatureItem"] | null;
            /**
             * @description What signs its deliveries, shown this once and at `…/secret`; null for one that goes to a destination, which has its own, and for a portal that may see no secrets.
             * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=
             */
            secret: string | null;
            /**
             * @description `whpk_` and the public key in base64, which verifies `v1a` signatures; null unless `asymmetric`.
             * @example null
             */
            public_key: string | null;
        };
        EndpointUrlBody: {
            /**
             * @description Where an endpoint could be.
             * @example https://example.com/webhooks
             */
            url: string;
        };
        EndpointUrlItem: {
            /**
             * @description True when it can be reached.
             * @example true
             */
            ok: boolean;
            /**
             * @description A sentence for people.
             * @example The target answered with status 200.
             */
            detail: string;
        };
        ApplicationEndpointChangesBody: {
            /**
             * @description Headers that every delivery carries. They win over those of a received request, and those of a send win over them.
             * @example {
             *       "x-tenant": "42"
             *     }
             */
            headers?: {
                [key: string]: string;
            } | null;
            /** @description The retry policy; 8 attempts over about 28 hours when left out. */
            retry?: components["schemas"]["RetryBody"] | null;
            /** @description The rate limit; none when left out. */
            rate_limit?: components["schemas"]["RateLimitBody"] | null;
            /**
             * @description How long one attempt may take, in milliseconds.
             * @default 15000
             * @example 15000
             */
            timeout_ms: number | null;
            /**
             * @description Most attempts that one worker process has under way at once; what the target bears (up to 512) when left out.
             * @example 10
             */
            concurrency?: number | null;
            /**
             * @description Sign with an ed25519 key (`v1a`) beside the secret. False removes the key.
             * @default false
             * @example false
             */
            asymmetric: boolean | null;
            /** @description An old signature header to send beside the standard ones, for as long as receivers move; none when left out. */
            legacy_signature?: components["schemas"]["LegacySignatureBody"] | null;
            /**
             * @description Your own id of the endpoint, unique in its application: 1 to 256 letters, digits and `. _ : @ + ~ -`, not beginning with `ep_`.
             * @example production
             */
            uid?: string | null;
            /**
             * @description What it is, for people.
             * @example The production system
             */
            description?: string | null;
            /**
             * @description Event types that it subscribes to: exact ones, and `prefix.*` for everything below `prefix.`; none for all.
             * @example [
             *       "invoice.paid",
             *       "customer.*"
             *     ]
             */
            event_types?: string[] | null;
            /**
             * @description With channels, it gets only messages that name one of them.
             * @example [
             *       "project-42"
             *     ]
             */
            channels?: string[] | null;
            /**
             * @description Which messages: a condition on the payload in the grammar of route filters; null for all.
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
             * @description Notes of your own: up to 50 keys of 1 to 40 characters, with values of up to 500.
             * @example {
             *       "plan": "pro"
             *     }
             */
            metadata?: {
                [key: string]: string;
            } | null;
            /**
             * @description Another URL, for an endpoint that has one; null says nothing.
             * @example https://example.com/webhooks
             */
            url?: string | null;
            /**
             * @description Another destination, for an endpoint that goes to one; null says nothing.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            destination?: string | null;
            /**
             * @description `active` enables it and closes the circuit of its URL, `disabled` stops its deliveries.
             * @example disabled
             * @enum {string}
             */
            status?: "active" | "disabled";
            /**
             * @description Why it is disabled, beside `status: disabled`; the reason of one that is disabled already stays.
             * @example The customer asked for it.
             */
            disabled_reason?: string | null;
        };
        ApplicationEndpointRotationBody: {
            /**
             * @description How long the old secret goes on signing beside the new one, in seconds.
             * @default 86400
             * @example 86400
             */
            grace_seconds: number;
        };
        EndpointAttemptItem: {
            /**
             * @description The event.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            event_id: string;
            /**
             * @description The message that the event belongs to, which is its `webhook-id`.
             * @example msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            message_id: string | null;
            /**
             * @description The event's type.
             * @example invoice.paid
             */
            event_type: string;
            /**
             * @description The delivery that it belongs to: an `id` of the event's `deliveries`.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1.0
             */
            delivery: string;
            /**
             * @description Where it went: the endpoint's own `ep_` id when it has a URL, or the destination that it goes to.
             * @example ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            destination: string;
            /**
             * @description Counts the tries of one delivery from 1; a replay is a new delivery.
             * @example 1
             */
            number: number;
            /**
             * @description HTTP status of the answer; null when there was none.
             * @example 503
             */
            status: number | null;
            /**
             * @description Why there was no answer: timeout, dns, connection, tls, blocked, protocol or adapter.
             * @example null
             */
            error: string | null;
            /**
             * @description How long it took, in milliseconds.
             * @example 42
             */
            duration_ms: number;
            /**
             * Format: date-time
             * @description When it started.
             * @example 2026-11-21T09:30:00.120Z
             */
            at: string;
            /**
             * @description The first 1 KB of the answer, or what went wrong.
             * @example Try again later
             */
            response_excerpt: string | null;
            /**
             * @description Whether it belongs to a replay of the event.
             * @example false
             */
            replayed: boolean;
            /**
             * Format: date-time
             * @description When the next attempt of the delivery is due; null when there is none, or another one was made since.
             * @example null
             */
            next_attempt_at: string | null;
        };
        EndpointAttemptPage: {
            /** @description The attempts of this page. */
            data: components["schemas"]["EndpointAttemptItem"][];
            /**
             * @description Pass it as `cursor` for the next page; null on the last one.
             * @example null
             */
            next_cursor: string | null;
        };
        SubscriberItem: {
            /**
             * @description The endpoint.
             * @example ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            endpoint: string;
            /**
             * @description The application that it belongs to.
             * @example app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            application: string;
            /**
             * @description Your own id of the application; null without one.
             * @example customer-42
             */
            application_uid: string | null;
            /**
             * @description What people know the application by.
             * @example Acme Inc.
             */
            application_name: string;
            /**
             * @description Where the endpoint is; null for one that goes to a destination.
             * @example https://example.com/webhooks
             */
            url: string | null;
            /**
             * @description The destination of the registry that it goes to; null for one with a URL.
             * @example null
             */
            destination: string | null;
            /**
             * @description Event types that it subscribes to; none for all.
             * @example [
             *       "invoice.*"
             *     ]
             */
            event_types: string[];
            /**
             * @description Channels that it listens to; none for all messages.
             * @example [
             *       "project-42"
             *     ]
             */
            channels: string[];
            /**
             * @description True when a filter on the payload decides too.
             * @example false
             */
            is_filtered: boolean;
            /**
             * @description `disabled` takes no deliveries until it is enabled.
             * @example active
             * @enum {string}
             */
            status: "active" | "disabled";
        };
        SubscriberPage: {
            /** @description The subscribers. */
            data: components["schemas"]["SubscriberItem"][];
            /**
             * @description Pass it as `cursor` for the next page; null on the last one. A page may be short, or empty, and not the last.
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
             * @description Counts the tries from 1.
             * @example 1
             */
            number: number;
            /**
             * @description HTTP status of the answer; null when there was none.
             * @example 200
             */
            status: number | null;
            /**
             * @description How long it took, in milliseconds.
             * @example 42
             */
            duration_ms: number;
            /**
             * Format: date-time
             * @description When it started.
             * @example 2026-11-21T09:30:00.120Z
             */
            at: string;
            /**
             * @description The first 1 KB of the answer, or what went wrong.
             * @example ok
             */
            response_excerpt: string | null;
            /**
             * @description Why there was no answer: timeout, dns, connection, tls, blocked, protocol or adapter.
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
            /** @description The first attempt; null when none was made within 20 seconds, because the circuit is open or a rate limit holds it. */
            attempt: components["schemas"]["TestAttempt"] | null;
        };
        EmitBody: {
            /**
             * @description What happened: up to 256 letters, digits and `. _ - : /`.
             * @example invoice.paid
             */
            event_type: string;
            /**
             * @description The body of the webhooks, up to 1 MB. It is delivered in the very characters of this request.
             * @example {
             *       "id": "in_1",
             *       "amount": 4200
             *     }
             */
            payload: {
                [key: string]: unknown;
            };
            /**
             * @description What it also belongs to: endpoints with channels of their own get it only when one of them is named here.
             * @example [
             *       "project-42"
             *     ]
             */
            channels?: string[];
            /**
             * @description Headers to forward with the deliveries; they win over the destination's own. At most 64 headers, of 8 KB each and 32 KB together, in visible Latin-1 characters. Refused with 422: `connection`, `keep-alive`, `te`, `trailer`, `trailers`, `transfer-encoding`, `upgrade`, `http2-settings`, `expect`, `host`, `user-agent`, `cookie`, `content-type`, `content-length`, `content-encoding`, `content-language`, `content-location`, `age`, `cache-control`, `clear-site-data`, `expires`, `pragma`, `warning`, `traceparent`, `tracestate`, and names that begin with `webhook-`, `svix-`, `x-svix-`, `proxy-`, `x-amz-`, `x-amzn-`, `x-google`, `x-goog-`, `x-gfe`, `x-azure-`, `x-fd-`. Everything else is taken, `authorization` too.
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
             * @description Id of the message, which is the `webhook-id` of every delivery.
             * @example msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            message_id: string;
            /**
             * @description How many endpoints it goes to. With 0 nothing subscribes to it: it is kept as one event that is `ignored`.
             * @example 3
             */
            fanout: number;
        };
        SendBody: {
            /**
             * @description Where to send: the id of a destination, or an HTTPS URL.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            destination: string;
            /**
             * @description What happened: up to 256 letters, digits and `. _ - : /`.
             * @example invoice.paid
             */
            event_type: string;
            /**
             * @description The body of the webhook, up to 1 MB. It is delivered in the very characters of this request.
             * @example {
             *       "id": "in_1",
             *       "amount": 4200
             *     }
             */
            payload: {
                [key: string]: unknown;
            };
            /**
             * @description Headers to forward with the deliveries; they win over the destination's own. At most 64 headers, of 8 KB each and 32 KB together, in visible Latin-1 characters. Refused with 422: `connection`, `keep-alive`, `te`, `trailer`, `trailers`, `transfer-encoding`, `upgrade`, `http2-settings`, `expect`, `host`, `user-agent`, `cookie`, `content-type`, `content-length`, `content-encoding`, `content-language`, `content-location`, `age`, `cache-control`, `clear-site-data`, `expires`, `pragma`, `warning`, `traceparent`, `tracestate`, and names that begin with `webhook-`, `svix-`, `x-svix-`, `proxy-`, `x-amz-`, `x-amzn-`, `x-google`, `x-goog-`, `x-gfe`, `x-azure-`, `x-fd-`. Everything else is taken, `authorization` too.
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
             * @description Id of the message, which is also its `webhook-id`.
             * @example msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            message_id: string;
        };
        DomainRecordItem: {
            /**
             * @description What it is for.
             * @example ownership
             * @enum {string}
             */
            record: "ownership" | "dkim" | "mail_from" | "spf" | "mx" | "cname" | "dmarc";
            /**
             * @description Its type.
             * @example TXT
             * @enum {string}
             */
            type: "TXT" | "CNAME" | "MX";
            /**
             * @description Its whole name, without a dot at its end.
             * @example _posthorn.mail.example.com
             */
            name: string;
            /**
             * @description What it says.
             * @example posthorn-verification=5f2b7c3e9a1d4f6880b1c2d3e4f5a6b7c8d9e0f1
             */
            value: string;
            /**
             * @description Of an MX; null for every other type.
             * @example null
             */
            priority: number | null;
            /**
             * @description For how long others may remember it, in seconds.
             * @example 3600
             */
            ttl: number;
            /**
             * @description Whether the domain needs it to be verified.
             * @example true
             */
            required: boolean;
            /**
             * @description `pending` while nothing is there, `failed` for what is wrong or has gone, `temporary_failure` when name servers did not answer.
             * @example pending
             * @enum {string}
             */
            status: "pending" | "verified" | "failed" | "temporary_failure";
            /**
             * @description What was seen instead, and what to do; null when it is right, and before the first check.
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
             * @description Its name, in lower case and in its ASCII form.
             * @example mail.example.com
             */
            domain: string;
            /**
             * @description What it is for.
             * @example email-send
             * @enum {string}
             */
            kind: "webhook" | "email" | "email-send";
            /**
             * @description `verified` when every required record was seen, `failed` after 72 hours of answers without one of them.
             * @example pending-dns
             * @enum {string}
             */
            state: "pending-dns" | "verified" | "failed";
            /**
             * @description Whether mail may be sent from it. One that was converted goes on sending while it is `pending-dns`.
             * @example false
             */
            sending_enabled: boolean;
            /**
             * @description Whether its mail, or the requests to its host, are taken.
             * @example false
             */
            receiving_enabled: boolean;
            /** @description What to publish. */
            records: components["schemas"]["DomainRecordItem"][];
            /**
             * Format: date-time
             * @description When it was created.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was converted or checked last.
             * @example 2026-11-21T09:30:00.000Z
             */
            updated_at: string;
            /**
             * Format: date-time
             * @description When it was last found complete after it had not been; null before the first time.
             * @example null
             */
            verified_at: string | null;
        };
        DomainPage: {
            /** @description The domains of this page. */
            data: components["schemas"]["DomainDetail"][];
            /**
             * @description Pass it as `cursor` for the next page; null on the last one.
             * @example null
             */
            next_cursor: string | null;
        };
        NewDomainBody: {
            /**
             * @description Its name: at least two labels, in any script, without a scheme or a path. No public suffix, and nothing of the platform's own.
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
             * @description For kind `email`: whether its mail may be taken away from where its MX leads now. Without it that is 409 with `details.mx`.
             * @default false
             * @example false
             */
            acknowledge_mx_conflict: boolean;
        };
        DomainChangesBody: {
            /**
             * @description The new kind. A webhook domain has no other.
             * @example email
             * @enum {string}
             */
            kind: "email" | "email-send";
            /**
             * @description When it becomes `email`: whether its mail may be taken away from where its MX leads now.
             * @default false
             * @example true
             */
            acknowledge_mx_conflict: boolean;
        };
        SimulatedAddressItem: {
            /**
             * @description What it plays: its mail is delivered, bounces, is complained about, is suppressed, or is put off.
             * @example bounced
             * @enum {string}
             */
            role: "delivered" | "bounced" | "complained" | "suppressed" | "deferred";
            /**
             * @description The address; `bounced+a-label@…` plays the same.
             * @example bounced@simulator.posthorn.example
             */
            address: string;
        };
        SimulatorDetail: {
            /**
             * @description The host of its addresses. Any of them may be `from`, without a domain of your own.
             * @example simulator.posthorn.example
             */
            host: string;
            /** @description Addresses that play a recipient. Nothing is sent to them. */
            addresses: components["schemas"]["SimulatedAddressItem"][];
            /**
             * @description Whether mail to anybody else stays inside as well: in the test environment, and with the transport `capture:`, where it reaches the aliases of this installation.
             * @example true
             */
            captured: boolean;
        };
        EmailAttachmentBody: {
            /**
             * @description What the file is called; of a `url` its last segment when left out.
             * @example invoice.pdf
             */
            filename?: string;
            /**
             * @description Its media type; of a `url` what its server says when left out.
             * @example application/pdf
             */
            content_type?: string;
            /**
             * @description The same as `content_type`.
             * @example application/pdf
             */
            contentType?: string;
            /**
             * @description The bytes in base64 (RFC 4648), with padding and without line breaks.
             * @example SGVsbG8=
             */
            content?: string;
            /**
             * @description A public https URL that the file is fetched from now, within ten seconds; redirects are not followed.
             * @example https://example.com/invoice.pdf
             */
            url?: string;
            /**
             * @description The same as `url`.
             * @example https://example.com/invoice.pdf
             */
            path?: string;
            /**
             * @description What `cid:` in the html refers to: the file is shown there.
             * @example logo
             */
            content_id?: string;
            /**
             * @description The same as `content_id`.
             * @example logo
             */
            contentId?: string;
        };
        EmailTag: {
            /**
             * @description Letters, digits, "_" and "-".
             * @example campaign
             */
            name: string;
            /**
             * @description Letters, digits, "_" and "-".
             * @example welcome
             */
            value: string;
        };
        EmailBody: {
            /**
             * @description One mailbox, with a name if you like; its domain is a verified one that sends.
             * @example Shop <shop@example.com>
             */
            from: string;
            /**
             * @description Who gets it: an address, or a list. At most 50 recipients, those of cc and bcc included.
             * @example [
             *       "customer@example.org"
             *     ]
             */
            to: string | string[];
            /**
             * @description Who gets a copy that everybody sees.
             * @example [
             *       "accounts@example.org"
             *     ]
             */
            cc?: string | string[];
            /**
             * @description Who gets a copy that nobody sees: it is in no header.
             * @example [
             *       "archive@example.com"
             *     ]
             */
            bcc?: string | string[];
            /**
             * @description Where answers go.
             * @example support@example.com
             */
            reply_to?: string | string[];
            /**
             * @description The same as `reply_to`.
             * @example support@example.com
             */
            replyTo?: string | string[];
            /**
             * @description The subject, without line breaks.
             * @example Your order
             */
            subject: string;
            /**
             * @description The message as html, at most 1 MB. One of `html` and `text` is needed; with both, clients choose.
             * @example <p>It is on its way.</p>
             */
            html?: string;
            /**
             * @description The message as text, at most 1 MB.
             * @example It is on its way.
             */
            text?: string;
            /**
             * @description Headers of your own. At most 64 headers, of 4 KB each and 32 KB together, without line breaks and control characters. Refused with 422: `from`, `sender`, `to`, `cc`, `bcc`, `reply-to`, `apparently-to`, `delivered-to`, `envelope-to`, `x-original-to`, `errors-to`, `return-path`, `return-receipt-to`, `disposition-notification-to`, `subject`, `date`, `message-id`, `mime-version`, `otp-token`, `dkim-signature`, `domainkey-signature`, `authentication-results`, `received`, `received-spf`, `x-google-dkim-signature`, `x-smtpapi`, `x-msys-api`, and names that begin with `content-`, `resent-`, `arc-`, `x-posthorn-`, `x-ses-`, `x-mailgun-`, `x-mc-`, `x-mj-`, `x-pm-`. `List-Unsubscribe` and `List-Unsubscribe-Post` are taken, and signed.
             * @example {
             *       "X-Entity-Ref-ID": "order-4711"
             *     }
             */
            headers?: {
                [key: string]: string;
            };
            /** @description Files, at most 20 with 10 MB together once they are decoded. */
            attachments?: components["schemas"]["EmailAttachmentBody"][];
            /** @description Marks of your own, which are not sent; at most 20. */
            tags?: components["schemas"]["EmailTag"][];
            /**
             * @description When it is to leave; at once when left out. A time of RFC 3339 with its zone, such as 2026-11-21T09:30:00Z, or "in 5 minutes" (hours, days); at most 30 days ahead. One that has passed is now. Not in a batch.
             * @example in 5 minutes
             */
            scheduled_at?: string;
            /**
             * @description The same as `scheduled_at`.
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
             * @description The email's id, which is that of its event.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description `sending`; `scheduled` when it leaves later, `suppressed` when nobody may be sent to.
             * @example sending
             * @enum {string}
             */
            status: "sending" | "scheduled" | "suppressed";
        };
        EmailBatchError: {
            /**
             * @description A type of an error, as in an answer of its own; `suppressed` when every recipient is.
             * @example validation_failed
             */
            type: string;
            /**
             * @description What happened, and what to do.
             * @example to.0: An address has exactly one "@", as in name@example.com.
             */
            message: string;
        };
        EmailBatchItem: {
            /**
             * @description The email's id; null when it was not accepted.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string | null;
            /** @description Why it is not sent; absent when it is. */
            error?: components["schemas"]["EmailBatchError"];
        };
        EmailBatchAccepted: {
            /** @description One entry for each email, in the order of the request. */
            data: components["schemas"]["EmailBatchItem"][];
        };
        EmailItem: {
            /**
             * @description The email's id, which is that of its event.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Who sent it.
             * @example Shop <shop@example.com>
             */
            from: string;
            /**
             * @description Whom it was addressed to.
             * @example [
             *       "customer@example.org"
             *     ]
             */
            to: string[];
            /**
             * @description Its subject.
             * @example Your order
             */
            subject: string;
            /**
             * @description The worst that happened to a recipient: complained, bounced, dlq (the retries are used up), failed, sending, delivered; suppressed when all are, and scheduled before it leaves.
             * @example delivered
             * @enum {string}
             */
            status: "scheduled" | "sending" | "delivered" | "bounced" | "complained" | "suppressed" | "failed" | "dlq";
            /**
             * Format: date-time
             * @description When it was accepted.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it leaves, or was to leave; absent where nobody said so.
             * @example 2026-11-21T10:30:00.000Z
             */
            scheduled_at?: string;
        };
        EmailPage: {
            /** @description The emails of this page. */
            data: components["schemas"]["EmailItem"][];
            /**
             * @description Pass it as `cursor` for the next page; null on the last one. A page of one status may be short and not the last.
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
             * @description As of an email.
             * @example delivered
             * @enum {string}
             */
            status: "scheduled" | "sending" | "delivered" | "bounced" | "complained" | "suppressed" | "failed" | "dlq";
            /**
             * Format: date-time
             * @description Since when.
             * @example 2026-11-21T09:30:00.120Z
             */
            at: string;
            /**
             * @description What was said last.
             * @example 250 2.0.0 OK
             */
            detail: string | null;
        };
        EmailAttempt: {
            /**
             * @description Counts the tries from 1.
             * @example 1
             */
            number: number;
            /**
             * @description The SMTP code of the answer; null when there was none.
             * @example 250
             */
            status: number | null;
            /**
             * @description How long it took, in milliseconds.
             * @example 42
             */
            duration_ms: number;
            /**
             * Format: date-time
             * @description When it started.
             * @example 2026-11-21T09:30:00.120Z
             */
            at: string;
            /**
             * @description The last line of the answer, at most 1 KB.
             * @example 250 2.0.0 OK
             */
            response_excerpt: string | null;
        };
        EmailFactItem: {
            /**
             * @description `sent` (handed over), `delivered`, `bounced`, `complained`, or `rejected` (the message was refused, or its recipient is suppressed).
             * @example delivered
             * @enum {string}
             */
            type: "sent" | "delivered" | "bounced" | "complained" | "rejected";
            /**
             * @description What kind of it: an enhanced status code (RFC 3463), `suppressed`, or a word of the source.
             * @example null
             */
            subtype: string | null;
            /**
             * Format: date-time
             * @description When it became known.
             * @example 2026-11-21T09:30:00.120Z
             */
            at: string;
            /**
             * @description What was said.
             * @example 250 2.0.0 OK
             */
            detail: string | null;
            /**
             * @description Whom it is about.
             * @example customer@example.org
             */
            recipient: string;
        };
        EmailAttachmentItem: {
            /**
             * @description What it is called.
             * @example invoice.pdf
             */
            filename: string;
            /**
             * @description Its media type.
             * @example application/pdf
             */
            content_type: string;
            /**
             * @description Its size.
             * @example 48213
             */
            size_bytes: number;
        };
        EmailDetail: {
            /**
             * @description The email's id, which is that of its event.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Who sent it.
             * @example Shop <shop@example.com>
             */
            from: string;
            /**
             * @description Whom it was addressed to.
             * @example [
             *       "customer@example.org"
             *     ]
             */
            to: string[];
            /**
             * @description Its subject.
             * @example Your order
             */
            subject: string;
            /**
             * @description The worst that happened to a recipient: complained, bounced, dlq (the retries are used up), failed, sending, delivered; suppressed when all are, and scheduled before it leaves.
             * @example delivered
             * @enum {string}
             */
            status: "scheduled" | "sending" | "delivered" | "bounced" | "complained" | "suppressed" | "failed" | "dlq";
            /**
             * Format: date-time
             * @description When it was accepted.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it leaves, or was to leave; absent where nobody said so.
             * @example 2026-11-21T10:30:00.000Z
             */
            scheduled_at?: string;
            /**
             * @description Who got a copy.
             * @example []
             */
            cc: string[];
            /**
             * @description Who got a copy that nobody saw.
             * @example []
             */
            bcc: string[];
            /**
             * @description Where answers go.
             * @example [
             *       "support@example.com"
             *     ]
             */
            reply_to: string[];
            /**
             * @description Its Message-ID (RFC 5322), the same on every attempt.
             * @example <evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1@example.com>
             */
            message_id: string;
            /** @description Each recipient, once. */
            recipients: components["schemas"]["EmailRecipientItem"][];
            /** @description The tries to hand it over, oldest first. */
            attempts: components["schemas"]["EmailAttempt"][];
            /** @description What became known of it, oldest first. */
            timeline: components["schemas"]["EmailFactItem"][];
            /** @description Marks of your own. */
            tags: components["schemas"]["EmailTag"][];
            /** @description Files that went with it. */
            attachments: components["schemas"]["EmailAttachmentItem"][];
            /**
             * @description How large the message is as it is sent; 0 before a scheduled one is composed.
             * @example 1482
             */
            size_bytes: number;
            /**
             * @description True where nothing leaves: in the test environment, and from the simulator's addresses.
             * @example false
             */
            captured: boolean;
            /**
             * Format: date-time
             * @description When it was erased; absent while it is there.
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
             * @description In lower case.
             * @example subject
             */
            name: string;
            /**
             * @description Unfolded, otherwise as it leaves.
             * @example Your order
             */
            value: string;
        };
        EmailFileItem: {
            /**
             * @description What it is called.
             * @example invoice.pdf
             */
            filename: string;
            /**
             * @description Its media type.
             * @example application/pdf
             */
            content_type: string;
            /**
             * @description Decoded.
             * @example 48213
             */
            size_bytes: number;
            /**
             * @description How the HTML names it (`cid:`); null for none.
             * @example null
             */
            content_id: string | null;
            /**
             * @description Where its bytes are, below this service.
             * @example /v1/emails/evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1/attachments/0
             */
            path: string;
        };
        EmailContent: {
            /**
             * @description Its text, up to 1 MB; null without one.
             * @example It is on its way.
             */
            text: string | null;
            /**
             * @description Its HTML, up to 1 MB, as it was given: whoever shows it takes a view. Null without one.
             * @example <p>It is on its way.</p>
             */
            html: string | null;
            /** @description Its headers in their order, repeated ones too. */
            header_lines: components["schemas"]["EmailHeaderItem"][];
            /** @description Its files, in their order. */
            attachments: components["schemas"]["EmailFileItem"][];
            /**
             * @description Whether something was cut. The message itself has all of it.
             * @example false
             */
            truncated: boolean;
        };
        MailViewItem: {
            /**
             * @description What `GET /v1/mail-views` takes: good for this one message, and for a minute.
             * @example WzEsIjAxOWFhNGMwLTAwMDAtNzAwMC04MDAwLTAwMDAwMDAwMDAwMCIsbnVsbCwxNzk1NTk3ODYwMDAwXQ.c2lnbmF0dXJl
             */
            token: string;
            /**
             * @description The document's address, with the token: for an `<iframe sandbox>` of a page of this service's own origin.
             * @example https://hooks.example.com/v1/mail-views?token=WzEsIjAxOWFhNGMwLTAwMDAtNzAwMC04MDAwLTAwMDAwMDAwMDAwMCIsbnVsbCwxNzk1NTk3ODYwMDAwXQ.c2lnbmF0dXJl
             */
            url: string;
            /**
             * Format: date-time
             * @description Until when it is good.
             * @example 2026-11-21T09:31:00.000Z
             */
            expires_at: string;
        };
        SuppressionItem: {
            /**
             * @description Its id.
             * @example sup_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description The address.
             * @example customer@example.org
             */
            email: string;
            /**
             * @description Why: its server refused it for good, its owner complained, or somebody added it.
             * @example bounce
             * @enum {string}
             */
            origin: "bounce" | "complaint" | "manual";
            /**
             * @description The email that it came of; null when somebody added it.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            source_id: string | null;
            /**
             * Format: date-time
             * @description Since when.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Until when; null for ever. A bounce expires where the operator has set `BOUNCE_SUPPRESSION_DAYS`.
             * @example null
             */
            expires_at: string | null;
        };
        SuppressionPage: {
            /** @description The suppressions of this page. */
            data: components["schemas"]["SuppressionItem"][];
            /**
             * @description Pass it as `cursor` for the next page; null on the last one.
             * @example null
             */
            next_cursor: string | null;
        };
        NewSuppressionBody: {
            /**
             * @description The address, in any case.
             * @example customer@example.org
             */
            email: string;
        };
        AliasRouteItem: {
            /**
             * @description The destination.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            destination: string;
            /**
             * @description Which of its mail; null for all.
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
             * @description Its id.
             * @example al_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description The whole address, which the service computed.
             * @example invoices.acme@posthorn.example
             */
            address: string;
            /**
             * @description Under which domain it is.
             * @example platform
             * @enum {string}
             */
            kind: "platform" | "custom";
            /**
             * @description As it was asked for, in lower case.
             * @example invoices
             */
            localPart: string;
            /**
             * @description What is behind the `@`.
             * @example posthorn.example
             */
            domain: string;
            /**
             * @description Where its mail goes.
             * @example [
             *       "dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1"
             *     ]
             */
            destinationIds: string[];
            /**
             * @description Where its mail goes, and which of it.
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
             * @description Who may write; empty for everybody.
             * @example [
             *       "@example.org"
             *     ]
             */
            allowedSenders: string[];
            /**
             * @description Null for what the listener takes at most.
             * @example null
             */
            maxSizeBytes: number | null;
            /**
             * Format: date-time
             * @description When it was made.
             * @example 2026-11-22T09:30:00.000Z
             */
            createdAt: string;
        };
        AliasPage: {
            /** @description The aliases of this page. */
            data: components["schemas"]["AliasItem"][];
            /**
             * @description Pass it as `cursor` for the next page; null on the last one.
             * @example null
             */
            next_cursor: string | null;
        };
        AliasRouteConfig: {
            /**
             * @description The destination; an alias has at most one route to each.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            destination: string;
            /**
             * @description Which of its mail: a condition on the fields of the event, in the grammar of endpoints' route filters (a leaf without `type` is `json`); null for all.
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
             * @description `platform` for `<localPart>.<slug>@<platform domain>`, `custom` for a domain of yours.
             * @example platform
             * @enum {string}
             */
            kind: "platform" | "custom";
            /**
             * @description Of a custom alias: a verified domain of kind `email`.
             * @example dom_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            domainId?: string;
            /**
             * @description Letters, digits, `_`, `-` and single dots, at most 64, in any case; or `*` for what no other alias of the domain takes. Names that mail servers use themselves (postmaster, abuse, mailer-daemon, bounces) are 400.
             * @example invoices
             */
            localPart: string;
            /**
             * @description Where its mail goes, as events of type `email.received`: the short form of `routes`. None keeps it without sending it on.
             * @example [
             *       "dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1"
             *     ]
             */
            destinationIds?: string[];
            /**
             * @description Where its mail goes, and which of it: mail that passes no filter is `ignored`.
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
             * @description Who may write: addresses (`a@example.com`), domains (`@example.com`), or what is below one (`*.example.com`), matched on the one mailbox of the From header. None lets everybody.
             * @example [
             *       "@example.org"
             *     ]
             */
            allowedSenders?: string[];
            /**
             * @description Larger messages are refused with 552. Null, or left out, for what the listener takes at most, 40 MB.
             * @example 10485760
             */
            maxSizeBytes?: number | null;
        };
        AliasChangesBody: {
            /**
             * @description Where its mail goes from now on: the short form of `routes`, which keeps the filters of destinations that stay.
             * @example [
             *       "dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1"
             *     ]
             */
            destinationIds?: string[];
            /**
             * @description Where its mail goes from now on, and which of it; a filter that is left out, or null, lets everything through.
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
             * @description Who may write.
             * @example [
             *       "anna@example.org",
             *       "*.example.org"
             *     ]
             */
            allowedSenders?: string[];
            /**
             * @description Larger messages are refused with 552; null for what the listener takes at most.
             * @example 10485760
             */
            maxSizeBytes?: number | null;
        };
        ReceivedMessageItem: {
            /**
             * @description The message's id, and that of its event.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Its Message-ID header, which its sender chose: it need not be unique. Null without one.
             * @example <4711@mail.example.com>
             */
            message_id: string | null;
            /**
             * @description Whom it says it is from; the sender of the envelope until it was read.
             * @example Ada <ada@example.com>
             */
            from: string;
            /**
             * @description Its subject; null until it was read.
             * @example Order 42
             */
            subject: string | null;
            /**
             * Format: date-time
             * @description When it was taken.
             * @example 2026-11-21T09:30:00.000Z
             */
            received_at: string;
            /**
             * @description Whether it is from whom it says it is: what DMARC says; `none` where nobody can tell.
             * @example pass
             * @enum {string}
             */
            auth: "pass" | "fail" | "none";
            /**
             * @description `received` until it was read, then `processed` or `quarantined`.
             * @example processed
             * @enum {string}
             */
            state: "received" | "processed" | "quarantined";
            /**
             * @description Why it is quarantined: sender_not_allowed, too_large, from_missing, from_ambiguous, dmarc_failed, virus or sender_unverified (name servers did not answer); null otherwise, and once it was released.
             * @example null
             */
            reason: string | null;
        };
        ReceivedMessagePage: {
            /** @description The messages of this page. */
            data: components["schemas"]["ReceivedMessageItem"][];
            /**
             * @description Pass it as `cursor` for the next page; null on the last one.
             * @example null
             */
            next_cursor: string | null;
        };
        ReceivedHeaderItem: {
            /**
             * @description In lower case.
             * @example x-mailer
             */
            name: string;
            /**
             * @description Unfolded, otherwise as it came.
             * @example Example 1.0
             */
            value: string;
        };
        ReceivedVerdictsItem: {
            /**
             * @description Whether the sender of the envelope (of a null sender, the HELO) may send from that address (RFC 7208).
             * @example pass
             * @enum {string}
             */
            spf: "pass" | "fail" | "softfail" | "neutral" | "policy" | "none" | "temperror" | "permerror";
            /**
             * @description The best of its signatures (RFC 6376).
             * @example pass
             * @enum {string}
             */
            dkim: "pass" | "fail" | "softfail" | "neutral" | "policy" | "none" | "temperror" | "permerror";
            /**
             * @description Whether one of the two belongs to the domain of its author (RFC 9989). `temperror` when name servers did not answer for what would have decided that.
             * @example pass
             * @enum {string}
             */
            dmarc: "pass" | "fail" | "softfail" | "neutral" | "policy" | "none" | "temperror" | "permerror";
            /**
             * @description What forwarders say of it (RFC 8617); only told.
             * @example none
             * @enum {string}
             */
            arc: "pass" | "fail" | "softfail" | "neutral" | "policy" | "none" | "temperror" | "permerror";
            /**
             * @description What rspamd says; `disabled` without one.
             * @example disabled
             * @enum {string}
             */
            spam: "pass" | "fail" | "gray" | "disabled" | "processing_failed";
            /**
             * @description What clamd says; `disabled` without one.
             * @example disabled
             * @enum {string}
             */
            virus: "pass" | "fail" | "gray" | "disabled" | "processing_failed";
            /**
             * @description What the domain of its author asks for when DMARC fails; null without a record, and when name servers did not answer for it.
             * @example reject
             * @enum {string|null}
             */
            dmarc_policy: "none" | "quarantine" | "reject" | null;
        };
        ReceivedAttachmentItem: {
            /**
             * @description What its sender calls it, made safe: without a path.
             * @example invoice.pdf
             */
            filename: string;
            /**
             * @description What its sender says it is.
             * @example application/pdf
             */
            content_type: string;
            /**
             * @description Decoded.
             * @example 48213
             */
            size_bytes: number;
            /**
             * @description How the message's HTML names it (`cid:`); null for none.
             * @example null
             */
            content_id: string | null;
            /**
             * @description Where its bytes are.
             * @example https://hooks.example.com/v1/aliases/al_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1/messages/evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1/attachments/0
             */
            url: string;
        };
        ReceivedMessageDetail: {
            /**
             * @description The message's id.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Its Message-ID header; null without one.
             * @example <4711@mail.example.com>
             */
            message_id: string | null;
            /**
             * @description Its event: the same id.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            event_id: string;
            /**
             * @description The address of the alias that it came to.
             * @example support.acme@in.example.com
             */
            alias: string;
            /**
             * @description The id of the alias: what events are filtered by as `endpoint`.
             * @example al_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            endpoint_id: string;
            /**
             * @description Whom it says it is from.
             * @example Ada <ada@example.com>
             */
            from: string;
            /**
             * @description Whom it says it is for: at most 1,000.
             * @example [
             *       "support.acme@in.example.com"
             *     ]
             */
            to: string[];
            /**
             * @description Who has a copy.
             * @example []
             */
            cc: string[];
            /**
             * @description Where answers are to go.
             * @example []
             */
            reply_to: string[];
            /**
             * @description The recipients that led to this alias, as the sending server gave them: a blind copy stands nowhere else.
             * @example [
             *       "support.acme+orders@in.example.com"
             *     ]
             */
            recipients: string[];
            /**
             * @description Its subject.
             * @example Order 42
             */
            subject: string;
            /**
             * Format: date-time
             * @description When it was taken.
             * @example 2026-11-21T09:30:00.000Z
             */
            received_at: string;
            /**
             * Format: date-time
             * @description When its sender says it was written; null for what is no time.
             * @example 2026-11-21T09:29:58.000Z
             */
            date: string | null;
            /**
             * @description Its text, up to 1 MB (64 KB in the event); null without one.
             * @example Where is it?
             */
            text: string | null;
            /**
             * @description Its HTML as it came, up to 1 MB (64 KB in the event): never show it without cleaning it. Null without one.
             * @example null
             */
            html: string | null;
            /**
             * @description Whether something was cut: the text, the HTML, headers, or a long list. `raw_url` has all of it.
             * @example false
             */
            truncated: boolean;
            /**
             * @description Of the whole message.
             * @example 2048
             */
            size_bytes: number;
            /**
             * @description Its headers by their names in lower case; repeated ones are joined by line ends.
             * @example {
             *       "subject": "Order 42"
             *     }
             */
            headers: {
                [key: string]: string;
            };
            /** @description Its headers in their order, repeated ones too. */
            header_lines: components["schemas"]["ReceivedHeaderItem"][];
            /**
             * @description The Message-ID that it answers; null for none.
             * @example null
             */
            in_reply_to: string | null;
            /**
             * @description The Message-IDs of its thread, oldest first.
             * @example []
             */
            references: string[];
            /**
             * @description Whether a machine sent it by itself (RFC 3834): such a message is not to be answered by another one.
             * @example false
             */
            auto_submitted: boolean;
            /** @description What was found out about it. */
            verdicts: components["schemas"]["ReceivedVerdictsItem"];
            /**
             * @description Of its event: delivered, retrying, dlq, failed, ignored (the alias leads nowhere), parked (it could not be read) or quarantined; `received` until it was read.
             * @example delivered
             */
            status: string;
            /**
             * @description Why it is quarantined; null otherwise.
             * @example null
             */
            reason: string | null;
            /**
             * @description Whether it is from whom it says it is: what DMARC says; `none` where nobody can tell.
             * @example pass
             * @enum {string}
             */
            auth: "pass" | "fail" | "none";
            /**
             * @description Why it could not be read, in a sentence; null for one that could.
             * @example null
             */
            parse_error: string | null;
            /**
             * @description Where it is byte for byte.
             * @example https://hooks.example.com/v1/aliases/al_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1/messages/evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1/raw
             */
            raw_url: string;
            /** @description Its files, in their order. */
            attachments: components["schemas"]["ReceivedAttachmentItem"][];
        };
        AliasReplayBody: {
            /**
             * Format: date-time
             * @description Only messages that were taken at or after this time (RFC 3339).
             * @example 2026-11-20T00:00:00.000Z
             */
            since?: string;
            /**
             * Format: date-time
             * @description Only messages that were taken at or before this time (RFC 3339).
             * @example 2026-11-21T00:00:00.000Z
             */
            until?: string;
            /**
             * @description Only messages whose event is in this state.
             * @example dlq
             * @enum {string}
             */
            status?: "delivered" | "failed" | "retrying" | "dlq";
            /**
             * @description Only count.
             * @default false
             * @example false
             */
            dry_run: boolean;
            /**
             * @description Where to go on: the `next_cursor` of the call before, with the same fields.
             * @example WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl
             */
            cursor?: string;
        };
        AliasReplayItem: {
            /**
             * @description Id of this call.
             * @example rpl_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            replay_id: string;
            /**
             * @description The alias.
             * @example al_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            alias_id: string;
            /**
             * @description Whether it only counted.
             * @example false
             */
            dry_run: boolean;
            /**
             * @description Messages that were looked at.
             * @example 3
             */
            scanned: number;
            /**
             * @description Messages that are sent again, or would be.
             * @example 2
             */
            replayed: number;
            /**
             * @description Deliveries that are made for them, or would be: one for each destination.
             * @example 2
             */
            enqueued: number;
            /**
             * @description Messages that go nowhere, since the alias has no destination.
             * @example 0
             */
            skipped: number;
            /**
             * @description Messages that are never sent again: quarantined, parked or erased.
             * @example 1
             */
            excluded: number;
            /**
             * @description Where they go.
             * @example [
             *       "dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1"
             *     ]
             */
            destinations: string[];
            /**
             * @description Pass it as `cursor` for the next 1,000; null when there are no more.
             * @example null
             */
            next_cursor: string | null;
        };
        IngestDomainItem: {
            /**
             * @description The domain's id.
             * @example pdom_00000000000000000000000001
             */
            id: string;
            /**
             * @description Its host, with the port where it is not the scheme's own.
             * @example hooks.example.com
             */
            host: string;
            /**
             * @description `platform` is this installation's own host, `custom` a verified domain of yours.
             * @example platform
             * @enum {string}
             */
            kind: "platform" | "custom";
        };
        EndpointItem: {
            /**
             * @description The endpoint's id.
             * @example ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Its path: on the platform's host the organization's slug first; empty at the root of a domain of yours.
             * @example acme/stripe
             */
            path: string;
            /**
             * @description What people know it by.
             * @example Stripe payments
             */
            name: string;
            /**
             * @description The provider; null without one.
             * @example stripe
             */
            preset: string | null;
            /**
             * @description The URL to give to the provider.
             * @example https://hooks.example.com/in/acme/stripe
             */
            url: string;
            /** @description The ingest domain of the URL. */
            domain: components["schemas"]["IngestDomainItem"];
            /**
             * @description Where its events go.
             * @example [
             *       "dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1"
             *     ]
             */
            destinations: string[];
            /**
             * @description How signatures are verified.
             * @example preset
             * @enum {string}
             */
            verification: "none" | "preset" | "hmac-sha256" | "hmac-sha1" | "hmac-sha512" | "rsa-sha256" | "ed25519" | "jwt" | "bearer" | "basic" | "api-key";
            /**
             * @description `paused` parks what comes; `disabled` was switched off by the service.
             * @example active
             * @enum {string}
             */
            status: "active" | "paused" | "disabled";
            /**
             * @description Whether the provider's secret was set; it is never shown.
             * @example true
             */
            has_secret: boolean;
            /**
             * @description Rises with every change of the settings or the routes.
             * @example 1
             */
            version: number;
            /**
             * Format: date-time
             * @description When it was created.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was changed last, its secret included.
             * @example 2026-11-21T09:30:00.000Z
             */
            updated_at: string;
        };
        EndpointPage: {
            /** @description The endpoints of this page. */
            data: components["schemas"]["EndpointItem"][];
            /**
             * @description Pass it as `cursor` for the next page; null on the last one.
             * @example null
             */
            next_cursor: string | null;
            /** @description How many match the filters, over all pages; only when `count` asks for it. */
            count?: components["schemas"]["ListCount"];
        };
        RouteConfig: {
            /**
             * @description A route to keep; left out for a new one.
             * @example rte_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id?: string;
            /**
             * @description The destination.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            destination: string;
            /**
             * @description Which events: a condition in the grammar of `when`, whose `type` is `json` when left out; null for all.
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
             * @description The status, 200 to 599; 200 when left out.
             * @example 200
             */
            status?: number;
            /**
             * @description The body, at most 64 KB; `{{body.path}}`, `{{query.name}}` and `{{headers.name}}` are filled in.
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
             * @description A condition: one of `all`, `any` (lists of conditions), `not` (a condition), or `{type, op, value}` with `name` or
             *     `path` where the type has one; at most 8 levels and 64 leaves.
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
            /** @description The answer. */
            respond: components["schemas"]["RuleAnswer"];
        };
        ResponseRules: {
            /** @description The rules in their order, at most 50. */
            rules?: components["schemas"]["ResponseRule"][];
            /** @description The answer when no rule matches; left out or null for the endpoint's own. */
            default?: components["schemas"]["RuleAnswer"] | null;
        };
        ResponseProxyConfig: {
            /**
             * @description `managed` runs `code`, `url` asks `url`.
             * @example managed
             * @enum {string}
             */
            target: "managed" | "url";
            /**
             * @description For `managed`: JavaScript, an ES module of at most 64 KB whose default export is a function of the request.
             * @example export default (request) => ({ status: 200, body: { ok: true } })
             */
            code?: string;
            /**
             * @description For `url`: where the request is sent, signed; its answer is passed on.
             * @example https://example.com/answer
             */
            url?: string;
            /**
             * @description How long to wait, in milliseconds; 250 for `managed` and 3000 for `url` when left out. For `managed` it is CPU time, and the call ends after twice as long and two seconds by the clock.
             * @example 250
             */
            timeoutMs?: number;
            /**
             * @description Without an answer in time: `fallback` goes on to the rules and the default, `error` answers 502.
             * @default fallback
             * @example fallback
             * @enum {string}
             */
            onUnavailable: "fallback" | "error";
        };
        TransformConfig: {
            /**
             * @description `managed` runs `code`, `url` asks `url`.
             * @example managed
             * @enum {string}
             */
            engine: "managed" | "url";
            /**
             * @description For `managed`: JavaScript, an ES module of at most 64 KB whose default export is `(event, {secrets}) => event | null`.
             * @example export default (event, { secrets }) => event.body.test ? null : { ...event, body: { ...event.body, token: secrets.CRM_TOKEN } }
             */
            code?: string;
            /**
             * @description For `url`: where the body is sent, signed; the JSON answer replaces it.
             * @example https://example.com/transform
             */
            url?: string;
            /**
             * @description When it fails: `closed` parks the event, `open` delivers it as it came.
             * @default closed
             * @example closed
             * @enum {string}
             */
            failMode: "open" | "closed";
            /**
             * @description How long to wait, in milliseconds; 250 for `managed` and 3000 for `url` when left out. For `managed` it is CPU time, and the call ends after twice as long and two seconds by the clock.
             * @example 250
             */
            timeoutMs?: number;
        };
        ResponseConfig: {
            /**
             * @description `static` answers everything in the same way, the others do the handshake of a provider.
             * @example meta-challenge
             * @enum {string}
             */
            type: "static" | "meta-challenge" | "slack-challenge" | "zoom-challenge" | "x-crc" | "ebay-challenge" | "dropbox-challenge" | "msgraph-challenge" | "okta-challenge" | "asana-handshake" | "discord-ping" | "twitch-challenge" | "sns-confirm";
            /**
             * @description Of `ebay-challenge`: the URL as eBay knows it.
             * @example https://hooks.example.com/in/acme/ebay
             */
            endpointUrl?: string;
            /**
             * @description The status of the answer to what is no handshake, 200 to 599; 200 when left out.
             * @example 200
             */
            status?: number;
            /**
             * @description Its body, at most 64 KB.
             * @example ok
             */
            body?: string;
            /**
             * @description Its headers, at most 32.
             * @example {
             *       "content-type": "text/plain"
             *     }
             */
            headers?: {
                [key: string]: string;
            };
            /**
             * @description Of `meta-challenge`, which needs it: the text that was typed into Meta's console.
             * @example a-token-of-your-own
             */
            verifyToken?: string;
            /**
             * @description Of `zoom-challenge`, `x-crc` and `twitch-challenge`, where it is not the endpoint's own secret.
             * @example a-secret-of-the-provider
             */
            secret?: string;
            /**
             * @description Of `ebay-challenge`, which needs it; of `slack-challenge` the legacy token of the app.
             * @example a-token-of-the-provider
             */
            verificationToken?: string;
        };
        VerificationConfig: {
            /**
             * @description The header with the signature, key or token; `x-signature` when left out, `x-api-key` of `api-key`, `authorization` of `jwt`.
             * @example x-acme-signature
             */
            header?: string;
            /**
             * @description What stands before the signature. When left out, the name of the hash and `=` may stand there.
             * @example v1=
             */
            prefix?: string;
            /**
             * @description How the signature is written; told apart by its length when left out.
             * @example hex
             * @enum {string}
             */
            encoding?: "hex" | "base64";
            /**
             * @description How the key stands in the secret: `utf8` (its own characters) when left out.
             * @example utf8
             * @enum {string}
             */
            keyEncoding?: "utf8" | "base64" | "hex" | "whsec";
            /**
             * @description The header with the time of signing, in seconds or milliseconds since the epoch; none when left out.
             * @example x-acme-timestamp
             */
            timestampHeader?: string;
            /**
             * @description How far that time may be from now, in seconds; 300 when left out.
             * @example 300
             */
            toleranceSeconds?: number;
            /**
             * @description What is signed: `{{body}}`, `{{timestamp}}`, `{{method}}`, `{{url}}`, `{{headers.name}}` and text between them.
             * @example {{timestamp}}.{{body}}
             */
            signed?: string;
            /**
             * @description Of `jwt`, which needs it: where the sender publishes its keys, a JSON Web Key Set.
             * @example https://issuer.example.com/.well-known/jwks.json
             */
            jwksUrl?: string;
            /**
             * @description Of `jwt`: what `iss` must be.
             * @example https://issuer.example.com
             */
            issuer?: string;
            /**
             * @description Of `jwt`: what `aud` must be or hold. Give it, `issuer`, `claims` or `bodyHashClaim`: others have tokens by the same keys.
             * @example https://hooks.example.com/in/acme/orders
             */
            audience?: string;
            /**
             * @description Of `jwt`: members that the token must have, with these texts; at most 10.
             * @example {
             *       "email": "pusher@project.iam.gserviceaccount.com"
             *     }
             */
            claims?: {
                [key: string]: string;
            };
            /**
             * @description Of `jwt`: the member that holds the SHA-256 of the body, in hex or base64url.
             * @example request_body_sha256
             */
            bodyHashClaim?: string;
            /**
             * @description Of `jwt`: how old a token may be that has no `exp`, in seconds; 300 when left out.
             * @example 300
             */
            maxAgeSeconds?: number;
        };
        DeduplicationConfig: {
            /**
             * @description `provider_id`: the id that the preset's provider repeats when it sends again. `header` or `body_path`: one of your own sender's.
             * @example provider_id
             * @enum {string}
             */
            source: "provider_id" | "header" | "body_path";
            /**
             * @description Of `header`, which needs it: the header with the id; none that authenticates.
             * @example x-event-id
             */
            name?: string;
            /**
             * @description Of `body_path`, which needs it: where the id stands in a JSON body of at most 128 KB, as a JSONPath like those of filters.
             * @example $.event.id
             */
            path?: string;
            /**
             * @description How long after the first one a request with its id is a repeat, in hours: at most as long as events are kept.
             * @default 24
             * @example 24
             */
            window_hours: number;
        };
        NewEndpointBody: {
            /**
             * @description What people know it by; the part of the path behind the organization's slug when left out.
             * @example Stripe payments
             */
            name?: string;
            /**
             * @description The provider: its signature scheme and its handshake.
             * @example stripe
             */
            preset?: string | null;
            /**
             * @description Where events go, all of them: the short form of `routes`, which keeps the filters of destinations that stay.
             * @example [
             *       "dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1"
             *     ]
             */
            destinations?: string[];
            /** @description Where events go, and which of them; all routes that the endpoint is to have. */
            routes?: components["schemas"]["RouteConfig"][];
            /** @description Synchronous answers by rules. */
            responseRules?: components["schemas"]["ResponseRules"] | null;
            /** @description Whom to ask for the synchronous answer. */
            responseProxy?: components["schemas"]["ResponseProxyConfig"] | null;
            /** @description What changes events before they are routed. */
            transform?: components["schemas"]["TransformConfig"] | null;
            /** @description How it answers; the preset's way when left out. Secrets that a change of the same type leaves out stay. */
            response?: components["schemas"]["ResponseConfig"] | null;
            /**
             * @description How requests are verified: `preset` (or its name), `none`, an HMAC (`hmac-sha256`, …), a public key (`rsa-sha256`, `ed25519`), `jwt`,
             *     `bearer`, `basic` or `api-key`; `preset` when left out beside a preset, else `none`.
             * @example hmac-sha256
             */
            verification?: string | null;
            /** @description How the sender proves itself, for what needs no preset. `jwt` needs it. */
            verificationConfig?: components["schemas"]["VerificationConfig"] | null;
            /**
             * @description The HTTP methods that it takes; any when left out, null or empty. Others are answered 405 and nothing is kept of them. Handshakes
             *     are requests like others: a provider that asks with GET or HEAD before it saves the URL needs them here.
             * @example [
             *       "POST"
             *     ]
             */
            allowed_methods?: ("GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS" | "TRACE" | "ACL" | "BIND" | "CHECKOUT" | "COPY" | "LINK" | "LOCK" | "M-SEARCH" | "MERGE" | "MKACTIVITY" | "MKCALENDAR" | "MKCOL" | "MOVE" | "NOTIFY" | "PROPFIND" | "PROPPATCH" | "PURGE" | "QUERY" | "REBIND" | "REPORT" | "SEARCH" | "SOURCE" | "SUBSCRIBE" | "UNBIND" | "UNLINK" | "UNLOCK" | "UNSUBSCRIBE")[] | null;
            /**
             * @description Drops what a provider sends again: a request whose id came before within the window is answered as the first one was, makes no
             *     event, and is kept as a raw request with the status `duplicate`. Nothing is dropped when left out.
             */
            deduplicate?: components["schemas"]["DeduplicationConfig"] | null;
            /**
             * @description `paused` goes on answering, and parks what comes; a new endpoint is `active` when it is left out.
             * @example active
             * @enum {string}
             */
            status?: "active" | "paused";
            /**
             * @description Its URL on an ingest domain. On the platform's host `/in` and the organization's slug may be left out; on a domain of yours it is the host and the path.
             * @example https://hooks.example.com/in/acme/stripe
             */
            url?: string | null;
            /**
             * @description The one segment of its path behind the organization's slug: lower-case letters, digits, - and _.
             * @example stripe
             */
            slug?: string | null;
            /**
             * @description Its path; the organization's slug may be left out.
             * @example acme/stripe
             */
            path?: string | null;
            /**
             * @description The ingest domain: the platform's, or a verified webhook domain of yours. Left out, the host of `url` says it, or it is the platform's.
             * @example pdom_00000000000000000000000001
             */
            domainId?: string | null;
        };
        RouteItem: {
            /**
             * @description The route's id.
             * @example rte_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description The destination.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            destination: string;
            /**
             * @description Which events; null for all.
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
             * @description `static` answers everything in the same way, the others do the handshake of a provider.
             * @example meta-challenge
             * @enum {string}
             */
            type: "static" | "meta-challenge" | "slack-challenge" | "zoom-challenge" | "x-crc" | "ebay-challenge" | "dropbox-challenge" | "msgraph-challenge" | "okta-challenge" | "asana-handshake" | "discord-ping" | "twitch-challenge" | "sns-confirm";
            /**
             * @description Of `ebay-challenge`: the URL as eBay knows it.
             * @example https://hooks.example.com/in/acme/ebay
             */
            endpointUrl?: string;
            /**
             * @description The status of the answer to what is no handshake, 200 to 599; 200 when left out.
             * @example 200
             */
            status?: number;
            /**
             * @description Its body, at most 64 KB.
             * @example ok
             */
            body?: string;
            /**
             * @description Its headers, at most 32.
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
             * @description The endpoint's id.
             * @example ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description Its path: on the platform's host the organization's slug first; empty at the root of a domain of yours.
             * @example acme/stripe
             */
            path: string;
            /**
             * @description What people know it by.
             * @example Stripe payments
             */
            name: string;
            /**
             * @description The provider; null without one.
             * @example stripe
             */
            preset: string | null;
            /**
             * @description The URL to give to the provider.
             * @example https://hooks.example.com/in/acme/stripe
             */
            url: string;
            /** @description The ingest domain of the URL. */
            domain: components["schemas"]["IngestDomainItem"];
            /**
             * @description Where its events go.
             * @example [
             *       "dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1"
             *     ]
             */
            destinations: string[];
            /**
             * @description How signatures are verified.
             * @example preset
             * @enum {string}
             */
            verification: "none" | "preset" | "hmac-sha256" | "hmac-sha1" | "hmac-sha512" | "rsa-sha256" | "ed25519" | "jwt" | "bearer" | "basic" | "api-key";
            /**
             * @description `paused` parks what comes; `disabled` was switched off by the service.
             * @example active
             * @enum {string}
             */
            status: "active" | "paused" | "disabled";
            /**
             * @description Whether the provider's secret was set; it is never shown.
             * @example true
             */
            has_secret: boolean;
            /**
             * @description Rises with every change of the settings or the routes.
             * @example 1
             */
            version: number;
            /**
             * Format: date-time
             * @description When it was created.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was changed last, its secret included.
             * @example 2026-11-21T09:30:00.000Z
             */
            updated_at: string;
            /** @description Where its events go, and which of them, in the order in which they are tried. */
            routes: components["schemas"]["RouteItem"][];
            /** @description Synchronous answers by rules; null without any. */
            responseRules: components["schemas"]["ResponseRules"] | null;
            /** @description Whom to ask for the synchronous answer, with the defaults in force; null for nobody. */
            responseProxy: components["schemas"]["ResponseProxyConfig"] | null;
            /** @description What changes events before they are routed, with the defaults in force; null for nothing. */
            transform: components["schemas"]["TransformConfig"] | null;
            /** @description How it answers, without its secrets; null for the preset's way, or the default 200. */
            response: components["schemas"]["ResponseView"] | null;
            /** @description How the sender signs; null for the defaults. */
            verificationConfig: components["schemas"]["VerificationConfig"] | null;
            /**
             * @description The HTTP methods that it takes; null for any.
             * @example [
             *       "POST"
             *     ]
             */
            allowed_methods: ("GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS" | "TRACE" | "ACL" | "BIND" | "CHECKOUT" | "COPY" | "LINK" | "LOCK" | "M-SEARCH" | "MERGE" | "MKACTIVITY" | "MKCALENDAR" | "MKCOL" | "MOVE" | "NOTIFY" | "PROPFIND" | "PROPPATCH" | "PURGE" | "QUERY" | "REBIND" | "REPORT" | "SEARCH" | "SOURCE" | "SUBSCRIBE" | "UNBIND" | "UNLINK" | "UNLOCK" | "UNSUBSCRIBE")[] | null;
            /** @description What repeats are told by, with the window in force; null where they are events like others. */
            deduplicate: components["schemas"]["DeduplicationConfig"] | null;
        };
        EndpointChangesBody: {
            /**
             * @description What people know it by; the part of the path behind the organization's slug when left out.
             * @example Stripe payments
             */
            name?: string;
            /**
             * @description The provider: its signature scheme and its handshake.
             * @example stripe
             */
            preset?: string | null;
            /**
             * @description Where events go, all of them: the short form of `routes`, which keeps the filters of destinations that stay.
             * @example [
             *       "dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1"
             *     ]
             */
            destinations?: string[];
            /** @description Where events go, and which of them; all routes that the endpoint is to have. */
            routes?: components["schemas"]["RouteConfig"][];
            /** @description Synchronous answers by rules. */
            responseRules?: components["schemas"]["ResponseRules"] | null;
            /** @description Whom to ask for the synchronous answer. */
            responseProxy?: components["schemas"]["ResponseProxyConfig"] | null;
            /** @description What changes events before they are routed. */
            transform?: components["schemas"]["TransformConfig"] | null;
            /** @description How it answers; the preset's way when left out. Secrets that a change of the same type leaves out stay. */
            response?: components["schemas"]["ResponseConfig"] | null;
            /**
             * @description How requests are verified: `preset` (or its name), `none`, an HMAC (`hmac-sha256`, …), a public key (`rsa-sha256`, `ed25519`), `jwt`,
             *     `bearer`, `basic` or `api-key`; `preset` when left out beside a preset, else `none`.
             * @example hmac-sha256
             */
            verification?: string | null;
            /** @description How the sender proves itself, for what needs no preset. `jwt` needs it. */
            verificationConfig?: components["schemas"]["VerificationConfig"] | null;
            /**
             * @description The HTTP methods that it takes; any when left out, null or empty. Others are answered 405 and nothing is kept of them. Handshakes
             *     are requests like others: a provider that asks with GET or HEAD before it saves the URL needs them here.
             * @example [
             *       "POST"
             *     ]
             */
            allowed_methods?: ("GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS" | "TRACE" | "ACL" | "BIND" | "CHECKOUT" | "COPY" | "LINK" | "LOCK" | "M-SEARCH" | "MERGE" | "MKACTIVITY" | "MKCALENDAR" | "MKCOL" | "MOVE" | "NOTIFY" | "PROPFIND" | "PROPPATCH" | "PURGE" | "QUERY" | "REBIND" | "REPORT" | "SEARCH" | "SOURCE" | "SUBSCRIBE" | "UNBIND" | "UNLINK" | "UNLOCK" | "UNSUBSCRIBE")[] | null;
            /**
             * @description Drops what a provider sends again: a request whose id came before within the window is answered as the first one was, makes no
             *     event, and is kept as a raw request with the status `duplicate`. Nothing is dropped when left out.
             */
            deduplicate?: components["schemas"]["DeduplicationConfig"] | null;
            /**
             * @description `paused` goes on answering, and parks what comes; a new endpoint is `active` when it is left out.
             * @example active
             * @enum {string}
             */
            status?: "active" | "paused";
            /**
             * @description Where it moves to; the old URL stops serving it at once. Without a path it moves to the organization's slug alone.
             * @example https://hooks.example.com/in/acme/payments
             */
            url?: string;
        };
        EndpointSecretBody: {
            /**
             * @description What the provider signs with, as its console shows it; stored encrypted and never returned.
             * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
             */
            secret: string;
            /**
             * @description How long the secrets before go on verifying, in seconds.
             * @default 86400
             * @example 86400
             */
            grace_seconds: number;
        };
        PresetItem: {
            /**
             * @description What `preset` of an endpoint holds.
             * @example stripe
             */
            id: string;
            /**
             * @description The provider.
             * @example Stripe
             */
            name: string;
            /**
             * @description What to give as the endpoint's secret, in the words of the provider's console.
             * @example The signing secret of the endpoint (whsec_…).
             */
            secret: string;
            /**
             * @description The handshake or answer that it has (`response.type` of an endpoint); null for the default answer.
             * @example null
             */
            response: string | null;
            /**
             * @description Whether it asks for the URL with GET or HEAD, unsigned, before it saves it: answered 200, and no event.
             * @example false
             */
            checks_url: boolean;
            /**
             * @description Whether it repeats an id when it sends again, so that `deduplicate` can have the source `provider_id`.
             * @example true
             */
            has_id: boolean;
            /**
             * @description What the provider does by itself when the answer is no 2xx.
             * @example Stripe retries for up to three days in live mode, with growing waits.
             */
            retries: string;
        };
        PresetPage: {
            /** @description The presets; those that are alike stand together. */
            data: components["schemas"]["PresetItem"][];
            /**
             * @description Always null: there are no more.
             * @example null
             */
            next_cursor: string | null;
        };
        IngestDomainDetail: {
            /**
             * @description The domain's id.
             * @example pdom_00000000000000000000000001
             */
            id: string;
            /**
             * @description Its host, with the port where it is not the scheme's own.
             * @example hooks.example.com
             */
            host: string;
            /**
             * @description `platform` is this installation's own host, `custom` a verified domain of yours.
             * @example platform
             * @enum {string}
             */
            kind: "platform" | "custom";
            /**
             * @description Whether endpoints live on it that name no other.
             * @example true
             */
            default: boolean;
            /**
             * @description What URLs of endpoints on it begin with; a slug behind it makes one.
             * @example https://hooks.example.com/in/acme/
             */
            prefix: string;
        };
        IngestDomainList: {
            /** @description The ingest domains. */
            data: components["schemas"]["IngestDomainDetail"][];
            /**
             * @description PLATFORM_DOMAIN: what the records of custom domains lead to. `localhost` where the operator set none.
             * @example hooks.example.com
             */
            platform_domain: string;
        };
        RequestItem: {
            /**
             * @description The request's id. Its event has the same one, with `evt_`; a duplicate has none of its own.
             * @example req_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description The event that it became; of a duplicate that of the request that it repeats.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            event_id: string;
            /**
             * @description The HTTP method.
             * @example POST
             */
            method: string;
            /**
             * @description What came behind the endpoint's own path; empty when nothing did.
             * @example
             */
            path: string;
            /**
             * @description `routed` to its deliveries, `quarantined` (the signature failed), `parked` (paused, or its transform failed), `ignored`, or a `duplicate` of an earlier one.
             * @example routed
             * @enum {string}
             */
            status: "routed" | "quarantined" | "parked" | "ignored" | "duplicate";
            /**
             * @description Whether the provider's signature held; null where nothing is verified.
             * @example true
             */
            verified: boolean | null;
            /**
             * Format: date-time
             * @description When it came.
             * @example 2026-11-21T09:30:00.000Z
             */
            received_at: string;
            /**
             * @description Size of the body.
             * @example 512
             */
            size_bytes: number;
            /**
             * @description The provider's own id of this delivery, the same when it sends again; what repeats are told by where the endpoint's `deduplicate` says so.
             * @example evt_1NG8Du2eZvKYlo2CUI79vXWy
             */
            dedupe_id: string | null;
            /**
             * @description What happened to it besides, in a sentence: why its signature did not hold, why it was parked, that it was transformed.
             * @example null
             */
            note: string | null;
            /**
             * @description The request that this one repeats: the one that the provider sent, also when a repetition was repeated.
             * @example null
             */
            replay_of: string | null;
            /**
             * Format: date-time
             * @description When it was released: it had been set aside, and a repetition of it went where the routes lead. Null until then.
             * @example null
             */
            released_at: string | null;
        };
        RequestPage: {
            /** @description The requests of this page. */
            data: components["schemas"]["RequestItem"][];
            /**
             * @description Pass it as `cursor` for the next page; null on the last one.
             * @example null
             */
            next_cursor: string | null;
        };
        RequestAnswer: {
            /**
             * @description HTTP status.
             * @example 200
             */
            status: number;
            /**
             * @description Headers that the endpoint's answer has; names in lower case.
             * @example {
             *       "content-type": "application/json; charset=utf-8"
             *     }
             */
            headers: {
                [key: string]: string;
            };
            /**
             * @description The first 1 KB of the body; null where it was the error envelope of this status, or was erased with the request.
             * @example {"received":true,"id":"evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1"}
             */
            body: string | null;
            /**
             * @description Whether the body was longer.
             * @example false
             */
            truncated: boolean;
        };
        RequestDetailItem: {
            /**
             * @description The request's id. Its event has the same one, with `evt_`; a duplicate has none of its own.
             * @example req_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description The event that it became; of a duplicate that of the request that it repeats.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            event_id: string;
            /**
             * @description The HTTP method.
             * @example POST
             */
            method: string;
            /**
             * @description What came behind the endpoint's own path; empty when nothing did.
             * @example
             */
            path: string;
            /**
             * @description `routed` to its deliveries, `quarantined` (the signature failed), `parked` (paused, or its transform failed), `ignored`, or a `duplicate` of an earlier one.
             * @example routed
             * @enum {string}
             */
            status: "routed" | "quarantined" | "parked" | "ignored" | "duplicate";
            /**
             * @description Whether the provider's signature held; null where nothing is verified.
             * @example true
             */
            verified: boolean | null;
            /**
             * Format: date-time
             * @description When it came.
             * @example 2026-11-21T09:30:00.000Z
             */
            received_at: string;
            /**
             * @description Size of the body.
             * @example 512
             */
            size_bytes: number;
            /**
             * @description The provider's own id of this delivery, the same when it sends again; what repeats are told by where the endpoint's `deduplicate` says so.
             * @example evt_1NG8Du2eZvKYlo2CUI79vXWy
             */
            dedupe_id: string | null;
            /**
             * @description What happened to it besides, in a sentence: why its signature did not hold, why it was parked, that it was transformed.
             * @example null
             */
            note: string | null;
            /**
             * @description The request that this one repeats: the one that the provider sent, also when a repetition was repeated.
             * @example null
             */
            replay_of: string | null;
            /**
             * Format: date-time
             * @description When it was released: it had been set aside, and a repetition of it went where the routes lead. Null until then.
             * @example null
             */
            released_at: string | null;
            /**
             * @description The URL that was called.
             * @example https://hooks.example.com/in/acme/stripe
             */
            url: string;
            /**
             * @description The query as it was sent.
             * @example source=eu
             */
            query: string;
            /**
             * @description The headers in their order, repeated ones too, names in lower case. Those that authenticate are `(hidden)` from scope `read`.
             * @example [
             *       [
             *         "content-type",
             *         "application/json"
             *       ]
             *     ]
             */
            headers: string[][];
            /**
             * @description The body: text, or base64 where it is none.
             * @example {"type":"invoice.paid"}
             */
            body: string;
            /**
             * @description How `body` is written.
             * @example text
             * @enum {string}
             */
            body_encoding: "text" | "base64";
            /**
             * Format: date-time
             * @description When it was erased with its event's payload: query, body and values of headers are empty then. Absent while they are there.
             * @example 2026-11-21T09:30:00.000Z
             */
            erased_at?: string;
            /**
             * @description The client's address.
             * @example 203.0.113.7
             */
            ip: string;
            /** @description What the provider was answered; null when nobody was (a replay), and for requests of versions that did not note it. */
            answer: components["schemas"]["RequestAnswer"] | null;
        };
        RequestReplayed: {
            /**
             * @description Id of this replay call.
             * @example rpl_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            replay_id: string;
            /**
             * @description The new event that came of it.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            event_id: string;
        };
        EndpointTestBody: {
            /**
             * @description Another preset's sample than that of the endpoint.
             * @example stripe
             */
            preset?: string;
            /**
             * @description The type that the sample is to have; left out, that of the preset's own.
             * @example invoice.paid
             */
            event_type?: string;
            /**
             * @description The body to send instead of the preset's sample, as text.
             * @example {"type":"invoice.paid"}
             */
            body?: string;
        };
        EndpointTested: {
            /**
             * @description The event; null when the sample was a handshake or nothing was stored.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            event_id: string | null;
            /**
             * @description Whether its signature held; null where nothing is verified.
             * @example true
             */
            verified: boolean | null;
            /**
             * @description HTTP status that the provider would be answered.
             * @example 200
             */
            status: number;
        };
        TriedRouteBody: {
            /**
             * @description Its destination, to tell routes apart in the answer; it need not exist.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            destination?: string | null;
            /**
             * @description Which events: a condition in the grammar of `when`, whose `type` is `json` when left out; null for all.
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
             * @description A raw request of the endpoint, or the event (`evt_`) that it became.
             * @example req_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            request: string;
            /** @description What changes the event before it is routed; null for nothing. A URL is asked, as it would be. */
            transform?: components["schemas"]["TransformConfig"] | null;
            /** @description The routes. */
            routes?: components["schemas"]["TriedRouteBody"][];
            /** @description The synchronous answers by rules; null for none. */
            responseRules?: components["schemas"]["ResponseRules"] | null;
        };
        TriedRoute: {
            /**
             * @description Its destination.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            destination: string | null;
            /**
             * @description Whether it takes the event; null where its filter took too long.
             * @example true
             */
            matches: boolean | null;
        };
        TriedAnswer: {
            /**
             * @description The place of the rule, from 0; null for the default answer.
             * @example 0
             */
            rule: number | null;
            /**
             * @description HTTP status.
             * @example 200
             */
            status: number;
            /**
             * @description The headers; names in lower case.
             * @example {
             *       "content-type": "application/json"
             *     }
             */
            headers: {
                [key: string]: string;
            };
            /**
             * @description The body.
             * @example {"challenge": "3eZbrw1aB"}
             */
            body: string;
        };
        TrialResult: {
            /**
             * @description `routed`, `quarantined` (its signature does not hold), `parked` (its transform fails, or filters or rules take too long) or `ignored` (the
             *     transform drops it, or no route takes it). What each step says is there whatever the steps before say.
             * @example routed
             * @enum {string}
             */
            outcome: "routed" | "quarantined" | "parked" | "ignored";
            /**
             * @description Whether the signature holds with the secrets of now; null where nothing is verified.
             * @example true
             */
            verified: boolean | null;
            /**
             * @description Why the signature does not hold; null where it does.
             * @example null
             */
            verification_reason: string | null;
            /**
             * @description The event's type, after the transform.
             * @example invoice.paid
             */
            event_type: string;
            /**
             * @description What the transform did: `none` where there is none.
             * @example ran
             * @enum {string}
             */
            transform: "none" | "ran" | "dropped" | "failed";
            /**
             * @description Why the transform failed, with the line of the code where it says one; null where it did not.
             * @example null
             */
            transform_error: string | null;
            /**
             * @description The body that the transform made; null where it stays as it came.
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
             * @description Names of headers that it takes away.
             * @example []
             */
            headers_removed: string[];
            /** @description What each route makes of the event, in the order in which they were given. */
            routes: components["schemas"]["TriedRoute"][];
            /** @description What the rules answer; null where they answer nothing. A proxy is not asked. */
            answer: components["schemas"]["TriedAnswer"] | null;
        };
        ReportItem: {
            /**
             * @description Its id.
             * @example rep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description The email that it is about, or says that it is about.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            email_id: string | null;
            /**
             * @description How it came: by mail, or as a notification of Amazon SES.
             * @example smtp
             * @enum {string}
             */
            source: "smtp" | "ses";
            /**
             * @description What it is: `bounce` (also of what is late or arrived), `complaint`, `auto-reply`, `other`, or SES's own word. Null while it waits.
             * @example bounce
             */
            kind: string | null;
            /**
             * @description What became of it: `recorded` in the email's timeline; `unmatched` with nobody that the email went to; `untrusted`, since it proves nothing; `ignored`, since it says nothing of a delivery; or it is `waiting`.
             * @example unmatched
             * @enum {string}
             */
            state: "waiting" | "recorded" | "unmatched" | "untrusted" | "ignored";
            /**
             * @description Why it is not recorded: `recipient_unknown`, `email_gone`, `not_proven`, `auto_reply`, `no_report`, `nothing_new`.
             * @example recipient_unknown
             */
            reason: string | null;
            /**
             * @description The address that it came to, or the topic.
             * @example b+0000000101…@bounce.example.com
             */
            recipient: string;
            /**
             * @description The sender of its envelope; empty for none, which reports have.
             * @example
             */
            envelope_from: string;
            /**
             * @description The address of the server that brought it; empty for notifications.
             * @example 192.0.2.25
             */
            received_from: string;
            /**
             * @description Bytes of the report.
             * @example 4096
             */
            size_bytes: number;
            /**
             * Format: date-time
             * @description When it came.
             * @example 2026-11-22T09:30:00.000Z
             */
            received_at: string;
            /**
             * Format: date-time
             * @description Until when it is kept: 30 days, or the environment's retention if that is shorter.
             * @example 2026-12-22T09:30:00.000Z
             */
            expires_at: string;
        };
        ReportPage: {
            /** @description The reports of this page. */
            data: components["schemas"]["ReportItem"][];
            /**
             * @description Pass it as `cursor` for the next page; null on the last one.
             * @example null
             */
            next_cursor: string | null;
        };
        RoutePage: {
            /** @description The routes, in the order in which they are tried. */
            data: components["schemas"]["RouteItem"][];
            /**
             * @description Always null: an endpoint has at most 100 routes.
             * @example null
             */
            next_cursor: string | null;
        };
        NewRouteBody: {
            /**
             * @description The destination; an endpoint has at most one route to each.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            destination: string;
            /**
             * @description Which events: a condition in the grammar of `when`, whose `type` is `json` when left out; null for all.
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
             * @description The destination.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            destination?: string;
            /**
             * @description Which events; null for all.
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
             * @description The `event_type` of a send.
             * @example invoice.paid
             */
            name: string;
            /**
             * @description What it says and when it is sent.
             * @example An invoice was paid in full.
             */
            description: string | null;
            /**
             * @description The heading under which the catalogue shows it.
             * @example Billing
             */
            group: string | null;
            /**
             * @description Rises with every change of the schema, from 1.
             * @example 1
             */
            version: number;
            /**
             * @description Whether it has a schema.
             * @example true
             */
            has_schema: boolean;
            /**
             * @description Whether a payload that breaks the schema is refused.
             * @example false
             */
            enforce: boolean;
            /**
             * @description Whether it is left out of the catalogue and of lists.
             * @example false
             */
            archived: boolean;
            /**
             * Format: date-time
             * @description When it was created.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was changed last.
             * @example 2026-11-21T09:30:00.000Z
             */
            updated_at: string;
        };
        EventTypePage: {
            /** @description The event types of this page. */
            data: components["schemas"]["EventTypeItem"][];
            /**
             * @description Pass it as `cursor` for the next page; null on the last one.
             * @example null
             */
            next_cursor: string | null;
        };
        NewEventTypeBody: {
            /**
             * @description What it says and when it is sent; null takes it away.
             * @example An invoice was paid in full.
             */
            description?: string | null;
            /**
             * @description The heading under which the catalogue shows it; null takes it away.
             * @example Billing
             */
            group?: string | null;
            /**
             * @description What a payload looks like, in JSON Schema 2020-12; null takes it away. One that differs is a new version.
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
             * @description A payload to show; it has to fit the schema. Null takes it away.
             * @example {
             *       "amount": 4200
             *     }
             */
            example?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description Whether a payload that breaks the schema is refused with 422; needs a schema.
             * @example false
             */
            enforce?: boolean;
            /**
             * @description Whether it is left out of the catalogue and of lists. It may still be sent, and is still enforced.
             * @example false
             */
            archived?: boolean;
            /**
             * @description The `event_type` of a send: up to 256 letters, digits and `. _ - : /`; unique in the environment, and never changed.
             * @example invoice.paid
             */
            name: string;
        };
        EventTypeDetail: {
            /**
             * @description The `event_type` of a send.
             * @example invoice.paid
             */
            name: string;
            /**
             * @description What it says and when it is sent.
             * @example An invoice was paid in full.
             */
            description: string | null;
            /**
             * @description The heading under which the catalogue shows it.
             * @example Billing
             */
            group: string | null;
            /**
             * @description Rises with every change of the schema, from 1.
             * @example 1
             */
            version: number;
            /**
             * @description Whether it has a schema.
             * @example true
             */
            has_schema: boolean;
            /**
             * @description Whether a payload that breaks the schema is refused.
             * @example false
             */
            enforce: boolean;
            /**
             * @description Whether it is left out of the catalogue and of lists.
             * @example false
             */
            archived: boolean;
            /**
             * Format: date-time
             * @description When it was created.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was changed last.
             * @example 2026-11-21T09:30:00.000Z
             */
            updated_at: string;
            /**
             * @description What a payload looks like, in JSON Schema 2020-12.
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
             * @description A payload to show.
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
             * @description The document as an object.
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
             * @description Archives the event types that are not in the document.
             * @default false
             * @example false
             */
            replace_all: boolean;
            /**
             * @description Only says what would happen.
             * @default false
             * @example false
             */
            dry_run: boolean;
            /**
             * @description Whether the types of the document that have a schema are enforced; left out, types stay as they are and new ones are not.
             * @example false
             */
            enforce?: boolean;
        };
        ChangedNumber: {
            /**
             * @description Where it stands.
             * @example spec.components.schemas.Invoice.properties.id.maximum
             */
            path: string;
            /**
             * @description What it is kept as.
             * @example 9223372036854775807 would be stored as 9223372036854776000: write it as a string, or with fewer digits
             */
            message: string;
        };
        OpenApiImported: {
            /**
             * @description Made.
             * @example [
             *       "invoice.paid"
             *     ]
             */
            created: string[];
            /**
             * @description Changed.
             * @example []
             */
            updated: string[];
            /**
             * @description As they were.
             * @example []
             */
            unchanged: string[];
            /**
             * @description Archived, as the document does not have them.
             * @example []
             */
            archived: string[];
            /**
             * @description Numbers in webhooks and components that are kept as others, since no double holds them: the first 20.
             * @example []
             */
            changed_numbers: components["schemas"]["ChangedNumber"][];
            /**
             * @description True when nothing was changed.
             * @example false
             */
            dry_run: boolean;
        };
        EventTypeChangesBody: {
            /**
             * @description What it says and when it is sent; null takes it away.
             * @example An invoice was paid in full.
             */
            description?: string | null;
            /**
             * @description The heading under which the catalogue shows it; null takes it away.
             * @example Billing
             */
            group?: string | null;
            /**
             * @description What a payload looks like, in JSON Schema 2020-12; null takes it away. One that differs is a new version.
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
             * @description A payload to show; it has to fit the schema. Null takes it away.
             * @example {
             *       "amount": 4200
             *     }
             */
            example?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description Whether a payload that breaks the schema is refused with 422; needs a schema.
             * @example false
             */
            enforce?: boolean;
            /**
             * @description Whether it is left out of the catalogue and of lists. It may still be sent, and is still enforced.
             * @example false
             */
            archived?: boolean;
        };
        EventTypeVersionItem: {
            /**
             * @description Counts the schemas from 1.
             * @example 1
             */
            version: number;
            /**
             * @description The schema of this version; null where it had none.
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
             * @description Since when.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
        };
        EventTypeVersionPage: {
            /** @description The versions of this page. */
            data: components["schemas"]["EventTypeVersionItem"][];
            /**
             * @description Pass it as `cursor` for the next page; null on the last one.
             * @example null
             */
            next_cursor: string | null;
        };
        LastAttemptItem: {
            /**
             * @description HTTP status of the answer, or that of the mail server; null when there was none.
             * @example 503
             */
            status: number | null;
            /**
             * @description Why there was no answer, in the words of the event's attempts.
             * @example null
             * @enum {string|null}
             */
            error: "timeout" | "dns" | "connection" | "tls" | "blocked" | "protocol" | "refused" | "adapter" | null;
            /**
             * Format: date-time
             * @description When it started.
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
             * @description The type that it was sent with.
             * @example invoice.paid
             */
            event_type: string;
            /**
             * @description The path of the inbound endpoint that received it, or the `ep_` id of the application's endpoint that it goes to; null for any other.
             * @example null
             */
            endpoint: string | null;
            /**
             * @description `retrying` until a final answer, then `delivered`, `dlq` (retries used up) or `failed` (no retry can help). Received
             *     events that go nowhere are `quarantined` (the signature failed), `parked` or `ignored` (no route, or no subscription, matched).
             * @example delivered
             * @enum {string}
             */
            status: "delivered" | "failed" | "retrying" | "dlq" | "quarantined" | "parked" | "ignored";
            /**
             * @description Where it was sent: a destination's id, or the ad-hoc URL; null for an event of an endpoint, whose deliveries tell.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            destination: string | null;
            /**
             * @description The message that it belongs to; null for a received event.
             * @example msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            message_id: string | null;
            /**
             * Format: date-time
             * @description When it was accepted.
             * @example 2026-11-21T09:30:00.000Z
             */
            received_at: string;
            /**
             * @description Attempts of all its deliveries, replays included.
             * @example 3
             */
            attempt_count: number;
            /**
             * @description The last attempt of the delivery that gives the event its status; null while it has none.
             * @example {
             *       "status": 503,
             *       "error": null,
             *       "at": "2026-11-21T09:30:00.120Z"
             *     }
             */
            last_attempt: components["schemas"]["LastAttemptItem"] | null;
            /**
             * Format: date-time
             * @description When the next attempt of any of its deliveries is due; null when none is. Behind an open circuit it is later: the event tells.
             * @example 2026-11-21T09:35:00.000Z
             */
            next_attempt_at: string | null;
        };
        EventPage: {
            /** @description The events of this page. */
            data: components["schemas"]["ListedEventItem"][];
            /**
             * @description Pass it as `cursor` for the next page; null on the last one. Where filters pick few among very many, a page can be short or empty and
             *     still have a next one.
             * @example null
             */
            next_cursor: string | null;
            /**
             * Format: date-time
             * @description Set on a page that ended before it was full, since it had looked at as many rows as one page may (3,000 to 10,000 of an index): everything from this time on was
             *     looked at. Go on behind it with `cursor`, or narrow the range with `since` and `until`.
             * @example 2026-11-20T00:00:00.000Z
             */
            searched_to?: string;
        };
        EventCountItem: {
            /**
             * @description Events that match: 10,000 at most.
             * @example 412
             */
            count: number;
            /**
             * @description True when there may be more: show it as `10,000+`, or `412+`.
             * @example false
             */
            is_capped: boolean;
            /**
             * Format: date-time
             * @description Set when it is capped because enough was looked at: everything from this time on was counted.
             * @example 2026-11-20T00:00:00.000Z
             */
            searched_to?: string;
        };
        DeliveryCircuitItem: {
            /**
             * @description `open` holds deliveries back, `half_open` tries one.
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
             * @description When one of the waiting deliveries is tried, to see whether the target is back; null while that is under way.
             * @example 2026-11-21T09:30:30.120Z
             */
            next_probe_at: string | null;
        };
        DeliveryItem: {
            /**
             * @description The event's id, and which of its deliveries this is.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1.0
             */
            id: string;
            /**
             * @description A destination's id, the ad-hoc URL, or the `ep_` id of an application's endpoint.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            destination: string;
            /**
             * @description Its state.
             * @example delivered
             * @enum {string}
             */
            status: "delivered" | "failed" | "retrying" | "dlq";
            /**
             * Format: date-time
             * @description When the next attempt is due, behind an open circuit no earlier than the next probe; null when there is none.
             * @example null
             */
            next_attempt_at: string | null;
            /**
             * @description Set while it waits because the circuit of its target is not closed: it goes out when a probe was answered, and uses up no attempt.
             * @example null
             */
            circuit: components["schemas"]["DeliveryCircuitItem"] | null;
            /**
             * @description Why it failed: gone, target_gone, target_disabled, filter_undecided (the filter took too long), refused, cancelled, erased, expired or superseded (by a replay).
             * @example null
             */
            reason: string | null;
            /**
             * @description True when it is a replay.
             * @example false
             */
            replayed: boolean;
        };
        AttemptItem: {
            /**
             * @description The delivery that it belongs to: an `id` of `deliveries`.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1.0
             */
            delivery: string;
            /**
             * @description Where it went, as the delivery has it.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            destination: string;
            /**
             * @description Counts the tries of its delivery from 1.
             * @example 1
             */
            number: number;
            /**
             * @description HTTP status of the answer; null when there was none.
             * @example 200
             */
            status: number | null;
            /**
             * @description How long it took, in milliseconds.
             * @example 42
             */
            duration_ms: number;
            /**
             * Format: date-time
             * @description When it started.
             * @example 2026-11-21T09:30:00.120Z
             */
            at: string;
            /**
             * @description The first 1 KB of the answer, or what went wrong.
             * @example ok
             */
            response_excerpt: string | null;
            /**
             * @description Why there was no answer: timeout, dns, connection, tls, blocked, protocol, refused (not sent at all), or adapter (a fault of what serves the type).
             * @example null
             */
            error: string | null;
            /**
             * @description True when it belongs to a replay.
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
             * @description The type that it was sent with.
             * @example invoice.paid
             */
            event_type: string;
            /**
             * @description The path of the inbound endpoint that received it, or the `ep_` id of the application's endpoint that it goes to; null for any other.
             * @example null
             */
            endpoint: string | null;
            /**
             * @description `retrying` until a final answer, then `delivered`, `dlq` (retries used up) or `failed` (no retry can help). Received
             *     events that go nowhere are `quarantined` (the signature failed), `parked` or `ignored` (no route, or no subscription, matched).
             * @example delivered
             * @enum {string}
             */
            status: "delivered" | "failed" | "retrying" | "dlq" | "quarantined" | "parked" | "ignored";
            /**
             * @description Where it was sent: a destination's id, or the ad-hoc URL; null for an event of an endpoint, whose deliveries tell.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            destination: string | null;
            /**
             * @description The message that it belongs to; null for a received event.
             * @example msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            message_id: string | null;
            /**
             * Format: date-time
             * @description When it was accepted.
             * @example 2026-11-21T09:30:00.000Z
             */
            received_at: string;
            /**
             * @description The `webhook-id` that receivers dedupe on.
             * @example msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            webhook_id: string;
            /**
             * @description Which way it went.
             * @example outbound
             * @enum {string}
             */
            direction: "outbound" | "inbound";
            /**
             * @description The application that it was sent to; absent for any other event.
             * @example app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            application?: string;
            /**
             * Format: date-time
             * @description When its payload was erased; absent while it is there.
             * @example 2026-11-21T09:30:00.000Z
             */
            payload_erased_at?: string;
            /**
             * @description Headers that are forwarded with it; a key of scope read is shown `(hidden)` for those that authenticate (`authorization`, cookies, tokens).
             * @example {
             *       "x-tenant": "42"
             *     }
             */
            headers: {
                [key: string]: string;
            };
            /**
             * @description The payload, in the very characters that it was sent with; absent when it is over 256 KB.
             * @example {
             *       "amount": 4200
             *     }
             */
            payload?: (Record<string, never> | unknown[] | string | number | boolean) | null;
            /**
             * @description How the payload is shown: `json`, `text` for a received body that is none, `base64` for one that is no text.
             * @example json
             * @enum {string}
             */
            payload_encoding?: "json" | "text" | "base64";
            /**
             * @description The raw request of a received event.
             * @example req_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            request_id?: string;
            /**
             * @description Of a received event: why it went nowhere, or that its transform failed and it went on as it came (`failMode: open`); null when
             *     there is nothing to say.
             * @example The transform failed: timeout. It was delivered untransformed.
             */
            note?: string | null;
            /**
             * @description True when the payload is left out because it is over 256 KB: `GET /v1/events/{id}/payload` has it.
             * @example true
             */
            payload_truncated?: boolean;
            /** @description Its deliveries, the replays included, oldest first. */
            deliveries: components["schemas"]["DeliveryItem"][];
            /** @description Every attempt, oldest first. */
            attempts: components["schemas"]["AttemptItem"][];
        };
        SentRequestItem: {
            /**
             * @description The method.
             * @example POST
             */
            method: string;
            /**
             * @description Where to, without user and password, up to 2,048 characters. Of a mirror destination what was received comes behind it.
             * @example https://example.com/hook
             */
            url: string;
            /**
             * @description The headers less those of the connection (`host`, `content-length`), names in lower case, up to 4 KB, in which signatures are shown as they were sent. Values that
             *     authenticate, and those with a named secret in them, were never stored: `(hidden)`; the event's own ones that do are for keys that may write. Values of the event's own
             *     headers are empty once it was erased. Of a mirror destination without those of the received request, which has them.
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
             * @description The headers, names in lower case, repeated ones joined, up to 4 KB; `(hidden)` in place of cookies and tokens.
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
             * @description The delivery that it belongs to: an `id` of the event's `deliveries`.
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
             * @description When it started.
             * @example 2026-11-21T09:30:00.120Z
             */
            at: string;
            /** @description What was sent, or was to be sent where there was no connection. The body is that of the event. */
            request: components["schemas"]["SentRequestItem"];
            /** @description What was answered, less the body, whose first 1 KB is the attempt's `response_excerpt`; null without an answer. */
            response: components["schemas"]["AnswerItem"] | null;
        };
        ExchangeList: {
            /** @description Of the latest 50 attempts that failed, the latest first. */
            data: components["schemas"]["ExchangeItem"][];
        };
        SignBody: {
            /**
             * @description The delivery of the event, by its id; the latest when left out.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1.0
             */
            delivery?: string;
        };
        SignedRequestItem: {
            /**
             * @description The delivery.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1.0
             */
            delivery: string;
            /**
             * @description The method.
             * @example POST
             */
            method: string;
            /**
             * @description Where it goes.
             * @example https://example.com/webhooks
             */
            url: string;
            /**
             * @description The headers with the signature, lower-case names. `(hidden)` stands for one that a named secret is part of.
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
             * @description When it was signed.
             * @example 2026-11-21T09:30:00.000Z
             */
            signed_at: string;
            /**
             * Format: date-time
             * @description From when on receivers refuse it.
             * @example 2026-11-21T09:35:00.000Z
             */
            expires_at: string;
        };
        Cancelled: {
            /**
             * @description Deliveries that were ended, or that end with the attempt that is under way.
             * @example 12
             */
            cancelled: number;
        };
        PullBacklogItem: {
            /**
             * @description How many items are behind the position.
             * @example 42
             */
            count: number;
            /**
             * @description True when there are more than were counted: 1,000, or for an endpoint what is its own among the next 5,000 of the destination.
             * @example false
             */
            is_capped: boolean;
            /**
             * @description The event that a consumer gets next; null when nothing was found.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            oldest_event: string | null;
            /**
             * Format: date-time
             * @description When that one was accepted.
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
             * @description The destination's status; what a disabled one has can still be pulled.
             * @example active
             * @enum {string}
             */
            status: "active" | "disabled";
            /**
             * @description The inbound endpoint whose events are pulled by its `ep_` id; null for who pulls everything of the destination.
             * @example null
             */
            endpoint: string | null;
            /**
             * @description The last event that is acknowledged; null while nothing is.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            committed_through: string | null;
            /**
             * Format: date-time
             * @description When a pull or an ack moved the position last; null while nothing did. A pull that finds nothing new does not move it.
             * @example 2026-11-21T09:30:00.000Z
             */
            committed_at: string | null;
            /** @description What is not acknowledged. */
            backlog: components["schemas"]["PullBacklogItem"];
        };
        PullPositionPage: {
            /** @description The positions. */
            data: components["schemas"]["PullPositionItem"][];
            /**
             * @description Pass it as `cursor` for the next page; null on the last one.
             * @example null
             */
            next_cursor: string | null;
        };
        PullTimings: {
            /**
             * Format: int64
             * @description When it came in.
             * @example 1795253400000
             */
            edge_at: number;
            /**
             * Format: int64
             * @description When it was stored.
             * @example 1795253400004
             */
            stored_at: number;
            /**
             * Format: int64
             * @description When it was put where it can be pulled; later than `stored_at` for a replay.
             * @example 1795253400004
             */
            processed_at: number;
            /**
             * Format: int64
             * @description When this answer was made.
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
             * @description What to dedupe on: the same every time that the event comes.
             * @example msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            webhook_id: string;
            /**
             * @description The type that it was sent with, or that its endpoint gave it.
             * @example invoice.paid
             */
            event_type: string;
            /**
             * @description The path of the inbound endpoint that received it; null for an event that was sent.
             * @example null
             */
            endpoint: string | null;
            /**
             * @description Of this delivery: what can be pulled is `delivered`.
             * @example delivered
             * @enum {string}
             */
            status: "delivered";
            /**
             * Format: date-time
             * @description When it was accepted.
             * @example 2026-11-21T09:30:00.000Z
             */
            received_at: string;
            /**
             * Format: date-time
             * @description When its payload was erased: `payload` is null then. Absent while it is there.
             * @example 2026-11-21T09:30:00.000Z
             */
            payload_erased_at?: string;
            /**
             * @description Headers that are forwarded with it, lower-case names; a key of scope read is shown `(hidden)` for those that authenticate.
             * @example {
             *       "x-tenant": "42"
             *     }
             */
            headers: {
                [key: string]: string;
            };
            /**
             * @description True when it comes by a replay.
             * @example false
             */
            replayed: boolean;
            /** @description When it passed each stage. */
            timings: components["schemas"]["PullTimings"];
            /**
             * @description Empty: what waits to be pulled is never tried.
             * @example []
             */
            attempts: Record<string, never>[];
            /**
             * @description How the payload is shown: `json`, `text` for a received body that is none, `base64` for one that is no text.
             * @example json
             * @enum {string}
             */
            payload_encoding: "json" | "text" | "base64";
            /**
             * @description The payload, JSON in the very characters that it came in.
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
             * @description Pass it as `cursor` once this batch is done with; null only while nothing was ever there.
             * @example WyIxLjgwMC4wMTlhOWY2NS4wIl0.c2lnbmF0dXJl
             */
            next_cursor: string | null;
        };
        AckBody: {
            /**
             * @description The `next_cursor` of the batch that is done with.
             * @example WyIxLjgwMC4wMTlhOWY2NS4wIl0.c2lnbmF0dXJl
             */
            cursor: string;
        };
        Acknowledged: {
            /**
             * @description The last event that is committed now. Later than the cursor's when another consumer committed more.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            committed_through: string;
        };
        WaitingItem: {
            /**
             * @description How many wait: for their next attempt, for the circuit, or for the rate limit.
             * @example 3
             */
            count: number;
            /**
             * @description True when there are so many that only the first were looked at: there may be more.
             * @example false
             */
            is_capped: boolean;
        };
        EndpointStatsItem: {
            /**
             * Format: date-time
             * @description Where the span begins: `since`, back to the full minute, hour or day.
             * @example 2026-11-20T00:00:00.000Z
             */
            since: string;
            /**
             * Format: date-time
             * @description Where it ends: `until`, on to the full minute, hour or day.
             * @example 2026-11-21T00:00:00.000Z
             */
            until: string;
            /**
             * @description Events that it was sent; replays are not counted again.
             * @example 1204
             */
            received: number;
            /**
             * @description Deliveries that ended with success.
             * @example 1197
             */
            delivered: number;
            /**
             * @description Deliveries that ended because no retry could help.
             * @example 1
             */
            failed: number;
            /**
             * @description Deliveries that ended in the dead-letter queue.
             * @example 2
             */
            dlq: number;
            /**
             * @description Attempts that did not succeed and were followed by another one, or will be.
             * @example 17
             */
            retried: number;
            /**
             * @description All attempts.
             * @example 1217
             */
            attempts: number;
            /**
             * @description `delivered` as a share of all deliveries that ended, from 0 to 1; null when none did.
             * @example 0.9975
             */
            success_rate: number | null;
            /** @description What waits now. */
            waiting: components["schemas"]["WaitingItem"];
            /**
             * Format: date-time
             * @description When the next retry is due, among what waits now; null when nothing waits to be tried again. A time that is past: it waits for the circuit.
             * @example 2026-11-21T09:35:00.000Z
             */
            next_attempt_at: string | null;
            /**
             * @description Whether it takes deliveries now.
             * @example active
             * @enum {string}
             */
            status: "active" | "disabled";
            /** @description Its circuit breaker; null for an endpoint that goes to a destination. */
            circuit: components["schemas"]["EndpointCircuitItem"] | null;
        };
        FailingApplicationItem: {
            /**
             * @description The application.
             * @example app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            application: string;
            /**
             * @description Your own id of it.
             * @example customer-42
             */
            uid: string | null;
            /**
             * @description What people know it by.
             * @example Acme Inc.
             */
            name: string;
            /**
             * @description Of all attempts and ends in the time, the share that failed: `(retried + failed + dlq) / (delivered + retried + failed + dlq)`.
             * @example 0.75
             */
            failure_rate: number;
            /**
             * @description Deliveries that arrived.
             * @example 10
             */
            delivered: number;
            /**
             * @description Attempts without success that another one follows.
             * @example 24
             */
            retried: number;
            /**
             * @description Deliveries that ended because no retry could help.
             * @example 1
             */
            failed: number;
            /**
             * @description Deliveries that used up their retries.
             * @example 5
             */
            dlq: number;
            /**
             * Format: date-time
             * @description The minute of the oldest failure in the time.
             * @example 2026-11-21T09:30:00.000Z
             */
            oldest_failure_at: string | null;
            /**
             * @description How many of its endpoints failed.
             * @example 1
             */
            failing_endpoints: number;
            /**
             * @description Those that failed, worst first, ten at most.
             * @example [
             *       "ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1"
             *     ]
             */
            endpoints: string[];
        };
        FailingApplicationList: {
            /** @description Those with the most failures first. */
            data: components["schemas"]["FailingApplicationItem"][];
        };
        LatencyItem: {
            /**
             * @description Half of the attempts took at most this many milliseconds.
             * @example 42
             */
            p50: number;
            /**
             * @description 95 % of the attempts took at most this many milliseconds.
             * @example 118
             */
            p95: number;
            /**
             * @description 99 % of the attempts took at most this many milliseconds.
             * @example 240
             */
            p99: number;
        };
        TotalItem: {
            /**
             * @description Events that were sent to the destination, or received by the endpoint; for the environment, all that were accepted. Replays are not counted again.
             * @example 1204
             */
            received: number;
            /**
             * @description Deliveries that ended with success.
             * @example 1197
             */
            delivered: number;
            /**
             * @description Deliveries that ended because no retry could help.
             * @example 1
             */
            failed: number;
            /**
             * @description Attempts that did not succeed and were followed by another one, or will be.
             * @example 17
             */
            retried: number;
            /**
             * @description Deliveries that ended in the dead-letter queue.
             * @example 2
             */
            dlq: number;
            /**
             * @description Attempts that began in this window.
             * @example 1217
             */
            attempts: number;
            /**
             * @description `delivered` as a share of all deliveries that ended, from 0 to 1; null when none did.
             * @example 0.9975
             */
            success_rate: number | null;
            /** @description How long the attempts took, failed ones included, to within a sixteenth; null when there were none. */
            latency_ms: components["schemas"]["LatencyItem"] | null;
        };
        OpenItem: {
            /**
             * @description How many.
             * @example 12
             */
            count: number;
            /**
             * @description True when counting ended at 10,000: there may be more.
             * @example false
             */
            is_capped: boolean;
            /**
             * Format: date-time
             * @description Since when the oldest of the environment is due that no worker has taken up; null when none is, and for an application.
             * @example null
             */
            oldest_due_at: string | null;
        };
        RollupItem: {
            /**
             * Format: date-time
             * @description When the window begins.
             * @example 2026-11-20T09:00:00.000Z
             */
            start: string;
            /**
             * @description How long it is.
             * @example 1h
             * @enum {string}
             */
            window: "1m" | "1h" | "1d";
            /**
             * @description Events that were sent to the destination, or received by the endpoint; for the environment, all that were accepted. Replays are not counted again.
             * @example 1204
             */
            received: number;
            /**
             * @description Deliveries that ended with success.
             * @example 1197
             */
            delivered: number;
            /**
             * @description Deliveries that ended because no retry could help.
             * @example 1
             */
            failed: number;
            /**
             * @description Attempts that did not succeed and were followed by another one, or will be.
             * @example 17
             */
            retried: number;
            /**
             * @description Deliveries that ended in the dead-letter queue.
             * @example 2
             */
            dlq: number;
            /**
             * @description Attempts that began in this window.
             * @example 1217
             */
            attempts: number;
            /**
             * @description `delivered` as a share of all deliveries that ended, from 0 to 1; null when none did.
             * @example 0.9975
             */
            success_rate: number | null;
            /** @description How long the attempts took, failed ones included, to within a sixteenth; null when there were none. */
            latency_ms: components["schemas"]["LatencyItem"] | null;
        };
        OverviewItem: {
            /**
             * Format: date-time
             * @description When the first window begins.
             * @example 2026-11-20T10:00:00.000Z
             */
            since: string;
            /**
             * Format: date-time
             * @description Now, as far as the figures know.
             * @example 2026-11-21T09:30:00.000Z
             */
            until: string;
            /**
             * @description How long each window is.
             * @example 1h
             * @enum {string}
             */
            window: "1m" | "1h" | "1d";
            /** @description The range as a whole. */
            total: components["schemas"]["TotalItem"];
            /** @description What waits now: of an environment everything that has not ended, of an application what waits for its next attempt, the circuit or the rate limit. */
            waiting: components["schemas"]["OpenItem"];
            /** @description The windows, oldest first. */
            data: components["schemas"]["RollupItem"][];
        };
        FailingTargetItem: {
            /**
             * @description The destination (`dst_…`), or the endpoint of an application (`ep_…`) that has a URL of its own.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            target: string;
            /**
             * @description What people know it by.
             * @example Orders
             */
            name: string;
            /**
             * @description The application that it belongs to; null for a destination.
             * @example null
             */
            application: string | null;
            /**
             * @description Deliveries that ended because no retry could help.
             * @example 1
             */
            failed: number;
            /**
             * @description Deliveries that used up their retries.
             * @example 5
             */
            dlq: number;
            /**
             * @description Attempts without success that another one follows.
             * @example 24
             */
            retried: number;
            /**
             * @description Deliveries that arrived.
             * @example 10
             */
            delivered: number;
            /**
             * @description Of all attempts and ends, the share that failed: `(retried + failed + dlq) / (delivered + retried + failed + dlq)`.
             * @example 0.75
             */
            failure_rate: number;
        };
        FailingTargetList: {
            /** @description Most deliveries that ended without success first, then most attempts. */
            data: components["schemas"]["FailingTargetItem"][];
        };
        RollupList: {
            /** @description Oldest first. Windows in which nothing happened are there with zeros, unless `sparse` leaves them out; those that are not kept any more are left out. */
            data: components["schemas"]["RollupItem"][];
        };
        ConcernItem: {
            /**
             * @description What is wrong.
             * @example circuit.open
             * @enum {string}
             */
            type: "deliveries.overdue" | "circuit.open" | "target.disabled" | "dead_letters.growing" | "verification.failing" | "domain.records_lost" | "job.failed";
            /**
             * @description The destination (`dst_`), endpoint (`ep_`), domain (`dom_`) or job (`rpj_`); null for the whole environment.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            subject: string | null;
            /**
             * @description What people know it by; of a job its kind.
             * @example Orders
             */
            name: string | null;
            /**
             * Format: date-time
             * @description Since when, as far back as is looked at.
             * @example 2026-11-21T09:30:00.000Z
             */
            since: string;
            /**
             * @description How often, where that means something: failures in a row, dead letters or requests of a day, deliveries; else 1.
             * @example 12
             */
            count: number;
            /**
             * @description What it means, in a sentence.
             * @example Its circuit is open after 12 failures in a row: deliveries wait until a probe succeeds.
             */
            sentence: string;
            /**
             * @description The path of the API that tells more.
             * @example /v1/destinations/dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            url: string;
        };
        AttentionItem: {
            /** @description Type by type, the worst first, 25 of each at most; empty when all is well. */
            data: components["schemas"]["ConcernItem"][];
            /**
             * @description Types of which there are more than are shown.
             * @example []
             */
            truncated: ("deliveries.overdue" | "circuit.open" | "target.disabled" | "dead_letters.growing" | "verification.failing" | "domain.records_lost" | "job.failed")[];
        };
        RecoverBody: {
            /**
             * Format: date-time
             * @description Events accepted at or after this time (RFC 3339).
             * @example 2026-11-20T00:00:00.000Z
             */
            since: string;
            /**
             * Format: date-time
             * @description Only events accepted at or before this time (RFC 3339); up to now when left out.
             * @example 2026-11-21T00:00:00.000Z
             */
            until?: string;
            /**
             * @description Only deliveries that ended so; both when left out.
             * @example dlq
             * @enum {string}
             */
            status?: "failed" | "dlq";
            /**
             * @description True to send again also what was cancelled.
             * @default false
             * @example false
             */
            include_cancelled: boolean;
        };
        EventFilterQuery: {
            /**
             * @description Only events in one of these states: the parameter several times, or once with commas.
             * @example [
             *       "dlq",
             *       "failed"
             *     ]
             */
            status?: ("delivered" | "failed" | "retrying" | "dlq" | "quarantined" | "parked" | "ignored")[];
            /**
             * @description Only events that this inbound endpoint received (its id or path), that this endpoint of an application got, or that went to this destination.
             * @example ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            endpoint?: string;
            /**
             * @description Only events that went to this destination (its id, or an ad-hoc URL): sent to it, routed to it by an endpoint, or fanned out to it.
             *     With `status`, a delivery there must be in that state too.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            destination?: string;
            /**
             * @description Only events that were sent to this application: its `app_` id, or your own id of it.
             * @example customer-42
             */
            application?: string;
            /**
             * @description Only events of exactly this type.
             * @example invoice.paid
             */
            event_type?: string;
            /**
             * @description Only the events of this message.
             * @example msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            message_id?: string;
            /**
             * @description Only events that were sent (`outbound`, emails too), or that were received (`inbound`, received mail too).
             * @example outbound
             * @enum {string}
             */
            direction?: "outbound" | "inbound";
            /**
             * @description Only events that are not delivered and whose last attempt ended so: why there was no answer, or the class of its status. Of several
             *     deliveries that is the last attempt of the one that gives the event its status.
             * @example timeout
             * @enum {string}
             */
            error?: "timeout" | "dns" | "connection" | "tls" | "blocked" | "protocol" | "refused" | "adapter" | "3xx" | "4xx" | "5xx";
            /**
             * @description Only what has exactly this id: of an event, of one of its deliveries (`evt_….0`), of a message, of a received request (`req_`), or the `webhook-id` of a delivery.
             * @example msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            q?: string;
            /**
             * Format: date-time
             * @description Only events received at or after this time (RFC 3339).
             * @example 2026-11-20T00:00:00.000Z
             */
            since?: string;
            /**
             * Format: date-time
             * @description Only events received at or before this time (RFC 3339).
             * @example 2026-11-21T00:00:00.000Z
             */
            until?: string;
        };
        ErasedItem: {
            /**
             * @description Endpoints of the application.
             * @example 2
             */
            endpoints: number;
            /**
             * @description Messages whose payload, header values and channels are gone.
             * @example 1204
             */
            messages: number;
            /**
             * @description Deliveries that waited, and were ended.
             * @example 3
             */
            deliveries: number;
            /**
             * @description Attempts whose excerpt of the receiver's answer is gone.
             * @example 2410
             */
            attempts: number;
        };
        ReplayJobItem: {
            /**
             * @description The job's id.
             * @example rpj_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description `range` for what an endpoint received in a time, `recover` for what failed at an endpoint, a destination or an application, `application` for
             *     everything that one was sent, `requests` for what an endpoint set aside, `erase` for the erasure of an application, `events` for what a list of events shows.
             * @example range
             * @enum {string}
             */
            kind: "range" | "recover" | "application" | "requests" | "erase" | "events";
            /**
             * @description What it is about: an endpoint, or a destination (`dst_`), or an application (`app_`); null for a job over a list of events.
             * @example ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            endpoint: string | null;
            /**
             * @description What a job over a list of events does with them; null for any other job.
             * @example null
             * @enum {string|null}
             */
            action: "replay" | "recover" | "cancel" | null;
            /**
             * @description The filters of that list as they were given; null for any other job.
             * @example null
             */
            filter: components["schemas"]["EventFilterQuery"] | null;
            /**
             * @description Of a job over a list of events: at most so many, the newest ones. One that ended with `scanned` at it may have left older ones.
             * @example null
             */
            limit: number | null;
            /**
             * @description `pending` until a worker takes it, `running`, then `completed`, `stopped` or `failed`.
             * @example running
             * @enum {string}
             */
            state: "pending" | "running" | "completed" | "stopped" | "failed";
            /**
             * Format: date-time
             * @description The start of the window as it was asked for.
             * @example 2026-11-14T00:00:00.000Z
             */
            since: string | null;
            /**
             * Format: date-time
             * @description The end of the window as it was asked for.
             * @example null
             */
            until: string | null;
            /**
             * @description The state that events are filtered by.
             * @example null
             */
            status: string | null;
            /**
             * @description The destinations that were named; empty for all of the routes.
             * @example []
             */
            destinations: string[];
            /**
             * @description Id of the replay call.
             * @example rpl_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            replay_id: string;
            /**
             * @description True once it was asked to stop: it does so between two pages.
             * @example false
             */
            stop_requested: boolean;
            /**
             * @description Events in the window when it was asked for, of a range whatever their state; requests of a release, messages of an erasure. Counted up to
             *     100,000; of a job over a list of events as the list counts, up to 10,000.
             * @example 120
             */
            total_estimate: number;
            /**
             * @description True when there may be more than `total_estimate`.
             * @example false
             */
            total_is_capped: boolean;
            /**
             * @description Events that were looked at so far.
             * @example 120
             */
            scanned: number;
            /**
             * @description Events that were sent again so far, or requests that were released.
             * @example 115
             */
            replayed: number;
            /**
             * @description Deliveries that were made so far.
             * @example 230
             */
            enqueued: number;
            /**
             * @description Events that no route takes; of a recovery those that were cancelled; of an application also those for endpoints that take no deliveries;
             *     of a release requests that were set aside once more; of a job over a list of events those that went nowhere, that were cancelled, and
             *     those for what takes no deliveries.
             * @example 3
             */
            skipped: number;
            /**
             * @description Events that are never replayed: quarantined, parked, dropped by the transform, or without a payload any more.
             * @example 2
             */
            excluded: number;
            /**
             * @description What an erasure did away with so far; null for any other job.
             * @example null
             */
            erased: components["schemas"]["ErasedItem"] | null;
            /**
             * @description Of a cancellation over a list of events: deliveries that it ended so far, or that end with the attempt that is under way; null for any other job.
             * @example null
             */
            cancelled: number | null;
            /**
             * Format: date-time
             * @description Of a job over a list of events: it has looked at those received since then, from the newest on; null before it looked at any, and for any other job.
             * @example null
             */
            searched_to: string | null;
            /**
             * @description What `scanned` was when the job went on after an interruption; null when there was none.
             * @example null
             */
            resumed_from: number | null;
            /**
             * @description Where events were sent so far.
             * @example [
             *       "dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1"
             *     ]
             */
            destinations_used: string[];
            /**
             * @description Why it failed.
             * @example null
             */
            error: string | null;
            /**
             * Format: date-time
             * @description When it was asked for.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When a worker took it.
             * @example 2026-11-21T09:30:00.010Z
             */
            started_at: string | null;
            /**
             * Format: date-time
             * @description When it was over.
             * @example null
             */
            finished_at: string | null;
        };
        ApplicationReplayBody: {
            /**
             * Format: date-time
             * @description Events accepted at or after this time (RFC 3339).
             * @example 2026-11-20T00:00:00.000Z
             */
            since: string;
            /**
             * Format: date-time
             * @description Only events accepted at or before this time (RFC 3339); up to now when left out.
             * @example 2026-11-21T00:00:00.000Z
             */
            until?: string;
        };
        EraseApplicationBody: {
            /**
             * @description True to count only: nothing is erased.
             * @default false
             * @example true
             */
            dry_run: boolean;
        };
        EraseDryRunResult: {
            /**
             * @description Endpoints of the application.
             * @example 2
             */
            endpoints: number;
            /**
             * @description Messages whose payload, header values and channels are gone.
             * @example 1204
             */
            messages: number;
            /**
             * @description Deliveries that waited, and were ended.
             * @example 3
             */
            deliveries: number;
            /**
             * @description Attempts whose excerpt of the receiver's answer is gone.
             * @example 2410
             */
            attempts: number;
            /**
             * @description Always true here.
             * @example true
             */
            dry_run: boolean;
            /**
             * @description True when there may be more messages and attempts: the newest 20,000 messages and events were looked at, or a few more.
             * @example false
             */
            is_capped: boolean;
        };
        CancelBody: {
            /**
             * @description Only events of exactly this type.
             * @example invoice.paid
             */
            event_type?: string;
            /**
             * Format: date-time
             * @description Only events accepted at or before this time (RFC 3339).
             * @example 2026-11-21T00:00:00.000Z
             */
            until?: string;
        };
        EventReplayBody: {
            /**
             * @description Only to these of the destinations that the event went to. 422 for any other one: a range replay sends to destinations that were added since.
             * @example [
             *       "dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1"
             *     ]
             */
            destinations?: string[];
        };
        ReplayAccepted: {
            /**
             * @description Id of this replay call.
             * @example rpl_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            replay_id: string;
            /**
             * @description The event that is sent again.
             * @example evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            event_id: string;
        };
        RedriveBody: {
            /**
             * @description Only those of this destination, or of what this inbound endpoint (its id or path) received.
             * @example dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            endpoint?: string;
            /**
             * Format: date-time
             * @description Only events received at or after this time (RFC 3339).
             * @example 2026-11-20T00:00:00.000Z
             */
            since?: string;
        };
        Redriven: {
            /**
             * @description How many dead letters are sent again.
             * @example 3
             */
            redriven: number;
            /**
             * @description How many stay dead letters, because what they are for is disabled or was deleted.
             * @example 0
             */
            skipped: number;
        };
        RangeReplayBody: {
            /**
             * Format: date-time
             * @description Only events received at or after this time (RFC 3339); from the oldest that is kept when left out.
             * @example 2026-11-14T00:00:00.000Z
             */
            since?: string;
            /**
             * Format: date-time
             * @description Only events received at or before this time (RFC 3339); up to now when left out.
             * @example 2026-11-21T00:00:00.000Z
             */
            until?: string;
            /**
             * @description Only events in this state.
             * @example dlq
             * @enum {string}
             */
            status?: "delivered" | "failed" | "retrying" | "dlq" | "ignored";
            /**
             * @description Only to these destinations of the endpoint's routes; to all of them when left out.
             * @example [
             *       "dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1"
             *     ]
             */
            destinations?: string[];
            /**
             * @description True to count only: nothing is sent.
             * @default false
             * @example false
             */
            dry_run: boolean;
            /**
             * @description For a dry run with route filters: the `next_cursor` of the call before.
             * @example WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl
             */
            cursor?: string;
        };
        DryRunResult: {
            /**
             * @description Id of this call.
             * @example rpl_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            replay_id: string;
            /**
             * @description Always true here.
             * @example true
             */
            dry_run: boolean;
            /**
             * @description Events that were looked at.
             * @example 120
             */
            scanned: number;
            /**
             * @description Events that would be sent again.
             * @example 115
             */
            replayed: number;
            /**
             * @description Deliveries that would be made.
             * @example 230
             */
            enqueued: number;
            /**
             * @description Events that no route takes.
             * @example 3
             */
            skipped: number;
            /**
             * @description Events that are never replayed: quarantined, parked, dropped by the transform, or without a payload any more.
             * @example 2
             */
            excluded: number;
            /**
             * @description Where they would go.
             * @example [
             *       "dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1"
             *     ]
             */
            destinations: string[];
            /**
             * @description With route filters: pass it as `cursor` to look at older events; null when all were looked at.
             * @example null
             */
            next_cursor: string | null;
        };
        ReleaseBody: {
            /**
             * @description `quarantined`: their signatures did not hold. `parked`: the endpoint was paused, or its transform failed.
             * @example quarantined
             * @enum {string}
             */
            status: "quarantined" | "parked";
            /**
             * Format: date-time
             * @description Only requests received at or after this time (RFC 3339); from the oldest that is kept when left out.
             * @example 2026-11-14T00:00:00.000Z
             */
            since?: string;
            /**
             * Format: date-time
             * @description Only requests received at or before this time (RFC 3339); up to now when left out.
             * @example 2026-11-21T00:00:00.000Z
             */
            until?: string;
            /**
             * @description True to count only: nothing is released.
             * @default false
             * @example false
             */
            dry_run: boolean;
        };
        ReleaseDryRunResult: {
            /**
             * @description Id of this call.
             * @example rpl_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            replay_id: string;
            /**
             * @description Always true here.
             * @example true
             */
            dry_run: boolean;
            /**
             * @description Requests of the time in that state that were not released yet; repetitions count as what they repeat.
             * @example 42
             */
            scanned: number;
            /**
             * @description Of those the ones that would be run through the endpoint. What becomes of each is seen then: it may be set aside once more.
             * @example 41
             */
            replayed: number;
            /**
             * @description Of those the ones that were erased.
             * @example 1
             */
            excluded: number;
        };
        EventJobBody: {
            /**
             * @description `replay` sends each event again to wherever it went, whatever became of it. `recover` takes events that are `failed` or `dlq`, and sends them
             *     again to where they ended so, and nowhere else. `cancel` takes events that are `retrying`, and ends what waits of them as `failed` with
             *     reason `cancelled`. With the filter `destination`, all three mean deliveries there, and no others of the same events.
             * @example recover
             * @enum {string}
             */
            action: "replay" | "recover" | "cancel";
            /**
             * @description The filters of `GET /v1/events`, `status` as a list; all events without any.
             * @example {
             *       "application": "customer-42",
             *       "error": "timeout"
             *     }
             */
            filter: components["schemas"]["EventFilterQuery"];
            /**
             * @description So many events at most, the newest ones.
             * @default 1000000
             * @example 1000
             */
            limit: number;
            /**
             * @description Of a recovery: true to send again also what was cancelled.
             * @default false
             * @example false
             */
            include_cancelled: boolean;
            /**
             * @description True to count only: nothing is done.
             * @default false
             * @example false
             */
            dry_run: boolean;
        };
        EventJobDryRun: {
            /**
             * @description Always true here.
             * @example true
             */
            dry_run: boolean;
            /**
             * @description What would be done.
             * @example recover
             * @enum {string}
             */
            action: "replay" | "recover" | "cancel";
            /**
             * @description Events that it would look at, in the states that the action takes: 10,000 at most, as `GET /v1/events/count` counts.
             * @example 400
             */
            count: number;
            /**
             * @description True when there may be more: show it as `10,000+`, or `412+`.
             * @example false
             */
            is_capped: boolean;
            /**
             * Format: date-time
             * @description Set when it is capped because enough was looked at: everything from this time on was counted.
             * @example 2026-11-20T00:00:00.000Z
             */
            searched_to?: string;
            /**
             * @description So many events at most.
             * @example 1000
             */
            limit: number;
        };
        ReplayJobPage: {
            /** @description The jobs of this page. */
            data: components["schemas"]["ReplayJobItem"][];
            /**
             * @description Pass it as `cursor` for the next page; null on the last one.
             * @example null
             */
            next_cursor: string | null;
        };
        SystemEventTypeItem: {
            /**
             * @description The `type` of the payload, and the event's type.
             * @example circuit.opened
             * @enum {string}
             */
            type: "circuit.closed" | "circuit.opened" | "destination.disabled" | "destination.enabled" | "domain.failed" | "domain.verified" | "email.bounced" | "email.complained" | "email.failed" | "endpoint.verification_failing" | "event.dead_lettered" | "replay.completed";
            /**
             * @description When it is sent.
             * @example A target failed so often in a row that deliveries to it are held back until a probe succeeds.
             */
            description: string;
            /**
             * @description JSON Schema (2020-12) of the payload's `data`.
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
             * @description A payload.
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
            /** @description Every type, by name. */
            data: components["schemas"]["SystemEventTypeItem"][];
        };
        RegisteredClientItem: {
            /**
             * @description The client's id.
             * @example k3W6pQ0bT2mXcR9sY7vZ1A
             */
            client_id: string;
            /**
             * @description When it was registered, in seconds since the epoch.
             * @example 1795334400
             */
            client_id_issued_at: number;
            /**
             * @description What it calls itself.
             * @example An assistant
             */
            client_name: string;
            /**
             * @description Where it may be answered.
             * @example [
             *       "http://127.0.0.1:3456/callback"
             *     ]
             */
            redirect_uris: string[];
            /**
             * @description How it may ask.
             * @example [
             *       "authorization_code"
             *     ]
             */
            grant_types: string[];
            /**
             * @description What it is answered.
             * @example [
             *       "code"
             *     ]
             */
            response_types: string[];
            /**
             * @description It has no secret.
             * @example none
             */
            token_endpoint_auth_method: string;
            /**
             * @description The scope of the keys that it gets, whatever it asks for.
             * @example read
             */
            scope: string;
        };
        TokenItem: {
            /**
             * @description The key, shown in this answer only.
             * @example ek_live_4fQaVb0mJ2sYkWcX9tLr7uNzPe5hDg3iOq8wAx1CyBv6KdR
             */
            access_token: string;
            /**
             * @description How it is sent.
             * @example Bearer
             */
            token_type: string;
            /**
             * @description For how long it is good, in seconds. There is no refresh token: the person is asked again.
             * @example 2592000
             */
            expires_in: number;
            /**
             * @description What it may do.
             * @example read
             */
            scope: string;
        };
        DeviceCodesItem: {
            /**
             * @description The device's own code, to ask with at `/oauth/token`.
             * @example GmRhmhcxhwAzkoEqiMEg_DnyEysNkuNhszIySk9eS0o
             */
            device_code: string;
            /**
             * @description The code for its person.
             * @example WDJB-MJHT
             */
            user_code: string;
            /**
             * @description Where the person types it.
             * @example https://hooks.example.com/oauth/device
             */
            verification_uri: string;
            /**
             * @description The same with the code filled in, to be compared and confirmed.
             * @example https://hooks.example.com/oauth/device?user_code=WDJB-MJHT
             */
            verification_uri_complete: string;
            /**
             * @description For how long both count, in seconds.
             * @example 600
             */
            expires_in: number;
            /**
             * @description How long to wait between two requests, in seconds.
             * @example 5
             */
            interval: number;
        };
        ProtectedResourceItem: {
            /**
             * @description What tokens are for.
             * @example https://hooks.example.com/mcp
             */
            resource: string;
            /**
             * @description Who issues them.
             * @example [
             *       "https://hooks.example.com"
             *     ]
             */
            authorization_servers: string[];
            /**
             * @description The scopes that an agent may ask for.
             * @example [
             *       "read"
             *     ]
             */
            scopes_supported: string[];
            /**
             * @description How a token is sent.
             * @example [
             *       "header"
             *     ]
             */
            bearer_methods_supported: string[];
            /**
             * @description What people know it by.
             * @example Posthorn
             */
            resource_name: string;
            /**
             * @description Where it is described.
             * @example https://hooks.example.com/docs
             */
            resource_documentation: string;
        };
        AuthorizationServerItem: {
            /**
             * @description Who it is: `iss` in every answer of a person's browser.
             * @example https://hooks.example.com
             */
            issuer: string;
            /**
             * @description Where a person's browser is sent.
             * @example https://hooks.example.com/oauth/authorize
             */
            authorization_endpoint: string;
            /**
             * @description Where codes are exchanged.
             * @example https://hooks.example.com/oauth/token
             */
            token_endpoint: string;
            /**
             * @description Where clients register.
             * @example https://hooks.example.com/oauth/register
             */
            registration_endpoint: string;
            /**
             * @description Where devices ask for their codes.
             * @example https://hooks.example.com/oauth/device
             */
            device_authorization_endpoint: string;
            /**
             * @description Where tokens are given back.
             * @example https://hooks.example.com/oauth/revoke
             */
            revocation_endpoint: string;
            /**
             * @description What `response_type` may be.
             * @example [
             *       "code"
             *     ]
             */
            response_types_supported: string[];
            /**
             * @description Where in the redirect the answer stands.
             * @example [
             *       "query"
             *     ]
             */
            response_modes_supported: string[];
            /**
             * @description What `grant_type` may be.
             * @example [
             *       "authorization_code",
             *       "urn:ietf:params:oauth:grant-type:device_code"
             *     ]
             */
            grant_types_supported: string[];
            /**
             * @description Clients are public: they have no secret.
             * @example [
             *       "none"
             *     ]
             */
            token_endpoint_auth_methods_supported: string[];
            /**
             * @description The same for revocation.
             * @example [
             *       "none"
             *     ]
             */
            revocation_endpoint_auth_methods_supported: string[];
            /**
             * @description PKCE is asked for, with SHA-256.
             * @example [
             *       "S256"
             *     ]
             */
            code_challenge_methods_supported: string[];
            /**
             * @description What a client may ask for.
             * @example [
             *       "read"
             *     ]
             */
            scopes_supported: string[];
            /**
             * @description `iss` is in every answer (RFC 9207).
             * @example true
             */
            authorization_response_iss_parameter_supported: boolean;
            /**
             * @description A `client_id` may be the URL of the client's metadata.
             * @example true
             */
            client_id_metadata_document_supported: boolean;
            /**
             * @description Where all of this is described.
             * @example https://hooks.example.com/docs
             */
            service_documentation: string;
        };
        PortalThemeBody: {
            /**
             * @description Light, dark, or as the customer's system has it.
             * @example system
             * @enum {string|null}
             */
            scheme?: "light" | "dark" | "system" | null;
            /**
             * @description Your colour, for buttons and links: `#rrggbb`. Where its contrast with the ground is too low to be read, the page takes a lighter or darker tone of it.
             * @example #0a58b5
             */
            accent?: string | null;
            /**
             * @description Of corners, in pixels.
             * @example 6
             */
            radius?: number | null;
            /**
             * @description Your logo, as a `data:` URL of a picture of at most 24 KB: the page asks no other host for anything.
             * @example data:image/png;base64,iVBORw0KGgo=
             */
            logo?: string | null;
        };
        NewPortalBody: {
            /**
             * @description After how many seconds its token ends.
             * @default 3600
             * @example 3600
             */
            expires_in: number;
            /**
             * @description What the customer may do: `view` is part of all, `secrets` reads and rotates signing secrets, `manage` changes endpoints, `resend` sends again. All when left out.
             * @example [
             *       "view",
             *       "manage",
             *       "resend"
             *     ]
             */
            permissions?: ("view" | "secrets" | "manage" | "resend")[];
            /** @description How it looks. */
            theme?: components["schemas"]["PortalThemeBody"];
            /**
             * @description The language of the page, and how it writes times and numbers: `en` and `de` have texts, any other is shown in English.
             * @default en
             * @example de
             */
            locale: string;
            /**
             * @description Where a link leads out of the portal: https, or http on the own computer in the test environment.
             * @example https://app.example.com/settings
             */
            return_url?: string | null;
        };
        OpenedPortalItem: {
            /**
             * @description The session's id.
             * @example pls_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description The page: for a link, a redirect or a frame. The token stands behind `#`, which browsers send to nobody.
             * @example https://hooks.example.com/portal/pls_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1#pt_…
             */
            url: string;
            /**
             * @description The token alone, which renews a portal that is open. Shown this once; only its SHA-256 is stored.
             * @example pt_2vJ8kQm1Xc0Zr5Lw9Tn3Yb7Hd4Gf6Ks8Pa2Ue1Ri0oM
             */
            token: string;
            /**
             * Format: date-time
             * @description When it ends.
             * @example 2026-11-21T10:30:00.000Z
             */
            expires_at: string;
        };
        PortalPreviewBody: {
            /**
             * @description The language of the page.
             * @default en
             * @example de
             */
            locale: string;
        };
        PortalSessionItem: {
            /**
             * @description The session's id.
             * @example pls_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description The application that it shows.
             * @example app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            application: string;
            /**
             * @description `customer`, or `preview` for somebody of yours who looks at what the customer sees.
             * @example customer
             * @enum {string}
             */
            kind: "customer" | "preview";
            /**
             * @description What may be done there.
             * @example [
             *       "view",
             *       "manage",
             *       "resend"
             *     ]
             */
            permissions: ("view" | "secrets" | "manage" | "resend")[];
            /**
             * @description The key or the member that opened it; it ends with them.
             * @example ek_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            opened_by: string;
            /**
             * Format: date-time
             * @description When it was opened.
             * @example 2026-11-21T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it ends.
             * @example 2026-11-21T10:30:00.000Z
             */
            expires_at: string;
        };
        PortalSessionPage: {
            /** @description The sessions of this page. */
            data: components["schemas"]["PortalSessionItem"][];
            /**
             * @description Pass it as `cursor` for the next page; null on the last one.
             * @example null
             */
            next_cursor: string | null;
        };
        PortalApplicationItem: {
            /**
             * @description The application's id.
             * @example app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description What it is called.
             * @example Customer 42
             */
            name: string;
        };
        PortalThemeItem: {
            /**
             * @description Light, dark, or as the customer's system has it.
             * @example system
             * @enum {string}
             */
            scheme: "light" | "dark" | "system";
            /**
             * @description The colour of buttons and links; null for the portal's own.
             * @example #0a58b5
             */
            accent: string | null;
            /**
             * @description Of corners, in pixels; null for the portal's own.
             * @example 6
             */
            radius: number | null;
            /**
             * @description A picture as a `data:` URL; null without one.
             * @example null
             */
            logo: string | null;
        };
        OwnPortalItem: {
            /**
             * @description The session's id.
             * @example pls_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1
             */
            id: string;
            /**
             * @description `customer`, or `preview` for somebody of the company who looks at what its customer sees.
             * @example customer
             * @enum {string}
             */
            kind: "customer" | "preview";
            /**
             * @description What may be done.
             * @example [
             *       "view",
             *       "manage",
             *       "resend"
             *     ]
             */
            permissions: ("view" | "secrets" | "manage" | "resend")[];
            /** @description The application that it shows. */
            application: components["schemas"]["PortalApplicationItem"];
            /**
             * @description Whose portal it is.
             * @example Acme
             */
            organization: string;
            /**
             * @description The environment that it is in.
             * @example live
             * @enum {string}
             */
            environment: "live" | "test";
            /** @description How it looks. */
            theme: components["schemas"]["PortalThemeItem"];
            /**
             * @description The language of the page.
             * @example en
             */
            locale: string;
            /**
             * @description Where a link leads out of the portal; null without one.
             * @example https://app.example.com/settings
             */
            return_url: string | null;
            /**
             * Format: date-time
             * @description When it ends.
             * @example 2026-11-21T10:30:00.000Z
             */
            expires_at: string;
        };
        /** @description Every answer that is not 2xx. */
        Error: {
            /** @description What went wrong. */
            error: {
                /**
                 * @description What kind of error, for programs.
                 * @example validation_failed
                 * @enum {string}
                 */
                type: "bad_request" | "unauthenticated" | "insufficient_scope" | "not_found" | "conflict" | "payload_too_large" | "unsupported_media_type" | "validation_failed" | "rate_limited" | "internal" | "not_implemented";
                /**
                 * @description What happened and what to do next, for people.
                 * @example payload: is required
                 */
                message: string;
                /**
                 * @description Names this request in the logs.
                 * @example req_01JDZ3V5K8Q2M4N6P8R0T2W4Y6
                 */
                request_id: string;
                /**
                 * @description More, by type; `check` and `fields` for validation_failed.
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
        /** @description An error of OAuth (RFC 6749, section 5.2). */
        OAuthError: {
            /**
             * @description What is wrong, for programs.
             * @example invalid_grant
             */
            error: string;
            /**
             * @description What is wrong, for people.
             * @example The code is unknown, used or expired.
             */
            error_description: string;
        };
    };
    responses: {
        /** @description The request cannot be read: malformed JSON, a bad parameter, header or cursor. */
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
        /** @description The key lacks the scope. */
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
        /** @description No such resource in the key's environment. */
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
        /** @description A duplicate, or an Idempotency-Key that is in use or was used with another body. */
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
        /** @description The body breaks its schema, or a check failed: `details.check` is `schema`, `credentials`, `connectivity`, or `policy` for a rule of an extension. */
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
        /** @description Too many requests. `Retry-After` says when to come back. */
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
        /** @description An error on our side. Retry with backoff; safe with an Idempotency-Key. */
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
        /** @description Storage is away. Nothing was accepted; send the request again after `Retry-After`. */
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
         * @description Requests that the quota allows: that of the key or of the organization, whichever is tighter.
         * @example 6000
         */
        "RateLimit-Limit": number;
        /**
         * @description Requests left of it now.
         * @example 5999
         */
        "RateLimit-Remaining": number;
        /**
         * @description Whole seconds until it is full again.
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
                /** @description Only destinations of this type. */
                type?: string;
                /** @description Only destinations whose last check said so. */
                validation?: "pending" | "valid" | "stale" | "invalid";
                /** @description Only destinations with this status. */
                status?: "active" | "disabled";
                /** @description Only destinations whose circuit breaker is in this state. */
                circuit?: "closed" | "open" | "half_open";
                /** @description Only destinations whose name begins with this, whatever the case. */
                search?: string;
                /** @description True to say beside the page how many match the filters, up to 1,000. */
                count?: boolean;
                /** @description Where to go on: the `next_cursor` of the page before, with the same filters. */
                cursor?: string;
                /** @description How many to return. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
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
            /** @description Whether the target can be reached. */
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
                /** @description The destination. */
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
                /** @description The destination. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted. */
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
            /** @description Something sends to it, see `details.used_by`. */
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
                /** @description The destination. */
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
            /** @description The destination with the changes. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The destination. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What came of the first attempt. */
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
                /** @description The destination. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The secret in force. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The destination. */
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
                /** @description The destination. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What each check said. */
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
                /** @description Only applications whose name or uid begins with this, whatever the case. */
                search?: string;
                /** @description True to say beside the page how many match the filters, up to 1,000. */
                count?: boolean;
                /** @description Where to go on: the `next_cursor` of the page before. */
                cursor?: string;
                /** @description How many to return. */
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
                /** @description Answer 200 with the application that has the uid already, instead of 409. */
                get_if_exists?: boolean;
            };
            header?: {
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
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
            /** @description The application that has the uid already (`get_if_exists`). */
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
                /** @description The application: its `app_` id, or your own id of it. */
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
                /** @description The application: its `app_` id, or your own id of it. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted. */
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
                /** @description The application: its `app_` id, or your own id of it. */
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
            /** @description The application with the changes. */
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
                /** @description Only endpoints with this status. */
                status?: "active" | "disabled";
                /** @description Only endpoints that subscribe to this type. */
                event_type?: string;
                /** @description Where to go on: the `next_cursor` of the page before, with the same filters. */
                cursor?: string;
                /** @description How many to return. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description The application: its `app_` id, or your own id of it. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The application: its `app_` id, or your own id of it. */
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
            /** @description The endpoint, with its secret. */
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
                /** @description The application: its `app_` id, or your own id of it. */
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
            /** @description Whether it can be reached. */
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
                /** @description The application: its `app_` id, or your own id of it. */
                app: string;
                /** @description The endpoint: its `ep_` id, or your own id of it. */
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
                /** @description The application: its `app_` id, or your own id of it. */
                app: string;
                /** @description The endpoint: its `ep_` id, or your own id of it. */
                endpoint: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted. */
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
                /** @description The application: its `app_` id, or your own id of it. */
                app: string;
                /** @description The endpoint: its `ep_` id, or your own id of it. */
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
            /** @description The endpoint with the changes. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The application: its `app_` id, or your own id of it. */
                app: string;
                /** @description The endpoint: its `ep_` id, or your own id of it. */
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
            /** @description What came of the first attempt. */
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
                /** @description Only attempts that were answered with 2xx, or only the others. */
                status?: "delivered" | "failed";
                /** @description Only attempts of events of exactly this type. */
                event_type?: string;
                /** @description Only attempts of events that were accepted at or after this time (RFC 3339). */
                since?: string;
                /** @description Only attempts of events that were accepted at or before this time (RFC 3339). */
                until?: string;
                /** @description Where to go on: the `next_cursor` of the page before, with the same filters. */
                cursor?: string;
                /** @description How many to return. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description The application: its `app_` id, or your own id of it. */
                app: string;
                /** @description The endpoint: its `ep_` id, or your own id of it. */
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
                /** @description The application: its `app_` id, or your own id of it. */
                app: string;
                /** @description The endpoint: its `ep_` id, or your own id of it. */
                endpoint: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The secret in force. */
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
            /** @description It goes to a destination, whose secret signs. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The application: its `app_` id, or your own id of it. */
                app: string;
                /** @description The endpoint: its `ep_` id, or your own id of it. */
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
                /** @description From this time (RFC 3339); 24 hours before `until` when left out. */
                since?: string;
                /** @description Before this time (RFC 3339); up to now when left out. */
                until?: string;
            };
            header?: never;
            path: {
                /** @description The application: its `app_` id, or your own id of it. */
                app: string;
                /** @description The endpoint: its `ep_` id, or your own id of it. */
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
                /** @description Only events in one of these states: the parameter several times, or once with commas. */
                status?: ("delivered" | "failed" | "retrying" | "dlq" | "quarantined" | "parked" | "ignored")[];
                /** @description Only events that this inbound endpoint received (its id or path), that this endpoint of an application got, or that went to this destination. */
                endpoint?: string;
                /** @description Only events of exactly this type. */
                event_type?: string;
                /** @description Only the events of this message. */
                message_id?: string;
                /**
                 * @description Only events that are not delivered and whose last attempt ended so: why there was no answer, or the class of its status. Of several
                 *     deliveries that is the last attempt of the one that gives the event its status.
                 */
                error?: "timeout" | "dns" | "connection" | "tls" | "blocked" | "protocol" | "refused" | "adapter" | "3xx" | "4xx" | "5xx";
                /** @description Only what has exactly this id: of an event, of one of its deliveries (`evt_….0`), of a message, of a received request (`req_`), or the `webhook-id` of a delivery. */
                q?: string;
                /** @description Only events received at or after this time (RFC 3339). */
                since?: string;
                /** @description Only events received at or before this time (RFC 3339). */
                until?: string;
                /** @description Where to go on: the `next_cursor` of the page before, with the same filters. */
                cursor?: string;
                /** @description How many to return. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description The application: its `app_` id, or your own id of it. */
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
                /** @description The application: its `app_` id, or your own id of it. */
                app: string;
                /** @description The event. */
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
                /** @description Only applications whose name or uid begins with this, whatever the case. */
                search?: string;
                /** @description True to say beside the page how many match the filters, up to 1,000. */
                count?: boolean;
                /** @description Where to go on: the `next_cursor` of the page before. */
                cursor?: string;
                /** @description How many to return. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description The application: its `app_` id, or your own id of it. */
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
                /** @description The application: its `app_` id, or your own id of it. */
                app: string;
                /** @description The `msg_` id that the fan-out returned. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
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
            /** @description Accepted: it will be delivered, or end as a dead letter that can be replayed. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The application: its `app_` id, or your own id of it. */
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
            /** @description Accepted: stored for every endpoint that it goes to. */
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
                /** @description Only events in one of these states: the parameter several times, or once with commas. */
                status?: ("delivered" | "failed" | "retrying" | "dlq" | "quarantined" | "parked" | "ignored")[];
                /** @description Only events that this inbound endpoint received (its id or path), that this endpoint of an application got, or that went to this destination. */
                endpoint?: string;
                /**
                 * @description Only events that went to this destination (its id, or an ad-hoc URL): sent to it, routed to it by an endpoint, or fanned out to it.
                 *     With `status`, a delivery there must be in that state too.
                 */
                destination?: string;
                /** @description Only events that were sent to this application: its `app_` id, or your own id of it. */
                application?: string;
                /** @description Only events of exactly this type. */
                event_type?: string;
                /** @description Only the events of this message. */
                message_id?: string;
                /** @description Only events that were sent (`outbound`, emails too), or that were received (`inbound`, received mail too). */
                direction?: "outbound" | "inbound";
                /**
                 * @description Only events that are not delivered and whose last attempt ended so: why there was no answer, or the class of its status. Of several
                 *     deliveries that is the last attempt of the one that gives the event its status.
                 */
                error?: "timeout" | "dns" | "connection" | "tls" | "blocked" | "protocol" | "refused" | "adapter" | "3xx" | "4xx" | "5xx";
                /** @description Only what has exactly this id: of an event, of one of its deliveries (`evt_….0`), of a message, of a received request (`req_`), or the `webhook-id` of a delivery. */
                q?: string;
                /** @description Only events received at or after this time (RFC 3339). */
                since?: string;
                /** @description Only events received at or before this time (RFC 3339). */
                until?: string;
                /** @description Where to go on: the `next_cursor` of the page before, with the same filters. */
                cursor?: string;
                /** @description How many to return. */
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
                /** @description Only events in one of these states: the parameter several times, or once with commas. */
                status?: ("delivered" | "failed" | "retrying" | "dlq" | "quarantined" | "parked" | "ignored")[];
                /** @description Only events that this inbound endpoint received (its id or path), that this endpoint of an application got, or that went to this destination. */
                endpoint?: string;
                /**
                 * @description Only events that went to this destination (its id, or an ad-hoc URL): sent to it, routed to it by an endpoint, or fanned out to it.
                 *     With `status`, a delivery there must be in that state too.
                 */
                destination?: string;
                /** @description Only events that were sent to this application: its `app_` id, or your own id of it. */
                application?: string;
                /** @description Only events of exactly this type. */
                event_type?: string;
                /** @description Only the events of this message. */
                message_id?: string;
                /** @description Only events that were sent (`outbound`, emails too), or that were received (`inbound`, received mail too). */
                direction?: "outbound" | "inbound";
                /**
                 * @description Only events that are not delivered and whose last attempt ended so: why there was no answer, or the class of its status. Of several
                 *     deliveries that is the last attempt of the one that gives the event its status.
                 */
                error?: "timeout" | "dns" | "connection" | "tls" | "blocked" | "protocol" | "refused" | "adapter" | "3xx" | "4xx" | "5xx";
                /** @description Only what has exactly this id: of an event, of one of its deliveries (`evt_….0`), of a message, of a received request (`req_`), or the `webhook-id` of a delivery. */
                q?: string;
                /** @description Only events received at or after this time (RFC 3339). */
                since?: string;
                /** @description Only events received at or before this time (RFC 3339). */
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The count. */
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
                /** @description Only events that were sent to this application: its `app_` id, or your own id of it. */
                application?: string;
                /** @description Only events of exactly this type. */
                event_type?: string;
                /** @description Only changes after which their event is in this state. */
                status?: "delivered" | "failed" | "retrying" | "dlq" | "quarantined" | "parked" | "ignored";
                /** @description Only events that this inbound endpoint received (its id or path), or that this endpoint of an application got. */
                endpoint?: string;
                /** @description Only events that were sent to this destination (its id, or an ad-hoc URL), and attempts and deliveries there of received ones. */
                destination?: string;
                /** @description Only events that were sent (`outbound`), or that were received (`inbound`). */
                direction?: "outbound" | "inbound";
                /** @description Of a session, which of its environments: `EventSource` can send no header. A key has its own, which this must be if it is given. */
                environment?: "live" | "test";
                /** @description `false` ends the stream once everything up to now was told: with `Last-Event-ID`, what happened since. */
                follow?: boolean;
            };
            header?: {
                /** @description The `id` of the last item that was seen. */
                "last-event-id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stream. */
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
                /** @description An `evt_` id, or the `msg_` id that a send returned. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description An `evt_` id, or the `msg_` id that a send returned. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description How many deliveries it was. */
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
                /** @description An `evt_` id, or the `msg_` id that a send returned. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The exchanges, the latest first. */
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
                /** @description An `evt_` id, or the `msg_` id that a send returned. */
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
                /** @description An `evt_` id, or the `msg_` id that a send returned. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Erased, now or before. */
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
                /** @description An `evt_` id, or the `msg_` id that a send returned. */
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
            /** @description The request, less its body. */
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
            /** @description Deliveries to this destination are no signed requests, or it is gone. */
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
                /** @description Only endpoints with this status. */
                status?: "active" | "paused" | "disabled";
                /** @description Only endpoints of this provider. */
                preset?: string;
                /** @description Only endpoints whose name or slug begins with this, whatever the case. */
                search?: string;
                /** @description True to say beside the page how many match the filters, up to 1,000. */
                count?: boolean;
                /** @description Where to go on: the `next_cursor` of the page before, with the same filters. */
                cursor?: string;
                /** @description How many to return. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
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
                /** @description The endpoint. */
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
                /** @description The endpoint. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted. */
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
                /** @description The endpoint. */
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
            /** @description The endpoint with the changes. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The endpoint. */
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
            /** @description What came of it. */
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
                /** @description Only requests that this became of. */
                status?: "routed" | "quarantined" | "parked" | "ignored" | "duplicate";
                /** @description Only requests with this method, in upper case. */
                method?: string;
                /** @description Only requests received at or after this time (RFC 3339). */
                since?: string;
                /** @description Only requests received at or before this time (RFC 3339). */
                until?: string;
                /** @description Where to go on: the `next_cursor` of the page before. */
                cursor?: string;
                /** @description How many to return. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description The endpoint. */
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
                /** @description Hides headers that authenticate from scope `write` too: for answers that somebody else reads. */
                hide_secrets?: boolean;
            };
            header?: never;
            path: {
                /** @description The endpoint. */
                id: string;
                /** @description A `req_` id, or the `evt_` id of its event. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The endpoint. */
                id: string;
                /** @description A `req_` id, or the `evt_` id of its event. */
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
                /** @description The endpoint. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The endpoint. */
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
                /** @description The endpoint. */
                id: string;
                /** @description The route. */
                routeId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted. */
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
                /** @description The endpoint. */
                id: string;
                /** @description The route. */
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
            /** @description The route with the changes. */
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
                /** @description The endpoint. */
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
            /** @description Stored; it is never returned. */
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
                /** @description The endpoint. */
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
            /** @description What would become of it. */
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
                /** @description Where to go on: the `next_cursor` of the page before. */
                cursor?: string;
                /** @description How many to return. */
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
                /** @description The `next_cursor` of an earlier answer: commits everything before it and goes on behind it. */
                cursor?: string;
                /** @description How many to return at most; fewer when their payloads come to more than 4 MB. */
                limit?: number;
                /** @description Seconds to wait for something to arrive when there is nothing. */
                wait?: number;
            };
            header?: never;
            path: {
                /** @description The `dst_` id of a pull destination, or the `ep_` id of an endpoint with one: then only what it received. */
                endpoint: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One batch of events; empty when there is nothing. */
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
            /** @description The destination is not of type pull, or the endpoint has none or several of that type. */
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
                /** @description The `dst_` id of a pull destination, or the `ep_` id of an endpoint with one: then only what it received. */
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
            /** @description Committed. */
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
            /** @description The destination is not of type pull, or the endpoint has none or several of that type. */
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
            /** @description A key calls, which has no portal. */
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
                /** @description Where to go on: the `next_cursor` of the page before. */
                cursor?: string;
                /** @description How many to return. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description The application: its `app_` id, or your own id of it. */
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
                /** @description The application: its `app_` id, or your own id of it. */
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
            /** @description The portal. The answer is the only one that shows its token. */
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
                /** @description The application: its `app_` id, or your own id of it. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Closed. */
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
                /** @description The application: its `app_` id, or your own id of it. */
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
            /** @description The portal. The answer is the only one that shows its token. */
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
                /** @description The application: its `app_` id, or your own id of it. */
                app: string;
                /** @description The session of the portal. */
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
                /** @description The application: its `app_` id, or your own id of it. */
                app: string;
                /** @description The session of the portal. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Closed. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
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
            /** @description How many are on their way again. */
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
                /** @description Only jobs of this endpoint, destination or application (`app_`). */
                endpoint?: string;
                /** @description Only jobs in this state. */
                state?: "pending" | "running" | "completed" | "stopped" | "failed";
                /** @description Where to go on: the `next_cursor` of the page before, with the same filters. */
                cursor?: string;
                /** @description How many to return. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
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
            /** @description How many events it would look at (`dry_run: true`). */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The application: its `app_` id, or your own id of it. */
                app: string;
                /** @description The endpoint: its `ep_` id, or your own id of it. */
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
            /** @description How many deliveries it was. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The application: its `app_` id, or your own id of it. */
                app: string;
                /** @description The endpoint: its `ep_` id, or your own id of it. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The application: its `app_` id, or your own id of it. */
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
            /** @description What an erasure would delete (`dry_run: true`). */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The application: its `app_` id, or your own id of it. */
                app: string;
                /** @description The `msg_` id that the fan-out returned. */
                message: string;
                /** @description The endpoint: its `ep_` id, or your own id of it. */
                endpoint: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The event of the message at the endpoint is on its way again. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The application: its `app_` id, or your own id of it. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The application: its `app_` id, or your own id of it. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The destination. */
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
            /** @description How many deliveries it was. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The destination. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The endpoint. */
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
            /** @description What a replay would do (`dry_run: true`). */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The endpoint. */
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
            /** @description What a release would look at (`dry_run: true`). */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description An `evt_` id, or the `msg_` id that a send returned. */
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
            /** @description The event is on its way again. */
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
                /** @description The replay job. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The replay job. */
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
                /** @description Only those of this group. */
                group?: string;
                /** @description Whether to list those that are archived, which are left out otherwise, or those that are not. */
                archived?: boolean;
                /** @description Where to go on: the `next_cursor` of the page before. */
                cursor?: string;
                /** @description How many to return. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
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
            /** @description The event type, in its version 1. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
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
            /** @description What became of each type. */
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
                /** @description The event type, percent-encoded. */
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
                /** @description The event type, percent-encoded. */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted. */
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
                /** @description The event type, percent-encoded. */
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
            /** @description The event type with the changes. */
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
                /** @description Where to go on: the `next_cursor` of the page before. */
                cursor?: string;
                /** @description How many to return. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description The event type, percent-encoded. */
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
                /** @description Where to go on: the `next_cursor` of the page before. */
                cursor?: string;
                /** @description How many to return. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description The event type, percent-encoded. */
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
                /** @description Where to go on: the `next_cursor` of the page before. */
                cursor?: string;
                /** @description How many to return. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
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
            /** @description The environment has it already (`details.domain`), or its mail goes elsewhere (`details.mx`). */
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
                /** @description The domain. */
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
                /** @description The domain. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted. */
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
            /** @description Something uses it, see `details.used_by`. */
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
                /** @description The domain. */
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
            /** @description Its mail goes elsewhere (`details.mx`), or aliases receive on it (`details.used_by`). */
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
                /** @description The domain. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The domain as it is now. */
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
                /** @description Only emails in this state. */
                status?: "scheduled" | "sending" | "delivered" | "bounced" | "complained" | "suppressed" | "failed" | "dlq";
                /** @description Only emails accepted at or after this time (RFC 3339). */
                since?: string;
                /** @description Only emails accepted at or before this time (RFC 3339). */
                until?: string;
                /** @description Only emails with this tag: its name, or `name:value`. */
                tag?: string;
                /** @description Only emails to this address, in `to`, `cc` or `bcc`; whatever its case. */
                recipient?: string;
                /** @description Where to go on: the `next_cursor` of the page before, with the same filters. */
                cursor?: string;
                /** @description How many to return. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
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
            /** @description Accepted: it is sent from now on or at its time, or every recipient is suppressed. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
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
            /** @description What became of each email, in order. */
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
            /** @description It is no batch: no list of 1 to 100 emails, or more attachments than a request may have. */
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
            /** @description The simulator. */
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
                /** @description The email. */
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
                /** @description The email. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is not sent, and is gone. */
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
            /** @description The email has left, or is leaving. */
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
                /** @description The email. */
                id: string;
                /** @description Which attachment, from 0, as the content lists them. */
                index: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The email. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is not sent, and is gone. */
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
            /** @description The email has left, or is leaving. */
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
                /** @description The email. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What it says. */
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
                /** @description The email. */
                id: string;
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
                /** @description The email. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The view. */
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
            /** @description The document, at most 1 MB of it beside its images. */
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
            /** @description There is no such view, its minute is over, or the message is gone. */
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
                /** @description Only those that came about like this. */
                origin?: "bounce" | "complaint" | "manual";
                /** @description Only this address. */
                email?: string;
                /** @description Where to go on: the `next_cursor` of the page before, with the same filters. */
                cursor?: string;
                /** @description How many to return. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
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
            /** @description The address is on the list already. */
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
                /** @description The suppression: its id, or the address (percent-encoded). */
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
                /** @description The suppression: its id, or the address (percent-encoded). */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Removed. */
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
                     * @description What SNS sends: a notification, or the confirmation of a subscription.
                     * @example Notification
                     */
                    Type?: string;
                    /**
                     * @description The id of the notification, the same when it is repeated.
                     * @example 22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324
                     */
                    MessageId?: string;
                    /**
                     * @description The topic, one of `SES_TOPICS`.
                     * @example arn:aws:sns:eu-west-1:123456789012:mail
                     */
                    TopicArn?: string;
                    /**
                     * @description What SES tells, as JSON in a string.
                     * @example {"notificationType":"Bounce"}
                     */
                    Message?: string;
                    /**
                     * @description When SNS sent it.
                     * @example 2026-11-22T09:30:00.000Z
                     */
                    Timestamp?: string;
                    /**
                     * @description How it is signed.
                     * @example 2
                     */
                    SignatureVersion?: string;
                    /**
                     * @description Where the certificate of the signature is.
                     * @example https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0000.pem
                     */
                    SigningCertURL?: string;
                    /**
                     * @description The signature, in base64.
                     * @example EXAMPLE
                     */
                    Signature?: string;
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description It is stored, or the subscription is confirmed. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            /** @description It is not signed by SNS for a topic of `SES_TOPICS`. */
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
                /** @description Only those of which this became. */
                state?: "waiting" | "recorded" | "unmatched" | "untrusted" | "ignored";
                /** @description Where to go on: the `next_cursor` of the page before, with the same filters. */
                cursor?: string;
                /** @description How many to return. */
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
                /** @description The report. */
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
                /** @description The report. */
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
                /** @description Where to go on: the `next_cursor` of the page before. */
                cursor?: string;
                /** @description How many to return. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
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
            /** @description The address is malformed, or one that nobody can have. */
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
            /** @description The organization has an alias with this address. */
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
                /** @description The alias: its id, or its whole address (percent-encoded). */
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
                /** @description The alias: its id, or its whole address (percent-encoded). */
                alias: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted. */
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
                /** @description The alias: its id, or its whole address (percent-encoded). */
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
            /** @description The alias as it is now. */
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
                /** @description Only messages in this state: `received` has not been looked at yet, `quarantined` goes nowhere until it is released. */
                state?: "received" | "processed" | "quarantined";
                /** @description Only messages from this address, which they say they are from or their envelope has; whatever its case. */
                from?: string;
                /** @description Only messages that came at or after this time (RFC 3339). */
                since?: string;
                /** @description Only messages that came at or before this time (RFC 3339). */
                until?: string;
                /** @description Where to go on: the `next_cursor` of the page before, with the same filters. */
                cursor?: string;
                /** @description How many to return. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description The alias: its id, or its whole address (percent-encoded). */
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
                /** @description The alias: its id, or its whole address (percent-encoded). */
                alias: string;
                /** @description The message. */
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
                /** @description The alias: its id, or its whole address (percent-encoded). */
                alias: string;
                /** @description The message. */
                messageId: string;
                /** @description Which attachment, from 0, as the message lists them. */
                index: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file. */
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
                /** @description The alias: its id, or its whole address (percent-encoded). */
                alias: string;
                /** @description The message. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The alias: its id, or its whole address (percent-encoded). */
                alias: string;
                /** @description The message. */
                messageId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The message, which is on its way. */
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
            /** @description The message is not quarantined, or the alias leads nowhere. */
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
                /** @description The alias: its id, or its whole address (percent-encoded). */
                alias: string;
                /** @description The message. */
                messageId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The view. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The alias: its id, or its whole address (percent-encoded). */
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
            /** @description What is sent again, or would be. */
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
                /** @description Where to go on: the `next_cursor` of the page before. */
                cursor?: string;
                /** @description How many to return. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
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
                /** @description The secret. */
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
                /** @description The secret. */
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
            /** @description The secret with the changes, without its value. */
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
                /** @description The secret. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted. */
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
            /** @description Something uses it, see `details.used_by`. */
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
                /** @description An endpoint (`ep_…`), a destination (`dst_…`) or an application (`app_…`) of the key's environment; the whole environment when left out. */
                key?: string;
                /** @description How long a window is. They begin at full minutes, hours and days of UTC, and are kept for 7, 90 and 400 days. */
                window?: "1m" | "1h" | "1d";
                /**
                 * @description From the window that holds this time (RFC 3339); when it is left out, the last 60 minutes, 48 hours or 30 days
                 *     before `until`. A range has at most 1,440 windows.
                 */
                since?: string;
                /** @description Only windows that begin before this time (RFC 3339); when it is left out, up to the one that runs now. */
                until?: string;
                /** @description Leave out windows in which nothing happened. */
                sparse?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Every window of the range, oldest first. */
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
            /** @description No such endpoint, destination or application in the key's environment. */
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
                /** @description From the hour that holds this time (RFC 3339) on, seven days ago at most; a day ago when left out. */
                since?: string;
                /** @description How many to return at most: the worst. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The applications; none when all is well. */
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
                /** @description How far back: 60 windows of a minute, 24 or 168 of an hour, 30 of a day. The last one runs now. */
                range?: "1h" | "24h" | "7d" | "30d";
                /** @description Only this application, by its `app_` id or your uid; the whole environment when left out. */
                application?: string;
                /** @description Leave out windows in which nothing happened. */
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
            /** @description No such application in the key's environment. */
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
                /** @description How far back; 7 and 30 days are whole days of UTC. */
                range?: "1h" | "24h" | "7d" | "30d";
                /** @description How many to return at most: the worst. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The targets; none when all is well. */
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
            /** @description What is broken; nothing when all is well. */
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
            /** @description The organization with the changes. */
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
            /** @description The secret in force. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
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
                /** @description Where to go on: the `next_cursor` of the page before. */
                cursor?: string;
                /** @description How many to return. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
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
            /** @description The key, without its text. */
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
            /** @description Revoked. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
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
                /** @description Where to go on: the `next_cursor` of the page before. */
                cursor?: string;
                /** @description How many to return. */
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
                /** @description A uuid of your own for this request, such as `0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11`. Within a day, the same request with the same key is done once: its 2xx answer is repeated with `Idempotent-Replayed: true`. What was refused may be sent again. */
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
            /** @description Removed. */
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
            /** @description The last admin among the members. */
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
            /** @description The member with the changes. */
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
            /** @description A key calls, which has no session. */
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
            /** @description Signed out. */
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
            /** @description A key calls, which has no session. */
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
                /** @description Where to go on: the `next_cursor` of the page before. */
                cursor?: string;
                /** @description How many to return. */
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
            /** @description Ended. */
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
                /** @description Who: the id of a key or a member, or the subject of a token. */
                actor?: string;
                /** @description What: a method and the template of a route, or a word such as `sign-in.failed`. */
                action?: string;
                /** @description To what: an id, or the name of a collection. */
                resource?: string;
                /** @description From this moment on (RFC 3339). */
                since?: string;
                /** @description Before this moment (RFC 3339). */
                until?: string;
                /** @description Where to go on: the `next_cursor` of the page before. */
                cursor?: string;
                /** @description How many to return. */
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
                /** @description Who: the id of a key or a member, or the subject of a token. */
                actor?: string;
                /** @description What: a method and the template of a route, or a word such as `sign-in.failed`. */
                action?: string;
                /** @description To what: an id, or the name of a collection. */
                resource?: string;
                /** @description From this moment on (RFC 3339). */
                since?: string;
                /** @description Before this moment (RFC 3339). */
                until?: string;
                /** @description JSON lines, or CSV with a line of headings. */
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
                /** @description Who: the id of a key or a member, or the subject of a token. */
                actor?: string;
                /** @description What: a method and the template of a route, or a word such as `sign-in.failed`. */
                action?: string;
                /** @description To what: an id, or the name of a collection. */
                resource?: string;
                /** @description From this moment on (RFC 3339). */
                since?: string;
                /** @description Before this moment (RFC 3339). */
                until?: string;
                /** @description Where to go on: the `next_cursor` of the page before. */
                cursor?: string;
                /** @description How many to return. */
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
                /** @description Where to go on: the `next_cursor` of the page before. */
                cursor?: string;
                /** @description How many to return. */
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
            /** @description The slug is taken, or a second organization would need OIDC_DOMAINS. */
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
            /** @description Removed. */
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
            /** @description The last organization of the installation. */
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
            /** @description What it can do, and where. */
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
            /** @description Who signs agents in. */
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
            /** @description Who signs agents in. */
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
                /** @description The revision of the protocol. */
                "MCP-Protocol-Version"?: string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description One JSON-RPC message. */
        requestBody: {
            content: {
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description The answer to it. */
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
                /** @description What the key is for (RFC 8707). */
                resource?: unknown;
                /** @description Always `read` is granted; other scopes are ignored. */
                scope?: unknown;
                /** @description Comes back as it is. */
                state?: unknown;
                /** @description `S256`. */
                code_challenge_method: unknown;
                /** @description PKCE (RFC 7636). */
                code_challenge: unknown;
                /** @description One that is registered, character by character; on the own computer the port may differ. */
                redirect_uri: unknown;
                /** @description A registered client, or the https URL of its metadata. */
                client_id: unknown;
                /** @description `code`. */
                response_type: unknown;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page. */
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
            /** @description Back to a client that the organization approved before, with an error. */
            302: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description To the sign-in, and back. */
            303: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request cannot be read: malformed JSON, a bad parameter, header or cursor. */
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
            /** @description Too many requests. `Retry-After` says when to come back. */
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
            /** @description An error on our side. Retry with backoff; safe with an Idempotency-Key. */
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
            /** @description Storage is away. Nothing was accepted; send the request again after `Retry-After`. */
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
        /** @description As application/x-www-form-urlencoded. */
        requestBody: {
            content: {
                "application/x-www-form-urlencoded": {
                    /**
                     * @description The client.
                     * @example posthorn-cli
                     */
                    client_id: string;
                    /**
                     * @description What the key should be able to do: the person sees it selected, and may choose another one.
                     * @example write
                     */
                    scope?: string;
                    /**
                     * @description The machine that the program runs on: the person sees it, and the list of keys shows it.
                     * @example ada-laptop
                     */
                    device_name?: string;
                };
            };
        };
        responses: {
            /** @description The codes. */
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
            /** @description What is wrong, in the form of RFC 6749. */
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
            /** @description No such client, or one that says that it has a secret. */
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
            /** @description Too many requests. `Retry-After` says when to come back. */
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
            /** @description An error on our side. Retry with backoff; safe with an Idempotency-Key. */
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
            /** @description Storage is away. Nothing was accepted; send the request again after `Retry-After`. */
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
        /** @description The client; what is not known is ignored. */
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description Where it may be answered: 1 to 10.
                     * @example [
                     *       "http://127.0.0.1:3456/callback"
                     *     ]
                     */
                    redirect_uris?: string[];
                    /**
                     * @description How it will ask: `authorization_code`, `urn:ietf:params:oauth:grant-type:device_code`, or both. The first when left out.
                     * @example [
                     *       "authorization_code"
                     *     ]
                     */
                    grant_types?: string[];
                    /**
                     * @description What people are shown, and told that nobody verified.
                     * @example An assistant
                     */
                    client_name?: string;
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description The client. */
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
            /** @description What is wrong, in the form of RFC 6749. */
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
            /** @description Too many requests. `Retry-After` says when to come back. */
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
            /** @description An error on our side. Retry with backoff; safe with an Idempotency-Key. */
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
            /** @description Storage is away. Nothing was accepted; send the request again after `Retry-After`. */
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
        /** @description As application/x-www-form-urlencoded. */
        requestBody: {
            content: {
                "application/x-www-form-urlencoded": {
                    /**
                     * @description The key.
                     * @example ek_live_4fQaVb0mJ2sYkWcX9tLr7uNzPe5hDg3iOq8wAx1CyBv6KdR
                     */
                    token: string;
                    /**
                     * @description Ignored.
                     * @example access_token
                     */
                    token_type_hint?: string;
                    /**
                     * @description The client.
                     * @example k3W6pQ0bT2mXcR9sY7vZ1A
                     */
                    client_id?: string;
                };
            };
        };
        responses: {
            /** @description It is good for nothing any more. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What is wrong, in the form of RFC 6749. */
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
            /** @description No such client, or one that says that it has a secret. */
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
            /** @description Too many requests. `Retry-After` says when to come back. */
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
            /** @description An error on our side. Retry with backoff; safe with an Idempotency-Key. */
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
            /** @description Storage is away. Nothing was accepted; send the request again after `Retry-After`. */
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
        /** @description As application/x-www-form-urlencoded. */
        requestBody: {
            content: {
                "application/x-www-form-urlencoded": {
                    /**
                     * @description `authorization_code`, or `urn:ietf:params:oauth:grant-type:device_code`.
                     * @example authorization_code
                     */
                    grant_type: string;
                    /**
                     * @description The code.
                     * @example Vb0mJ2sYkWcX9tLr7uNzPe5hDg3iOq8wAx1CyBv6KdR
                     */
                    code?: string;
                    /**
                     * @description The same as it was asked with.
                     * @example http://127.0.0.1:3456/callback
                     */
                    redirect_uri?: string;
                    /**
                     * @description The client.
                     * @example k3W6pQ0bT2mXcR9sY7vZ1A
                     */
                    client_id: string;
                    /**
                     * @description What the code_challenge was made of (RFC 7636).
                     * @example dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk
                     */
                    code_verifier?: string;
                    /**
                     * @description What the key is for (RFC 8707); may be left out.
                     * @example https://hooks.example.com/mcp
                     */
                    resource?: string;
                    /**
                     * @description Instead of the code, from a device.
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
            /** @description What is wrong, in the form of RFC 6749. */
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
            /** @description No such client, or one that says that it has a secret. */
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
            /** @description Too many requests. `Retry-After` says when to come back. */
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
            /** @description An error on our side. Retry with backoff; safe with an Idempotency-Key. */
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
            /** @description Storage is away. Nothing was accepted; send the request again after `Retry-After`. */
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
            /** @description Done. */
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
            /** @description Done. */
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
