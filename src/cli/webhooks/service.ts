import { setTimeout as sleep } from 'node:timers/promises';
import { watchedFetch } from '../../dashboard/graphql/watched-fetch.ts';
import { parseToken } from '../../domain/api-key/api-key.ts';
import { SILENCE_MS } from '../../domain/limits.ts';
import { orderAt } from '../../domain/order-key.ts';
import type { Environment } from '../../domain/tenant/tenant.ts';
import type { ParsedArguments } from '../command.ts';
import { type CommandContext, type Option, UsageError } from '../command.ts';
import { callDirectly } from '../direct-calls.ts';
import { messagesOf } from '../event-stream.ts';
import { httpUrl, serviceAddress } from '../service-address.ts';
import { harmless } from '../terminal.ts';

/** A help text. The environment variable keeps the key out of the process list and the shell's history. */
export const FROM_ENVIRONMENT = 'default: the environment variable FATOURA_KEY';

/** Options of the commands that call the running service as a client. */
export const SERVICE_OPTIONS = {
  key: { value: 'KEY', description: `Secret key of the tenant: sk_test_… or sk_live_…; ${FROM_ENVIRONMENT}` },
  url: { value: 'URL', description: 'Address of the service; default: HOST:PORT of this configuration' },
} as const satisfies Record<string, Option>;

/** Address and key with which the service is called. */
export interface Access {
  /** Without a trailing slash. */
  readonly url: string;
  readonly secretKey: string;
  /** The environment of the key. */
  readonly environment: Environment;
}

/** An event of the subscription `invoiceEvents`. */
export interface StreamedEvent {
  readonly cursor: string;
  /** Whether the event was sent by hand. */
  readonly manual: boolean;
  /** The event object is in `body`, JSON. */
  readonly event: { readonly id: string; readonly body: string };
}

const RECONNECT_MS = [250, 1000, 3000, 5000] as const;

/**
 * Reads address and key from the options, FATOURA_KEY and the configuration.
 * @throws {UsageError} when one is missing or malformed
 */
export async function accessOf(
  input: ParsedArguments,
  { config, environmentKey, address: known }: CommandContext,
): Promise<Access> {
  const typed = input.find('key');
  const secretKey = typed ?? environmentKey();
  if (secretKey === null) throw new UsageError('--key is required, or the environment variable FATOURA_KEY');
  const token = parseToken(secretKey);
  if (token?.kind !== 'secret') {
    const source = typed === null ? 'FATOURA_KEY' : '--key';
    throw new UsageError(`${source} must be a secret key: sk_test_… or sk_live_…`);
  }
  const { environment } = token;
  const given = input.find('url');
  if (given !== null) return { url: httpUrl(given, '--url').replace(/\/+$/, ''), secretKey, environment };
  if (known) return { url: known(), secretKey, environment };
  const settings = config();
  const address = serviceAddress(settings);
  if (address === null) throw new UsageError('--url is required because the configuration has no fixed port (PORT 0)');
  await callDirectly(settings, address);
  return { url: settings.sites?.[environment] ?? address, secretKey, environment };
}

/** Time without a byte after which a request fails, milliseconds. */
const ANSWER_MS = 60_000;

/**
 * Runs a GraphQL operation that selects typed errors as `refused: message`.
 * @param silenceMs time without a byte of the answer after which the service counts as unreachable, milliseconds
 * @throws {Error} with the service's message
 */
export async function operate<Data>(
  access: Access,
  query: string,
  variables: Record<string, unknown>,
  silenceMs = ANSWER_MS,
): Promise<Data> {
  const unreachable = (error: Error): never => {
    throw new Error(`${access.url} cannot be reached (${causeOf(error)}).`, { cause: error });
  };
  const sent = request(access, query, variables, 'application/json');
  const response = await watchedFetch(silenceMs)(`${access.url}/graphql`, sent).catch(unreachable);
  const read = response.json().catch((error: Error) => (error instanceof SyntaxError ? null : unreachable(error)));
  const answer = (await read) as Answer<Refusable> | null;
  const problem = answer?.errors?.[0]?.message ?? answer?.error?.message;
  if (problem !== undefined) throw new Error(problem);
  if (!answer?.data) throw unexpected(access.url, response);
  for (const member of Object.values(answer.data)) if (member?.refused) throw new Error(member.refused);
  return answer.data as Data;
}

/** Makes the error for an answer that is not the service's. */
export function unexpected(url: string, { status, headers }: Response): Error {
  // The query of the URL may contain data of customers.
  const [leadsTo] = headers.get('location')?.split('?') ?? [];
  if (!leadsTo) return new Error(`${url} answered ${status} with an unexpected body.`);
  return new Error(`${url} answered ${status} and leads to ${harmless(leadsTo)}: is the address right?`);
}

type Refusable = Readonly<Record<string, { readonly refused?: string } | null>>;

interface Answer<Data> {
  readonly data?: Data | null;
  readonly errors?: readonly { readonly message: string }[];
  readonly error?: { readonly message: string };
}

/** The operation of `listen`. */
export const FOLLOW = `subscription ($after: String) {
  invoiceEvents(after: $after) { cursor manual event { id body } }
}`;

/**
 * Yields the tenant's events from now on, endlessly. A broken connection is resumed after the last event.
 * @param onState called with null when the connection is established, and with the reason when it is lost
 * @param silenceMs time without a byte after which a connection counts as broken, milliseconds
 * @throws {Error} when the service refuses the request
 */
export async function* followEvents(
  access: Pick<Access, 'url' | 'secretKey'>,
  signal: AbortSignal,
  onState: (lost: string | null) => void,
  silenceMs: number = SILENCE_MS,
): AsyncGenerator<StreamedEvent> {
  const fetchWatched = watchedFetch(silenceMs);
  let after: string | null = null;
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      const response: Response = await fetchWatched(`${access.url}/graphql/stream`, {
        ...request(access, FOLLOW, { after }, 'text/event-stream'),
        signal,
      });
      if (!response.ok || !response.body) throw await refusalOf(response);
      // The position, by the service's clock, from which to resume if the connection breaks before the first event.
      after ??= orderAt(Date.parse(response.headers.get('Date') ?? '') || Date.now()).padEnd(24, '0');
      onState(null);
      for await (const { data } of messagesOf(response.body.pipeThrough(new TextDecoderStream()))) {
        const { data: message, errors } = JSON.parse(data) as Answer<{ invoiceEvents: StreamedEvent }>;
        if (errors?.[0]) throw new Refusal(errors[0].message);
        if (!message) continue;
        failures = 0;
        after = message.invoiceEvents.cursor;
        yield message.invoiceEvents;
      }
      throw new Error('the connection ended');
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Refusal) throw error;
      const reason = causeOf(error as Error);
      onState(
        after === null
          ? `${access.url} cannot be reached (${reason})`
          : `The connection to ${access.url} is lost (${reason})`,
      );
    }
    const pause = RECONNECT_MS[Math.min(failures, RECONNECT_MS.length - 1)];
    await sleep(pause, undefined, { signal }).catch(() => undefined);
  }
}

/** Returns why a fetch failed, which its own message does not say. */
function causeOf(error: Error): string {
  const cause = (error.cause ?? error) as NodeJS.ErrnoException;
  // When several addresses were tried, the first error stands for all.
  const [first = cause] = cause instanceof AggregateError ? (cause.errors as Error[]) : [];
  return first.message || cause.code || error.message;
}

class Refusal extends Error {}

/** Returns the error for a failed response: a {@link Refusal} when a retry would not help. */
async function refusalOf(response: Response): Promise<Error> {
  const answer = (await response.json().catch(() => null)) as Answer<never> | null;
  const message = answer?.error?.message ?? answer?.errors?.[0]?.message ?? `the service answered ${response.status}`;
  return response.status < 500 && response.status !== 429 ? new Refusal(message) : new Error(message);
}

function request(
  { secretKey }: Pick<Access, 'secretKey'>,
  query: string,
  variables: Record<string, unknown>,
  accept: string,
): RequestInit {
  return {
    method: 'POST',
    headers: { Authorization: `Bearer ${secretKey}`, 'Content-Type': 'application/json', Accept: accept },
    body: JSON.stringify({ query, variables }),
    // The target of a redirect would receive documents, and answer in the service's place.
    redirect: 'manual',
  };
}
