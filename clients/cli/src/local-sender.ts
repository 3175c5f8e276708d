import type { CommandParts } from '../../../src/app/command-parts.ts';
import type { SendResult } from '../../../src/domain/webhook/delivery.ts';

/** How long the local server may take: as long as receivers of the service may, milliseconds. */
const TIMEOUT_MS = 15_000;

type LocalSender = ReturnType<Awaited<ReturnType<CommandParts['localSender']>>['localSender']>;

/** Sends events to a local server with what Node has, instead of the service's sender. */
export function localSender(): LocalSender {
  return {
    async send({ url, headers, body }): Promise<SendResult> {
      const begun = performance.now();
      const result = { headers: [], body: '', truncated: false } as const;
      try {
        const signal = AbortSignal.timeout(TIMEOUT_MS);
        const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
        await response.body?.cancel();
        return { ...result, status: response.status, latencyMs: performance.now() - begun, failure: null };
      } catch (error) {
        const { message } = ((error as Error).cause ?? error) as Error;
        const failure = { code: 'connection_failed', message } as const;
        return { ...result, status: null, latencyMs: performance.now() - begun, failure };
      }
    },
    close: async () => {},
  };
}
