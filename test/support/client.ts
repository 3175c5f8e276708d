import { setTimeout as sleep } from 'node:timers/promises';
import { checkContract, checkMessage } from './contract.ts';

/** A parsed answer of the REST interface. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was answered
  readonly body: any;
}

/**
 * Calls one service with one credential. Checks every answer of the REST interface against this project's OpenAPI
 * document.
 */
export class Client {
  readonly #url: string;
  readonly #credential: Readonly<Record<string, string>>;
  readonly #checked: boolean;

  /**
   * @param credential a token, or the headers of a session
   * @param checked false for a service with another contract
   */
  constructor(url: string, credential: string | Readonly<Record<string, string>> | null, checked = true) {
    this.#url = url;
    this.#credential = typeof credential === 'string' ? { Authorization: `Bearer ${credential}` } : { ...credential };
    this.#checked = checked;
  }

  /** @param body sent as JSON; a string is sent unchanged */
  async request(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const response = await fetch(this.#url + path, {
      method,
      headers: {
        ...this.#credential,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    if (this.#checked) checkContract({ method, path, status: response.status, headers: response.headers, text });
    const isJson = text !== '' && (response.headers.get('content-type')?.includes('json') ?? false);
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  }

  get(path: string, headers?: Record<string, string>): Promise<Answer> {
    return this.request('GET', path, undefined, headers);
  }

  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer> {
    return this.request('POST', path, body, headers);
  }

  /** Runs a GraphQL operation by POST /graphql. */
  graphql(query: string, variables: Record<string, unknown> = {}): Promise<Answer> {
    return this.post('/graphql', { query, variables });
  }

  /** Reads the invoice until it is accepted or rejected. */
  async settled(invoiceId: string, timeoutMs = 50_000): Promise<Answer['body']> {
    const end = Date.now() + timeoutMs;
    for (let pause = 10; ; pause = Math.min(1.5 * pause, 250)) {
      const { body } = await this.get(`/v1/invoices/${invoiceId}`);
      if (body.status === 'accepted' || body.status === 'rejected') return body;
      if (Date.now() > end) throw new Error(`invoice ${invoiceId} is still ${body.status}`);
      await sleep(pause);
    }
  }

  /** Searches until the document is found, which takes a second or two after its creation or change. */
  async found(invoiceId: string, search: string, timeoutMs = 50_000): Promise<void> {
    const query = 'query ($search: String!) { fiscalDocuments(search: $search) { nodes { ... on Node { id } } } }';
    for (const end = Date.now() + timeoutMs; ; ) {
      const { nodes } = (await this.graphql(query, { search })).body.data.fiscalDocuments;
      if (nodes.some(({ id }: { id: string }) => id === invoiceId)) return;
      if (Date.now() > end) throw new Error(`invoice ${invoiceId} is not found by ${search}`);
      await sleep(100);
    }
  }
}

/** One message of an event stream. */
export interface Message {
  readonly id: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was sent
  readonly data: any;
}

/** Yields the messages of a `text/event-stream` body up to its end, without comments. */
export async function* messagesOf(response: Response): AsyncGenerator<Message> {
  if (!response.body) return;
  let buffer = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    buffer += chunk;
    for (let end = buffer.indexOf('\n\n'); end >= 0; end = buffer.indexOf('\n\n')) {
      const lines = buffer.slice(0, end).split('\n');
      buffer = buffer.slice(end + 2);
      const field = (name: string) =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? null;
      const data = field('data');
      if (data === null) continue;
      const message = { id: field('id'), data: JSON.parse(data) };
      if (new URL(response.url).pathname.startsWith('/v1/')) checkMessage(message.data);
      yield message;
    }
  }
}

/** Returns a valid body of POST /v1/invoices, with an amount of 120.00 MAD unless changed. */
export function invoiceBody(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    amount: 12000,
    currency: 'MAD',
    customer: { ice: '001234567000089', name: 'Atlas Distribution SARL' },
    lines: [{ description: 'Conseil', quantity: 1, unit_price: 10000 }],
    ...changes,
  };
}

/** Returns a valid body for a customer with this (magic) ICE. */
export function invoiceFor(ice: string, email: string | null = null): Record<string, unknown> {
  return invoiceBody({ customer: { ice, name: 'Client', email } });
}
