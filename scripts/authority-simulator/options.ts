import type { FaultRule } from './faults.ts';
import { TEN_YEARS } from './identity.ts';

export const PROFILES = ['polling', 'synchronous', 'callback'] as const;
export type Profile = (typeof PROFILES)[number];

/** The limits that `GET /v1/capabilities` states, under the protocol's names. */
export interface Limits {
  readonly submissions_per_minute: number;
  readonly lookups_per_minute: number;
  readonly lookups_per_submission_per_hour: number;
  /** Submissions under way at the same time. */
  readonly concurrent: number;
}

export const DEFAULT_LIMITS: Limits = {
  submissions_per_minute: 600,
  lookups_per_minute: 600,
  lookups_per_submission_per_hour: 60,
  concurrent: 16,
};

/** Options of a simulator; each has a default. Times are milliseconds. */
export interface SimulatorOptions {
  /** Default: `polling`. */
  readonly profile?: Profile;
  /** The address to listen on; default 127.0.0.1. */
  readonly host?: string;
  /** Default: a free port. */
  readonly port?: number;
  /** Port of the control server on loopback; default: a free port. */
  readonly controlPort?: number;
  /** Keys and ledger; default: a temporary folder, which `close` removes. */
  readonly dataDir?: string;
  /** Where decisions are announced in the profile `callback`; default: nowhere. */
  readonly callbackUrl?: string;
  /** Seed of the faults by rate; default 1. */
  readonly seed?: number;
  /** From the receipt of a submission to its decision; default 2 s, in the profile `synchronous` 0. */
  readonly decisionDelay?: number;
  /** `none`: documents are neither verified nor examined; for benches. Default: `full`. */
  readonly verify?: 'full' | 'none';
  /** Algorithm of the client's key, when it is made; default ES256. */
  readonly clientKey?: 'ES256' | 'RS256';
  /** Of the client's and the signer's certificates, when they are made; default ten years. */
  readonly certificateLife?: number;
  /** Default: 5 minutes. */
  readonly tokenLife?: number;
  readonly maxDocumentBytes?: number;
  /** Others than {@link DEFAULT_LIMITS}. */
  readonly limits?: Partial<Limits>;
  /** How long the magic ICE 999000000000393 takes; default 10 s. */
  readonly slowDecision?: number;
  /** How long the receipt of the magic ICE 999000000000878 takes; default 60 s. */
  readonly slowReceipt?: number;
  /** The clock, before the control port changes it; default: the machine's. */
  readonly clock?: () => number;
  /** Faults from the start. */
  readonly faults?: readonly FaultRule[];
  /** Called with each decision. */
  readonly onDecision?: (decision: {
    readonly id: string;
    readonly status: 'accepted' | 'rejected';
    readonly dgiId: string | null;
  }) => void;
}

/** The options with their defaults. */
export type Configuration = Required<Omit<SimulatorOptions, 'dataDir' | 'callbackUrl' | 'limits' | 'faults'>> & {
  readonly dataDir: string | null;
  readonly callbackUrl: string | null;
  readonly limits: Limits;
  readonly faults: readonly FaultRule[];
};

export function withDefaults(options: SimulatorOptions): Configuration {
  const profile = options.profile ?? 'polling';
  return {
    profile,
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 0,
    controlPort: options.controlPort ?? 0,
    dataDir: options.dataDir ?? null,
    callbackUrl: options.callbackUrl ?? null,
    seed: options.seed ?? 1,
    decisionDelay: options.decisionDelay ?? (profile === 'synchronous' ? 0 : 2000),
    verify: options.verify ?? 'full',
    clientKey: options.clientKey ?? 'ES256',
    certificateLife: options.certificateLife ?? TEN_YEARS,
    tokenLife: options.tokenLife ?? 300_000,
    maxDocumentBytes: options.maxDocumentBytes ?? 5_242_880,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    slowDecision: options.slowDecision ?? 10_000,
    slowReceipt: options.slowReceipt ?? 60_000,
    clock: options.clock ?? Date.now,
    faults: options.faults ?? [],
    onDecision: options.onDecision ?? (() => undefined),
  };
}
