import type { StoredDocument } from './invoice.ts';

/** A byte range of a document, both ends inclusive. */
export interface DocumentRange {
  readonly first: number;
  readonly last: number;
}

/** Stores the bytes of documents. */
export interface DocumentStore {
  put(bytes: Uint8Array, name: string, contentType: string): Promise<StoredDocument>;
  /** Reads the whole document. It fits in memory, because the service limits the size of documents. */
  get(document: StoredDocument): Promise<Uint8Array>;
  /** Streams the document or a part of it from the store. */
  read(document: StoredDocument, range?: DocumentRange): AsyncIterable<Uint8Array>;
}
