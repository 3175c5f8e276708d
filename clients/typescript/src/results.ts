// Made from schema.graphql and selections.ts by `npm run build`. Amounts are integers in centimes.

import type { ErrorCode, InvoiceStatus } from './models.ts';

/** An invoice that is being written. It takes whatever is typed, has no number, is never transmitted, and has no end. */
export interface Draft {
  /** Prefix `drf_`. */
  readonly id: string;
  /** 1 at the creation, and one more after each change. A change states the version that was read. */
  readonly version: number;
  /** What was typed, as it was sent. */
  readonly content: Readonly<Record<string, unknown>>;
  /** All that keeps it from being issued now, and all warnings: what `validateInvoice` answers of it. */
  readonly validation: {
    /**
     * All problems that prevent creation: of structure, at most 100, then of business rules, then fields that a live
     * seller’s profile lacks (`seller.…`).
     */
    readonly problems: readonly {
      /** Error code, for programs. */
      readonly code: ErrorCode;
      /** What was wrong and what was expected, as a sentence. */
      readonly message: string;
      /**
       * Dotted path of the invalid field, relative to the input: `customer.ice`, `lines.0.taxRate`; null if the error
       * concerns no field.
       */
      readonly param: string | null;
    }[];
  };
}

/** What is read of GraphQL's `IssueDraftPayload`. */
export interface Issued {
  /** Whether an earlier request to issue the draft created the invoice. */
  readonly replayed: boolean;
  /** The invoice as it was created. */
  readonly invoice: {
    /** Prefix `inv_`. */
    readonly id: string;
    /** Present status. */
    readonly status: InvoiceStatus;
    /** Amount payable, in centimes: the total including tax, with its rounding if there is one. */
    readonly amount: number;
  };
}

/** What is read of GraphQL's `CreditInvoicePayload`. */
export interface Credit {
  /** Whether an earlier request with the same idempotency key created the credit note. */
  readonly replayed: boolean;
  /** The credit note as it was created. */
  readonly creditNote: {
    /** Prefix `crn_`. */
    readonly id: string;
    /** Present status. */
    readonly status: InvoiceStatus;
    /** Amount credited, in centimes, including tax. */
    readonly amount: number;
  };
}

/** What is read of GraphQL's `ReplaceInvoicePayload`. */
export interface Replacement {
  /** Whether an earlier request with the same idempotency key created them. */
  readonly replayed: boolean;
  /** The corrected invoice as it was created. */
  readonly invoice: {
    /** Prefix `inv_`. */
    readonly id: string;
    /** Present status. */
    readonly status: InvoiceStatus;
    /** Amount payable, in centimes: the total including tax, with its rounding if there is one. */
    readonly amount: number;
  };
  /** The credit note as it was created; null if there was nothing to credit. */
  readonly creditNote: {
    /** Prefix `crn_`. */
    readonly id: string;
    /** Present status. */
    readonly status: InvoiceStatus;
    /** Amount credited, in centimes, including tax. */
    readonly amount: number;
  } | null;
}
