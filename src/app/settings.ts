import { CredentialProblems, openCredentials } from '../adapters/authority/http/credentials.ts';
import { loadClientPkcs12 } from '../adapters/signing-key/pkcs12.ts';
import { problemsOfKeyFiles } from '../adapters/signing-key/signing-keys.ts';
import {
  type Config,
  ConfigError,
  loadEnvFile,
  type NamedFiles,
  namedFiles,
  readConfig,
  unknownSettings,
} from '../config.ts';
import { readOperationList } from '../graphql/operation-list.ts';

/**
 * Reads the settings from environment variables and from the file that adds to them. Also checks the files that they
 * name, so that one run reports all problems. Creates nothing and calls nothing.
 * @param warn called for each variable that looks like a setting but is not one
 * @throws {ConfigError} with a line for each wrong value, broken rule and unusable file
 */
export async function readSettings(warn: (text: string) => void): Promise<Config> {
  const inFile = loadEnvFile();
  for (const text of unknownSettings(inFile)) warn(text);
  let problems: string[] = [];
  let config: Config | null = null;
  try {
    config = readConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems = [error.message];
  }
  problems.push(...(await problemsOfFiles(namedFiles())));
  if (config === null || problems.length > 0) throw new ConfigError(problems.join('\n'));
  return config;
}

async function problemsOfFiles({ signing, authority, operations }: NamedFiles): Promise<string[]> {
  return [
    ...(await problemsOfKeyFiles(signing)),
    ...(await problemsOfAuthorityFiles(authority)),
    ...(await problemsOfOperations(operations)),
  ];
}

async function problemsOfAuthorityFiles(files: NamedFiles['authority']): Promise<readonly string[]> {
  const log = { warn: () => undefined, info: () => undefined };
  try {
    await openCredentials(files, { readP12: loadClientPkcs12, log });
    return [];
  } catch (error) {
    if (error instanceof CredentialProblems) return error.problems;
    throw error;
  }
}

async function problemsOfOperations(file: string | null): Promise<string[]> {
  if (file === null) return [];
  try {
    await readOperationList(file);
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}
