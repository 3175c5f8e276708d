/** The location of a key in an HSM. */
export interface Pkcs11Address {
  /** Path of the vendor's PKCS #11 library. */
  readonly modulePath: string;
  /** What the URI says about the token, its slot and the library, by the names of RFC 7512: `token` is its label. */
  readonly where: ReadonlyMap<PlaceAttribute, string>;
  /** Label (CKA_LABEL) of the private key. At least one of `object` and `id` is set. */
  readonly object: string | null;
  /** Id (CKA_ID) of the private key. */
  readonly id: Uint8Array | null;
  readonly pin: { readonly value: string } | { readonly file: string };
}

/** The attributes by which tokens are told apart (RFC 7512, section 2.3). */
const PLACE_ATTRIBUTES = [
  'token',
  'manufacturer',
  'model',
  'serial',
  'slot-description',
  'slot-manufacturer',
  'slot-id',
  'library-description',
  'library-manufacturer',
  'library-version',
] as const;
export type PlaceAttribute = (typeof PLACE_ATTRIBUTES)[number];

/** The accepted object types. All objects of a key pair have the same id, so the URI of each names the private key. */
const TYPES: readonly (string | undefined)[] = ['private', 'public', 'cert', undefined];

/**
 * Parses a PKCS #11 URI (RFC 7512): `pkcs11:token=…;object=…;id=%01?module-path=…&pin-source=file:…` (or
 * `pin-value=…`), and any further attribute that tools print for a token.
 * @throws with the fault, as the end of a sentence; the message never contains the PIN
 */
export function parsePkcs11Uri(uri: string): Pkcs11Address {
  if (!uri.startsWith('pkcs11:')) throw new Error('must begin with pkcs11: (RFC 7512)');
  const [path = '', query = ''] = uri.slice('pkcs11:'.length).split('?');
  const inPath = attributesOf(path, ';', [...PLACE_ATTRIBUTES, 'object', 'id', 'type']);
  const inQuery = attributesOf(query, '&', ['module-path', 'pin-value', 'pin-source']);
  const [modulePath, pinValue, pinSource] = ['module-path', 'pin-value', 'pin-source'].map((name) =>
    text(inQuery, name),
  );
  if (!modulePath) throw new Error("must name the HSM's library: ?module-path=…");
  const [object = null, id = null] = [text(inPath, 'object'), inPath.get('id')];
  if (object === null && id === null) throw new Error('must name the key: object=… (its label) or id=…');
  if (!TYPES.includes(text(inPath, 'type'))) throw new Error('must name a private key: type=private');
  if ((pinValue === undefined) === (pinSource === undefined))
    throw new Error('must have pin-source=file:… or pin-value=…');
  return {
    modulePath,
    where: new Map(
      PLACE_ATTRIBUTES.flatMap((name) => {
        const value = text(inPath, name);
        return value === undefined ? [] : [[name, value] as const];
      }),
    ),
    object,
    id,
    pin: pinValue === undefined ? { file: (pinSource ?? '').replace(/^file:(?:\/\/)?/, '') } : { value: pinValue },
  };
}

function attributesOf(part: string, separator: string, known: readonly string[]): Map<string, Buffer> {
  const attributes = new Map<string, Buffer>();
  for (const attribute of part.split(separator).filter(Boolean)) {
    const [name = '', value = ''] = attribute.split(/=(.*)/s);
    if (!known.includes(name)) throw new Error(`has ${name}, which is not one of ${known.join(', ')}`);
    if (attributes.has(name)) throw new Error(`has ${name} twice`);
    attributes.set(name, percentDecoded(value));
  }
  return attributes;
}

/** Decodes a percent-encoded value. Returns octets because an id is binary. */
function percentDecoded(value: string): Buffer {
  const parts = value.split(/(%[0-9a-fA-F]{2})/);
  return Buffer.concat(
    parts.map((part) => (/^%[0-9a-fA-F]{2}$/.test(part) ? Buffer.from(part.slice(1), 'hex') : Buffer.from(part))),
  );
}

function text(attributes: ReadonlyMap<string, Buffer>, name: string): string | undefined {
  return attributes.get(name)?.toString('utf8');
}
