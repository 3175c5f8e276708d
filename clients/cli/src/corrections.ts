import { correctionCommands } from '../../../src/cli/corrections.ts';
import { interruptible } from '../../../src/cli/interruption.ts';
import type { CreditInput } from '../../typescript/src/index.ts';
import { clientOf } from './connection.ts';

/** `invoices credit` and `invoices replace`, asked for as the clients do: by a key, and again if the answer is lost. */
export const CORRECTION_COMMANDS = correctionCommands(async (input, context) => {
  const { invoices } = await clientOf(input, context);
  return {
    credit: (invoiceId, { note, ...credited }, idempotencyKey) =>
      interruptible((signal) =>
        invoices.credit(
          invoiceId,
          { ...credited, ...reasonOf(credited.reason, note) },
          { ...keyed(idempotencyKey), signal },
        ),
      ),
    replace: (invoiceId, corrected, { reason, note }, idempotencyKey) =>
      interruptible((signal) =>
        invoices.replace(invoiceId, { ...corrected }, { ...reasonOf(reason, note), ...keyed(idempotencyKey), signal }),
      ),
  };
});

/** The option has no other choices. */
function reasonOf(reason: string, note: string | null): Pick<CreditInput, 'reason' | 'note'> {
  return { reason: reason as CreditInput['reason'], note: note ?? undefined };
}

function keyed(idempotencyKey: string | null) {
  return { idempotencyKey: idempotencyKey ?? undefined };
}
