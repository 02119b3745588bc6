import { type Html, html } from '#http/pages/html.js';
import type { Page } from '#http/pages/page.js';
import type { Membership } from '#modules/auth/members.contract.js';
import type { SignedIn } from '#modules/auth/sessions.contract.js';

export interface SignInOffer {
  basePath: string;
  /** Page to open after the sign-in. Null for the default. */
  returnTo: string | null;
  fault: string | null;
  mailsCodes: boolean;
  hasProvider: boolean;
}

/** Returns the sign-in page. While the installation cannot send mail, the section for codes by email comes last. */
export function signInPage({ basePath, returnTo, fault, mailsCodes, hasProvider }: SignInOffer): Page {
  const back = hiddenReturn(returnTo);
  const provider = `${basePath}/signin/oidc${returnTo === null ? '' : `?return_to=${encodeURIComponent(returnTo)}`}`;
  const byCode = html`<section aria-labelledby="by-code"><h2 id="by-code">With a code by email</h2>
${
  mailsCodes
    ? html`<form method="post" action="${basePath}/signin/email">${back}
<label for="email">Your address</label>
<input id="email" name="email" type="email" autocomplete="email" required maxlength="254">
<button>Mail me a code</button></form>`
    : html`<p class="quiet">Not available, because this installation cannot send email yet. An operator can set <code>EMAIL_TRANSPORT</code> and <code>SIGN_IN_MAIL_FROM</code>.</p>`
}
</section>
`;
  const byKey = html`<section aria-labelledby="by-key"><h2 id="by-key">With an API key</h2>
<form method="post" action="${basePath}/signin/key">${back}
<label for="key">API key of your organization</label>
<input id="key" name="key" type="password" autocomplete="off" spellcheck="false" required maxlength="512" placeholder="ek_live_…" aria-describedby="key-note">
<p id="key-note" class="quiet">You get the permissions of the key, in its environment, until the key is revoked.</p>
<button>Sign in with the key</button></form></section>
`;
  return {
    title: 'Sign in',
    body: html`${faultLine(fault)}
${
  hasProvider
    ? html`<section aria-labelledby="by-provider"><h2 id="by-provider">With your company's account</h2>
<p><a class="button" href="${provider}">Continue to your company's sign-in</a></p></section>
`
    : null
}${mailsCodes ? [byCode, byKey] : [byKey, byCode]}`,
  };
}

/** Returns the page for entering a code. It is the same whether or not the address belongs to a member. */
export function codePage(
  { basePath, returnTo, fault }: Pick<SignInOffer, 'basePath' | 'returnTo' | 'fault'>,
  ticket: string,
): Page {
  return {
    title: 'Enter your code',
    body: html`${faultLine(fault)}<p>If the address belongs to a member, a code is on its way. It can be used once, within ten minutes.</p>
<form method="post" action="${basePath}/signin/code">${hiddenReturn(returnTo)}<input type="hidden" name="ticket" value="${ticket}">
<label for="code">Code</label>
<input id="code" name="code" type="text" inputmode="numeric" autocomplete="one-time-code" pattern="[0-9 ]*" maxlength="12" required class="code">
<button>Sign in</button></form>
<p><a href="${signInPath(basePath, returnTo)}">Use another address</a></p>
`,
  };
}

/**
 * Returns the page for choosing an organization. The form posts `proof` of the person's identity to the path `action`.
 */
export function organizationPage(
  { basePath, returnTo }: Pick<SignInOffer, 'basePath' | 'returnTo'>,
  action: string,
  proof: Readonly<Record<string, string>>,
  memberships: readonly Membership[],
): Page {
  return {
    title: 'Choose an organization',
    body: html`<form method="post" action="${basePath}${action}">${hiddenReturn(returnTo)}
${Object.entries(proof).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<fieldset><legend>You are a member of several organizations.</legend>
${memberships.map(
  ({
    memberId,
    organizationName,
  }) => html`<label class="choice"><input type="radio" name="member" value="${memberId}" required> ${organizationName}</label>
`,
)}</fieldset>
<button>Sign in</button></form>
`,
  };
}

export function signedInPage(who: SignedIn, basePath: string): Page {
  return {
    title: 'You are signed in',
    body: html`<dl><dt>Organization</dt><dd>${who.organizationName}</dd>
<dt>As</dt><dd>${who.member === null ? html`the API key “${who.key?.name ?? ''}”` : who.member.email}</dd>
<dt>Role</dt><dd>${who.role}</dd></dl>
<form method="post" action="${basePath}/signout"><input type="hidden" name="csrf_token" value="${who.csrfToken}">
<button>Sign out</button></form>
`,
  };
}

export function signedOutPage(basePath: string): Page {
  return {
    title: 'You are signed out',
    body: html`<p><a href="${basePath}/signin">Sign in again</a></p>
`,
  };
}

export function signInPath(basePath: string, returnTo: string | null): string {
  return `${basePath}/signin${returnTo === null ? '' : `?return_to=${encodeURIComponent(returnTo)}`}`;
}

function faultLine(fault: string | null): Html | null {
  return fault === null
    ? null
    : html`<p class="fault" role="alert">${fault}</p>
`;
}

function hiddenReturn(returnTo: string | null): Html | null {
  return returnTo === null ? null : html`<input type="hidden" name="return_to" value="${returnTo}">`;
}
