import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { invite as makeInvitation } from '../../src/domain/person/invite.ts';
import type { Grants } from '../../src/domain/person/person.ts';
import { createPeopleRepository } from '../../src/storage/people.ts';
import type { Answer } from './client.ts';
import { HARD_WORDS } from './hard-words.ts';
import type { TestService } from './service.ts';

/** A browser at a service. It keeps the cookies of answers, as browsers do, and states the origin of its pages. */
export class Browser {
  readonly cookies = new Map<string, string>();
  readonly #url: string;
  /** Headers of every request. Default: those that a page of this service would send. */
  readonly #headers: Readonly<Record<string, string>>;

  constructor(url: string, headers: Record<string, string> = { Origin: url, 'Sec-Fetch-Site': 'same-origin' }) {
    this.#url = url;
    this.#headers = headers;
  }

  async request(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(this.#url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...this.#headers,
        ...(cookie && { Cookie: cookie }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    for (const each of response.headers.getSetCookie()) {
      const [name = '', value = ''] = each.slice(0, each.indexOf(';')).split(/=(.*)/s);
      if (value === '' || /max-age=0(;|$)/i.test(each)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') ?? false;
    return {
      status: response.status,
      headers: response.headers,
      body: text !== '' && isJson ? JSON.parse(text) : text,
    };
  }

  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer> {
    return this.request('POST', path, body, headers);
  }

  /** The headers of a GraphQL request of a page that shows this tenant. */
  credential(tenantId: string, environment: 'live' | 'test' = 'test'): Record<string, string> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return { ...this.#headers, Cookie: cookie, 'Fatoura-Tenant': tenantId, 'Fatoura-Environment': environment };
  }

  session(): Promise<Answer> {
    return this.request('GET', '/auth/session');
  }
}

/** Returns the token of a new invitation; with an address, the token in the mail. */
export async function invite(
  { app }: Pick<TestService, 'app'>,
  grants: Partial<Grants> = {},
  email: string | null = null,
): Promise<string> {
  const whole = { isOperator: false, memberships: [], ...grants };
  const { link, mailedLink } = await makeInvitation(
    createPeopleRepository(app.store.db),
    { email, grants: whole, invitedBy: null },
    '',
  );
  const sent = mailedLink ?? link;
  return sent.slice(sent.indexOf('#') + 1);
}

let people = 0;

/** Returns the password of a person made by `signedIn`. */
export function passwordOf(email: string): string {
  return `${HARD_WORDS} ${/\d+/.exec(email)?.[0]}`;
}

/** Makes a new person who is signed in. */
export async function signedIn(
  service: TestService,
  grants: Partial<Grants> = {},
  browser: Browser = new Browser(service.url),
): Promise<{ browser: Browser; email: string; password: string; id: string }> {
  const email = `person${++people}@example.com`;
  const password = passwordOf(email);
  const token = await invite(service, grants);
  const { status, body } = await browser.post('/auth/accept-invitation', { token, email, name: 'Amina', password });
  if (status !== 200) throw new Error(`the invitation was not accepted: ${JSON.stringify(body)}`);
  return { browser, email, password, id: body.person.id };
}

/** Returns the token of a mail for a new password in the outbox; null if there is no mail to this address. */
export async function mailedToken({ dataDir }: Pick<TestService, 'dataDir'>, to: string): Promise<string | null> {
  const folder = join(dataDir, 'outbox');
  const files = await readdir(folder).catch(() => []);
  for (const file of files.filter((name) => name.startsWith('password-'))) {
    const mail = await readFile(join(folder, file), 'utf8');
    const token = /new-password#(\S+)/.exec(mail)?.[1];
    if (token && mail.includes(`To: ${to}`)) return token;
  }
  return null;
}

/** Returns the link that was mailed to the new address of an account. */
export async function mailedLink({ dataDir }: Pick<TestService, 'dataDir'>, to: string): Promise<string> {
  const folder = join(dataDir, 'outbox');
  for (let attempt = 0; attempt < 100; attempt++) {
    for (const file of (await readdir(folder).catch(() => [])).filter((name) => name.startsWith('address-'))) {
      // Quoted-printable: a line that ends with `=` continues in the next line, and `=3D` is the sign itself.
      const mail = (await readFile(join(folder, file), 'utf8')).replace(/=\r?\n/g, '').replaceAll('=3D', '=');
      const link = /\S+\/new-address#\S+/.exec(mail)?.[0];
      if (link && mail.includes(`To: ${to}`)) return link;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`no mail confirms ${to}`);
}
