import { expect, test } from 'vitest';
import { Client, invoiceFor } from '../support/client.ts';
import { startService } from '../support/service.ts';

test('a stream on which nothing happens has a comment every 15 s, so that no proxy takes it for dead', async () => {
  const service = await startService();
  try {
    const client = new Client(service.url, (await service.tenant()).secretKey);
    // Its receipt takes a minute: until then the status stays.
    const { body } = await client.post('/v1/invoices', invoiceFor('999000000000878'));
    const abort = new AbortController();
    const { body: stream } = await fetch(`${service.url}/v1/invoices/${body.id}/stream`, {
      headers: { Authorization: `Bearer ${body.client_secret}` },
      signal: abort.signal,
    });
    const start = Date.now();
    const beats: number[] = [];
    for await (const chunk of stream?.pipeThrough(new TextDecoderStream()) ?? []) {
      if (chunk === ':\n\n') beats.push(Math.round((Date.now() - start) / 1000));
      if (beats.length === 3) break;
    }
    abort.abort();
    expect(beats[0]).toBeLessThanOrEqual(1);
    expect(beats[1]).toBeGreaterThanOrEqual(14);
    expect(beats[2]).toBeGreaterThanOrEqual(29);
    expect(beats[2]).toBeLessThan(45);
  } finally {
    await service.close();
  }
}, 60_000);
