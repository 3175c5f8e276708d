import type { CommandParts } from '../../../src/app/command-parts.ts';
import { DELIVERY_TIMES } from '../../../src/domain/limits.ts';
import type { SendResult } from '../../../src/domain/webhook/delivery.ts';

type LocalSender = ReturnType<Awaited<ReturnType<CommandParts['localSender']>>['localSender']>;

/**
 * Sends events to a local server with what Node has, instead of the service's sender. The server may take as long as
 * receivers of the service may.
 */
export function localSender(): LocalSender {
  return {
    async send({ url, headers, body }): Promise<SendResult> {
      const begun = performance.now();
      const result = { headers: [], body: '', truncated: false } as const;
      try {
        const signal = AbortSignal.timeout(DELIVERY_TIMES.whole);
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
