import { type Html, html } from '#http/pages/html.js';
import type { Page } from '#http/pages/page.js';
import { grants, type Scope, SCOPES } from '#kernel/tenant.js';
import type { SignedIn } from '#modules/auth/sessions.contract.js';
import type { AuthorizationRequest } from './authorization.js';
import { LIFETIMES } from './consent.js';
import type { WaitingDevice } from './oauth-devices.store.js';
import { isLoopback, originOf } from './redirect-uris.js';

const MODES = { live: 'Live: real deliveries to your customers', test: 'Test' } as const;

const SCOPE_WORDS: Readonly<Record<Scope, string>> = {
  read: 'Read only: see everything, change nothing',
  write: 'Read and write: also send, replay, and change destinations and endpoints',
  admin: 'Everything: also keys, members and domains',
};

export function consentPage(
  { client, redirectUri }: AuthorizationRequest,
  asked: Readonly<Record<string, string>>,
  who: SignedIn,
  basePath: string,
): Page {
  const target = originOf(redirectUri);
  return {
    title: 'Allow access?',
    body: html`<p><strong>“${client.name}”</strong> asks to read your data in Posthorn.</p>
<p class="notice">The application chose this name itself. Nobody verified it.</p>
<dl><dt>Your answer goes to</dt><dd><strong>${target}</strong><br><span class="quiet">${redirectUri}</span></dd>
<dt>${client.isDocument ? 'The application is described at' : 'The application'}</dt><dd>${client.isDocument ? client.id : 'registered itself without further information'}</dd>
<dt>You</dt><dd>${nameOf(who)}, ${who.organizationName}</dd></dl>
${
  isLoopback(redirectUri)
    ? html`<p class="fault" role="alert">The answer goes to a program on the computer in front of you. Go on only if you have just started that program yourself.</p>
`
    : null
}<h2>It will be able to</h2>
<ul><li>read events, payloads and attempts, received requests, emails and messages, metrics and settings of the environment that you choose</li></ul>
<h2>It will not be able to</h2>
<ul><li>send, replay, change or delete anything</li><li>see secrets, keys or members</li></ul>
<form method="post" action="${basePath}/oauth/authorize">
<input type="hidden" name="csrf_token" value="${who.csrfToken}">${Object.entries(asked).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${choices(who)}
<button name="decision" value="allow">Allow</button><button class="other" name="decision" value="deny" formnovalidate>Refuse</button>
</form>
<p class="quiet">You can take the access back at any time: it is one of your API keys.</p>
${elsewhere(who, basePath)}`,
  };
}

export function deviceCodePage(who: SignedIn, basePath: string, userCode: string, fault: string | null): Page {
  return {
    title: 'Sign in a program',
    body: html`${
      fault === null
        ? null
        : html`<p class="fault" role="alert">${fault}</p>
`
    }<p>Type the code that the program shows${userCode === '' ? null : ', or compare it with this one letter by letter'}. Go on only if you have started the program yourself.</p>
<form method="post" action="${basePath}/oauth/device/code"><input type="hidden" name="csrf_token" value="${who.csrfToken}">
<label for="user_code">Code</label>
<input id="user_code" name="user_code" type="text" class="code" value="${userCode}" autocomplete="off" autocapitalize="characters" spellcheck="false" required maxlength="20" placeholder="WDJB-MJHT">
<button>Go on</button></form>
<p class="quiet">You are signed in as ${nameOf(who)}, ${who.organizationName}.</p>
${elsewhere(who, basePath)}`,
  };
}

export function deviceConsentPage(device: WaitingDevice, userCode: string, who: SignedIn, basePath: string): Page {
  const offered = SCOPES.filter((scope) => grants(who.role, scope));
  const { requestedScope, deviceName } = device;
  const selected = offered.findLast((scope) => requestedScope !== null && grants(requestedScope, scope)) ?? 'read';
  return {
    title: 'Allow this program?',
    body: html`<p><strong>“${device.clientName}”</strong> asks for access to Posthorn in your name.</p>
${
  device.clientId === 'posthorn-cli'
    ? null
    : html`<p class="notice">The program chose this name itself. Nobody verified it.</p>
`
}<dl><dt>Code</dt><dd class="code">${userCode}</dd>
${
  deviceName === null
    ? null
    : html`<dt>Runs on</dt><dd>“${deviceName}”, as it says itself</dd>
`
}<dt>Asked from</dt><dd>${device.address}, at ${device.createdAt.toISOString().slice(0, 16).replace('T', ' ')} UTC</dd>
${
  requestedScope === null
    ? null
    : html`<dt>Asks for</dt><dd>${SCOPE_WORDS[requestedScope]}${requestedScope === selected ? null : html`. <strong>Your own role is ${who.role}: you cannot allow more.</strong>`}</dd>
`
}<dt>You</dt><dd>${nameOf(who)}, ${who.organizationName}</dd></dl>
<p class="fault" role="alert">If somebody sent you this code, or you did not start the program yourself, refuse.</p>
<form method="post" action="${basePath}/oauth/device/decision"><input type="hidden" name="csrf_token" value="${who.csrfToken}"><input type="hidden" name="user_code" value="${userCode}">
<fieldset><legend>What it may do</legend>
${offered.map(
  (
    scope,
  ) => html`<label class="choice"><input type="radio" name="scope" value="${scope}" required${scope === selected ? html` checked` : null}> ${SCOPE_WORDS[scope]}</label>
`,
)}</fieldset>
${choices(who)}
<button name="decision" value="allow">Allow</button><button class="other" name="decision" value="deny" formnovalidate>Refuse</button>
</form>
<p class="quiet">You can take the access back at any time: it is one of your API keys.</p>
`,
  };
}

export function devicePage(isAllowed: boolean): Page {
  return isAllowed
    ? {
        title: 'The program is signed in',
        body: html`<p>It goes on by itself in a few seconds. You can close this page.</p>`,
      }
    : { title: 'Refused', body: html`<p>The program gets nothing. You can close this page.</p>` };
}

function choices({ modes }: SignedIn): Html {
  return html`<fieldset><legend>Environment</legend>
${modes.map(
  (
    mode,
  ) => html`<label class="choice"><input type="radio" name="environment" value="${mode}" required${modes.length === 1 ? html` checked` : null}> ${MODES[mode]}</label>
`,
)}</fieldset>
<label for="lifetime">For how long</label>
<select id="lifetime" name="lifetime">${LIFETIMES.map((days) => html`<option value="${days}">${days === 1 ? '1 day' : `${days} days`}</option>`)}</select>`;
}

function elsewhere(who: SignedIn, basePath: string): Html {
  return html`<form method="post" action="${basePath}/signout"><input type="hidden" name="csrf_token" value="${who.csrfToken}">
<p class="quiet">Not you, or another organization? Sign out, and start again from the application.</p><button class="other">Sign out</button></form>
`;
}

const nameOf = (who: SignedIn): string => who.member?.email ?? `the API key “${who.key?.name ?? ''}”`;
