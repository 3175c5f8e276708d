import { type CommandContext, type Option, type ParsedArguments, UsageError } from '../../../src/cli/command.ts';
import { accessOf } from '../../../src/cli/webhooks/service.ts';
import { Fatoura } from '../../typescript/src/index.ts';
import { readFromKeyring } from './keyring.ts';
import { type Profile, readProfiles } from './profiles.ts';

/** Options of every command that calls the service. */
export const CONNECTION_OPTIONS = {
  profile: { value: 'NAME', description: 'Profile of login; default: FATOURA_PROFILE, or the last one' },
  key: {
    value: 'KEY',
    description: 'Secret key: sk_test_… or sk_live_…; default: FATOURA_KEY, or that of the profile',
  },
  url: { value: 'URL', description: 'Address of the service; default: FATOURA_URL, or that of the profile' },
} as const satisfies Record<string, Option>;

/** The name of a profile: it is an argument of the keyring's program. */
export const PROFILE_NAME = /^\w[\w.-]{0,63}$/;

/** Completes a context by the profile that a command line or the environment names. */
export function withProfile(context: CommandContext, input: ParsedArguments): CommandContext {
  const { FATOURA_KEY, FATOURA_URL, FATOURA_PROFILE } = process.env;
  const asked = input.find('profile');
  let found: readonly [string, Profile] | null | undefined;
  // Read only if it is needed: with a key and an address there need be no file.
  const profile = () => {
    found ??= profileOf(asked ?? (FATOURA_PROFILE || null));
    return found;
  };
  const elsewhere = input.find('url') ?? ((asked === null && FATOURA_URL) || null);
  /** The key of a profile is sent to the address of that profile only. */
  const ofProfile = () => {
    const named = profile();
    if (!named) return null;
    const [name, { url, key }] = named;
    if (elsewhere !== null && addressOf(elsewhere) !== addressOf(url))
      throw new UsageError(
        `the key of the profile '${name}' is for ${url}: give --key or FATOURA_KEY for ${elsewhere}`,
      );
    return key ?? readFromKeyring(name);
  };
  /** Any other key is sent to the address of a profile only if that is named. */
  const ofNamed = () => {
    const named = profile();
    const source = input.find('key') !== null ? '--key' : asked === null && FATOURA_KEY ? 'FATOURA_KEY' : null;
    if (named && source !== null && asked === null && !FATOURA_PROFILE)
      throw new UsageError(
        `${source} is not the key of the profile '${named[0]}': give its address, too, by --url or FATOURA_URL`,
      );
    return named?.[1].url;
  };
  return {
    ...context,
    // A profile that is named precedes the environment.
    environmentKey: () => (asked === null && FATOURA_KEY) || ofProfile(),
    address() {
      const url = (asked === null && FATOURA_URL) || ofNamed();
      if (!url) throw new UsageError('--url is required, or the variable FATOURA_URL, or `fatoura login`');
      return url.replace(/\/+$/, '');
    },
  };
}

/** An address as it is compared: services of one host may differ in their paths. */
function addressOf(url: string): string {
  return (URL.canParse(url) ? new URL(url).href : url).replace(/\/+$/, '');
}

/** @throws UsageError if a profile of this name does not exist */
function profileOf(asked: string | null): readonly [string, Profile] | null {
  const { current, profiles } = readProfiles();
  const name = asked ?? current;
  if (name === null) return null;
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profile) return [name, profile];
  throw new UsageError(`there is no profile '${name}': fatoura login --profile ${name}`);
}

/** Makes the client of a command. @throws UsageError without an address or a secret key */
export async function clientOf(input: ParsedArguments, context: CommandContext): Promise<Fatoura> {
  const { url, secretKey } = await accessOf(input, context);
  return new Fatoura(secretKey, { baseUrl: url });
}
