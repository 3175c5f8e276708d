// Asks for a key before GraphiQL starts, and adds it to requests without an Authorization header. The key stays in the
// memory of this page. With `?tenant=…&environment=…` the signed-in person's session is used instead.
(() => {
  const form = document.querySelector('#ask');
  const [input, button, told] = ['#key', 'button', 'output'].map((part) => form.querySelector(part));
  const send = window.fetch.bind(window);

  /** Returns what is wrong with the text of a key; null if nothing is. */
  function faultOf(key) {
    if (key === '') return 'Paste a key first.';
    return /^[\x21-\x7e]+$/.test(key) ? null : 'This is not a key: keys contain no spaces and only ASCII characters.';
  }

  /** Returns why the service refuses a credential; null if it accepts it. */
  async function refusal(credential) {
    const headers = { ...credential, 'Content-Type': 'application/json', Accept: 'application/json' };
    const body = JSON.stringify({ query: '{ __typename }' });
    const answer = await send(location.pathname, { method: 'POST', headers, body }).catch(() => null);
    if (!answer) return 'The service does not answer. Try again.';
    if (answer.ok || answer.status === 400) return null;
    const { error } = await answer.json().catch(() => ({}));
    return error?.message ?? `The service answers ${answer.status}.`;
  }

  function open(credential) {
    window.fetch = (target, init = {}) => {
      const request = new Request(target, init);
      if (new URL(request.url).origin === location.origin && !request.headers.has('Authorization'))
        for (const [name, value] of Object.entries(credential)) request.headers.set(name, value);
      return send(request);
    };
    form.remove();
    window.openGraphiql();
  }

  async function tryWith(credential, fault = null) {
    button.disabled = true;
    told.textContent = 'Checking the credential …';
    const why = fault ?? (await refusal(credential));
    button.disabled = false;
    told.textContent = why ?? 'Opening GraphiQL …';
    if (why !== null) return void input.focus();
    // GraphiQL's script is large and may not be loaded yet.
    if (document.readyState === 'complete') open(credential);
    else window.addEventListener('load', () => open(credential), { once: true });
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const key = input.value.trim().replace(/^Bearer\s+/i, '');
    void tryWith({ Authorization: `Bearer ${key}` }, faultOf(key));
  });
  const asked = new URLSearchParams(location.search);
  const [tenant, environment] = [asked.get('tenant'), asked.get('environment')];
  // The browser adds the cookie; these headers name the tenant and the environment. Headers can only contain ASCII.
  if (/^ten_[\w-]+$/.test(tenant ?? '') && /^(test|live)$/.test(environment ?? ''))
    void tryWith({ 'Fatoura-Tenant': tenant, 'Fatoura-Environment': environment });
})();
