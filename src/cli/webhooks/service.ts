import { setTimeout as sleep } from 'node:timers/promises';
import { parseToken } from '../../domain/api-key/api-key.ts';
import { orderAt } from '../../domain/order-key.ts';
import type { Environment } from '../../domain/tenant/tenant.ts';
import type { ParsedArguments } from '../command.ts';
import { type CommandContext, type Option, UsageError } from '../command.ts';
import { callDirectly } from '../direct-calls.ts';
import { messagesOf } from '../event-stream.ts';
import { httpUrl, serviceAddress } from '../service-address.ts';

/** What the help of a `--key` says of the other way, which leaves the key out of the list of processes and the shell's history. */
export const FROM_ENVIRONMENT = 'FATOURA_KEY of the environment unless given';

/** The options of commands that call the running service as a client does. */
export const SERVICE_OPTIONS = {
  key: { value: 'KEY', description: `A secret key of the tenant: sk_test_… or sk_live_…; ${FROM_ENVIRONMENT}` },
  url: { value: 'URL', description: 'Where the service is reached; by default HOST:PORT of this configuration' },
} as const satisfies Record<string, Option>;

/** Where and as whom the service is called. */
export interface Access {
  /** Without a trailing slash. */
  readonly url: string;
  readonly secretKey: string;
  /** What the key opens. */
  readonly environment: Environment;
}

/** An event as the subscription `invoiceEvents` tells it. */
export interface StreamedEvent {
  readonly cursor: string;
  /** Whether somebody sent it by hand. */
  readonly manual: boolean;
  readonly event: { readonly id: string; readonly type: string; readonly body: string };
}

const RECONNECT_MS = [250, 1000, 3000, 5000] as const;

/** @throws {UsageError} for an address or a key that is none */
export async function accessOf(input: ParsedArguments, { config, environmentKey }: CommandContext): Promise<Access> {
  const typed = input.find('key');
  const secretKey = typed ?? environmentKey();
  if (secretKey === null) throw new UsageError('--key is required, or FATOURA_KEY in the environment');
  const token = parseToken(secretKey);
  if (token?.kind !== 'secret') {
    const source = typed === null ? 'FATOURA_KEY' : '--key';
    throw new UsageError(`${source} must be a secret key: sk_test_… or sk_live_…`);
  }
  const { environment } = token;
  const given = input.find('url');
  if (given !== null) return { url: httpUrl(given, '--url').replace(/\/+$/, ''), secretKey, environment };
  const settings = config();
  const address = serviceAddress(settings);
  if (address === null) throw new UsageError('--url is needed: the configuration names no port');
  await callDirectly(settings, address);
  return { url: settings.sites?.[environment] ?? address, secretKey, environment };
}

/** Runs a GraphQL operation that selects typed errors as `refused: message`. @throws {Error} with the service's own words */
export async function operate<Data>(access: Access, query: string, variables: Record<string, unknown>): Promise<Data> {
  const asked = fetch(`${access.url}/graphql`, request(access, query, variables, 'application/json'));
  const response = await asked.catch((error: Error) => {
    throw new Error(`${access.url} is not reached (${causeOf(error)}).`, { cause: error });
  });
  const answer = (await response.json().catch(() => null)) as Answer<Refusable> | null;
  const problem = answer?.errors?.[0]?.message ?? answer?.error?.message;
  if (problem !== undefined) throw new Error(problem);
  if (!answer?.data) throw new Error(`${access.url} answered ${response.status} and nothing that is understood.`);
  for (const member of Object.values(answer.data)) if (member?.refused) throw new Error(member.refused);
  return answer.data as Data;
}

type Refusable = Readonly<Record<string, { readonly refused?: string } | null>>;

interface Answer<Data> {
  readonly data?: Data | null;
  readonly errors?: readonly { readonly message: string }[];
  readonly error?: { readonly message: string };
}

/** What `listen` asks for. */
export const FOLLOW = `subscription ($after: String) {
  invoiceEvents(after: $after) { cursor manual event { id type body } }
}`;

/**
 * The tenant's events from now on, without end. A connection that breaks is resumed where it was.
 * @param onState told when it listens, and in words why it does not
 * @throws {Error} when the service refuses
 */
export async function* followEvents(
  access: Pick<Access, 'url' | 'secretKey'>,
  signal: AbortSignal,
  onState: (lost: string | null) => void,
): AsyncGenerator<StreamedEvent> {
  let after: string | null = null;
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      const response: Response = await fetch(`${access.url}/graphql/stream`, {
        ...request(access, FOLLOW, { after }, 'text/event-stream'),
        signal,
      });
      if (!response.ok || !response.body) throw await refusalOf(response);
      // Should it break before the first event, it is resumed from here, by the service's clock.
      after ??= orderAt(Date.parse(response.headers.get('Date') ?? '') || Date.now()).padEnd(24, '0');
      onState(null);
      for await (const { data } of messagesOf(response.body.pipeThrough(new TextDecoderStream()))) {
        const { data: told, errors } = JSON.parse(data) as Answer<{ invoiceEvents: StreamedEvent }>;
        if (errors?.[0]) throw new Refusal(errors[0].message);
        if (!told) continue;
        failures = 0;
        after = told.invoiceEvents.cursor;
        yield told.invoiceEvents;
      }
      throw new Error('the connection ended');
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Refusal) throw error;
      const reason = causeOf(error as Error);
      onState(
        after === null ? `${access.url} is not reached (${reason})` : `The stream of ${access.url} is lost (${reason})`,
      );
    }
    const pause = RECONNECT_MS[Math.min(failures, RECONNECT_MS.length - 1)];
    await sleep(pause, undefined, { signal }).catch(() => undefined);
  }
}

/** Why a fetch failed: its own message says no more than that it did. */
function causeOf(error: Error): string {
  const cause = (error.cause ?? error) as NodeJS.ErrnoException;
  // Of several addresses that were tried, any tells why.
  const [first = cause] = cause instanceof AggregateError ? (cause.errors as Error[]) : [];
  return first.message || cause.code || error.message;
}

class Refusal extends Error {}

/** What will not change by trying again. */
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
  };
}
