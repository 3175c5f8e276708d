import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { invoiceBody } from '../support/client.ts';
import { DOCUMENT } from '../support/contract.ts';
import { someOf } from '../support/samples.ts';
import {
  IN_HEAD,
  knownPaths,
  PATIENCE_MS,
  sourceOfTransport,
  startTarget,
  type Target,
} from '../support/slow-requests.ts';
import { worstAsciiTexts, worstEncodedTexts } from '../support/worst-texts.ts';

vi.setConfig({ testTimeout: PATIENCE_MS });

let target: Target;
beforeAll(async () => {
  target = await startTarget();
});
afterAll(async () => {
  vi.resetConfig();
  await target.service.close();
});

/** Those that differ most. */
const ENCODED = worstEncodedTexts(IN_HEAD).filter(([name]) => /combining|ligatures|nulls|direction/.test(name));

describe('the longest texts of a head', () => {
  it('in each path', async () => {
    const texts = [...worstAsciiTexts(IN_HEAD), ...ENCODED];
    const paths = (await knownPaths()).flatMap((path) => [`${path}/:x`, ...(path.includes(':') ? [path] : [])]);
    const attempts = [...paths, '/:x', '//:x', '/v2/:x'].flatMap((path) =>
      texts.flatMap(([name, text]) =>
        ['GET', 'POST'].map((method) => ({
          what: `${method} ${path}: ${name}`,
          line: `${method} ${path.replace(/:\w+/, () => text.replaceAll(' ', '+')).replace(/:\w+/g, 'x')}`,
          headers: [target.bearer],
        })),
      ),
    );
    expect(await target.slowOf(someOf(attempts, 61))).toEqual([]);
  });

  it('in each query', async () => {
    const names = ['query', 'variables', 'operationName', 'extensions', 'lang', 'after', 'token', 'client_secret'];
    const ofRest = Object.values(DOCUMENT.paths).flatMap((methods) =>
      Object.values(methods).flatMap((operation) =>
        ((operation as { parameters?: { name?: string; in?: string }[] }).parameters ?? []).flatMap((each) =>
          each.in === 'query' && each.name ? [each.name] : [],
        ),
      ),
    );
    const ascii = worstAsciiTexts(IN_HEAD).filter(([name]) => /letters|slashes|cent|equals|paren|digits/.test(name));
    const chosen = [...ascii, ...ENCODED];
    const queries = chosen.flatMap(([text, raw]) => {
      const value = raw.replaceAll(' ', '+');
      return [
        [text, value],
        ...[...new Set([...names, ...ofRest])].map((name) => [`${name}=${text}`, `${name}=${value}`]),
      ];
    });
    const many = ['a&', 'a=1&', '&', '%61=%61&', 'limit=1&'].map((each) => [each, each.repeat(IN_HEAD / each.length)]);
    const paths = (await knownPaths()).filter((path) => /^\/(v1|graphql|verify|readyz|embed|auth)/.test(path));
    const attempts = paths.flatMap((path) =>
      [...queries, ...many].map(([name = '', query = '']) => ({
        what: `GET ${path}?${name}`,
        line: `GET ${path.replace(/:\w+/g, path.includes('webhook') ? target.ids.we : target.ids.inv)}?${query}`,
        headers: [target.bearer],
      })),
    );
    expect(await target.slowOf(someOf(attempts, 61))).toEqual([]);
  });

  /** The headers that the service or one of its libraries reads, from the source and from the standards. */
  async function headerNames(): Promise<string[]> {
    const source = await sourceOfTransport();
    const read = [
      ...source.matchAll(/\.get\('([A-Za-z-]+)'\)|headers(?:\.([a-z]+)|\['([a-z-]+)'\])/g),
      ...source.matchAll(/(?:singleHeader|countOf)\(ctx, '([A-Za-z-]+)'\)|\bheader\('([a-z-]+)'\)/g),
      ...source.matchAll(/'((?:[A-Z][a-z]+)(?:-[A-Z][A-Za-z]+)+)'/g),
    ].map(([, ...names]) => names.find(Boolean)?.toLowerCase() ?? '');
    const known =
      'accept accept-encoding accept-language authorization cookie content-type content-encoding origin host user-agent range if-range if-none-match if-modified-since last-event-id x-forwarded-for x-forwarded-proto x-forwarded-host forwarded x-real-ip traceparent tracestate baggage sentry-trace sec-fetch-site fatoura-tenant fatoura-environment expect access-control-request-method access-control-request-headers cache-control connection te upgrade referer x-http-method-override';
    return [...new Set([...read, ...known.split(' ')])].filter((name) => !/^$|length|transfer/.test(name));
  }

  it('in each header', async () => {
    // A path for each part of the transport that reads headers of its own.
    const lines: readonly (readonly [string, string?])[] = [
      ['POST /v1/invoices', JSON.stringify(invoiceBody({ amount: 1 }))],
      ['OPTIONS /v1/invoices'],
      ['POST /graphql', '{"query":"{ __typename }"}'],
      [`GET /verify/${target.ids.inv}`],
      ['GET /auth/session'],
      ['POST /authority/callback', '{"id":"x","status":"x"}'],
    ];
    const names = await headerNames();
    expect(names.length).toBeGreaterThan(40);
    const lists = [
      'a,',
      'a;q=0.1,',
      'fr-MA;q=0.5, ',
      'text/html;level=1;q=0.4, ',
      '"x", ',
      'a=b; ',
      '10.0.0.1, ',
      'for="[::1]";by=x,',
      'multipart/form-data; boundary=',
    ];
    const values: readonly (readonly [string, string])[] = [
      ...worstAsciiTexts(IN_HEAD).filter(([name]) => /letters|slashes|quot|hyphens|digits|brace|colons/.test(name)),
      ...lists.map((each) => [`many ${each}`, `${each.repeat(Math.floor(IN_HEAD / each.length))}x`] as const),
      ['many spaces', `a${' '.repeat(IN_HEAD)}a`],
    ];
    const attempts = lines.flatMap(([line, body], nth) =>
      names.flatMap((header) =>
        // Most are read before the path is: the first two paths have all values, the others those of many members.
        values
          .filter(([name]) => nth < 2 || name.startsWith('many'))
          .map(([name, value]) => ({
            what: `${line} ${header}: ${name}`,
            line,
            headers:
              header === 'authorization' ? [`Authorization: Bearer ${value}`] : [target.bearer, `${header}: ${value}`],
            ...(body !== undefined && { body }),
          })),
      ),
    );
    expect(await target.slowOf(someOf(attempts, 61))).toEqual([]);
  });
});
