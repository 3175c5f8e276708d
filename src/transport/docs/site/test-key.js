import { textsOf } from './examples.js';

/** The placeholders of a secret test key in the examples. */
const PLACE = /sk_test_…|\$KEY\b/g;
const KEYS = '{ apiKeys { id name revokedAt } }';
const CREATE = `mutation ($name: String) {
  result: createApiKey(kind: secret, name: $name) {
    ... on CreateApiKeyPayload { token }
    ... on Error { code message }
  }
}`;
const REVOKE = 'mutation ($id: ID!) { revokeApiKey(id: $id, evenIfLast: true) { __typename } }';
/** Maximum length of a key's name. */
const LONGEST_NAME = 60;

/**
 * Offers a signed-in reader to show the examples with a test key of the tenant. The service stores only digests of
 * keys, so this must be a new key, which is made only on request. The key is only in the memory of this page, and is
 * lost when the page is left. A new key replaces the former one, so each person has at most one such key of a tenant.
 * No request is sent to the service before the reader wants a key.
 */
export function offerTestKey(texts) {
  const blocks = [...document.querySelectorAll('article pre')];
  if (!blocks.some(({ textContent }) => textContent.match(PLACE) || textContent.includes('FATOURA_KEY'))) return;
  const box = document.createElement('aside');
  box.className = 'key';
  box.setAttribute('aria-label', texts.testKey);
  document.querySelector('h1').after(box);
  const start = () => show(box, [button(texts.offer, ask)]);
  const cancel = button(texts.cancel, start);

  async function ask() {
    const signIn = `/sign-in?next=${encodeURIComponent(location.pathname + location.hash)}`;
    const answer = await fetch('/auth/session').catch(() => null);
    if (answer?.status === 401) {
      const link = Object.assign(document.createElement('a'), { href: signIn, textContent: texts.signIn });
      return show(box, [texts.notSignedIn, ' ', link]);
    }
    if (!answer?.ok) return show(box, [texts.unmade]);
    const { memberships, person } = await answer.json();
    if (memberships.length === 0) return show(box, [texts.noTenant]);
    const tenant = document.createElement('select');
    tenant.setAttribute('aria-label', texts.tenant);
    tenant.append(...memberships.map(({ tenantId, name }) => new Option(name, tenantId)));
    show(box, [texts.explanation, tenant, button(texts.make, () => make(tenant.value, person)), cancel]);
  }

  /** Makes a key, and then revokes the former ones, which stay valid until the new key exists. */
  async function replaceKey(tenant, { id, email }) {
    const byAddress = `Documentation: ${email}`;
    const name = byAddress.length > LONGEST_NAME ? `Documentation: ${id}` : byAddress;
    const { data } = await askGraphql(tenant, KEYS);
    const former = data?.apiKeys.filter((key) => key.name === name && key.revokedAt === null) ?? [];
    const revoke = async () => {
      for (const each of former.splice(0)) await askGraphql(tenant, REVOKE, { id: each.id });
    };
    let made = await askGraphql(tenant, CREATE, { name });
    if (made.data?.result.code === 'key_limit_reached' && former.length > 0) {
      await revoke();
      made = await askGraphql(tenant, CREATE, { name });
    }
    if (made.data?.result.token) await revoke();
    return made;
  }

  async function make(tenant, person) {
    const { data, errors } = await replaceKey(tenant, person);
    const token = data?.result.token;
    if (!token) return show(box, [data?.result.message ?? errors?.[0].message ?? texts.unmade]);
    const filledIn = new Map();
    for (const text of textsOf(blocks.map((block) => block.querySelector('code')))) {
      const filled = text.data.replaceAll(PLACE, token);
      if (filled === text.data) continue;
      filledIn.set(text, text.data);
      text.data = filled;
    }
    const settings = document.createElement('code');
    settings.textContent = `export FATOURA_KEY=${token} FATOURA_URL=${location.origin}`;
    const keys = document.createElement('a');
    Object.assign(keys, { href: `/tenants/${encodeURIComponent(tenant)}/test/keys`, textContent: texts.keys });
    show(box, [texts.made, settings, keys]);
    // Browsers may keep a page that is left, to show it again as it was.
    addEventListener(
      'pagehide',
      () => {
        for (const [text, data] of filledIn) text.data = data;
        start();
      },
      { once: true },
    );
  }

  start();
}

/** @returns the answer of the service; empty if there is none */
async function askGraphql(tenant, query, variables) {
  const answer = await fetch('/graphql', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Fatoura-Tenant': tenant, 'Fatoura-Environment': 'test' },
    body: JSON.stringify({ query, variables }),
  }).catch(() => null);
  return (await answer?.json().catch(() => null)) ?? {};
}

function show(box, parts) {
  const hadFocus = box.contains(document.activeElement);
  box.replaceChildren(
    ...parts.map((part) => {
      if (typeof part !== 'string') return part;
      const text = document.createElement('p');
      text.textContent = part;
      text.setAttribute('role', 'status');
      return text;
    }),
  );
  if (hadFocus) box.querySelector('select, button, a')?.focus();
}

function button(text, act) {
  const made = document.createElement('button');
  Object.assign(made, { type: 'button', textContent: text });
  // The button stays enabled, so that it keeps the focus.
  let isBusy = false;
  made.addEventListener('click', async () => {
    if (isBusy) return;
    isBusy = true;
    await act();
    isBusy = false;
  });
  return made;
}
