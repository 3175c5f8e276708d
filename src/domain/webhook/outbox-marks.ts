import type { Outbox } from './delivery-ports.ts';

/** How long the news of published invoices is gathered: mostly the whole life of an invoice, milliseconds. */
const GATHER_MS = 1000;
/** What was published this moment waits for the next time: its deliveries are being stored as they should be, milliseconds. */
const YOUNG_MS = 400;

/** Tells the outbox which invoices' events are published, many at a time, once their deliveries are stored. */
export interface OutboxMarks {
  /** An invoice is published up to this event. */
  note(invoiceId: string, sequence: number): void;
  /** Whether the outbox is still to be told of the invoice. */
  awaits(invoiceId: string): boolean;
  /** Tells all at once. Never rejects: what the outbox is not told is published once more, which changes nothing. */
  write(): Promise<void>;
}

export interface OutboxMarksParts {
  readonly outbox: Pick<Outbox, 'markPublished'>;
  /** Resolves when what was inserted until then is stored, see `WriteBehind`. */
  readonly stored: (until?: number) => Promise<void>;
  readonly report: (message: string, error: unknown) => void;
}

export function createOutboxMarks({ outbox, stored, report }: OutboxMarksParts): OutboxMarks {
  const noted = new Map<string, { readonly sequence: number; readonly at: number }>();
  let timer: NodeJS.Timeout | null = null;

  function writeLater(): void {
    if (noted.size > 0) timer ??= setTimeout(() => void write(performance.now() - YOUNG_MS), GATHER_MS);
  }

  /** @param until the latest instant that counts; null: all do */
  async function write(until: number | null): Promise<void> {
    if (timer) clearTimeout(timer);
    timer = null;
    const told = [...noted].filter(([, { at }]) => until === null || at <= until);
    for (const [invoiceId] of told) noted.delete(invoiceId);
    writeLater();
    if (told.length === 0) return;
    try {
      await stored(until ?? undefined);
      await outbox.markPublished(told.map(([invoiceId, { sequence }]) => ({ invoiceId, sequence })));
    } catch (error) {
      report('the outbox could not be told what is published', error);
    }
  }

  return {
    note(invoiceId, sequence) {
      noted.set(invoiceId, { sequence, at: performance.now() });
      writeLater();
    },
    awaits: (invoiceId) => noted.has(invoiceId),
    write: () => write(null),
  };
}
