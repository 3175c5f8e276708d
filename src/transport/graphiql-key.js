// Asks for a key before GraphiQL starts, and adds it to requests without an Authorization header. The key stays in the
// memory of this page.
(() => {
  const form = document.querySelector('#ask');
  const [input, button, told] = ['#key', 'button', 'output'].map((part) => form.querySelector(part));
  const send = window.fetch.bind(window);

  const bearer = (key) => ({ Authorization: `Bearer ${key}` });

  /** Why the service refuses a key; null if it accepts it. */
  async function refusal(key) {
    if (key === '') return 'Paste a key first.';
    if (!/^[\x21-\x7e]+$/.test(key)) return 'This is not a key: keys contain no spaces and only ASCII characters.';
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
    // GraphiQL's script is large and may not be loaded yet.
    if (document.readyState === 'complete') open(key);
    else window.addEventListener('load', () => open(key), { once: true });
  });
})();
