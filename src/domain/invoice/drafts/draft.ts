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
  /**
   * Until this time nobody can change it, because it is being issued; null if nobody has tried. If the invoice is not
   * stored by then, the process that issued it has died.
   */
  readonly issuingUntil: Date | null;
}

/** The fields that a change of a draft writes. The draft is not being issued then. */
export type DraftChange = Pick<Draft, 'version' | 'content' | 'updatedAt' | 'updatedBy'>;

/** The fields that must not have changed since a draft was read. */
export type ReadDraft = Pick<Draft, 'id' | 'version' | 'issuingUntil'>;

/**
 * Maximum size of a content, which is that of a request; and maximum depth of its nested objects and lists, of which an
 * invoice has three.
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
  /** Changes the draft if it is unchanged since it was read. @returns null if it is not */
  change(read: ReadDraft, change: DraftChange): Promise<Draft | null>;
  /** Removes the draft if it is unchanged since it was read. @returns whether it did */
  remove(read: ReadDraft): Promise<boolean>;
  /**
   * Prevents changes of the draft until this time, or until a later time that another request has set.
   * @returns whether the draft has this version
   */
  hold(id: string, version: number, until: Date): Promise<boolean>;
  /** Ends {@link hold}: the draft can be changed. */
  release(id: string, version: number): Promise<void>;
  /** Removes a draft of which there is an invoice, if it has this version. */
  removeIssued(id: string, version: number): Promise<void>;
}
