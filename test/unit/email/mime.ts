interface Part {
  headers: Record<string, string>;
  body: Buffer;
}

/** Splits a message or part into its body and its header fields, unfolded, with names in lower case. */
export function split(text: string): { headers: Record<string, string>; rest: string } {
  const end = text.indexOf('\r\n\r\n');
  const lines = text
    .slice(0, end)
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    if (name in headers) throw new Error(`two fields ${name}`);
    headers[name] = line.slice(colon + 1).trim();
  }
  return { headers, rest: text.slice(end + 4) };
}

/** The leaf parts of a MIME message, in order. */
export function parts(text: string): Part[] {
  const { headers, rest } = split(text);
  const boundary = /boundary="?([^";]+)"?/.exec(headers['content-type'] ?? '')?.[1];
  if (boundary === undefined) return [{ headers, body: decoded(headers, rest) }];
  return rest
    .split(`--${boundary}`)
    .slice(1, -1)
    .flatMap((part) => parts(part.replace(/^\r\n/, '').replace(/\r\n$/, '')));
}

function decoded(headers: Record<string, string>, body: string): Buffer {
  if (headers['content-transfer-encoding'] === 'base64') return Buffer.from(body, 'base64');
  if (headers['content-transfer-encoding'] !== 'quoted-printable') return Buffer.from(body, 'latin1');
  const bytes = body
    .replaceAll('=\r\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1');
}

/** Decodes RFC 2047 encoded words. */
export function shown(field = ''): string {
  return field
    .replaceAll(/\?=\s+=\?/g, '?==?')
    .replaceAll(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_, kind: string, text: string) =>
      kind.toLowerCase() === 'b'
        ? Buffer.from(text, 'base64').toString()
        : Buffer.from(
            text
              .replaceAll('_', ' ')
              .replaceAll(/=([0-9A-F]{2})/gi, (_h, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
            'latin1',
          ).toString(),
    );
}
