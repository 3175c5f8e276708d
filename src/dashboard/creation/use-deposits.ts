import { useEffect, useMemo, useState } from 'preact/hooks';
import { MOST_DEPOSITS } from '../../domain/invoice/deduction.ts';
import type { RateTotal } from '../../domain/invoice/tax-rate.ts';
import { isRefusal } from '../graphql/client.ts';
import { useAfterTyping } from '../interface/use-after-typing.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import { CUSTOMER_DEPOSITS, DEPOSIT_LEFT } from './documents.ts';
import { kindOf, type Left, type TypedInvoice } from './drawn-up.ts';

/** Pause in typing after which the deposits of a customer are read, milliseconds. */
const PAUSE_MS = 400;

/** The share of a deposit that the corrected invoice already deducts. */
export interface Share {
  readonly id: string;
  readonly number: string;
  readonly amount: number;
  readonly taxTotals: readonly { readonly rate: number; readonly base: number; readonly tax: number }[];
}

/** A deposit invoice of which a part may be left. */
export interface KnownDeposit {
  readonly number: string | null;
  /** ISO 8601; null if it is not known. */
  readonly createdAt: string | null;
  /** In centimes, including tax. */
  readonly amount: number;
  /** Empty if nothing is left. */
  readonly rates: readonly RateTotal[];
}

/** The deposits that a form offers. */
export interface Deposits {
  readonly isOpen: boolean;
  readonly setOpen: (isOpen: boolean) => void;
  /** The ids of the chosen deposits, and of those that may be chosen. */
  readonly ids: readonly string[];
  /** By id; null if the deposit cannot be read. Deposits that are not read yet have no entry. */
  readonly known: ReadonlyMap<string, KnownDeposit | null>;
  readonly left: Left;
  /** Whether the customer is stated. */
  readonly hasCustomer: boolean;
  readonly state: 'reading' | 'read' | 'failed';
  /** Reads older invoices; null if there are none. */
  readonly readOlder: (() => void) | null;
  /** Reads the rest of the deposits again. */
  readonly readAgain: () => void;
}

interface Found {
  /** The customer whose deposits they are. */
  readonly key: string;
  readonly ids: readonly string[];
  readonly older: string | null;
}

/**
 * Reads the deposits of the customer of a form, and the rest of each, once its fields for deposits are open.
 * @param shares the deductions of the invoice that the form corrects, which pass to the corrected invoice
 */
export function useDeposits(typed: TypedInvoice, shares: readonly Share[] = []): Deposits {
  const { client } = useWorkspace();
  const chosen = typed.isDeposit ? [] : (typed.deposits ?? []);
  const [isOpen, setOpen] = useState(chosen.length > 0 || typed.isDeposit === true);
  const [found, setFound] = useState<Found | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  const [known, setKnown] = useState(() => new Map(shares.map((share) => [share.id, sharedOf(share)])));
  const customer = customerOf(typed);
  const key = customer === null ? null : JSON.stringify(customer);
  const current = found?.key === key ? found : null;

  async function read(after: string | null): Promise<void> {
    if (customer === null || key === null) return;
    const { kind, ...match } = customer;
    const { data } = await client.query(CUSTOMER_DEPOSITS, { ...match, after }).toPromise();
    if (!data) return setFailed(key);
    const { nodes, pageInfo } = data.invoices;
    const ids = nodes
      .filter((each) => each.isDeposit && each.status === 'accepted' && each.deductedIn === null)
      .filter((each) => each.customer.kind === kind)
      .map(({ id }) => id);
    setFailed(null);
    setFound((earlier) => ({
      key,
      ids: [...(after !== null && earlier?.key === key ? earlier.ids : []), ...ids],
      older: pageInfo.hasNextPage ? (pageInfo.endCursor ?? null) : null,
    }));
  }
  useAfterTyping(isOpen && !typed.isDeposit ? key : null, PAUSE_MS, () => read(null));

  async function readLeft(id: string): Promise<void> {
    const { data, error } = await client.query(DEPOSIT_LEFT, { id }).toPromise();
    if (error && !isRefusal(error)) {
      asked.delete(id);
      return;
    }
    const { left, invoice } = data ?? {};
    const rates = (left?.taxTotals ?? []) as readonly RateTotal[];
    // A deducted share is not left, but passes to the invoice that replaces the deducting one.
    if (rates.length === 0 && shares.some((share) => share.id === id)) return;
    const deposit = invoice ? { ...invoice, amount: left?.amount ?? 0, rates } : null;
    setKnown((earlier) => new Map(earlier).set(id, deposit));
  }

  // The content of a draft may name any number of deposits.
  const ids = [...new Set([...chosen.slice(0, MOST_DEPOSITS), ...(current?.ids ?? [])])];
  const [asked] = useState(() => new Set<string>());
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    for (const id of ids) {
      if (asked.has(id)) continue;
      asked.add(id);
      void readLeft(id);
    }
  }, [ids.join(), turn]);

  const left = useMemo(
    () =>
      new Map(
        [...known].flatMap(([id, deposit]) =>
          deposit && deposit.rates.length > 0 ? [[id, deposit.rates] as const] : [],
        ),
      ),
    [known],
  );
  return {
    isOpen,
    setOpen,
    ids,
    known,
    left,
    hasCustomer: customer !== null,
    state: failed === key && key !== null ? 'failed' : current ? 'read' : 'reading',
    readOlder: current?.older ? () => void read(current.older) : null,
    readAgain: () => {
      asked.clear();
      setTurn(turn + 1);
    },
  };
}

function sharedOf({ number, amount, taxTotals }: Share): KnownDeposit | null {
  return { number, createdAt: null, amount, rates: taxTotals as readonly RateTotal[] };
}

/** Returns the filter that finds the invoices of the customer: for a company its ICE; null while it is not stated. */
function customerOf(typed: TypedInvoice) {
  const kind = kindOf(typed);
  const [ice, name] = [typed.ice.trim(), typed.name.trim()];
  if (kind === 'company') return /^\d{15}$/.test(ice) ? { kind, customerIce: ice } : null;
  return name === '' ? null : { kind, customerName: name };
}
