// Example of a web page that embeds the customer portal in a frame, with the backend that opens the portal.
//
//   POSTHORN_URL=http://localhost:3000 POSTHORN_KEY=ek_test_… APPLICATION=customer-42 node examples/portal/server.mjs
//
// Register the origin of the page once, with an admin key of the same environment. Plain http is allowed only for the
// local machine, in the test environment:
//
//   curl -X PATCH http://localhost:3000/v1/org -H "Authorization: Bearer ek_test_…" \
//     -H 'content-type: application/json' -d '{"portal_origins": ["http://localhost:4000"]}'
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const TYPES = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

/**
 * Returns the HTTP server of the example. `portal` contains the options for opening the portal. `application` is the
 * customer who is signed in.
 */
export function createHost({ posthorn, key, application, portal = {} }) {
  return createServer((request, response) => {
    answer(request).then(
      ({ status, type, body }) => {
        response
          .writeHead(status, {
            'content-type': type,
            // Your own Content-Security-Policy must allow the script that mounts the frame, and the frame itself.
            'content-security-policy': `default-src 'none'; connect-src 'self'; style-src 'self'; script-src 'self' ${posthorn}/portal/embed.js; frame-src ${posthorn}/portal/`,
          })
          .end(body);
      },
      () => response.writeHead(502).end(),
    );
  });

  async function answer({ method, url = '/' }) {
    if (method === 'POST' && url === '/open-portal') {
      // Check here who is signed in. The API key stays in the backend.
      const opened = await fetch(`${posthorn}/v1/app/${encodeURIComponent(application)}/portal`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(portal),
      });
      return { status: opened.status, type: 'application/json', body: await opened.text() };
    }
    if (url === '/settings') return { status: 200, type: 'application/json', body: JSON.stringify({ posthorn }) };
    const name = { '/': 'index.html', '/page.js': 'page.js', '/page.css': 'page.css' }[url];
    if (name === undefined) return { status: 404, type: 'text/plain', body: 'Not here.' };
    return { status: 200, type: TYPES[name.split('.').at(-1)], body: readFileSync(new URL(name, import.meta.url)) };
  }
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const {
    POSTHORN_URL: posthorn = 'http://localhost:3000',
    POSTHORN_KEY: key,
    APPLICATION: application,
    PORT = '4000',
  } = process.env;
  if (key === undefined || application === undefined) {
    console.error('Set POSTHORN_KEY and APPLICATION.');
    process.exit(2);
  }
  createHost({ posthorn, key, application }).listen(Number(PORT), () => console.log(`http://localhost:${PORT}`));
}
