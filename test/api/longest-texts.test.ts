import {
  type GraphQLArgument,
  type GraphQLInputType,
  getNamedType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredArgument,
} from 'graphql';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { exampleOf } from '../../src/domain/invoice/field-table.ts';
import { INVOICE } from '../../src/domain/invoice/fields.ts';
import { MAX_BODY_BYTES } from '../../src/domain/limits.ts';
import * as accountInputs from '../../src/domain/person/account-input.ts';
import { schema } from '../../src/graphql/schema.ts';
import { MAX_VALUES } from '../../src/transport/body.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { DOCUMENT } from '../support/contract.ts';
import { type Browser, signedIn } from '../support/person.ts';
import { someOf } from '../support/samples.ts';
import type { TestTenant } from '../support/service.ts';
import {
  type Attempt,
  IN_BODY,
  IN_HEAD,
  knownPaths,
  PATIENCE_MS,
  startTarget,
  type Target,
} from '../support/slow-requests.ts';
import { WORST_DOCUMENTS } from '../support/worst-documents.ts';
import { worstAsciiTexts, worstEncodedTexts, worstTexts } from '../support/worst-texts.ts';

vi.setConfig({ testTimeout: PATIENCE_MS });

let target: Target;
let tenant: TestTenant;
let ids: Target['ids'];
let owner: Browser;
let operator: Browser;
let slowOf: Target['slowOf'];

beforeAll(async () => {
  target = await startTarget();
  ({ tenant, ids, slowOf } = target);
  owner = (await signedIn(target.service, { memberships: [{ tenantId: tenant.id, role: 'owner' }] })).browser;
  operator = (await signedIn(target.service, { isOperator: true })).browser;
});
afterAll(async () => {
  vi.resetConfig();
  await target.service.close();
});

async function clientSecret(): Promise<string> {
  return (await new Client(target.service.url, tenant.secretKey).post('/v1/invoices', invoiceBody())).body
    .client_secret;
}

const sessionOf = (browser: Browser): string[] =>
  Object.entries(browser.credential(tenant.id)).map(([name, value]) => `${name}: ${value}`);

/** Texts that differ most, for places of which there are many. */
const CHOICE = ['letters', 'slashes', 'digits', 'spaces', 'combining marks', 'compatibility ligatures', 'at signs'];
const CHOSEN = worstTexts(IN_BODY).filter(([name]) => CHOICE.includes(name));

const FEW = CHOSEN.filter(([name]) => /marks|slashes/.test(name));

/** Values beside those of the rest of a body, just below the most that a body may have. */
const MANY = MAX_VALUES - 100;

/** Lists and objects of as many members as a body may have. */
const manyOf = (member: string) => `[${Array(Math.floor(MANY / (/[{[]/.test(member) ? 2 : 1))).fill(member)}]`;
const LISTS = ['{}', 'null', '""', '1', '[]', '{"a":1}', '"invoice.accepted"'].map(
  (member) => [`a list of ${member}`, manyOf(member)] as const,
);
const KEYS = [
  ['many keys', `{${Array.from({ length: MANY }, (_, i) => `"k${i}":""`)}}`],
  ['a long key', `{"${'\u0315\u0327'.repeat(IN_BODY / 4)}":""}`],
  ['deep objects', '{"a":'.repeat(MANY) + '1' + '}'.repeat(MANY)],
  ['deep lists', '['.repeat(MANY) + ']'.repeat(MANY)],
] as const;
const MEMBERS = [...LISTS, ...KEYS];
const SOME_MEMBERS = MEMBERS.filter(([name]) => /list of {}$|many keys/.test(name));
/** Refused before it is parsed. */
const TOO_MANY = ['as many keys as fit', `{${Array.from({ length: 70_000 }, (_, i) => `"k${i}":""`)}}`] as const;
/** What a conversion to text calls. */
const NO_TEXT = ['an object without text', '{"toString":1}'] as const;

const quoted = (texts: readonly (readonly [string, string])[]) =>
  texts.map(([name, text]) => [name, JSON.stringify(text)] as const);

const MOST = [...quoted(CHOSEN), ...SOME_MEMBERS];
const FOUR = [...quoted(FEW), ...SOME_MEMBERS];
/** For callers who are refused before a variable is looked at. */
const TWO = FOUR.filter(([name]) => /marks|list/.test(name));

/** A JSON text with another one in a place of it, in parts. */
function withJson(value: unknown, place: readonly (string | number)[], json: string): readonly string[] {
  const mark = '\u0000place\u0000';
  const put = (at: unknown, [step, ...rest]: readonly (string | number)[]): unknown => {
    if (step === undefined) return mark;
    if (Array.isArray(at)) return at.map((each, i) => (i === step ? put(each, rest) : each));
    return { ...(at as object), [step]: put((at as Record<string, unknown> | undefined)?.[step], rest) };
  };
  const [before = '', after = ''] = JSON.stringify(put(value, place)).split(JSON.stringify(mark));
  return [before, json, after];
}

/** All places in a value: objects and lists, and what is in them. */
function placesOf(value: unknown): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [[]];
  const steps = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return [[], ...steps.flatMap((step) => placesOf(Reflect.get(value, step)).map((rest) => [step, ...rest]))];
}

describe('the longest texts of REST', () => {
  it('in each place of a body', async () => {
    expect(await slowOf(someOf(bodies(), 61))).toEqual([]);
  });

  function* bodies(): Generator<Attempt> {
    for (const [path, methods] of Object.entries(DOCUMENT.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        const { requestBody } = operation as { requestBody?: { content: Record<string, { example?: object }> } };
        const example = requestBody?.content['application/json']?.example;
        if (!example) continue;
        const line = `${method.toUpperCase()} ${path.replace('{id}', path.includes('webhook') ? ids.we : ids.inv)}`;
        for (const place of placesOf(wholeBody(example)))
          for (const [name, json] of MOST)
            yield {
              what: `${line} ${place.join('.')}: ${name}`,
              line,
              headers: [target.bearer],
              body: withJson(wholeBody(example), place, json),
            };
      }
    }
  }

  /** An example with every member. */
  function wholeBody(example: object): object {
    if ('customer' in example) return exampleOf(INVOICE, 'input');
    return { url: 'https://example.invalid/', events: ['invoice.accepted'], description: 'ERP', ...example };
  }
});

/** A type's shortest valid value. */
function sampleOf(type: GraphQLInputType, description: string | null | undefined): unknown {
  if (isNonNullType(type)) return sampleOf(type.ofType, description);
  if (isListType(type)) return [sampleOf(type.ofType, description)];
  if (isInputObjectType(type))
    return Object.fromEntries(
      Object.values(type.getFields()).map((field) => [field.name, sampleOf(field.type, field.description)]),
    );
  if (isEnumType(type)) return type.getValues()[0]?.name;
  const known = { Int: 1, SafeInt: 1, Centimes: 12000, Boolean: true, Metadata: { a: 'b' }, DateTime: '2026-01-31' };
  if (type.name in known) return known[type.name as keyof typeof known];
  return description?.includes('`we_`') ? ids.we : description?.includes('`inv_`') ? ids.inv : 'x';
}

interface Operation {
  readonly name: string;
  readonly path: '/graphql' | '/graphql/stream';
  readonly query: string;
  readonly variables: Record<string, unknown>;
}

/**
 * An operation for each field of the roots that has arguments, with a variable for each. A subscription has an operation
 * for each argument, without the other optional ones: they would be refused first.
 */
function operations(): Operation[] {
  const roots = [
    ['query', schema.getQueryType()],
    ['mutation', schema.getMutationType()],
    ['subscription', schema.getSubscriptionType()],
  ] as const;
  return roots.flatMap(([kind, root]) =>
    Object.values(root?.getFields() ?? {}).flatMap((field) => {
      const declared = field.args.map(({ name, type }) => `$${name}: ${type}`).join(', ');
      const passed = field.args.map(({ name }) => `${name}: $${name}`).join(', ');
      const selection = isCompositeType(getNamedType(field.type)) ? ' { __typename }' : '';
      const query = `${kind} (${declared}) { ${field.name}(${passed})${selection} }`;
      const withVariables = (path: Operation['path'], args: readonly GraphQLArgument[]) => ({
        name: field.name,
        path,
        query,
        variables: Object.fromEntries(args.map((arg) => [arg.name, sampleOf(arg.type, arg.description)])),
      });
      if (kind !== 'subscription') return field.args.length > 0 ? [withVariables('/graphql', field.args)] : [];
      return field.args.map((tried) =>
        withVariables(
          '/graphql/stream',
          field.args.filter((arg) => arg === tried || isRequiredArgument(arg)),
        ),
      );
    }),
  );
}

describe('the longest texts of GraphQL', () => {
  it('in each variable, and in each member of it', async () => {
    expect(
      await slowOf(
        someOf(
          inVariables([target.bearer], (name) => !isForPeople(name)),
          61,
        ),
      ),
    ).toEqual([]);
  });

  /** What only people may do. */
  const isForPeople = (name: string) => /invit|member|apiKey|profile/i.test(name);

  it('in the variables of what only people may do', async () => {
    expect(await slowOf(someOf(inVariables(sessionOf(owner), isForPeople), 61))).toEqual([]);
    expect(await slowOf(someOf(inVariables([target.bearer], isForPeople, TWO), 61))).toEqual([]);
  });

  it.each(['publishableKey', 'client_secret'] as const)('with a %s', async (credential) => {
    const token = credential === 'publishableKey' ? tenant.publishableKey : await clientSecret();
    const few = (name: string) => ['validateInvoice', 'createInvoice', 'verifyDocument', 'invoice'].includes(name);
    expect(await slowOf(someOf(inVariables([`Authorization: Bearer ${token}`], few, TWO), 13))).toEqual([]);
  });

  function* inVariables(
    headers: readonly string[],
    chosen: (name: string) => boolean,
    texts = FOUR,
  ): Generator<Attempt> {
    for (const { name, path, query, variables } of operations()) {
      if (!chosen(name)) continue;
      for (const place of placesOf(variables).filter(({ length }) => length > 0))
        for (const [text, json] of texts)
          yield {
            what: `${name} ${place.join('.')}: ${text}`,
            line: `POST ${path}`,
            headers: path === '/graphql' ? headers : [...headers, 'Accept: text/event-stream'],
            body: withJson({ query, variables }, ['variables', ...place], json),
          };
    }
  }

  it('in the members of a request', async () => {
    const body = { query: '{ __typename }', operationName: null, variables: {}, extensions: {} };
    const places = [[], ['query'], ['operationName'], ['variables'], ['variables', 'x'], ['extensions'], ['x']];
    const inExtensions = [['operationId'], ['persistedQuery', 'sha256Hash']].map((place) => ['extensions', ...place]);
    const attempts = ['/graphql', '/graphql/stream'].flatMap((path) =>
      [...places, ...inExtensions].flatMap((place) =>
        [...MEMBERS, TOO_MANY, NO_TEXT].map(([name, json]) => ({
          what: `${path} ${place.join('.')}: ${name}`,
          line: `POST ${path}`,
          headers: [target.bearer, ...(path.endsWith('stream') ? ['Accept: text/event-stream'] : [])],
          body: withJson(body, place, json),
        })),
      ),
    );
    expect(await slowOf(someOf(attempts, 13))).toEqual([]);
  });
});

describe('the documents of GraphQL that cost most', () => {
  it.each(['secretKey', 'client_secret'] as const)('with a %s', async (credential) => {
    const token = credential === 'secretKey' ? tenant.secretKey : await clientSecret();
    const attempts = Object.entries(WORST_DOCUMENTS).flatMap(([name, query]) =>
      ['/graphql', '/graphql/stream'].map((path) => ({
        what: `${path}: ${name}`,
        line: `POST ${path}`,
        headers: [`Authorization: Bearer ${token}`],
        body: JSON.stringify({ query }),
      })),
    );
    expect(await slowOf(someOf(attempts, credential === 'secretKey' ? 5 : 13))).toEqual([]);
  });
});

describe('the longest texts that are accepted', () => {
  it('of an invoice of 1,000 lines', async () => {
    const chosen = /quotation|line breaks|marks|Arabic|emoji|ligatures|full stops/;
    const attempts = worstTexts(500)
      .filter(([name]) => chosen.test(name))
      .map(([name, text]) => {
        const short = [...text].slice(
          0,
          Math.floor((900_000 / 1000 / Buffer.byteLength(JSON.stringify(text))) * [...text].length),
        );
        const lines = Array(1000).fill({
          description: `x${short.join('')}`.toWellFormed().slice(0, 480),
          quantity: 1,
          unit_price: 10_000,
        });
        const customer = { ice: '001234567000089', name: `x${text.slice(0, 190)}`, address: text.slice(0, 400) };
        return {
          what: `lines of ${name}`,
          line: 'POST /v1/invoices',
          headers: [target.bearer],
          body: JSON.stringify(
            invoiceBody({ amount: 12_000_000, customer, lines, metadata: { a: text.slice(0, 400) } }),
          ),
        };
      });
    expect(await slowOf(someOf(attempts, 13))).toEqual([]);
  });
});

describe('the longest texts that accounts take', () => {
  /** The paths that take the inputs of accounts. */
  const PATHS: Readonly<Record<keyof typeof accountInputs & `${string}Input`, string>> = {
    signInInput: '/auth/sign-in',
    acceptInvitationInput: '/auth/accept-invitation',
    readInvitationInput: '/auth/invitation',
    changePasswordInput: '/auth/change-password',
    endSessionInput: '/auth/sessions/end',
    renameInput: '/auth/change-name',
    newAddressInput: '/auth/new-address',
    confirmAddressInput: '/auth/new-address/confirm',
    requestResetInput: '/auth/request-password-reset',
    resetPasswordInput: '/auth/reset-password',
    passwordInput: '/auth/codes/begin',
    codeInput: '/auth/sign-in/code',
    addPasskeyInput: '/auth/passkeys/add',
    removePasskeyInput: '/auth/passkeys/remove',
    passkeySignInInput: '/auth/sign-in/passkey',
    noInput: '/auth/sign-in/passkey/begin',
  };

  it('without an account', async () => {
    const origin = [`Origin: ${target.service.url}`, 'Sec-Fetch-Site: same-origin'];
    expect(await slowOf(someOf(bodies(origin, [...quoted(worstTexts(60 * 1024)), ...FOUR]), 61))).toEqual([]);
  });

  it('with one', async () => {
    expect(await slowOf(someOf(bodies(sessionOf(owner), TWO)))).toEqual([]);
  });

  function* bodies(headers: readonly string[], texts: readonly (readonly [string, string])[]): Generator<Attempt> {
    const inputs = new Map<string, unknown>(Object.entries(accountInputs));
    for (const [name, path] of Object.entries(PATHS)) {
      const schema = z.toJSONSchema(inputs.get(name) as z.ZodType, { io: 'input', unrepresentable: 'any' });
      const sample = {
        ...Object.fromEntries(Object.keys(schema.properties ?? {}).map((each) => [each, 'x'])),
        more: 'x',
      };
      for (const place of [...placesOf(sample), ['response', 'id']])
        for (const [text, json] of texts)
          yield {
            what: `${path} ${place.join('.')}: ${text}, ${json.length} characters`,
            line: `POST ${path}`,
            headers,
            body: withJson(sample, place, json),
          };
    }
  }
});

describe('the longest texts of operators and embedded pages', () => {
  it('in each member of each body', async () => {
    const paths = (await knownPaths()).filter((path) => /^\/(ops|embed)\/api\/(tenants|authority|statuses)/.test(path));
    expect(paths.length).toBeGreaterThan(6);
    const members = ['name', 'reason', 'email', 'logo', 'invoices'];
    const attempts = paths.flatMap((path) =>
      members.flatMap((name) =>
        FOUR.map(([text, json]) => ({
          what: `${path} ${name}: ${text}`,
          line: `POST ${path.replace(':id', tenant.id)}`,
          headers: sessionOf(operator),
          body: [`{"${name}":`, json, '}'],
        })),
      ),
    );
    expect(await slowOf(someOf(attempts, 61))).toEqual([]);
  });

  it('in the requests of the job dashboard', async () => {
    const headers = sessionOf(operator);
    const changes = ['requeue', 'retry', 'delete', 'pause', 'resume'].flatMap((change) =>
      ['', '[', '['.repeat(100)].flatMap((open) =>
        MOST.map(([text, json]) => ({
          what: `${change} ${open.length}: ${text}`,
          line: `POST /ops/jobs/api/jobs/${change}`,
          headers,
          body: [`{"jobIds":${open}`, json, `${']'.repeat(open.length)}}`],
        })),
      ),
    );
    const searches = ['job', 'state', 'q', 'property', 'isObjectId', 'skip', 'limit'].flatMap((name) =>
      [...worstAsciiTexts(IN_HEAD), ...worstEncodedTexts(IN_HEAD)].map(([text, value]) => ({
        what: `${name}: ${text}`,
        line: `GET /ops/jobs/api?q=x&property=name&${name}=${value.replaceAll(' ', '+')}`,
        headers,
      })),
    );
    expect(await slowOf(someOf([...changes, ...searches], 61))).toEqual([]);
  });
});

describe('the longest texts of a form', () => {
  it('in each part of it', async () => {
    const part = (disposition: string, more = '', content = 'x') =>
      `--b\r\nContent-Disposition: ${disposition}\r\n${more}\r\n${content}\r\n--b--\r\n`;
    const attempt = (what: string, body: string): Attempt => ({
      what: `POST /verify ${what}`,
      line: `POST /verify/${ids.inv}`,
      headers: ['Content-Type: multipart/form-data; boundary=b'],
      body,
    });
    const attempts = [...someOf(worstTexts(MAX_BODY_BYTES))].flatMap(([name, text]) => {
      const bodies = {
        name: part(`form-data; name="${text}"; filename="x"`),
        filename: part(`form-data; name="file"; filename="${text}"`),
        'filename*': part(`form-data; name="file"; filename*=UTF-8''${text}`),
        disposition: part(text),
        header: part('form-data; name="file"; filename="x"', `X: ${text}\r\n`),
        content: part('form-data; name="file"; filename="x"', '', text),
        field: part('form-data; name="x"', '', text),
        preamble: text,
        XML: part('form-data; name="file"; filename="x.xml"', '', `<?xml version="1.0"?><Invoice ${text}`),
      };
      return Object.entries(bodies).map(([place, body]) => attempt(`${place}: ${name}`, body));
    });
    attempts.push(
      attempt('parameters', part(`form-data; ${'a=b; '.repeat(200_000)}`)),
      attempt('headers', part('form-data; name="file"; filename="x"', 'X: y\r\n'.repeat(100_000))),
    );
    expect(await slowOf(someOf(attempts))).toEqual([]);
  });
});
