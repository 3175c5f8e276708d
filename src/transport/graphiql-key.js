// Asks for a key before GraphiQL begins, and sends it with each request that names no other. It stays in this page's memory.
(() => {
  const form = document.querySelector('#ask');
  const [input, button, told] = ['#key', 'button', 'output'].map((part) => form.querySelector(part));
  const send = window.fetch.bind(window);

  const bearer = (key) => ({ Authorization: `Bearer ${key}` });

  /** Why the service does not take a key; null when it does. */
  async function refusal(key) {
    if (key === '') return 'Paste a key first.';
    if (!/^[\x21-\x7e]+$/.test(key)) return 'This is no key: a key has no spaces, and no letters with accents.';
    const headers = { ...bearer(key), 'Content-Type': 'application/json', Accept: 'application/json' };
    const body = JSON.stringify({ query: '{ __typename }' });
    const answer = await send(location.pathname, { method: 'POST', headers, body }).catch(() => null);
    if (!answer) return 'The service does not answer. Try again.';
    if (answer.ok || answer.status === 400) return null;
    const { error } = await answer.json().catch(() => ({}));
    return error?.message ?? `The service answers ${answer.status}.`;
  }

  function open(key) {
    window.fetch = (target, init = {}) => {
      const request = new Request(target, init);
      if (new URL(request.url).origin === location.origin && !request.headers.has('Authorization'))
        request.headers.set('Authorization', bearer(key).Authorization);
      return send(request);
    };
    form.remove();
    window.openGraphiql();
  }

  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const key = input.value.trim().replace(/^Bearer\s+/i, '');
    button.disabled = true;
    told.textContent = 'Checking the key …';
    const why = await refusal(key);
    button.disabled = false;
    told.textContent = why ?? 'Opening GraphiQL …';
    if (why !== null) return void input.focus();
    // Its script is long, and may not be there yet.
    if (document.readyState === 'complete') open(key);
    else window.addEventListener('load', () => open(key), { once: true });
  });
})();
