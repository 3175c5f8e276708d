import { textsOf } from './examples.js';

/** What stands for a secret test key in the examples. */
const PLACE = /sk_test_…|\$KEY\b/g;
const CREATE = `mutation ($name: String) {
  result: createApiKey(kind: secret, name: $name) {
    ... on CreateApiKeyPayload { token }
    ... on Error { message }
  }
}`;

/**
 * Offers a reader who is signed in to see the examples with a test key of the tenant. Keys are stored as digests only,
 * so it is a new one, and made only when it is asked for. It is in the memory of this page, and nowhere else: it goes
 * when the page is left. Nothing is asked of the service before the reader wants it.
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
    const answer = await fetch('/auth/session').catch(() => null);
    if (answer?.status === 401) {
      const link = Object.assign(document.createElement('a'), { href: '/sign-in', textContent: texts.signIn });
      return show(box, [texts.notSignedIn, ' ', link]);
    }
    if (!answer?.ok) return show(box, [texts.unmade]);
    const { memberships } = await answer.json();
    if (memberships.length === 0) return show(box, [texts.noTenant]);
    const tenant = document.createElement('select');
    tenant.setAttribute('aria-label', texts.tenant);
    tenant.append(...memberships.map(({ tenantId, name }) => new Option(name, tenantId)));
    show(box, [texts.explanation, tenant, button(texts.make, () => make(tenant.value)), cancel]);
  }

  async function make(tenant) {
    const answer = await fetch('/graphql', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Fatoura-Tenant': tenant, 'Fatoura-Environment': 'test' },
      body: JSON.stringify({ query: CREATE, variables: { name: 'Documentation' } }),
    }).catch(() => null);
    const { data, errors } = (await answer?.json().catch(() => null)) ?? {};
    const token = data?.result.token;
    if (!token) return show(box, [data?.result.message ?? errors?.[0].message ?? texts.unmade]);
    const former = new Map();
    for (const text of textsOf(blocks.map((block) => block.querySelector('code')))) {
      const filled = text.data.replaceAll(PLACE, token);
      if (filled === text.data) continue;
      former.set(text, text.data);
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
        for (const [text, data] of former) text.data = data;
        start();
      },
      { once: true },
    );
  }

  start();
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
  made.addEventListener('click', () => void act());
  return made;
}
