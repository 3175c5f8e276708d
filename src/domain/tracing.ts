/** Ids of this service, kinds and numbers; never a secret or a text of a client. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** A part of a trace. */
export interface Span {
  /** Its place in the trace, as other processes and services receive it: see {@link readTraceparent}. */
  readonly traceparent: string;
  /** Gives it a name that is known only after its begin. @param name as for {@link Tracing} */
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /** Marks it as failed. @param kind of a fixed set, because messages of errors may contain anything */
  fail(kind: string): void;
  end(): void;
}

export interface SpanStart {
  /** `server`: answers a request of somebody else; `client`: makes one. */
  readonly kind: 'server' | 'client' | 'internal';
  /** The `traceparent` of the span above it; null: a new trace begins. */
  readonly parent: string | null;
  readonly attributes?: SpanAttributes;
}

/** Records what happens to an invoice across processes, for an operator's tracing system. */
export interface Tracing {
  /** @param name of a fixed set: without ids and names that clients choose @returns null if nothing is traced */
  begin(name: string, start: SpanStart): Span | null;
}

/** Which spans are sent, and where (docs/operations.md, "Traces"). */
export interface TracingSettings {
  /** The complete address that spans are posted to. */
  readonly endpoint: string;
  readonly protocol: 'http/json' | 'http/protobuf';
  /** May hold credentials of the collector. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** The sampling of new traces. `parentBased`: traces that a client began follow its decision. */
  readonly sampler: {
    readonly root: 'always_on' | 'always_off' | 'traceidratio';
    readonly ratio: number;
    readonly parentBased: boolean;
  };
  /** The attributes of this service in every span, `service.name` included. */
  readonly resource: Readonly<Record<string, string>>;
  /** Milliseconds, and numbers of spans. */
  readonly batch: {
    readonly delayMs: number;
    readonly maxQueue: number;
    readonly maxBatch: number;
    readonly timeoutMs: number;
  };
}

export const NO_TRACING: Tracing = { begin: () => null };

const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * Reads a `traceparent` header (W3C Trace Context, level 1). For later versions the known part is used.
 * @returns it as version 00 with the flag `sampled` only; null if it is not valid, so that a new trace begins
 */
export function readTraceparent(text: string | undefined): string | null {
  const [, version, traceId, spanId, flags, rest] = TRACEPARENT.exec(text?.slice(0, 512) ?? '') ?? [];
  if (flags === undefined || (version === '00' && rest !== undefined)) return null;
  return `00-${traceId}-${spanId}-0${Number.parseInt(flags, 16) & 1}`;
}

/** Returns the trace id of a `traceparent` that {@link readTraceparent} or a span returned. */
export function traceIdOf(traceparent: string): string {
  return traceparent.slice(3, 35);
}

/** Whether the trace is recorded. */
export function isSampled(traceparent: string): boolean {
  return traceparent.endsWith('1');
}

/** Returns the name of an error in a span: the name of its class. */
export function kindOfError(error: unknown): string {
  return error instanceof Error ? error.name : 'Error';
}
