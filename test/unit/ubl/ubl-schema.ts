import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { validateXML } from 'xmllint-wasm';

/** The published schemas are third-party data outside the repository, in a folder next to it if present. */
const SHARED = new URL('../../../../shared/', import.meta.url);
const COMMON = new URL('ubl-2.1/common/', SHARED);
export const hasUblSchema = existsSync(COMMON) && existsSync(new URL('etsi-xades/', SHARED));
export const WITHOUT_UBL_SCHEMA = 'the published UBL 2.1 schemas are not available (../shared/ubl-2.1): skipped';

/** ETSI's current XAdES schemas replace those of UBL from 2006, which lack SigningCertificateV2. */
const XADES: Readonly<Record<string, string>> = {
  'UBL-XAdESv132-2.1.xsd': 'etsi-xades/XAdES01903v132-202407.xsd',
  'UBL-XAdESv141-2.1.xsd': 'etsi-xades/XAdES01903v141-202407.xsd',
};

/** All schemas as files in one folder. */
function readSchemas(): { fileName: string; contents: string }[] {
  return readdirSync(COMMON).map((fileName) => ({
    fileName,
    contents: readFileSync(new URL(XADES[fileName] ?? `ubl-2.1/common/${fileName}`, SHARED), 'utf8')
      .replace(
        /schemaLocation="https?:[^"]*xmldsig-core-schema\.xsd"/,
        'schemaLocation="UBL-xmldsig-core-schema-2.1.xsd"',
      )
      .replace(/schemaLocation="https?:[^"]*XAdES01903v132\.xsd"/, 'schemaLocation="UBL-XAdESv132-2.1.xsd"'),
  }));
}

const ROOTS = ['Invoice', 'CreditNote'] as const;

/** Errors of documents by the published UBL 2.1 schemas, including the schema of the signature. */
export async function schemaErrors(documents: readonly (string | Uint8Array)[]): Promise<string[]> {
  const xml = documents.map((document, index) => ({
    fileName: `invoice-${index}.xml`,
    contents: Buffer.from(document).toString(),
  }));
  const known = ROOTS.map((root) => [root, xml.filter(({ contents }) => contents.startsWith(`<${root} `))] as const);
  const others = xml.filter((each) => !known.some(([, files]) => files.includes(each)));
  if (others.length > 0) throw new Error('a document is neither an Invoice nor a CreditNote');
  return (await Promise.all(known.map(([root, files]) => errorsOf(root, files)))).flat();
}

async function errorsOf(root: string, xml: { fileName: string; contents: string }[]): Promise<string[]> {
  if (xml.length === 0) return [];
  const fileName = `UBL-${root}-2.1.xsd`;
  const schema = readFileSync(new URL(`ubl-2.1/maindoc/${fileName}`, SHARED), 'utf8');
  const { errors } = await validateXML({
    xml,
    schema: [{ fileName, contents: schema.replaceAll('../common/', '') }],
    preload: readSchemas(),
    initialMemoryPages: 1024,
    maxMemoryPages: 16_384,
  });
  return errors.map(({ rawMessage }) => rawMessage);
}
