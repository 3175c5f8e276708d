import type { Db } from 'mongodb';
import type { SignersCertificate, SignersCertificates } from '../domain/tenant/ports.ts';

type CertificateDocument = Omit<SignersCertificate, 'signer'> & { _id: string; seenAt: Date };

const PREFIX = 'certificate:';
export const certificateId = (signer: string): string => PREFIX + signer;
/** Matches the ids of the collection that begin with {@link PREFIX}. */
const OURS = { $gte: PREFIX, $lt: 'certificate;' } as const;
/** How long a certificate is listed after a worker last reported it, milliseconds. Workers report every six hours. */
const KNOWN_MS = 86_400_000;
const MOST = 1000;

/** Stores the certificates of signers in the collection `installation`, one document for each signer. */
export function createSignersCertificates(db: Db): SignersCertificates {
  const documents = db.collection<CertificateDocument>('installation');
  const oldest = (now: Date) => new Date(now.getTime() - KNOWN_MS);
  return {
    async tell(certificates, now) {
      if (certificates.length > 0) {
        await documents.bulkWrite(
          certificates.map(({ signer, ...rest }) => ({
            replaceOne: { filter: { _id: certificateId(signer) }, replacement: { ...rest, seenAt: now }, upsert: true },
          })),
          { ordered: false },
        );
      }
      await documents.deleteMany({ _id: OURS, seenAt: { $lt: oldest(now) } });
    },
    async list(now) {
      const found = documents.find({ _id: OURS, seenAt: { $gte: oldest(now) } }, { sort: { _id: 1 }, limit: MOST });
      return (await found.toArray()).map(certificateOf);
    },
    async of(tenantId, now) {
      const ids = [tenantId, 'platform'].map(certificateId);
      const found = await documents.find({ _id: { $in: ids }, seenAt: { $gte: oldest(now) } }).toArray();
      const own = found.find(({ _id }) => _id === ids[0]) ?? found[0];
      return own ? certificateOf(own) : null;
    },
  };
}

function certificateOf({ _id, seenAt: _seenAt, ...rest }: CertificateDocument): SignersCertificate {
  return { ...rest, signer: _id.slice(PREFIX.length) };
}
