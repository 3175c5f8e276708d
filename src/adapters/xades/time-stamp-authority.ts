import { createHash, randomBytes } from 'node:crypto';
import { Integer, OctetString } from 'asn1js';
import { AlgorithmIdentifier, MessageImprint, PKIStatus, TimeStampReq, TimeStampResp } from 'pkijs';
import { SigningFailed } from '../../domain/invoice/signing-key.ts';
import { readTimeStamp } from './time-stamp.ts';

/**
 * Obtains a time-stamp token over the octets, DER.
 * @throws {SigningFailed} when the authority returns no valid token
 */
export type StampTime = (octets: Uint8Array) => Promise<Uint8Array>;

const SHA256 = '2.16.840.1.101.3.4.2.1';
/** Maximum size of a response, bytes. Tokens with their certificates take a few kilobytes. */
const MAX_BYTES = 64 * 1024;
/**
 * Maximum difference between the time stamp and this machine's clock, milliseconds. If it is larger, one of the two
 * clocks is wrong.
 */
const MAX_DIFFERENCE_MS = 5 * 60_000;

/**
 * Creates a client of a time-stamping authority (RFC 3161 over HTTP). It checks every response: the status, the digest
 * of the octets, the nonce, the signature and the time.
 * @param url a user and password in it are sent by HTTP Basic authentication
 * @param timeLimit milliseconds for the whole request
 */
export function createTimeStamper({ url, timeLimit = 10_000 }: { url: string; timeLimit?: number }): StampTime {
  const { href, authorization } = withoutCredentials(url);
  return async (octets) => {
    try {
      const nonce = positiveNonce();
      const answer = await post(href, requestFor(octets, nonce), authorization, timeLimit);
      return await checked(answer, octets, nonce);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new SigningFailed(
        `The time-stamping authority returned no valid time stamp: ${reason.replace(/\.?$/, '.')}`,
        {
          cause,
          fault: 'time_stamp',
        },
      );
    }
  };
}

function withoutCredentials(url: string): { href: string; authorization: string | null } {
  const parsed = new URL(url);
  const { username, password } = parsed;
  if (username === '') return { href: url, authorization: null };
  parsed.username = '';
  parsed.password = '';
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { href: parsed.href, authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

/** Returns a positive 64-bit integer without leading zero octets, so that its DER encoding equals these octets. */
function positiveNonce(): Uint8Array<ArrayBuffer> {
  const nonce = new Uint8Array(randomBytes(8));
  nonce[0] = 0x40 | ((nonce[0] ?? 0) & 0x3f);
  return nonce;
}

function requestFor(octets: Uint8Array, nonce: Uint8Array<ArrayBuffer>): ArrayBuffer {
  const digest = createHash('sha256').update(octets).digest();
  const request = new TimeStampReq({
    version: 1,
    messageImprint: new MessageImprint({
      hashAlgorithm: new AlgorithmIdentifier({ algorithmId: SHA256 }),
      hashedMessage: new OctetString({ valueHex: new Uint8Array(digest).buffer }),
    }),
    nonce: new Integer({ valueHex: nonce.buffer }),
    certReq: true,
  });
  return request.toSchema().toBER();
}

async function post(
  url: string,
  body: ArrayBuffer,
  authorization: string | null,
  timeLimit: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/timestamp-query', ...(authorization && { Authorization: authorization }) },
    body,
    redirect: 'error',
    signal: AbortSignal.timeout(timeLimit),
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`it answered ${response.status}.`);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error(`its answer is larger than ${MAX_BYTES} bytes.`);
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

async function checked(answer: Uint8Array<ArrayBuffer>, octets: Uint8Array, nonce: Uint8Array): Promise<Uint8Array> {
  const { status, timeStampToken } = parse(answer);
  if (status.status !== PKIStatus.granted && status.status !== PKIStatus.grantedWithMods) {
    const why = status.statusStrings?.map(({ valueBlock }) => valueBlock.value).join(' ') ?? '';
    throw new Error(`it refused (status ${status.status}). ${why}`.trim());
  }
  if (timeStampToken === undefined) throw new Error('its answer contains no time stamp.');
  const token = new Uint8Array(timeStampToken.toSchema().toBER());
  const { info, time } = await readTimeStamp(token, octets);
  const returned = info.nonce && Buffer.from(info.nonce.valueBlock.valueHexView);
  if (!returned?.equals(nonce)) throw new Error('its answer belongs to another request (nonce).');
  if (Math.abs(time.getTime() - Date.now()) > MAX_DIFFERENCE_MS) {
    throw new Error(`its time, ${time.toISOString()}, differs from this machine's by more than 5 minutes.`);
  }
  return token;
}

function parse(answer: Uint8Array<ArrayBuffer>): TimeStampResp {
  try {
    return TimeStampResp.fromBER(answer);
  } catch (cause) {
    throw new Error('its answer is not a time-stamp response.', { cause });
  }
}
