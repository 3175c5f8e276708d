import type { Command, CommandContext, ParsedArguments } from '../../../src/cli/command.ts';
import { serviceState } from '../../../src/cli/service-address.ts';
import { columns, harmless } from '../../../src/cli/terminal.ts';
import { type Access, accessOf, operate } from '../../../src/cli/webhooks/service.ts';
import { ApiError, Fatoura } from '../../typescript/src/index.ts';

type State = 'works' | 'warns' | 'fails';

interface Finding {
  readonly subject: string;
  readonly state: State;
  readonly found: string;
  readonly advice?: string;
}

/** How much this machine's clock may differ: a third of what signatures of webhooks allow, seconds. */
const MOST_SECONDS = 100;
/** The longest time to the first byte, milliseconds: on a stream the service sends something every 15 s. */
const FIRST_BYTE_MS = 20_000;
const COLOURS = { works: 'green', warns: 'yellow', fails: 'red' } as const;

export const doctor: Command = {
  name: 'doctor',
  summary: 'Checks a connection: address, key, clock, streams, webhook endpoints',
  positionals: [],
  options: { json: { description: 'Print an array' } },
  details: 'The exit code is 1 if something fails.',
  async run(input: ParsedArguments, context: CommandContext) {
    const access = await accessOf(input, context);
    const findings = [await checkAddress(access)];
    if (findings[0]?.state !== 'fails') {
      const key = await checkKey(access);
      findings.push(key);
      if (key.state === 'works')
        findings.push(...(await Promise.all([checkClock(access), checkStreams(access), checkEndpoints(access)])));
    }
    const { terminal } = context;
    if (input.has('json')) terminal.print(JSON.stringify(findings));
    else {
      for (const { subject, state, found, advice } of findings) {
        terminal.print(
          `${terminal.style(COLOURS[state], state.padEnd(5))}  ${columns([[subject.padEnd(9), harmless(found)]])}`,
        );
        if (advice !== undefined) terminal.print(`       ${' '.repeat(9)}  ${advice}`);
      }
    }
    return findings.some(({ state }) => state === 'fails') ? 1 : 0;
  },
};

async function checkAddress({ url }: Access): Promise<Finding> {
  const subject = 'address';
  const state = await serviceState(url);
  if (state === null)
    return {
      subject,
      state: 'fails',
      found: `no Fatoura service answers at ${url}`,
      advice: 'Check the address, the network, and proxies on the way.',
    };
  if (state.reason !== null)
    return { subject, state: 'warns', found: `${url} answers, but is not ready: ${state.reason}` };
  const isOpen = url.startsWith('http:') && !/^http:\/\/(localhost|127\.|\[::1\])/.test(url);
  if (!isOpen) return { subject, state: 'works', found: `${url} answers` };
  const advice = 'Use the https address: others on the way can read the key.';
  return { subject, state: 'warns', found: `${url} answers, unencrypted`, advice };
}

async function checkKey({ url, secretKey, environment }: Access): Promise<Finding> {
  const subject = 'key';
  try {
    await new Fatoura(secretKey, { baseUrl: url, maxRetries: 1 }).invoices.list({ limit: 1 }).page();
    return { subject, state: 'works', found: `a secret key of the ${environment} environment` };
  } catch (error) {
    const isRefused = error instanceof ApiError;
    const found = isRefused ? `${error.code}: ${error.message}` : (error as Error).message;
    const advice = 'Make a new key on the page of keys, and log in again.';
    return { subject, state: 'fails', found, ...(isRefused && error.status === 401 && { advice }) };
  }
}

async function checkClock({ url }: Access): Promise<Finding> {
  const subject = 'clock';
  const { headers } = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(FIRST_BYTE_MS), redirect: 'manual' });
  const seconds = Math.round((Date.now() - Date.parse(headers.get('date') ?? '')) / 1000);
  if (Number.isNaN(seconds)) return { subject, state: 'warns', found: 'the answers have no time' };
  const found = `differs by ${Math.abs(seconds)} s from the service's`;
  if (Math.abs(seconds) <= MOST_SECONDS) return { subject, state: 'works', found };
  return { subject, state: 'fails', found, advice: 'Set it: signatures of webhooks are refused after 300 s.' };
}

/** Opens the stream of `listen` until its first byte. */
async function checkStreams({ url, secretKey }: Access): Promise<Finding> {
  const subject = 'streams';
  const begun = performance.now();
  try {
    const response = await fetch(`${url}/graphql/stream`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${secretKey}`,
        'Content-Type': 'application/json',
        Accept: 'text/event-stream',
      },
      body: JSON.stringify({ query: 'subscription { invoiceEvents { cursor } }' }),
      redirect: 'manual',
      signal: AbortSignal.timeout(FIRST_BYTE_MS),
    });
    const reader = response.body?.getReader();
    const first = response.ok ? await reader?.read() : undefined;
    await reader?.cancel();
    const took = `${Math.round(performance.now() - begun)} ms`;
    if (first?.value) return { subject, state: 'works', found: `arrive, the first byte after ${took}` };
  } catch {
    // Said below.
  }
  return {
    subject,
    state: 'warns',
    found: 'do not pass: `listen` does not work, and `follow` reads every two seconds',
    advice: 'A proxy on the way holds text/event-stream back. Turn its buffering off.',
  };
}

const ENDPOINTS = '{ webhookEndpoints { url active } }';

async function checkEndpoints(access: Access): Promise<Finding> {
  const subject = 'webhooks';
  const { webhookEndpoints } = await operate<{ webhookEndpoints: readonly { url: string; active: boolean }[] }>(
    access,
    ENDPOINTS,
    {},
  );
  const inactive = webhookEndpoints.filter(({ active }) => !active).map(({ url }) => url);
  if (webhookEndpoints.length === 0) return { subject, state: 'works', found: 'there is no endpoint' };
  if (inactive.length === 0)
    return { subject, state: 'works', found: `${webhookEndpoints.length} endpoints, all active` };
  const advice = 'fatoura webhook-endpoints update ENDPOINT_ID --active true';
  return { subject, state: 'warns', found: `inactive: ${inactive.join(', ')}`, advice };
}
