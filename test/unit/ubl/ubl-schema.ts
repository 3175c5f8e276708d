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

/** Errors of invoices by the published UBL 2.1 schema, including the schema of the signature. */
export async function schemaErrors(documents: readonly (string | Uint8Array)[]): Promise<string[]> {
  const invoice = readFileSync(new URL('ubl-2.1/maindoc/UBL-Invoice-2.1.xsd', SHARED), 'utf8');
  const { errors } = await validateXML({
    xml: documents.map((document, index) => ({
      fileName: `invoice-${index}.xml`,
      contents: Buffer.from(document).toString(),
    })),
    schema: [{ fileName: 'UBL-Invoice-2.1.xsd', contents: invoice.replaceAll('../common/', '') }],
    preload: readSchemas(),
    initialMemoryPages: 1024,
    maxMemoryPages: 16_384,
  });
  return errors.map(({ rawMessage }) => rawMessage);
}
