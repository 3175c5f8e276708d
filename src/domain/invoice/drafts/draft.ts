import { MAX_BODY_BYTES } from '../../limits.ts';
import type { Page, PageQuery } from '../../page.ts';
import type { Actor } from '../../principal.ts';
import type { Owner } from '../../tenant/tenant.ts';

/** An invoice that is being written. It has no number, is never transmitted, and has no end. */
export interface Draft extends Owner {
  /** `drf_…` */
  readonly id: string;
  /** Order key: drafts are listed by it. */
  readonly order: string;
  /** 1 at the creation, and one more after each change. */
  readonly version: number;
  /** The text of a JSON object. As text, because its members may have any name. */
  readonly content: string;
  readonly createdAt: Date;
  /** When the content was written last, and by whom. */
  readonly updatedAt: Date;
  readonly updatedBy: Actor;
}

/** What a change of a draft writes. */
export type DraftChange = Pick<Draft, 'version' | 'content' | 'updatedAt' | 'updatedBy'>;

/**
 * Maximum size of a content: what a request can hold; and its maximum depth, in objects and lists within each other:
 * those of an invoice have three.
 */
export const CONTENT_LIMITS = { bytes: MAX_BODY_BYTES, depth: 8 } as const;

/** The store of drafts. Each method takes one round trip. */
export interface DraftStore {
  /** @returns the draft as it is stored: its order key may be higher */
  insert(draft: Draft): Promise<Draft>;
  /** Finds a draft of any tenant. */
  find(id: string): Promise<Draft | null>;
  /** Counts the owner's drafts, up to `limit`. */
  count(owner: Owner, limit: number): Promise<number>;
  page(query: PageQuery): Promise<Page<Draft>>;
  /** Changes the draft if it still has this version. @returns null if it does not */
  change(id: string, version: number, change: DraftChange): Promise<Draft | null>;
  /** Removes the draft if it still has this version. @returns whether it did */
  remove(id: string, version: number): Promise<boolean>;
}
