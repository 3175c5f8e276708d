import { Binary, type Collection, type Db } from 'mongodb';
import type { Logo, LogoReference } from '../domain/tenant/logo.ts';
import type { LogoStore } from '../domain/tenant/ports.ts';

interface LogoDocument {
  /**
   * SHA-256 of the content. Equal logos are stored once. An invoice refers to the logo that the seller had when it was
   * issued.
   */
  _id: string;
  content: Binary;
}

/** Logos in the collection `logos`. They are never changed or removed, because invoices refer to them. */
export function createLogoStore(db: Db): LogoStore & { put(logo: Logo): Promise<void> } {
  const logos: Collection<LogoDocument> = db.collection<LogoDocument>('logos');
  return {
    async put({ sha256, content }) {
      await logos.updateOne({ _id: sha256 }, { $setOnInsert: { content: new Binary(content) } }, { upsert: true });
    },
    async find(reference: LogoReference) {
      const document = await logos.findOne({ _id: reference.sha256 });
      return document && { ...reference, content: document.content.buffer };
    },
  };
}
