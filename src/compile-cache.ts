import { constants, enableCompileCache, flushCompileCache } from 'node:module';
import { join } from 'node:path';

/**
 * Beside the packages: who can write there can change the program itself. Not under DATA_DIR, which is read after most
 * modules are loaded, and which backups copy.
 */
export const COMPILED_MODULES = join(import.meta.dirname, '..', 'node_modules', '.cache', 'compiled-modules');

/**
 * Lets this process and its threads load the modules imported from now on as V8 compiled them in an earlier process,
 * instead of stripping their types and compiling them again (docs/decisions/0050). An entry counts only for the exact
 * source and the exact version of Node. A folder that cannot be written changes nothing but the time.
 * NODE_COMPILE_CACHE names another folder, and NODE_DISABLE_COMPILE_CACHE=1 turns the cache off.
 * @returns a function that keeps what this process compiled so far; otherwise that happens at its orderly end
 */
export function useCompileCache(): () => void {
  const { status } = enableCompileCache(COMPILED_MODULES);
  const { ENABLED, ALREADY_ENABLED } = constants.compileCacheStatus;
  if (status !== ENABLED && status !== ALREADY_ENABLED) return () => undefined;
  // Threads enable it by their environment, which is a copy of this one.
  process.env.NODE_COMPILE_CACHE ??= COMPILED_MODULES;
  return flushCompileCache;
}
