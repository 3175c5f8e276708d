import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span in the JSON form of OTLP, with the `service.name` of its process. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
  readonly status: { readonly code?: number };
  readonly service: string;
}

/** Starts a collector of spans on loopback, for OTEL_EXPORTER_OTLP_ENDPOINT with http/json. */
export async function startCollector() {
  const spans: CollectedSpan[] = [];
  const server = createServer(async (request, response) => {
    const { resourceSpans } = JSON.parse(Buffer.concat(await Array.fromAsync(request)).toString());
    for (const { resource, scopeSpans } of resourceSpans) {
      const { value } = resource.attributes.find(({ key }: { key: string }) => key === 'service.name');
      for (const scope of scopeSpans)
        for (const span of scope.spans) spans.push({ ...span, service: value.stringValue });
    }
    response.setHeader('content-type', 'application/json').end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, spans, close: () => server.close() };
}
