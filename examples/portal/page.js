// The code that your page needs: nine lines, and one call to your own backend.
const { posthorn } = await (await fetch('/settings')).json();
const { mountPortal } = await import(`${posthorn}/portal/embed.js`);

mountPortal(document.getElementById('portal'), {
  // Your backend knows the signed-in user, and opens the portal for them (server.mjs).
  open: async () => {
    const answer = await fetch('/open-portal', { method: 'POST' });
    if (!answer.ok) throw new Error(`The backend answered ${answer.status}.`);
    return answer.json();
  },
  onState: (state) => {
    document.getElementById('state').textContent =
      { loading: 'Loading …', renewing: 'One moment …', failed: 'Something went wrong.' }[state] ?? '';
  },
});
