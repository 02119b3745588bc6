/** Stylesheet of the HTML pages: system font and colors, light and dark, usable at 200 % zoom and on a phone. */
export const STYLE = `
:root { color-scheme: light dark; --page: #fff; --ink: #1b1f24; --quiet: #57606a; --line: #8c959f; --accent: #0a58b5; --on-accent: #fff; --fault: #b3261e; --panel: #f3f5f8; }
@media (prefers-color-scheme: dark) {
  :root { --page: #14171b; --ink: #e8eaed; --quiet: #aab2bd; --line: #6b7480; --accent: #8cb8ff; --on-accent: #0b1524; --fault: #ffb4ab; --panel: #1f242b; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
header, main { max-width: 30rem; margin: 0 auto; padding: 1.5rem 1rem 0; }
main { padding-bottom: 4rem; }
.brand { font-weight: 700; letter-spacing: .02em; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 1rem; }
h2 { font-size: 1.125rem; margin: 2rem 0 .5rem; }
p, ul, dl { margin: .5rem 0; }
form { margin: .5rem 0; }
label { display: block; font-weight: 600; margin: .75rem 0 .25rem; }
.choice { font-weight: 400; display: flex; gap: .5rem; align-items: baseline; }
input[type="text"], input[type="email"], input[type="password"], select { width: 100%; font: inherit; padding: .5rem .75rem; color: inherit; background: var(--page); border: 1px solid var(--line); border-radius: .375rem; }
button, .button { display: inline-block; font: inherit; font-weight: 600; margin: 1rem .5rem 0 0; padding: .5rem 1rem; color: var(--on-accent); background: var(--accent); border: 1px solid var(--accent); border-radius: .375rem; cursor: pointer; text-decoration: none; }
button.other, .button.other { color: var(--accent); background: transparent; }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.quiet { color: var(--quiet); font-size: .875rem; }
.fault { color: var(--fault); border-left: 4px solid var(--fault); padding: .5rem .75rem; background: var(--panel); }
.notice { border-left: 4px solid var(--accent); padding: .5rem .75rem; background: var(--panel); }
code, .code { font-family: ui-monospace, monospace; }
.code { font-size: 1.5rem; letter-spacing: .15em; }
dt { font-weight: 600; } dd { margin: 0 0 .5rem; }
`;
