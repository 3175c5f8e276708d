import type { Outbox } from './delivery-ports.ts';
import type { WriteBehind } from './write-behind.ts';

/** How long the news of published invoices is gathered: mostly the whole life of an invoice, milliseconds. */
const GATHER_MS = 1000;

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
  /** What holds deliveries that are not stored yet; null where each is stored at once. */
  readonly behind: Pick<WriteBehind, 'stored' | 'storedUntil'> | null;
  readonly report: (message: string, error: unknown) => void;
}

export function createOutboxMarks({ outbox, behind, report }: OutboxMarksParts): OutboxMarks {
  const noted = new Map<string, { readonly sequence: number; readonly at: number }>();
  let timer: NodeJS.Timeout | null = null;

  function writeLater(): void {
    if (noted.size > 0) timer ??= setTimeout(() => void writeStored(), GATHER_MS);
  }

  /** What is not stored yet waits for the next time: it is under way. */
  async function writeStored(): Promise<void> {
    if (timer) clearTimeout(timer);
    timer = null;
    const until = behind?.storedUntil() ?? Number.POSITIVE_INFINITY;
    const told = [...noted].filter(([, { at }]) => at < until);
    for (const [invoiceId] of told) noted.delete(invoiceId);
    writeLater();
    if (told.length === 0) return;
    const published = told.map(([invoiceId, { sequence }]) => ({ invoiceId, sequence }));
    await outbox.markPublished(published).catch(failed);
  }

  const failed = (error: unknown) => report('the outbox could not be told what is published', error);

  return {
    note(invoiceId, sequence) {
      noted.set(invoiceId, { sequence, at: performance.now() });
      writeLater();
    },
    awaits: (invoiceId) => noted.has(invoiceId),
    async write() {
      await behind?.stored().catch(failed);
      await writeStored();
    },
  };
}
