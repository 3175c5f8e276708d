import type { CallName } from './faults.ts';

/** A call of the protocol, read from a request line. */
export interface Call {
  readonly name: Exclude<CallName, 'callback'>;
  /** The submission's id, the digest or the receipt's id in the address; null where there is none. */
  readonly subject: string | null;
  readonly query: URLSearchParams;
}

export const TOKEN_PATH = '/oauth2/token';

/** The form of an id in an address; anything else is no id. */
const ID = /^[\w.:-]{1,200}$/;
const DIGEST = /^[0-9a-f]{64}$/;

/** @returns the call, or the status and code of the refusal if it is none */
export function route(method: string, address: string): Call | { readonly status: number; readonly code: string } {
  let url: URL;
  let parts: string[];
  try {
    url = new URL(address, 'https://authority');
    parts = url.pathname.split('/').slice(1).map(decodeURIComponent);
  } catch {
    return { status: 400, code: 'bad_request' };
  }
  const [first, noun, subject = null, more, ...rest] = parts;
  const call = (name: Call['name'], of: string | null = subject): Call => ({
    name,
    subject: of,
    query: url.searchParams,
  });
  const only = (wanted: string, found: Call) =>
    method === wanted ? found : { status: 405, code: 'method_not_allowed' };
  if (url.pathname === TOKEN_PATH) return only('POST', call('token', null));
  if (first !== 'v1' || rest.length > 0) return { status: 404, code: 'not_found' };
  if (subject === null) {
    if (noun === 'submissions' && method === 'GET') {
      const digest = url.searchParams.get('digest') ?? '';
      return DIGEST.test(digest) ? call('lookup_by_digest', digest) : { status: 400, code: 'bad_request' };
    }
    if (noun === 'capabilities' || noun === 'changes' || noun === 'status') return only('GET', call(noun));
    return noun === 'submissions' ? { status: 405, code: 'method_not_allowed' } : { status: 404, code: 'not_found' };
  }
  if (noun !== 'submissions' && noun !== 'receipts') return { status: 404, code: 'not_found' };
  if (!ID.test(subject)) return { status: 400, code: 'invalid_id' };
  if (noun === 'receipts')
    return more === undefined ? only('GET', call('receipt')) : { status: 404, code: 'not_found' };
  if (more === 'cleared') return only('GET', call('cleared'));
  if (more !== undefined) return { status: 404, code: 'not_found' };
  if (method === 'PUT') return call('submit');
  return only('GET', call('lookup'));
}
