import { promisify } from 'node:util';
import { deflate } from 'node:zlib';
import { html } from '../../text/markup.ts';
import { dateString, nameObject, reference, streamObject, textString } from './pdf-syntax.ts';
import { srgbProfile } from './srgb-profile.ts';

const compressed = promisify(deflate) as (data: Uint8Array) => Promise<Buffer>;

/** The document's metadata. */
export interface DocumentFacts {
  readonly title: string;
  /** When the document is created and signed. */
  readonly at: Date;
}

/** A file embedded in the document. */
export interface Attachment {
  /** ASCII letters, digits, dots, hyphens and underscores only. */
  readonly name: string;
  readonly description: string;
  /** Its relationship to the document (ISO 19005-3, section 6.8). */
  readonly relationship: 'Alternative' | 'Supplement';
  /** `application/xml` */
  readonly contentType: string;
  readonly content: Uint8Array;
}

const PRODUCER = 'Fatoura';

/** Writes the document information dictionary: the content of {@link metadata} for readers without XMP support. */
export function information({ title, at }: DocumentFacts): Buffer {
  const date = dateString(at);
  return Buffer.from(
    `<</Title ${textString(title)}/Producer ${textString(PRODUCER)}/CreationDate ${date}/ModDate ${date}>>`,
    'latin1',
  );
}

/**
 * Writes XMP metadata that declares PDF/A-3A (ISO 19005-3, section 6.6.4) and PDF/UA-1 (ISO 14289-1, section 5). PDF/A
 * requires an extension schema for the PDF/UA property (section 6.6.2.3). The stream is not compressed, so that tools
 * without a PDF parser find it.
 */
export function metadata({ title, at }: DocumentFacts): Buffer {
  const date = `${at.toISOString().slice(0, 19)}Z`;
  const packet = html`<x:xmpmeta xmlns:x="adobe:ns:meta/">
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:pdf="http://ns.adobe.com/pdf/1.3/"
 xmlns:pdfaid="http://www.aiim.org/pdfa/ns/id/" xmlns:pdfuaid="http://www.aiim.org/pdfua/ns/id/" xmlns:xmp="http://ns.adobe.com/xap/1.0/"
 xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/" xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#"
 xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#">
<pdfaid:part>3</pdfaid:part>
<pdfaid:conformance>A</pdfaid:conformance>
<pdfuaid:part>1</pdfuaid:part>
<pdfaExtension:schemas><rdf:Bag><rdf:li rdf:parseType="Resource">
<pdfaSchema:namespaceURI>http://www.aiim.org/pdfua/ns/id/</pdfaSchema:namespaceURI>
<pdfaSchema:prefix>pdfuaid</pdfaSchema:prefix>
<pdfaSchema:schema>PDF/UA identification</pdfaSchema:schema>
<pdfaSchema:property><rdf:Seq><rdf:li rdf:parseType="Resource">
<pdfaProperty:category>internal</pdfaProperty:category>
<pdfaProperty:description>Part of ISO 14289 that the file conforms to</pdfaProperty:description>
<pdfaProperty:name>part</pdfaProperty:name>
<pdfaProperty:valueType>Integer</pdfaProperty:valueType>
</rdf:li></rdf:Seq></pdfaSchema:property>
</rdf:li></rdf:Bag></pdfaExtension:schemas>
<dc:title><rdf:Alt><rdf:li xml:lang="x-default">${title}</rdf:li></rdf:Alt></dc:title>
<pdf:Producer>${PRODUCER}</pdf:Producer>
<xmp:CreateDate>${date}</xmp:CreateDate>
<xmp:ModifyDate>${date}</xmp:ModifyDate>
</rdf:Description>
</rdf:RDF>
</x:xmpmeta>`.text;
  const wrapped = `<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>\n${packet}\n<?xpacket end="r"?>`;
  return streamObject('/Type/Metadata/Subtype/XML', Buffer.from(wrapped));
}

const compressedProfile = compressed(srgbProfile());

/** Writes the ICC profile that defines the document's colours. */
export async function colourProfile(): Promise<Buffer> {
  return streamObject('/N 3/Alternate/DeviceRGB/Filter/FlateDecode', await compressedProfile);
}

/** @param profile object number of the profile's stream */
export function outputIntent(profile: number): string {
  const name = '(sRGB IEC61966-2.1)';
  return `<</Type/OutputIntent/S/GTS_PDFA1/OutputConditionIdentifier${name}/Info${name}/DestOutputProfile ${reference(profile)}>>`;
}

export async function embeddedFile({ contentType, content }: Attachment, at: Date): Promise<Buffer> {
  const entries = `/Type/EmbeddedFile/Subtype${nameObject(contentType)}/Params<</Size ${content.byteLength}/ModDate${dateString(at)}>>`;
  return streamObject(`${entries}/Filter/FlateDecode`, await compressed(content));
}

/**
 * Writes the file specification of an associated file that is an alternative representation of the document (ISO
 * 19005-3, section 6.8).
 * @param file object number of the embedded file
 */
export function fileSpecification({ name, description, relationship }: Attachment, file: number): Buffer {
  const files = `/EF<</F ${reference(file)}/UF ${reference(file)}>>`;
  return Buffer.from(
    `<</Type/Filespec/F(${name})/UF(${name})/Desc ${textString(description)}/AFRelationship/${relationship}${files}>>`,
    'latin1',
  );
}
