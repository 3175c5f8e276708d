import { createHash, randomBytes } from 'node:crypto';
import {
  type Attachment,
  colourProfile,
  type DocumentFacts,
  embeddedFile,
  fileSpecification,
  information,
  metadata,
  outputIntent,
} from './archival-objects.ts';
import { structureAfterTables } from './closing-structure.ts';
import { readablePages } from './page-contents.ts';
import { dateString, reference, withEntries } from './pdf-syntax.ts';
import { writePdf } from './pdf-writer.ts';
import { type PdfObject, readPrintedPdf, UnknownPdfStructure } from './printed-pdf.ts';

/** The parts of a final document. */
export interface PdfIngredients {
  /** A tagged PDF as the browser prints it. */
  readonly printed: Uint8Array;
  readonly facts: DocumentFacts;
  /** The files to embed, each with a different name. */
  readonly attachments: readonly Attachment[];
  /** Maximum length of the signature, in octets. */
  readonly room: number;
}

/** A document that lacks only the value of its signature. */
export interface UnsignedPdf {
  readonly bytes: Uint8Array;
  /** Offset at which to write the signature, as hexadecimal digits. */
  readonly signatureAt: number;
  /** SHA-256 over the signed byte range: everything except the signature and its angle brackets. */
  readonly digest: Uint8Array;
}

/**
 * Turns a printed document into a PDF/A-3A (ISO 19005-3) with associated files and a signature field. The signature
 * covers the whole file except itself and certifies the document with no changes allowed.
 * @throws {UnknownPdfStructure} when the printed PDF has an unexpected structure
 */
export async function assemblePdf(ingredients: PdfIngredients): Promise<UnsignedPdf> {
  const { bytes, plainAt } = await writeUnsigned(ingredients);
  const from = plainAt + CONTENTS_AT;
  const to = from + 2 * ingredients.room + 2;
  bytes.write(`[0 ${from} ${to} ${bytes.length - to}]`, plainAt + RANGE_AT, 'latin1');
  const digest = createHash('sha256').update(bytes.subarray(0, from)).update(bytes.subarray(to)).digest();
  return { bytes, signatureAt: from + 1, digest };
}

const RANGE_HEAD = '<</Type/Sig/ByteRange';
const RANGE_AT = RANGE_HEAD.length;
/** Length of the placeholder for the byte range: four numbers of at most ten digits. */
const RANGE_LENGTH = 46;
const CONTENTS_HEAD = '/Contents';
const CONTENTS_AT = RANGE_AT + RANGE_LENGTH + CONTENTS_HEAD.length;

/**
 * Writes a signature dictionary with placeholders for the byte range and for a signature of `room` octets (ISO 32000-1,
 * section 12.8.1).
 */
function signatureDictionary(room: number, at: Date): Buffer {
  const placeholders = `${RANGE_HEAD}${' '.repeat(RANGE_LENGTH)}${CONTENTS_HEAD}<${'0'.repeat(2 * room)}>`;
  const filter = '/Filter/Adobe.PPKLite/SubFilter/ETSI.CAdES.detached';
  // Certification signature that allows no changes (section 12.8.2.2).
  const permissions = '<</Type/SigRef/TransformMethod/DocMDP/TransformParams<</Type/TransformParams/V/1.2/P 1>>>>';
  return Buffer.from(`${placeholders}${filter}/M ${dateString(at)}/Reference[${permissions}]>>`, 'latin1');
}

async function writeUnsigned({ printed: bytes, facts, attachments, room }: PdfIngredients) {
  const printed = readPrintedPdf(bytes);
  const objects = new Map(printed.objects);
  for (const changed of [...readablePages(printed.objects), ...structureAfterTables(printed.objects)]) {
    objects.set(changed.number, changed);
  }
  let next = Math.max(...objects.keys()) + 1;
  const put = (number: number, content: Buffer, isStream: boolean) =>
    objects.set(number, { number, content, isStream });
  const add = (content: Buffer, isStream = false): number => {
    put(next, content, isStream);
    return next++;
  };
  const change = (number: number, entries: Readonly<Record<string, string>>) => {
    const { content, isStream } = dictionaryOf(objects, number);
    put(number, withEntries(content, entries), isStream);
  };

  const signature = next++;
  const page = firstPage(objects, printed.root);
  const widget = add(
    // A zero-size widget needs no appearance stream. F 132 sets the flags Print and Locked (ISO 19005-3, section 6.3).
    Buffer.from(
      `<</Type/Annot/Subtype/Widget/FT/Sig/T(Signature)/F 132/Rect[0 0 0 0]/P ${reference(page)}/V ${reference(signature)}>>`,
    ),
  );
  change(page, { Annots: `[${reference(widget)}]` });
  const files: { name: string; specification: string }[] = [];
  for (const attachment of attachments) {
    const file = add(await embeddedFile(attachment, facts.at), true);
    files.push({ name: attachment.name, specification: reference(add(fileSpecification(attachment, file))) });
  }
  // The names of a name tree are sorted (ISO 32000-1, section 7.9.6).
  const named = files.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const profile = add(await colourProfile(), true);
  change(printed.root, {
    Metadata: reference(add(metadata(facts), true)),
    OutputIntents: `[${outputIntent(profile)}]`,
    Names: `<</EmbeddedFiles<</Names[${named.map(({ name, specification }) => `(${name})${specification}`).join('')}]>>>>`,
    AF: `[${files.map(({ specification }) => specification).join(' ')}]`,
    AcroForm: `<</Fields[${reference(widget)}]/SigFlags 3>>`,
    Perms: `<</DocMDP ${reference(signature)}>>`,
  });
  const tree = /\/StructTreeRoot (\d+) 0 R/.exec(dictionaryOf(objects, printed.root).content.toString('latin1'))?.[1];
  if (tree === undefined) throw new UnknownPdfStructure('The printed PDF is not tagged.');
  change(Number(tree), { RoleMap: ROLES });
  const info = printed.info ?? next++;
  put(info, information(facts), false);

  return writePdf({
    objects: [...objects.values()],
    root: printed.root,
    info,
    id: randomBytes(16),
    plain: { number: signature, content: signatureDictionary(room, facts.at), isStream: false },
  });
}

/** Maps structure types that the browser writes but ISO 32000-1, section 14.8.4, does not define. */
const ROLES = '<</Strong/Span/Em/Span>>';

function dictionaryOf(objects: ReadonlyMap<number, PdfObject>, number: number): PdfObject {
  const found = objects.get(number);
  if (found === undefined || found.isStream)
    throw new UnknownPdfStructure(`Object ${number} of the printed PDF is not a dictionary.`);
  return found;
}

function firstPage(objects: ReadonlyMap<number, PdfObject>, root: number): number {
  const text = (number: number) => dictionaryOf(objects, number).content.toString('latin1');
  let node = Number(/\/Pages (\d+) 0 R/.exec(text(root))?.[1]);
  for (let depth = 0; depth < 50; depth += 1) {
    const kid = /\/Kids \[(\d+) 0 R/.exec(text(node))?.[1];
    if (kid === undefined) return node;
    node = Number(kid);
  }
  throw new UnknownPdfStructure('The page tree of the printed PDF is too deep.');
}
