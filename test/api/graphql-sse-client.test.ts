import { createClient } from 'graphql-sse';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BreakingProxy, startBreakingProxy } from '../support/breaking-proxy.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';

/** graphql-sse's own client, in both modes, over connections that break. */
let service: TestService;
let proxy: BreakingProxy;

beforeAll(async () => {
  service = await startService();
  proxy = await startBreakingProxy(service.url);
});
afterAll(async () => {
  await proxy.close();
  await service.close();
});

interface Told {
  readonly invoiceEvents: {
    readonly cursor: string;
    readonly event: { readonly id: string; readonly invoiceId: string };
  };
}

describe.each([
  ['distinct connections mode', false],
  ['single connection mode', true],
] as const)('%s', (_, singleConnection) => {
  it('resumes after each break: no result is lost or repeated', async () => {
    const { secretKey } = await service.tenant();
    const client = new Client(service.url, secretKey);
    const sse = createClient({
      url: `${proxy.url}/graphql/stream`,
      singleConnection,
      headers: () => ({ Authorization: `Bearer ${secretKey}` }),
      retryAttempts: 50,
      retry: () => new Promise((resolve) => setTimeout(resolve, 50)),
    });
    const told: Told['invoiceEvents']['event'][] = [];
    // After a break the client sends the same object again, so changing its `variables` is enough to resume.
    const variables: { after: string | null } = { after: null };
    let failure: unknown;
    const end = sse.subscribe<Told>(
      {
        query: 'subscription ($after: String) { invoiceEvents(after: $after) { cursor event { id invoiceId } } }',
        variables,
      },
      {
        next({ data }) {
          if (!data) return;
          variables.after = data.invoiceEvents.cursor;
          told.push(data.invoiceEvents.event);
        },
        error: (error) => {
          failure = error;
        },
        complete: () => undefined,
      },
    );
    await expect.poll(() => service.app.listeners()).toBe(1);
    const ids: string[] = [];
    for (let round = 1; round <= 4; round++) {
      ids.push((await client.post('/v1/invoices', invoiceBody())).body.id);
      // Breaks the connection sometimes between the three events, sometimes after them.
      await expect.poll(() => told.length, { timeout: 50_000 }).toBeGreaterThan((round - 1) * 3 + (round % 3));
      proxy.break();
    }
    await expect.poll(() => told.length, { timeout: 50_000 }).toBe(12);
    await client.settled(ids.at(-1) ?? '');
    expect(new Set(told.map(({ id }) => id)).size).toBe(12);
    expect(told.map(({ invoiceId }) => invoiceId).toSorted()).toEqual(ids.flatMap((id) => [id, id, id]).toSorted());
    end();
    sse.dispose();
    expect(failure).toBeUndefined();
    await expect.poll(() => service.app.listeners()).toBe(0);
  });
});
